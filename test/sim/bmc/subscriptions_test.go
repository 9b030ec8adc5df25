package bmc_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

const (
	receiver = "http://127.0.0.1:1/redfish/events/a/s"
	word     = "provider-baremetal/a/0123456789ab"
)

// isOurs is as a host knows its own.
func isOurs(s redfish.Subscription) bool { return s.Context == word || s.Destination == receiver }

// subscribed proves that a BMC takes a subscription, which is found and ended again, beside somebody else's that stays.
func subscribed(t *testing.T, emu *bmc.Server, c *redfish.Client) {
	t.Helper()
	emu.SubscribeOther("http://127.0.0.1:1/theirs")
	r, err := c.Subscribe(t.Context(), receiver, word)
	if err != nil {
		t.Fatalf("Subscribe(...): %v", err)
	}
	got, err := c.Subscriptions(t.Context(), isOurs)
	if err != nil || len(got) != 1 || r.Made != "" && !strings.EqualFold(got[0].URI, r.Made) {
		t.Fatalf("Subscriptions(...): %+v, %v; made %q", got, err, r.Made)
	}
	if again, err := c.SubscriptionAt(t.Context(), got[0].URI); err != nil || !isOurs(again) {
		t.Errorf("SubscriptionAt(...): %+v, %v", again, err)
	}
	for range 2 { // One that is gone is.
		if err := c.Unsubscribe(t.Context(), got[0]); err != nil {
			t.Errorf("Unsubscribe(...): %v", err)
		}
	}
	if diff := cmp.Diff([]string{"http://127.0.0.1:1/theirs"}, emu.Subscribers()); diff != "" {
		t.Errorf("who is left: -want, +got:\n%s", diff)
	}
}

// TestSubscribe: whatever a BMC wants to be told, it gets one subscription.
func TestSubscribe(t *testing.T) {
	cases := map[string]struct {
		reason string
		does   bmc.Subscriptions
		edit   func(map[string]any)
	}{
		"Standard":  {reason: "It takes what the standard has."},
		"Types":     {reason: "It wants to be told event types, which its service doesn't say.", does: bmc.Subscriptions{WantsTypes: true}},
		"NoFormats": {reason: "It knows a format at its service, and none at a subscription.", does: bmc.Subscriptions{NoFormat: true}},
		"Unnamed":   {reason: "It doesn't say where the subscription is.", does: bmc.Subscriptions{Unnamed: true}},
		"Old": {
			reason: "An old one, with types and nothing else.", does: bmc.Subscriptions{WantsTypes: true, NoFormat: true},
			edit: func(o map[string]any) {
				delete(o, "EventFormatTypes")
				o["EventTypesForSubscription"] = []any{"Alert", "MetricReport"}
			},
		},
		"Strange": {reason: "Lists with what can't be in them.", edit: func(o map[string]any) { o["EventFormatTypes"], o["RegistryPrefixes"] = "Event", []any{nil, 7} }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			emu, _ := emulator(t, bmc.ModelInline, func(c *bmc.Config) { c.Behaviour = &bmc.Behaviour{Subscriptions: tc.does} })
			if tc.edit != nil {
				emu.Change("/redfish/v1/EventService", tc.edit)
			}
			subscribed(t, emu, connect(t, settings(emu)))
			for _, w := range emu.FullWrites() {
				if strings.Contains(w.Body, "MetricReport") {
					t.Errorf("%s\nit's told of metrics: %s", tc.reason, w.Body)
				}
			}
		})
	}
}

// TestSubscribeRefused: what a BMC can't do is said, and nothing is left there.
func TestSubscribeRefused(t *testing.T) {
	unsupported := func(field string) func(error) bool {
		return func(err error) bool {
			e := &redfish.Error{}

			return redfish.IsUnsupported(err) && cmpAs(err, &e) && e.Field == field
		}
	}
	cases := map[string]struct {
		reason string
		model  bmc.Model
		does   bmc.Subscriptions
		edit   func(map[string]any)
		is     func(error) bool
	}{
		"Full":     {reason: "The table is full.", model: bmc.ModelInline, does: bmc.Subscriptions{Most: 1}, is: redfish.IsSubscriptionsFull},
		"Busy":     {reason: "The same, as if it were busy.", model: bmc.ModelInline, does: bmc.Subscriptions{Most: 1, Full: http.StatusServiceUnavailable}, is: func(err error) bool { return redfish.IsSubscriptionsFull(err) && !redfish.IsUnreachable(err) }},
		"None":     {reason: "It has no event service.", model: bmc.ModelActionInfo, is: unsupported("EventService")},
		"Disabled": {reason: "It's switched off.", model: bmc.ModelNode, is: unsupported("ServiceEnabled")},
		"Streams":  {reason: "It only streams.", model: bmc.ModelInline, edit: func(o map[string]any) { delete(o, "Subscriptions") }, is: unsupported("Subscriptions")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			emu, _ := emulator(t, tc.model, func(c *bmc.Config) {
				if tc.does.Most > 0 {
					c.Behaviour = &bmc.Behaviour{Subscriptions: tc.does}
				}
			})
			if tc.does.Most > 0 {
				emu.SubscribeOther("http://127.0.0.1:1/theirs")
			}
			if tc.edit != nil {
				emu.Change("/redfish/v1/EventService", tc.edit)
			}
			if _, err := connect(t, settings(emu)).Subscribe(t.Context(), receiver, word); !tc.is(err) {
				t.Errorf("%s\nSubscribe(...): %v", tc.reason, err)
			}
			if posts := emu.Counters().Writes; posts > 1 || len(emu.Subscribers()) > tc.does.Most {
				t.Errorf("%s\n%d writes, subscribers %v", tc.reason, posts, emu.Subscribers())
			}
		})
	}
}

// TestTreesSubscribe has every kind of BMC send its events, that has an event service which is on.
func TestTreesSubscribe(t *testing.T) {
	can := 0
	for name, dir := range captured(t) {
		t.Run(name, func(t *testing.T) {
			r := serve(t, dir)
			c := connect(t, settings(r.Server))
			if _, err := c.Subscriptions(t.Context(), isOurs); redfish.IsUnsupported(err) {
				if _, err := c.Subscribe(t.Context(), receiver, word); err == nil {
					t.Error("what can't be listed is subscribed to")
				}

				return
			}
			if _, err := c.Subscribe(t.Context(), receiver, word); redfish.IsUnsupported(err) {
				return // It's switched off.
			} else if err != nil {
				t.Fatalf("Subscribe(...): %v", err)
			}
			ours, err := c.Subscriptions(t.Context(), isOurs)
			if err != nil || len(ours) != 1 {
				t.Fatalf("Subscriptions(...): %+v, %v", ours, err)
			}
			if err := c.Unsubscribe(t.Context(), ours[0]); err != nil {
				t.Error(err)
			}
			can++
			subscribed(t, r.Server, c)
		})
	}
	if can == 0 && !t.Failed() && len(captured(t)) > 0 {
		t.Error("no tree takes a subscription")
	}
}
