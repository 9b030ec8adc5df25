package bmc

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Subscriptions is what a BMC does with those who want its events sent to them. The
// zero value takes ten, with whatever the standard knows.
type Subscriptions struct {
	// Most are taken, 0 is ten. One more is refused with Full, 0 is 400.
	Most, Full int
	// WantsTypes refuses one without EventTypes, as old ones do, and NoFormat one with
	// an EventFormatType.
	WantsTypes, NoFormat bool
	// Forgets all of them when the BMC restarts.
	Forgets bool
	// Unnamed answers a POST without saying where the subscription is.
	Unnamed bool
	// Hides what they were made with: neither Context nor Destination is shown.
	Hides bool
}

// pushPatience is how long a receiver may take.
const pushPatience = 2 * time.Second

// subscriptionsURI is where they are, "" where there's no event service that takes
// any. Called with the lock held.
func (b *BMC) subscriptionsURI() string {
	uri := linkAt(b.store.body(linkAt(b.store.body(pathRoot), "EventService")), "Subscriptions")
	if b.store.body(uri) == nil {
		return ""
	}

	return uri
}

// subscribes answers a POST to the subscriptions; false: it's to something else.
func (b *BMC) subscribes(w http.ResponseWriter, r *http.Request, path string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.subscriptionsURI()
	if all == "" || treeKey(all) != treeKey(path) {
		return false
	}
	body, p := bodyOf(r)
	if p.message == "" {
		p = b.unsubscribable(body)
	}
	if p.message != "" {
		b.fail(w, statusOf([]problem{p}), p)

		return true
	}
	b.subscribed++
	id := "push-" + strconv.Itoa(b.subscribed)
	uri := strings.TrimRight(all, "/") + "/" + id
	shown := copied(body)
	shown["@odata.type"], shown["Id"], shown["Name"] = "#EventDestination.v1_15_0.EventDestination", id, "Subscription"
	if b.behaviour.Subscriptions.Hides {
		delete(shown, "Context")
		shown["Destination"] = nil
	}
	b.store.put(uri, shown)
	b.pushes = append(b.pushes, push{uri: uri, to: textAt(body, "Destination"), word: textAt(body, "Context")})
	b.relist(all, func(members []any) []any { return append(members, link(uri)) })
	if !b.behaviour.Subscriptions.Unnamed {
		w.Header().Set("Location", uri)
	}
	headers(w)
	w.WriteHeader(http.StatusCreated)

	return true
}

// unsubscribable is why a subscription isn't taken. Called with the lock held.
func (b *BMC) unsubscribable(body object) problem {
	s := b.behaviour.Subscriptions
	known := []string{"Destination", "Protocol", "Context", "EventTypes", "EventFormatType", "RegistryPrefixes", "ResourceTypes", "SubscriptionType"}
	for name := range body { // Headers of HTTP aren't taken: what some take, some refuse.
		if !slices.Contains(known, name) || name == "EventFormatType" && s.NoFormat {
			return problem{message: "PropertyUnknown", property: name}
		}
	}
	most := s.Most
	if most == 0 {
		most = 10
	}
	to := textAt(body, "Destination")
	switch {
	case !strings.HasPrefix(to, "https://") && !strings.HasPrefix(to, "http://"):
		return problem{message: "PropertyValueFormatError", property: "Destination"}
	case textAt(body, "Protocol") != "Redfish":
		return problem{message: msgIncomplete, property: "Protocol"}
	case s.WantsTypes && len(textsAt(body, "EventTypes")) == 0:
		return problem{message: msgIncomplete, property: "EventTypes"}
	case len(b.pushes) >= most: // Those of a capture are mostly places that are free.
		return problem{message: "EventSubscriptionLimitExceeded", status: s.Full}
	default:
		return problem{}
	}
}

// unsubscribes answers a DELETE of a subscription; false: it's of something else.
func (b *BMC) unsubscribes(w http.ResponseWriter, path string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.subscriptionsURI()
	if all == "" || !strings.HasPrefix(treeKey(path), treeKey(all)+"/") || b.store.get(path) == nil {
		return false
	}
	b.unsubscribe(all, path)
	w.WriteHeader(http.StatusNoContent)

	return true
}

// unsubscribe takes one away. Called with the lock held.
func (b *BMC) unsubscribe(all, uri string) {
	is := func(other string) bool { return treeKey(other) == treeKey(uri) }
	b.store.remove(uri)
	b.pushes = slices.DeleteFunc(b.pushes, func(p push) bool { return is(p.uri) })
	b.relist(all, func(members []any) []any {
		return slices.DeleteFunc(members, func(m any) bool { return is(linkAt(m)) })
	})
}

// relist changes the list of subscriptions. Called with the lock held.
func (b *BMC) relist(all string, change func(members []any) []any) {
	var members []any
	for _, uri := range linksAt(b.store.body(all), "Members") {
		members = append(members, link(uri))
	}
	members = change(members)
	b.store.change(all, func(body object) {
		body["Members"], body["Members@odata.count"] = members, len(members)
	})
}

// forget is what a restart does to subscriptions. Called with the lock held.
func (b *BMC) forget() {
	if all := b.subscriptionsURI(); all != "" && b.behaviour.Subscriptions.Forgets {
		for _, uri := range linksAt(b.store.body(all), "Members") {
			b.unsubscribe(all, uri)
		}
	}
}

// Subscribers are the destinations of those who were subscribed since the BMC was made, in their order.
func (b *BMC) Subscribers() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []string
	for _, p := range b.pushes {
		out = append(out, p.to)
	}

	return out
}

// SubscribeOther has somebody else subscribed.
func (b *BMC) SubscribeOther(to string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.subscriptionsURI()
	b.subscribed++
	uri := all + "/other-" + strconv.Itoa(b.subscribed)
	b.store.put(uri, object{"Id": "other", "Destination": to, "Context": "somebody else's", "Protocol": "Redfish"})
	b.pushes = append(b.pushes, push{uri: uri, to: to, word: "somebody else's"})
	b.relist(all, func(members []any) []any { return append(members, link(uri)) })
}

// push is one subscription.
type push struct{ uri, to, word string }

// send an event to who is subscribed. Nobody waits for it.
func (p push) send(id int, origin string) {
	body, _ := json.Marshal(object{ //nolint:errchkjson // Our own maps of strings marshal.
		"@odata.type": "#Event.v1_9_0.Event", "Id": strconv.Itoa(id), "Name": "Event", "Context": p.word,
		"Events": []object{{"EventId": strconv.Itoa(id), "MessageId": "ResourceEvent.1.4.ResourceChanged", "OriginOfCondition": link(origin)}},
	})
	ctx, cancel := context.WithTimeout(context.Background(), pushPatience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.to, bytes.NewReader(body))
	if err != nil {
		return
	}
	r.Header.Set("Content-Type", "application/json")
	if resp, err := http.DefaultClient.Do(r); err == nil {
		_ = resp.Body.Close()
	}
}
