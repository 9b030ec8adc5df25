package redfish

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/lenient"
)

// maxSubscriptions bounds how many of a BMC's subscriptions are read: they have room
// for ten or twenty.
const maxSubscriptions = 64

// A Subscription is where a BMC sends its events (schema EventDestination v1.x).
type Subscription struct {
	// URI of the resource on the BMC.
	URI string
	// Context and Destination as the BMC shows them; "" where it doesn't.
	Context, Destination string
}

// subscriberBody is an EventService, as far as it says who may be told.
type subscriberBody struct {
	Enabled       *lenient.Flag `json:"ServiceEnabled"`
	Subscriptions ref
	Formats       texts `json:"EventFormatTypes"`
	Types         texts `json:"EventTypesForSubscription"`
	Prefixes      texts `json:"RegistryPrefixes"`
}

// subscriber reads the event service. Unsupported: there's none, or none that takes
// subscriptions, by EventService or Subscriptions.
func (c *Client) subscriber(ctx context.Context) (subscriberBody, error) {
	var b subscriberBody
	service := string(c.root.EventService)
	if service == "" {
		return b, unsupported("EventService")
	}
	_, err := c.get(ctx, service, &b)
	switch {
	case IsNotFound(err):
		return b, unsupported("EventService")
	case err == nil && b.Subscriptions == "":
		return b, unsupported("Subscriptions")
	default:
		return b, err
	}
}

// Subscriptions lists those that are mine. One of another's that the BMC doesn't
// show is passed over; any other that can't be read is the error: it may be mine.
func (c *Client) Subscriptions(ctx context.Context, mine func(Subscription) bool) ([]Subscription, error) {
	b, err := c.subscriber(ctx)
	if err != nil {
		return nil, err
	}
	uris, err := c.members(ctx, string(b.Subscriptions))
	switch {
	case IsNotFound(err):
		return nil, unsupported("Subscriptions")
	case err != nil:
		return nil, err
	case len(uris) > maxSubscriptions:
		return nil, failf(Protocol, "the BMC lists more than %d subscriptions", maxSubscriptions)
	}
	var out []Subscription
	for _, uri := range uris {
		s, err := c.SubscriptionAt(ctx, uri)
		switch {
		case IsNotFound(err), KindOf(err) == Forbidden:
		case err != nil:
			return nil, err
		case mine(s):
			out = append(out, s)
		}
	}

	return out, nil
}

// SubscriptionAt reads one.
func (c *Client) SubscriptionAt(ctx context.Context, uri string) (Subscription, error) {
	var b struct {
		Context     text
		Destination text
	}
	if _, err := c.get(ctx, uri, &b); err != nil {
		return Subscription{}, err
	}

	return Subscription{URI: uri, Context: string(b.Context), Destination: string(b.Destination)}, nil
}

// Subscribe has the BMC send its events to a URL, with a word by which the
// subscription is found again. Who asks makes sure that there's none yet: each is
// one more. Unsupported, by EventService, Subscriptions or ServiceEnabled: it can't.
func (c *Client) Subscribe(ctx context.Context, destination, word string) (Receipt, error) {
	b, err := c.subscriber(ctx)
	switch {
	case err != nil:
		return Receipt{}, unsent(err)
	case b.Enabled != nil && b.Enabled.Known && !b.Enabled.True:
		return Receipt{}, unsupported("ServiceEnabled")
	}
	var a answer
	for _, body := range b.bodies(destination, word) {
		// A BMC that refuses a property, or misses one, hasn't subscribed anybody.
		a, err = c.do(ctx, http.MethodPost, string(b.Subscriptions), body, "")
		if statusOf(err) != http.StatusBadRequest || IsSubscriptionsFull(err) {
			break
		}
	}
	if err != nil {
		return Receipt{}, refusedAsFull(err)
	}
	r := receiptOf(a)
	if r.Made = localPath(a.header.Get("Location")); r.Made == "" {
		var made struct {
			URI text `json:"@odata.id"`
		}
		_ = decode(a.body, &made) // An empty body is no reason to complain.
		r.Made = localPath(string(made.URI))
	}

	return r, nil
}

// oldTypes are the event types of services before v1.3, which had nothing else to
// choose by, as far as they aren't of metrics.
var oldTypes = []string{"StatusChange", "ResourceUpdated", "ResourceAdded", "ResourceRemoved", "Alert"} //nolint:gochecknoglobals // A table.

// bodies of a subscription, the next one for a BMC that refuses the one before: with
// what its service says that it knows, with the event types that older ones want to
// be told, and with nothing but what all have. No registries are named, which is all.
func (b subscriberBody) bodies(destination, word string) []map[string]any {
	plain := func(more map[string]any) map[string]any {
		more["Destination"], more["Protocol"], more["Context"] = destination, "Redfish", word

		return more
	}
	types := oldTypes
	if len(b.Types) > 0 {
		types = slices.DeleteFunc(slices.Clone([]string(b.Types)), func(t string) bool { return !slices.Contains(oldTypes, t) })
	}
	format := map[string]any{}
	if slices.Contains(b.Formats, "Event") {
		format["EventFormatType"] = "Event"
	}
	typed := plain(map[string]any{"EventTypes": types})
	if len(format) == 0 && len(b.Prefixes) == 0 && len(b.Types) > 0 {
		return []map[string]any{typed, plain(map[string]any{})}
	}
	out := []map[string]any{plain(format), typed}
	if len(format) > 0 {
		out = append(out, plain(map[string]any{}))
	}

	return out
}

// Unsubscribe ends a subscription, and looks whether it did. One that is gone is;
// NoEffect: the BMC says so and shows it as before. One that it doesn't show any more,
// in whatever words, isn't looked for.
func (c *Client) Unsubscribe(ctx context.Context, s Subscription) error {
	_, err := c.do(ctx, http.MethodDelete, s.URI, nil, "")
	if IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	gone, err := c.readBack(ctx, func() (bool, error) {
		now, err := c.SubscriptionAt(ctx, s.URI)

		return err == nil && now != s, err
	})
	if err != nil {
		return passed(err)
	}
	if !gone {
		return noEffect("Subscriptions")
	}

	return nil
}

// IsSubscriptionsFull says whether a BMC refused a subscription since it has no room
// for one more.
func IsSubscriptionsFull(err error) bool {
	full := []string{"EventSubscriptionLimitExceeded", "SubscriptionLimitExceeded", "CreateLimitReachedForResource", "MaximumSubscriptionsReached"}

	return statusOf(err) == http.StatusInsufficientStorage || slices.ContainsFunc(full, func(name string) bool { return says(err, name) })
}

// refusedAsFull is err, or of one that is about a full table alone an error of kind
// Refused: some answer so with 503, as if they had no time for anything.
func refusedAsFull(err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok || !IsSubscriptionsFull(err) {
		return err
	}
	full := *e
	full.Kind = Refused

	return &full
}
