package redfishhost

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/gate"
)

// TestGone: of a host that there isn't any more nothing is remembered, and of another one all.
func TestGone(t *testing.T) {
	gates := newReaders()
	close(gates.open)
	c := NewConnector(Options{Gates: gates, Kube: kubeWith(t, enrolled(&journal{}), interceptor.Funcs{}), Now: func() time.Time { return t0 }})
	t.Cleanup(c.Stop)
	remembered := func() []int {
		return []int{
			len(c.inventories.of), len(c.tallies.of), len(c.watch.laps), len(c.postponed.hosts), len(c.biosLooks.taken), len(c.secureBootLooks.taken),
			len(c.mediaLooks.taken), len(c.rotationLooks.taken), len(c.counted.of), len(c.inventories.barred),
		}
	}
	var hosts []*v1alpha1.RedfishHost
	for _, name := range []string{"a", "b"} {
		h := &v1alpha1.RedfishHost{ObjectMeta: metav1.ObjectMeta{Namespace: "infra", Name: name, UID: types.UID(name)}}
		s := systemOf(name)
		c.inventories.refresh(h, s, gate.Target{Config: redfish.Config{Address: "10.0.0.1"}}, time.Hour, false)
		c.tallies.look(h, true)
		c.watch.start(h.GetUID(), act{Action: actPowerOn, Time: t0})
		c.watch.start(restOf(h.GetUID(), actSetBoot), act{Action: actSetBoot, Time: t0})
		c.postponed.note(h.GetUID(), true)
		c.biosLooks.put(glance{host: h.GetUID()}, nil)
		c.secureBootLooks.put(glance{host: h.GetUID()}, nil)
		c.mediaLooks.put(glance{host: h.GetUID()}, nil)
		c.rotationLooks.put(glance{host: h.GetUID()}, nil)
		c.counted.put(h.GetUID())
		c.inventories.bar(h.GetUID(), true)
		hosts = append(hosts, h)
	}
	c.Settle()
	for left, h := range []*v1alpha1.RedfishHost{hosts[1], hosts[0]} {
		c.Gone(h)
		c.Gone(h)
		for i, n := range remembered() {
			want := 1 - left
			if i == 2 {
				want *= 2 // Its act, and what rests.
			}
			if n != want {
				t.Errorf("%d of %d hosts are gone: map %d has %d entries, want %d", left+1, len(hosts), i, n, want)
			}
		}
	}
}

// forgetful counts log-outs, and certificates that aren't trusted any more.
type forgetful struct {
	Gatekeeper

	n, distrusted *int
}

func (f forgetful) Distrust(string) { *f.distrusted++ }

func (f forgetful) Forget(context.Context, string) error {
	*f.n++

	return nil
}

// TestLeave: the session is closed with the last host of a BMC, and the others go on with theirs. The certificate that was trusted on first use is
// forgotten with it, unless any other host names that BMC.
func TestLeave(t *testing.T) {
	going, now := sharing("c", "10.0.0.1"), metav1.NewTime(t0)
	going.DeletionTimestamp, going.Finalizers = &now, []string{"x"}
	for reason, tc := range map[string]struct {
		other *v1alpha1.RedfishHost
		want  int
		pin   int
	}{
		"Another BMC's.":      {other: sharing("b", "10.0.0.2"), want: 1, pin: 1},
		"One that goes, too.": {other: going, want: 1},
		"One that goes on.":   {other: sharing("b", "10.0.0.1")},
	} {
		h := sharing("a", "10.0.0.1")
		e, _ := lookingAt(t, h, tc.other)
		n, distrusted := 0, 0
		e.connector.Gates = forgetful{n: &n, distrusted: &distrusted}
		e.leave(t.Context(), h)
		if n != tc.want || distrusted != tc.pin {
			t.Errorf("%s\n%d log-outs, want %d; %d certificates are forgotten, want %d", reason, n, tc.want, distrusted, tc.pin)
		}
	}
}

// TestPausedHost: for a host that is paused nobody listens to its BMC, though a look was under way, and nothing is read beside the looks; once it
// isn't any more, the next look begins anew.
func TestPausedHost(t *testing.T) {
	f := &fakeStreams{listen: func(ctx context.Context, _ func(), _ func(int)) error {
		<-ctx.Done()

		return ctx.Err()
	}}
	c := NewConnector(Options{Gates: f, Kube: kubeWith(t, enrolled(&journal{}), interceptor.Funcs{}), Now: func() time.Time { return t0 }, EventPause: time.Millisecond})
	t.Cleanup(c.Stop)
	h, other := hostAt("a", "10.0.0.1"), hostAt("b", "10.0.0.1")
	look := func(h *v1alpha1.RedfishHost) { c.streams.refresh(h, targetAt("10.0.0.1", string(h.UID))) }
	look(h)
	look(other)
	until(t, "it's listened to", func() bool { return len(f.opened()) == 1 })
	c.Paused(h, true)
	look(h)
	if s := c.streams.of[c.streams.at["b"]]; len(c.streams.at) != 1 || s == nil || s.owner != "" {
		t.Errorf("hosts that are listened for: %v, by %+v", c.streams.at, s)
	}
	look(other)
	until(t, "the other host's settings are used", func() bool { return len(f.opened()) == 2 })
	c.Paused(h, false)
	look(h)
	if len(c.streams.at) != 2 {
		t.Errorf("it isn't paused any more: %v", c.streams.at)
	}
	c.Paused(h, true)
	c.Gone(h)
	if len(c.streams.barred) != 0 {
		t.Errorf("kept %v", c.streams.barred)
	}
}
