package bmc_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/gate"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/redfishhost"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// eventPause is what goes by in these tests for five seconds, but where it says otherwise.
const eventPause = 20 * time.Millisecond

// listen starts the controller anew, as one whose provider config has BMCs tell of changes. It returns how often the host was woken.
func (l *lab) listen(pause time.Duration, auth v1alpha1.RedfishAuth) (woken *atomic.Int64) {
	l.t.Helper()
	rate, woken := int64(1000), &atomic.Int64{}
	g := gate.New(redfish.Connect)
	l.connector = redfishhost.NewConnector(redfishhost.Options{
		Kube: l.kube, Gates: redfishhost.Gates{Gates: g}, AllowLoopback: true, Now: func() time.Time { return l.now },
		Elapsed:  func() time.Duration { return time.Duration(l.now.UnixNano()) },
		Recorder: scanned{l}, Log: scanned{l}, EventPause: pause,
		Wake: func(name types.NamespacedName) {
			if name == hostKey {
				woken.Add(1)
			}
		},
		Resolve: func(context.Context, *v1alpha1.RedfishHost) (config.Redfish, error) {
			return config.Redfish{
				Username: bmc.DefaultUsername, Password: l.password, SecretVersion: l.version,
				Config: v1alpha1.RedfishConfig{
					AllowedAddresses: []string{"127.0.0.0/8"}, RequestsPerSecond: &rate, Auth: auth,
					TLS:    &v1alpha1.TLS{Verify: l.verify, PinnedSHA256: l.pins},
					Events: &v1alpha1.RedfishEvents{Delivery: v1alpha1.DeliveryStream},
				},
			}, nil
		},
	})
	connector := l.connector
	l.t.Cleanup(func() {
		connector.Stop()
		g.Close(context.WithoutCancel(l.t.Context()))
	})

	return woken
}

// heard looks at the host until it says so of its events, as polls do.
func (l *lab) heard(delivery, reason string) *v1alpha1.EventsObservation {
	l.t.Helper()
	var e *v1alpha1.EventsObservation
	until(l.t, "the status says "+delivery+" "+reason, func() bool {
		e = l.settle().Status.AtProvider.Events

		return e != nil && e.Delivery == delivery && e.Reason == reason
	})

	return e
}

// TestHostHearsOfChanges: what happens to a machine is seen as soon as its BMC tells that something has, and by a look.
func TestHostHearsOfChanges(t *testing.T) {
	l := newLab(t, bmc.ModelInline)
	woken := l.listen(eventPause, "")
	if e := l.heard("Stream", ""); e.Since == nil || e.Message != "" {
		t.Errorf("events: %+v", e)
	}
	before := woken.Load()     // By its inventory.
	_ = l.m.On(bmc.BootNormal) // Somebody presses the button.
	l.emu.Tell("/redfish/v1/Systems/somebody-elses")
	until(t, "the host is woken", func() bool { return woken.Load() > before })
	if p := l.settle().Status.AtProvider.Power; p != v1alpha1.PoweredOn {
		t.Errorf("power %q", p)
	}
	l.changes, before = 0, woken.Load()
	for range 200 {
		l.emu.Tell("/redfish/v1/Systems/1")
	}
	until(t, "the host is woken again", func() bool { return woken.Load() > before })
	l.settle()
	if l.changes != 0 {
		t.Errorf("%d changes of a host of which nothing changed", l.changes)
	}
	if c := l.emu.Counters(); c.Logins != 1 || l.emu.Sessions() != 1 || c.Streams != 1 {
		t.Errorf("%+v, %d sessions; want one login, one session, one stream", c, l.emu.Sessions())
	}
}

// TestHostOfOddStreams: whatever a BMC does on its stream, the host stays as it is, looks go on, nobody is locked out, no session more is
// open, and the BMC isn't asked for a stream again and again.
func TestHostOfOddStreams(t *testing.T) {
	cases := map[string]struct {
		reason string
		does   bmc.Events
		auth   v1alpha1.RedfishAuth
		said   string
	}{
		"Close":        {reason: "One that ends it at once.", does: bmc.EventsClose, said: "Closed"},
		"Flood":        {reason: "10,000 events at once.", does: bmc.EventsFlood, said: "Flooded"},
		"Endless":      {reason: "A line of 1 GiB.", does: bmc.EventsEndless, said: "Malformed"},
		"Page":         {reason: "A page for people.", does: bmc.EventsPage, said: "Malformed"},
		"Unauthorized": {reason: "A 401 of the stream alone.", does: bmc.EventsUnauthorized, said: "Refused"},
		"ByPassword":   {reason: "The same, where the password goes with it.", does: bmc.EventsUnauthorized, auth: v1alpha1.RedfishAuthBasic, said: "Refused"},
		"Full":         {reason: "All streams are taken.", does: bmc.EventsFull, said: "Refused"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, bmc.ModelInline)
			l.emu.SetEvents(tc.does)
			// A unit that is long beside what a look takes: what is hopeless isn't tried again here.
			woken := l.listen(100*time.Millisecond, tc.auth)
			h := l.heard("Poll", tc.said)
			l.heard("Poll", tc.said)
			if condition(l.get(), v1alpha1.ConditionReachable)[0] != "True" || condition(l.get(), xpv2.TypeReady)[0] != "True" {
				t.Errorf("%s\nconditions %v", tc.reason, l.get().Status.Conditions)
			}
			if h.Message == "" || strings.Contains(h.Message, bmc.Secret) {
				t.Errorf("%s\nit says %q", tc.reason, h.Message)
			}
			c := l.emu.Counters()
			if c.FailedLogins != 0 || c.Lockouts != 0 || c.Logins > 1 || l.emu.Sessions() > 1 || len(l.emu.FullWrites()) != 0 {
				t.Errorf("%s\n%+v, %d sessions, %v", tc.reason, c, l.emu.Sessions(), l.emu.FullWrites())
			}
			if n := woken.Load(); n > 5 {
				t.Errorf("%s\nwoken %d times", tc.reason, n)
			}
			survived(t, "the stream of its events: "+strings.ToLower(name))
		})
	}
}

// TestHostOfHangingStream: a BMC that takes the connection and says nothing costs nobody anything.
func TestHostOfHangingStream(t *testing.T) {
	l := newLab(t, bmc.ModelInline)
	l.emu.SetEvents(bmc.EventsHang)
	l.listen(eventPause, "")
	until(t, "the stream hangs", func() bool { l.settle(); return l.asked("/redfish/v1/EventService/SSE") > 0 })
	for range 20 {
		l.settle()
	}
	h := l.get()
	if condition(h, v1alpha1.ConditionReachable)[0] != "True" || h.Status.AtProvider.Events.Reason != "Connecting" {
		t.Errorf("conditions %v, events %+v", h.Status.Conditions, h.Status.AtProvider.Events)
	}
	if n := l.asked("/redfish/v1/EventService/SSE"); n != 1 {
		t.Errorf("%d requests for the stream, want one that hangs", n)
	}
	survived(t, "the stream of its events: hangs")
}

// asked is how often a path was.
func (l *lab) asked(path string) int {
	n := 0
	for _, r := range l.emu.Requests() {
		if r.Path == path {
			n++
		}
	}

	return n
}

// TestHostListensAgain: after what ends streams, the host's BMC is listened to again, by one login where the session has ended.
func TestHostListensAgain(t *testing.T) {
	cases := map[string]struct {
		reason  string
		happens func(l *lab)
		logins  int
	}{
		"HangsUp": {reason: "The BMC hangs up.", happens: func(l *lab) { l.emu.HangUp() }, logins: 1},
		"Expires": {reason: "The session ends.", happens: func(l *lab) { l.emu.ExpireSessions() }, logins: 2},
		"Restarts": {reason: "The BMC restarts.", happens: func(l *lab) {
			l.emu.RebootBMC(time.Hour)
			l.settle()
			l.emu.Heal()
		}, logins: 2},
		"Dies": {reason: "It's cut off.", happens: func(l *lab) {
			if err := l.emu.SetDead(true); err != nil {
				l.t.Error(err)
			}
			l.settle()
			if err := l.emu.SetDead(false); err != nil {
				l.t.Error(err)
			}
		}, logins: 1},
		"Secret": {reason: "The Secret changes.", happens: func(l *lab) { l.version = "2" }, logins: 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, bmc.ModelInline)
			woken := l.listen(eventPause, "")
			l.heard("Stream", "")
			tc.happens(l)
			until(t, "it's listened to again", func() bool {
				l.settle()

				return l.emu.Counters().Streams > 1 && l.emu.Listeners() == 1
			})
			before := woken.Load()
			l.emu.Tell("/redfish/v1/Systems/1")
			until(t, "the host is woken", func() bool { return woken.Load() > before })
			if c := l.emu.Counters(); c.Logins != tc.logins || c.FailedLogins != 0 || l.emu.Sessions() != 1 {
				t.Errorf("%s\n%+v, %d sessions; want %d logins, one session", tc.reason, c, l.emu.Sessions(), tc.logins)
			}
		})
	}
}

// TestHostListensNoMore: nobody listens to the BMC of a host that is gone, that has another password or that nobody may look at, nor where the
// process ends; and no password is tried for it.
func TestHostListensNoMore(t *testing.T) {
	cases := map[string]struct {
		reason  string
		happens func(l *lab)
		// failed logins that looks make.
		failed int
	}{
		"Deleted": {reason: "The host is deleted.", happens: func(l *lab) {
			if err := l.kube.Delete(l.t.Context(), l.get()); err != nil {
				l.t.Fatal(err)
			}
			l.connector.Gone(newHost(hostKey.Name, l.emu.Addr()))
		}},
		"Shutdown": {reason: "The process ends.", happens: func(l *lab) { l.connector.Stop() }},
		"Password": {reason: "The password isn't good any more: looks try it once.", failed: 1, happens: func(l *lab) {
			l.emu.SetPassword(bmc.Secret + "-other")
			for range 20 {
				l.settle()
			}
			if e := l.get().Status.AtProvider.Events; e == nil || e.Delivery != "Poll" || e.Reason != "Stopped" {
				l.t.Errorf("events: %+v", e)
			}
		}},
		"Another": {reason: "Another machine is behind the address.", happens: func(l *lab) {
			l.emu.Replace("1", "OTHER")
			l.settle()
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, bmc.ModelInline)
			l.listen(eventPause, "")
			l.heard("Stream", "")
			tc.happens(l)
			until(t, "nobody listens", func() bool { return l.emu.Listeners() == 0 })
			streams := l.emu.Counters().Streams
			time.Sleep(10 * eventPause) // Nothing comes that one could wait for.
			if c := l.emu.Counters(); c.Streams != streams || c.FailedLogins != tc.failed || c.Lockouts != 0 {
				t.Errorf("%s\n%+v, want %d streams, %d failed logins", tc.reason, c, streams, tc.failed)
			}
		})
	}
}

// TestObservedHostIsHeard: to listen is to read. Nothing is written to the BMC of a host that is only observed.
func TestObservedHostIsHeard(t *testing.T) {
	l := newLab(t, bmc.ModelInline)
	l.edit(func(h *v1alpha1.RedfishHost) {
		h.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
		h.Spec.ForProvider.Power, h.Spec.ForProvider.Boot = v1alpha1.PoweredOn, once(1)
	})
	woken := l.listen(eventPause, "")
	reconcileOnce := l.runtimeOf()
	until(t, "it's listened to", func() bool {
		reconcileOnce()
		e := l.get().Status.AtProvider.Events

		return e != nil && e.Delivery == "Stream"
	})
	before := woken.Load()
	l.emu.Tell("/redfish/v1/Systems/1")
	until(t, "the host is woken", func() bool { return woken.Load() > before })
	reconcileOnce()
	if w := l.emu.FullWrites(); len(w) != 0 {
		t.Errorf("written: %v", w)
	}
}

// TestHostWithoutEvents: nobody is listened to unless that's asked for, and a BMC that can't says so.
func TestHostWithoutEvents(t *testing.T) {
	l := newLab(t, bmc.ModelInline)
	if e := l.settle().Status.AtProvider.Events; e != nil || l.asked("/redfish/v1/EventService") != 0 {
		t.Errorf("events %+v, %d requests for them", e, l.asked("/redfish/v1/EventService"))
	}
	l = newLab(t, bmc.ModelActionInfo)
	l.listen(eventPause, "")
	if e := l.heard("Poll", "NotOffered"); e.Message != "the BMC has no EventService" {
		t.Errorf("events: %+v", e)
	}
}
