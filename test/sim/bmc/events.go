package bmc

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

const (
	pathEventService = "/redfish/v1/EventService"
	propStream       = "ServerSentEventUri"
	// keepAlive is how often a stream has a comment in it.
	keepAlive = 10 * time.Second
)

// Events is what a BMC does on the connection over which it tells of changes
// (server-sent events). Whether it has one is in the tree.
type Events string

// What BMCs do there.
const (
	// EventsTold: each change is told, with a comment now and then.
	EventsTold Events = ""
	// EventsHang takes the connection and never answers.
	EventsHang Events = "Hang"
	// EventsClose ends it as soon as it's open.
	EventsClose Events = "Close"
	// EventsFlood tells of 10,000 changes at once, and again with each change.
	EventsFlood Events = "Flood"
	// EventsHalf begins an event and never ends it.
	EventsHalf Events = "Half"
	// EventsEndless has a line of 1 GiB.
	EventsEndless Events = "Endless"
	// EventsGarbage has bytes that are no text.
	EventsGarbage Events = "Garbage"
	// EventsPage answers with a page for people.
	EventsPage Events = "Page"
	// EventsUnauthorized refuses everybody with 401.
	EventsUnauthorized Events = "Unauthorized"
	// EventsFull says that all streams are taken.
	EventsFull Events = "Full"
)

// eventService adds one that streams, where so, or one that is switched off.
func (t *Tree) eventService(streams bool) {
	body := object{
		"@odata.type": "#EventService.v1_10_0.EventService", "Id": "EventService", "Name": "Event Service", "ServiceEnabled": streams,
		"EventFormatTypes": []string{"Event"}, propStream: pathEventService + "/SSE", "Subscriptions": link(pathEventService + "/Subscriptions"),
	}
	t.put(pathEventService, body)
	t.collect(pathEventService+"/Subscriptions", nil)
}

// audience is who listens, each with the token that it was let in by.
type audience map[chan string]string

// tell tells all who listen that a resource has changed. Called with the lock held.
func (b *BMC) tell(uri string) {
	b.told++
	event := fmt.Sprintf("id: %d\ndata: {\"@odata.type\":\"#Event.v1_9_0.Event\",\"Id\":\"%d\",\"Name\":\"Event\",\"Events\":[{\"EventId\":\"%d\","+
		"\"MessageId\":\"ResourceEvent.1.4.ResourceChanged\",\"OriginOfCondition\":{\"@odata.id\":%q}}]}\n\n", b.told, b.told, b.told, uri)
	for to := range b.audience {
		select {
		case to <- event:
		default: // Who doesn't read misses it.
		}
	}
	for _, p := range b.pushes {
		go p.send(b.told, uri)
	}
}

// Tell tells all who listen that a resource has changed, as BMCs do where somebody
// presses a button.
func (b *BMC) Tell(uri string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tell(uri)
}

// Listeners says how many listen.
func (b *BMC) Listeners() int {
	b.mu.Lock()
	defer b.mu.Unlock()

	return len(b.audience)
}

// SetEvents changes what is done with those who come to listen.
func (b *BMC) SetEvents(e Events) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.behaviour.Events = e
}

// HangUp ends all streams.
func (b *BMC) HangUp() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for to := range b.audience {
		b.hangUp(to)
	}
}

// hangUp ends one. Called with the lock held.
func (b *BMC) hangUp(to chan string) {
	if _, listens := b.audience[to]; listens {
		delete(b.audience, to)
		close(to)
	}
}

// hangUpOn ends those of a session. Called with the lock held.
func (b *BMC) hangUpOn(token string) {
	for to, by := range b.audience {
		if by == token {
			b.hangUp(to)
		}
	}
}

// streams says whether a request is for the stream of events, and what is done then.
func (b *BMC) streams(r *http.Request) (Events, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	service := b.store.body(linkAt(b.store.body(pathRoot), "EventService"))
	uri := textAt(service, propStream)

	return b.behaviour.Events, r.Method == http.MethodGet && uri != "" && treeKey(uri) == treeKey(r.URL.Path)
}

// stream answers a request for the stream of events, until either side ends it.
func (b *BMC) stream(w http.ResponseWriter, r *http.Request, e Events) {
	switch e {
	case EventsHang:
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	case EventsUnauthorized:
		b.unauthorized(w)

		return
	case EventsFull:
		b.fail(w, http.StatusServiceUnavailable, problem{message: "EventSubscriptionLimitExceeded"})

		return
	case EventsPage:
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<html>Welcome"))

		return
	case EventsTold, EventsClose, EventsFlood, EventsHalf, EventsEndless, EventsGarbage:
	}
	w.Header().Set("Content-Type", mediaEvents)
	w.WriteHeader(http.StatusOK)
	flush(w)
	b.mu.Lock()
	b.counters.Streams++
	b.mu.Unlock()
	if e == EventsClose {
		return
	}
	begun, over := misbehaviour(e, w)
	if over {
		<-r.Context().Done()

		return
	}
	if begun {
		flush(w)
	}
	b.follow(w, r, e)
}

const mediaEvents = "text/event-stream; charset=utf-8"

func flush(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() }

// misbehaviour is what some BMCs begin with, and whether nothing else follows.
func misbehaviour(e Events, w http.ResponseWriter) (begun, over bool) {
	switch e {
	case EventsFlood:
		_, _ = w.Write([]byte(strings.Repeat("data: {\"Id\":\"1\"}\n\n", 10_000)))

		return true, false
	case EventsHalf:
		_, _ = w.Write([]byte("id: 1\ndata: {\"@odata.type\":\"#Event.v1_9_0.Eve"))
		flush(w)

		return true, true
	case EventsEndless:
		_, _ = w.Write([]byte("data: "))
		long := []byte(strings.Repeat("x", 1<<20))
		for range 1 << 10 {
			if _, err := w.Write(long); err != nil {
				break // Nobody reads it to its end.
			}
		}

		return true, true
	case EventsGarbage:
		_, _ = w.Write([]byte("\x00\xff\xfe\n\n\n: \r\r\n\x80data\n\ndat: a\n\n\xef\xbb\xbfdata: a\n\n"))

		return true, false
	default:
		return false, false
	}
}

// follow tells who listens of each change.
func (b *BMC) follow(w http.ResponseWriter, r *http.Request, e Events) {
	mine := make(chan string, 64)
	b.mu.Lock()
	if b.audience == nil {
		b.audience = audience{}
	}
	b.audience[mine] = r.Header.Get("X-Auth-Token")
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.hangUp(mine)
	}()
	alive := time.NewTicker(keepAlive)
	defer alive.Stop()
	for {
		say := ": still here\n\n"
		select {
		case <-r.Context().Done():
			return
		case <-alive.C:
		case event, open := <-mine:
			if !open {
				return
			}
			say = event
			if e == EventsFlood {
				say = strings.Repeat(event, 10_000)
			}
		}
		if _, err := w.Write([]byte(say)); err != nil {
			return
		}
		flush(w)
	}
}
