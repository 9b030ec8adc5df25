package controller

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/leaderelection"
	ctrl "sigs.k8s.io/controller-runtime"
)

// elect takes part in an election until the returned function is called, which gives the lease back.
func elect(t *testing.T, l *lease) (leads <-chan struct{}, end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	elected, ended := make(chan struct{}), make(chan struct{})
	e, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: l.lock, LeaseDuration: 3 * time.Second, RenewDeadline: 2 * time.Second, RetryPeriod: 50 * time.Millisecond, ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) { close(elected) }, OnStoppedLeading: func() {}},
	})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(ended)
		e.Run(ctx)
	}()
	end = func() {
		cancel()
		<-ended
	}
	t.Cleanup(end)
	return elected, end
}

// TestLease: of two providers with one lease each knows where the one that leads takes webhooks, and when that is the other one.
func TestLease(t *testing.T) {
	kube := fake.NewClientset()
	now := time.Now()
	provider := func(at string) *lease {
		l, err := leaseOf(kube.CoordinationV1(), "crossplane-system", at)
		if err != nil {
			t.Fatal(err)
		}
		l.now = func() time.Time { return now }
		return l
	}
	first, second := provider("10.244.0.7:9444"), provider("[fd00::8]:9444")
	if first.lock.Identity() == provider("10.244.0.7:9444").lock.Identity() {
		t.Error("two that have one address, one after the other, are one")
	}
	led := func(reason, want string) {
		t.Helper()
		now = now.Add(leaderFor)
		for _, l := range []*lease{first, second} {
			if got, err := l.leader(t.Context()); err != nil || got != want {
				t.Errorf("%s: %q, %v, want %q", reason, got, err, want)
			}
		}
	}
	led("nobody was ever elected", "")
	leads, end := elect(t, first)
	<-leads
	led("the first one leads", "10.244.0.7:9444")
	follows, _ := elect(t, second)
	led("still", "10.244.0.7:9444")
	end()
	<-follows
	if got, err := first.leader(t.Context()); err != nil || got != "10.244.0.7:9444" {
		t.Errorf("it's asked once a second: %q, %v", got, err)
	}
	led("it has gone", "[fd00::8]:9444")
	kube.PrependReactor("get", "leases", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, errors.New("boom") })
	now = now.Add(leaderFor)
	if _, err := first.leader(t.Context()); err == nil {
		t.Error("an API server that is away says nothing")
	}
}

func TestTakesAt(t *testing.T) {
	cases := map[string]struct{ reason, holder, want string }{
		"Known":  {"a provider's", "provider-7d9_0b1e_10.244.0.7:9444", "10.244.0.7:9444"},
		"IPv6":   {"of another family", "provider-7d9_0b1e_[fd00::8]:9444", "[fd00::8]:9444"},
		"Older":  {"one of a version that doesn't say it, or that takes none", "provider-7d9_0b1e", ""},
		"None":   {"nobody's", "", ""},
		"Anyone": {"a name isn't where anything is sent", "provider_0b1e_netbox.example:80", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := takesAt(tc.holder); got != tc.want {
				t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestReachable(t *testing.T) {
	kube := &rest.Config{Host: "https://127.0.0.1:6443"}
	cases := map[string]struct {
		reason, listen string
		kube           *rest.Config
		want           string
	}{
		"All":      {"by the address that this host has for the API server, unless that is loopback: there each host finds itself", ":9444", kube, ""},
		"Any":      {"said at length", "0.0.0.0:9444", kube, ""},
		"Any6":     {"and for both families", "[::]:9444", &rest.Config{Host: "127.0.0.1"}, ""},
		"One":      {"where it listens on one, that", "192.0.2.7:9444", kube, "192.0.2.7:9444"},
		"OneHost":  {"also where all providers are on one host", "127.0.0.1:9444", kube, "127.0.0.1:9444"},
		"Nonsense": {"nowhere", "9444", kube, ""},
		"NoServer": {"nobody knows", ":9444", &rest.Config{Host: "https://%"}, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := reachable(t.Context(), tc.listen, tc.kube)
			if got != tc.want || (err == nil) != (tc.want != "") {
				t.Errorf("%s: %q, %v, want %q", tc.reason, got, err, tc.want)
			}
		})
	}
}

// TestShown: an address of this host's is told with its port.
func TestShown(t *testing.T) {
	for own, want := range map[string]string{"10.244.0.7": "10.244.0.7:9444", "fd00::8": "[fd00::8]:9444", "127.0.0.1": "", "::1": ""} {
		if got, err := shown(netip.MustParseAddr(own), "9444"); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v, want %q", own, got, err, want)
		}
	}
}

// TestLeaseHangs: an API server that hangs, or is away, is asked once a second, however many deliveries come, and keeps nobody longer than he has
// time for.
func TestLeaseHangs(t *testing.T) {
	kube := fake.NewClientset()
	l, err := leaseOf(kube.CoordinationV1(), "crossplane-system", "")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	l.now = func() time.Time { return now }
	var asked atomic.Int32
	asking, answer := make(chan struct{}, 1), make(chan struct{})
	kube.PrependReactor("get", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
		asked.Add(1)
		asking <- struct{}{}
		<-answer
		return true, nil, errors.New("boom")
	})
	first := make(chan error)
	go func() {
		_, err := l.leader(t.Context())
		first <- err
	}()
	<-asking
	hurried, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.leader(hurried); !errors.Is(err, context.Canceled) {
		t.Errorf("who has no time waits: %v", err)
	}
	close(answer)
	if err := <-first; err == nil {
		t.Error("it said nothing")
	}
	for range 3 {
		if _, err := l.leader(t.Context()); err == nil || asked.Load() != 1 {
			t.Errorf("what was answered is gone by: %v, asked %d times", err, asked.Load())
		}
	}
	now = now.Add(leaderFor)
	if _, err := l.leader(t.Context()); err == nil || asked.Load() != 2 {
		t.Errorf("a while later it's asked again: %v, asked %d times", err, asked.Load())
	}
}

// TestNewLease: who takes no webhooks, or works alone, has nothing to say in a lease.
func TestNewLease(t *testing.T) {
	s := Settings{Log: silent(), Kube: &rest.Config{Host: "https://127.0.0.1:6443"}, Namespace: "crossplane-system", LeaderElection: true, NetBoxWebhookAddress: "192.0.2.7:9444"}
	l, err := newLease(t.Context(), s)
	if err != nil || !strings.HasSuffix(l.lock.Identity(), "_192.0.2.7:9444") || l.lock.LeaseMeta.Name != leaderElectionID || l.lock.LeaseMeta.Namespace != "crossplane-system" {
		t.Errorf("%v, %+v", err, l)
	}
	if s.Kube.Timeout != 0 {
		t.Error("only what is asked of leases must be answered so soon")
	}
	s.NetBoxWebhookAddress, s.RedfishEventsAddress = "", "192.0.2.7:9445"
	if of, err := newLease(t.Context(), s); err != nil || !strings.HasSuffix(of.lock.Identity(), "_192.0.2.7:9445") {
		t.Errorf("who takes BMCs' events alone: %v, %+v", err, of)
	}
	s.NetBoxWebhookAddress, s.RedfishEventsAddress = s.RedfishEventsAddress, ""
	o := ctrl.Options{}
	l.into(&o)
	if o.LeaderElectionResourceLockInterface != l.lock {
		t.Error("the manager isn't elected by it")
	}
	for _, less := range []func(*Settings){func(s *Settings) { s.LeaderElection = false }, func(s *Settings) { s.NetBoxWebhookAddress = "" }} {
		s := s
		less(&s)
		l, err := newLease(t.Context(), s)
		if l != nil || err != nil {
			t.Errorf("%v, %v", l, err)
		}
		o := ctrl.Options{}
		l.into(&o)
		if o.LeaderElectionResourceLockInterface != nil {
			t.Error("the manager has a lock of its own then")
		}
	}
}
