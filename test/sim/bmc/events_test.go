package bmc_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// until waits for what is bound to come, on a machine that may be busy.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within half a minute: %s", what)
		}
	}
}

// TestStream holds why listening to a BMC ends, whatever it sends.
func TestStream(t *testing.T) {
	cases := map[string]struct {
		reason string
		does   bmc.Events
		// then is what happens once it's open.
		then   func(s *bmc.Server, stop context.CancelFunc)
		err    error
		kind   redfish.Kind
		events int64
	}{
		"Told": {reason: "Each change is heard of, until the BMC hangs up.", then: func(s *bmc.Server, _ context.CancelFunc) {
			s.Tell("/redfish/v1/Systems/1")
			s.HangUp()
		}, err: redfish.ErrStreamClosed, events: 1},
		"Stopped":      {reason: "Or until nobody wants to hear it any more.", then: func(_ *bmc.Server, stop context.CancelFunc) { stop() }, err: context.Canceled},
		"Restarts":     {reason: "A BMC that restarts hangs up.", then: func(s *bmc.Server, _ context.CancelFunc) { s.RebootBMC(time.Minute) }, err: redfish.ErrStreamClosed},
		"Expires":      {reason: "So does one that ends our session.", then: func(s *bmc.Server, _ context.CancelFunc) { s.ExpireSessions() }, err: redfish.ErrStreamClosed},
		"Half":         {reason: "Half an event is none.", does: bmc.EventsHalf, then: func(_ *bmc.Server, stop context.CancelFunc) { stop() }, err: context.Canceled},
		"Garbage":      {reason: "Nor are bytes that mean nothing.", does: bmc.EventsGarbage, then: func(_ *bmc.Server, stop context.CancelFunc) { stop() }, err: context.Canceled},
		"Close":        {reason: "Some take a stream, and end it at once.", does: bmc.EventsClose, err: redfish.ErrStreamClosed},
		"Flood":        {reason: "Nobody follows 10,000 events at once.", does: bmc.EventsFlood, err: redfish.ErrStreamFlooded, events: 1000},
		"Endless":      {reason: "A line of 1 GiB isn't read to its end.", does: bmc.EventsEndless, err: redfish.ErrStreamGarbage},
		"Page":         {reason: "A page for people isn't a stream.", does: bmc.EventsPage, kind: redfish.Protocol},
		"Unauthorized": {reason: "A 401 of the stream alone is no wrong password.", does: bmc.EventsUnauthorized, kind: redfish.Forbidden},
		"Full":         {reason: "Others may have all streams.", does: bmc.EventsFull, kind: redfish.Unreachable},
		"Hang":         {reason: "And some don't answer at all.", does: bmc.EventsHang, kind: redfish.Unreachable},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			emu, _ := emulator(t, bmc.ModelInline, nil)
			emu.SetEvents(tc.does)
			cfg := settings(emu)
			if tc.does == bmc.EventsHang {
				cfg.RequestTimeout = time.Second
			}
			c := connect(t, cfg)
			s, err := c.Stream(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			var events atomic.Int64
			err = s.Listen(ctx, func() {
				if tc.then != nil {
					go func() {
						until(t, "somebody listens", func() bool { return emu.Listeners() == 1 || tc.does == bmc.EventsHalf })
						tc.then(emu, stop)
					}()
				}
			}, func(n int) { events.Add(int64(n)) })
			if tc.err != nil && !errors.Is(err, tc.err) || redfish.KindOf(err) != tc.kind {
				t.Errorf("%s\nListen(...): got %v, want %v, kind %q", tc.reason, err, tc.err, tc.kind)
			}
			if got := events.Load(); got < tc.events || tc.events == 0 && got != 0 || got > 2*tc.events {
				t.Errorf("%s\nheard %d events, want about %d", tc.reason, got, tc.events)
			}
			if counters := emu.Counters(); counters.Logins != 1 || counters.FailedLogins != 0 || len(emu.FullWrites()) != 0 {
				t.Errorf("%s\n%+v, want one login and no write", tc.reason, counters)
			}
		})
	}
}

// TestNoStream holds which BMCs aren't listened to, and that this takes one request
// at most.
func TestNoStream(t *testing.T) {
	cases := map[string]struct {
		reason string
		model  bmc.Model
		change func(*bmc.Config)
		auth   redfish.Auth
		edit   func(body map[string]any)
		field  string
	}{
		"Streams": {reason: "This one can.", model: bmc.ModelInline},
		"Open":    {reason: "So can this one.", model: bmc.ModelOpen},
		"Basic":   {reason: "With each request the password, since that's wanted.", model: bmc.ModelInline, auth: redfish.AuthBasic},
		"None":    {reason: "Without an event service nobody tells.", model: bmc.ModelActionInfo, field: "EventService"},
		"Off":     {reason: "It may be switched off.", model: bmc.ModelNode, field: "ServiceEnabled"},
		"PushOnly": {reason: "Some only push.", model: bmc.ModelInline, field: "ServerSentEventUri", edit: func(body map[string]any) {
			delete(body, "ServerSentEventUri")
		}},
		"NoSessions": {
			reason: "One that has no session for us has no room for a stream.", model: bmc.ModelInline, field: "Session",
			change: func(c *bmc.Config) { c.NoSessions = true },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			emu, _ := emulator(t, tc.model, tc.change)
			if tc.edit != nil {
				emu.Change("/redfish/v1/EventService", tc.edit)
			}
			cfg := settings(emu)
			cfg.Auth = tc.auth
			c := connect(t, cfg)
			system(t, c)
			before := emu.Counters().Requests
			_, err := c.Stream(t.Context())
			if e := (*redfish.Error)(nil); tc.field == "" && err != nil || tc.field != "" && (!cmpAs(err, &e) || e.Kind != redfish.Unsupported || e.Field != tc.field) {
				t.Errorf("%s\nStream(...): got %v, want what is lacking to be %q", tc.reason, err, tc.field)
			}
			if n := emu.Counters().Requests - before; n > 1 {
				t.Errorf("%s\n%d requests, want one at most", tc.reason, n)
			}
		})
	}
}

// TestStreamElsewhere: what a BMC names leads nowhere else, and nobody gets a token there.
func TestStreamElsewhere(t *testing.T) {
	emu, _ := emulator(t, bmc.ModelInline, nil)
	other, _ := emulator(t, bmc.ModelInline, nil)
	for name, uri := range map[string]string{"Host": other.URL() + "/redfish/v1/EventService/SSE", "NoScheme": "//" + other.Addr() + "/sse", "User": "@" + other.Addr() + "/sse"} {
		t.Run(name, func(t *testing.T) {
			emu.Change("/redfish/v1/EventService", func(body map[string]any) { body["ServerSentEventUri"] = uri })
			s, err := connect(t, settings(emu)).Stream(t.Context())
			if err == nil {
				err = s.Listen(t.Context(), func() {}, func(int) {})
			}
			if redfish.KindOf(err) != redfish.Protocol {
				t.Errorf("a stream at %q: %v", uri, err)
			}
		})
	}
	if n := other.Counters().Requests; n != 0 {
		t.Errorf("%d requests to somebody else", n)
	}
}

// TestTreesStream: every kind of BMC that says that it can is listened to, and every
// other one says what it lacks.
func TestTreesStream(t *testing.T) {
	for name, dir := range captured(t) {
		t.Run(name, func(t *testing.T) {
			r := serve(t, dir)
			s, err := connect(t, settings(r.Server)).Stream(t.Context())
			if e := (*redfish.Error)(nil); err != nil && (!cmpAs(err, &e) || e.Kind != redfish.Unsupported) {
				t.Fatalf("Stream(...): %v", err)
			}
			if err != nil {
				t.Logf("%s isn't listened to: %v", name, err)

				return
			}
			var events atomic.Int64
			err = s.Listen(t.Context(), func() {
				go func() {
					until(t, "somebody listens", func() bool { return r.Listeners() == 1 })
					r.Tell("/redfish/v1/Systems")
					r.HangUp()
				}()
			}, func(n int) { events.Add(int64(n)) })
			if !errors.Is(err, redfish.ErrStreamClosed) || events.Load() != 1 {
				t.Errorf("Listen(...): %v, %d events", err, events.Load())
			}
		})
	}
}
