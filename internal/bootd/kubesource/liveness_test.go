package kubesource

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

func beat(t *testing.T, s *Source, tb *tables) {
	t.Helper()
	if err := s.heartbeat(t.Context(), tb); err != nil {
		t.Fatal(err)
	}
}

// TestAfterAnOutage: while the API was away no bootd was heard. What comes back may be an etcd from before a consumption that
// one of them knows of, so that their silence mustn't count.
func TestAfterAnOutage(t *testing.T) {
	c := &clock{now: t0()}
	s := newSource(t, &log{}, c)
	tb := listed(t, s, "1", []any{bootSession("1", "g")}, []any{bootServer("b", t0(), "0"), bootServer("c", t0(), "1")})
	steps := []struct {
		reason string
		do     func()
		want   bool
	}{
		{"another bootd is live and lags", func() { beat(t, s, tb) }, false},
		{"the API is away: its own word is too old", func() { c.add(liveFor) }, false},
		{"it's back, and the other one hasn't been heard yet", func() { beat(t, s, tb) }, false},
		{"nor a moment later", func() { c.add(liveFor - time.Second); beat(t, s, tb) }, false},
		{"the other one was silent with the API there: it's gone", func() { c.add(time.Second) }, true},
	}
	for _, x := range steps {
		x.do()
		if got := s.Synced(plan()); got != x.want {
			t.Errorf("%s: synced is %t", x.reason, got)
		}
	}
}

func TestBeforeTheFirstHeartbeat(t *testing.T) {
	s := newSource(t, &log{}, &clock{now: t0()})
	listed(t, s, "100", []any{bootSession("100", "g")}, nil)
	s.beaten = time.Time{}
	if s.Synced(plan()) {
		t.Error("whether the revisions went back isn't known before")
	}
}

// TestTwins: two bootds of one name take each other's record for their own.
func TestTwins(t *testing.T) {
	c := &clock{now: t0()}
	s := newSource(t, &log{}, c)
	tb := listed(t, s, "1", nil, nil)
	read := func() *v1alpha1.BootServer {
		t.Helper()
		b := &v1alpha1.BootServer{}
		if err := s.o.Kube.Get(t.Context(), client.ObjectKey{Namespace: "baremetal-boot", Name: "self"}, b); err != nil {
			t.Fatal(err)
		}
		return b
	}
	for range 3 {
		beat(t, s, tb)
		c.add(time.Second)
	}
	s.wrote = append(s.wrote, metav1.NewMicroTime(c.get())) // One that was tried and never arrived.
	beat(t, s, tb)
	if m := read().Status.Message; m != "" || !s.connected(c.get()) {
		t.Fatalf("alone it recognises itself: %q", m)
	}
	other := read()
	at := metav1.NewMicroTime(c.get().Add(time.Millisecond))
	other.Status.LastSeen = &at
	if err := s.o.Kube.UpdateStatus(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	beat(t, s, tb)
	if m := read().Status.Message; !strings.Contains(m, "the same name") || s.connected(c.get()) {
		t.Errorf("another one writes its record: %q, connected %t", m, s.connected(c.get()))
	}
	c.add(liveFor)
	beat(t, s, tb)
	if m := read().Status.Message; m != "" || !s.connected(c.get()) {
		t.Errorf("it heals when the other one is gone: %q", m)
	}
	if s.Synced(&boot.Plan{}) {
		t.Error("without a session nothing is synced")
	}
}

// TestPeers: who is live on a network, as far as is known now.
func TestPeers(t *testing.T) {
	c := &clock{now: t0()}
	s := newSource(t, &log{}, c)
	elsewhere := bootServer("d", t0(), "1")
	elsewhere.Status.Networks[0].Name = "other"
	tb := listed(t, s, "1", nil, []any{bootServer("b", t0(), "0"), bootServer("c", t0(), "1"), elsewhere, bootServer("self", t0(), "1")})
	peers := func() []string {
		names := s.Peers(plan().Network.Name)
		slices.Sort(names)
		return names
	}
	if diff := cmp.Diff([]string{"baremetal-boot/b", "baremetal-boot/c"}, peers()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	c.add(liveFor - time.Second)
	if err := tb.servers.Update(bootServer("c", t0().Add(time.Second), "1")); err != nil {
		t.Fatal(err)
	}
	beat(t, s, tb)
	c.add(2 * time.Second)
	if diff := cmp.Diff([]string{"baremetal-boot/c"}, peers()); diff != "" {
		t.Errorf("one is silent: -want +got:\n%s", diff)
	}
	c.add(liveFor)
	if got := peers(); got != nil {
		t.Errorf("the API is away, and nobody waits for anybody: %v", got)
	}
}

// TestDraining: a bootd that is stopping says so in its next heartbeat, which comes at once.
func TestDraining(t *testing.T) {
	s := newSource(t, &log{}, &clock{now: t0()})
	tb := listed(t, s, "1", nil, nil)
	s.o.Warning = "its snapshot was damaged"
	if got := s.status(tb, 1).Message; got != s.o.Warning {
		t.Errorf("%q", got)
	}
	s.Drain()
	if len(s.beat) != 1 {
		t.Error("the next heartbeat takes its time")
	}
	if got := s.status(tb, 1).Message; !strings.HasPrefix(got, "Draining") {
		t.Errorf("%q", got)
	}
}

// TestDrainingPeer: two bootds that stop at once don't leave a machine to each other.
func TestDrainingPeer(t *testing.T) {
	s := newSource(t, &log{}, &clock{now: t0()})
	stopping := bootServer("b", t0(), "1")
	stopping.Status.Message = draining + ": this bootd is stopping"
	listed(t, s, "1", nil, []any{stopping, bootServer("c", t0(), "1"), bootServer("self", t0(), "1")})
	if diff := cmp.Diff([]string{"baremetal-boot/c"}, s.Peers(plan().Network.Name)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// TestCompany: who may have lent addresses: who is stopping too, and for a moment after a network came whoever is live.
func TestCompany(t *testing.T) {
	c := &clock{now: t0()}
	s := newSource(t, &log{}, c)
	network, later := plan().Network.Name, boot.Name{Namespace: "infra", Name: "later"}
	stopping := bootServer("b", t0(), "1")
	stopping.Status.Message = draining + ": this bootd is stopping"
	tb := listed(t, s, "1", nil, []any{stopping, bootServer("self", t0(), "1")})
	want := func(reason string, of boot.Name, names []string, sure bool) {
		t.Helper()
		if got, is := s.Company(of); !slices.Equal(got, names) || is != sure {
			t.Errorf("%s: %v, %t", reason, got, is)
		}
	}
	b := []string{"baremetal-boot/b"}
	s.state.Store(nil)
	want("before anything is known", network, nil, false)
	st := boot.NewState([]boot.Segment{{Name: network}}, nil, nil)
	s.networksCame(st)
	s.state.Store(st)
	want("who is stopping has lent what may still be had", network, b, true)
	if got := s.Peers(network); len(got) != 0 {
		t.Errorf("and offers nothing: %v", got)
	}
	want("who doesn't serve a network hasn't", later, nil, true)
	for len(s.beat) > 0 {
		<-s.beat
	}
	s.networksCame(boot.NewState([]boot.Segment{{Name: network}, {Name: later}}, nil, nil))
	want("whether it serves a network that has just come isn't known", later, b, true)
	if len(s.beat) != 1 {
		t.Error("others aren't told of the network")
	}
	c.add(liveFor - 1)
	beat(t, s, tb)
	c.add(1)
	want("later it would have said so, and it's gone", later, nil, true)
	want("as it is from the other", network, nil, true)
	c.add(liveFor)
	want("while the API isn't reached nobody knows", network, nil, false)
}
