package redfishhost

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// TestPushes: a host is known by its id and secret, as long as it's there, and no other one takes its place.
func TestPushes(t *testing.T) {
	p, name := newPushes(), types.NamespacedName{Namespace: "infra", Name: "a"}
	r := pushRecord{ID: "1", Digest: secretDigest("s")}
	p.expect("host-a", name, r)
	p.expect("host-b", types.NamespacedName{Namespace: "infra", Name: "b"}, pushRecord{ID: "1", Digest: secretDigest("theirs")})
	if from, ok := p.by("1", "s"); !ok || from.host != "host-a" || from.name != name {
		t.Errorf("by(...): %+v, %v", from, ok)
	}
	for _, of := range [][2]string{{"1", "theirs"}, {"1", ""}, {"2", "s"}, {"", ""}, {"1", secretDigest("s")}} {
		if from, ok := p.by(of[0], of[1]); ok {
			t.Errorf("by(%q, %q): %+v", of[0], of[1], from)
		}
	}
	p.forget("host-b")
	if _, ok := p.by("1", "s"); !ok {
		t.Error("it's forgotten with another host")
	}
	if _, ok := p.by("1", "s"); !p.forget("host-a") || !ok || p.forget("host-a") {
		t.Error("it isn't forgotten once")
	}
	if _, ok := p.by("1", "s"); ok {
		t.Error("it's known still")
	}
}

// TestPushesCopied: whose UID an id is has it, though the copy of its journal was looked at first.
func TestPushesCopied(t *testing.T) {
	p, r := newPushes(), pushRecord{ID: "host-a", Digest: secretDigest("s")}
	for range 2 {
		p.expect("host-b", types.NamespacedName{Name: "b"}, r)
		p.expect("host-a", types.NamespacedName{Name: "a"}, r)
	}
	p.expect("host-b", types.NamespacedName{Name: "b"}, pushRecord{ID: "host-b", Digest: secretDigest("t")})
	if from, ok := p.by("host-a", "s"); !ok || from.host != "host-a" {
		t.Errorf("by(...): %+v, %v", from, ok)
	}
	if from, ok := p.by("host-b", "t"); !ok || from.host != "host-b" {
		t.Errorf("by(...): %+v, %v", from, ok)
	}
}

// TestPushRecord: a subscription is known by either of two marks, and a stranger's by none.
func TestPushRecord(t *testing.T) {
	r := pushRecord{ID: "1", Digest: secretDigest("s"), To: "https://r"}
	cases := map[string]struct {
		reason   string
		s        redfish.Subscription
		ours, is bool
	}{
		"Both":        {reason: "the BMC keeps all", s: redfish.Subscription{Context: r.word(), Destination: "https://r/redfish/events/1/s"}, ours: true, is: true},
		"Context":     {reason: "it hides where it leads", s: redfish.Subscription{Context: r.word()}, ours: true, is: true},
		"Destination": {reason: "it drops the context", s: redfish.Subscription{Destination: "https://r/redfish/events/1/s"}, ours: true, is: true},
		"Older":       {reason: "one that came late", s: redfish.Subscription{Context: "provider-baremetal/1/0123", Destination: "https://r/redfish/events/1/t"}, ours: true},
		"Other":       {reason: "another host's", s: redfish.Subscription{Context: "provider-baremetal/12/0123", Destination: "https://r/redfish/events/12/s"}},
		"Stranger":    {reason: "somebody else's", s: redfish.Subscription{Context: "1", Destination: "https://x/1/s"}},
		"Nothing":     {reason: "a place that is free"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if r.ours(tc.s) != tc.ours || r.is(tc.s) != tc.is {
				t.Errorf("%s: ours %v, is %v", tc.reason, r.ours(tc.s), r.is(tc.s))
			}
			if none := (pushRecord{}); none.ours(tc.s) || none.is(tc.s) {
				t.Errorf("%s: a host without any has it", tc.reason)
			}
		})
	}
	for tries, want := range map[int]time.Duration{0: time.Minute, 1: time.Minute, 2: 2 * time.Minute, 6: 32 * time.Minute, 7: time.Hour, 1000: time.Hour} {
		if got := (pushRecord{Tries: tries}).rest(); got != want {
			t.Errorf("after %d tries it rests %s, want %s", tries, got, want)
		}
	}
}

// TestKeepPush: what is kept of a BMC's link is bounded, whatever that lists.
func TestKeepPush(t *testing.T) {
	long := "/" + strings.Repeat("x", pushURI)
	for uri, want := range map[string]string{"/redfish/v1/EventService/Subscriptions/1": "/redfish/v1/EventService/Subscriptions/1", long: ""} {
		j := journal{Push: pushRecord{ID: "1", Digest: secretDigest("s"), URI: "/before"}}
		st := keepPush(view{}, j, redfish.Subscription{URI: uri})
		if st.journal == nil || st.journal.Push.URI != want {
			t.Errorf("of a link of %d bytes %+v is kept", len(uri), st.journal)
		}
	}
}

// TestPushGone: of a host that is gone no hint is left.
func TestPushGone(t *testing.T) {
	c := NewConnector(Options{Gates: openGate{}})
	defer c.Stop()
	h := hostAt("a", "")
	c.pushes.expect(h.UID, nameOfHost(h), pushRecord{ID: "1", Digest: secretDigest("s")})
	if !c.Sent("1", "s") || len(c.streams.hints.of) != 1 {
		t.Error("it isn't told of")
	}
	c.Gone(h)
	if c.Sent("1", "s") || len(c.streams.hints.of) != 0 {
		t.Error("it's woken still")
	}
}

// blindBMC doesn't tell of its subscriptions, and answers else.
type blindBMC struct {
	BMC

	err error
}

func (b blindBMC) Subscriptions(context.Context, func(redfish.Subscription) bool) ([]redfish.Subscription, error) {
	return nil, b.err
}

// TestPushLeavesBlindBMC: a host that is deleted isn't kept by a BMC that doesn't tell of its subscriptions any more.
func TestPushLeavesBlindBMC(t *testing.T) {
	for name, err := range map[string]error{
		"Fails":     &redfish.Error{Kind: redfish.Unreachable, Status: http.StatusInternalServerError},
		"Busy":      &redfish.Error{Kind: redfish.Unreachable, Status: http.StatusServiceUnavailable},
		"Malformed": &redfish.Error{Kind: redfish.Protocol},
		"Forbidden": &redfish.Error{Kind: redfish.Forbidden, Status: http.StatusForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			v, j, calls := view{want: want{leaving: true}}, journal{Push: pushRecord{ID: "1", Digest: secretDigest("s")}}, 0
			for range 100 {
				st := beginPush(v, j)
				if st.idle() {
					break
				}
				if j = *st.journal; st.do == actNone {
					continue
				}
				calls++
				_, failure := performPush(t.Context(), &external{want: v.want, pushRecord: j.Push}, blindBMC{err: err}, redfish.System{}, *j.Act)
				if j = *j.with(pushFailed(v, *j.Act, failure)); j.pending() {
					j = *resumePush(v, j).journal
				}
			}
			if left := j.left(); calls > 30 || !beginPush(v, j).idle() || len(left) != 1 {
				t.Errorf("it was asked %d times, and is left: %v", calls, left)
			}
		})
	}
}
