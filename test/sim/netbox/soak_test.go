package netbox_test

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kubefake "sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

const (
	soakSeed = 20261122
	// soakTotal resources are made, of which one in soakKeeps stays; soakTogether at a time are under way, in soakWorkers threads.
	soakTotal    = 2250
	soakKeeps    = 12
	soakTogether = 48
	soakWorkers  = 16
	// soakPatience is after how long it's given up: some twenty times what it takes, as a busy machine may need it.
	soakPatience = 15 * time.Minute
	// soakTick is how far the clock goes on by itself in soakTicks: what NetBox asks for in seconds of pause is over in a twentieth of that.
	soakTick, soakTicks = 100 * time.Millisecond, 5 * time.Millisecond
)

// A soak is a long life of addresses in a bad world: real reconcilers between an API server and a NetBox that both fail.
type soak struct {
	t      *testing.T
	netbox *netbox.Server
	kube   client.WithWatch
	config config.NetBox
	chaos  *chaos
	past   past
	told   tellings
	now    atomic.Int64
	start  time.Time
	// elsewhere is a host that NetBox redirects to, and visits how often somebody came.
	elsewhere string
	visits    atomic.Int64

	mu        sync.Mutex
	processes []*process
	lives     map[string]*life
	made      int
	released  int
	kept      int
	over      chan struct{}
	jobs      chan string
	given     bool
	faults    []func()
	// lags says of how many reads one lags just now; 0: none does.
	lags int
	// looks that were made, lives that were parked, and those that ended while two providers ran; idle is what threads had nothing to do.
	looks, parked, shared int
	idle                  time.Duration
	// left are looks that nobody waited for.
	left sync.WaitGroup
}

// A life is what becomes of one resource.
type life struct {
	keep bool
	// patience is after how many looks it's deleted though it isn't Ready.
	patience int
	looks    int
	// parked is a life that only waits for what may come late, and has given its place to another.
	parked bool
	// ready says that it was, at some time, and shared that two providers at once looked at it.
	ready, shared bool
	// stroke is what becomes of it where somebody deleted its record in NetBox.
	stroke stroke
}

// clock goes on by a bit at each look, and by itself: what waits for a while is tried again soon.
func (k *soak) clock() time.Time { return k.start.Add(time.Duration(k.now.Load())) }

// TestSoak makes and releases thousands of addresses while the provider is killed at random points, two of it run at once for a while,
// and NetBox and the API server fail in every way that is known: reads lag behind for a while, and people delete records in NetBox. In the end there
// is one record for each resource and none else, but for those whose records were deleted and who say so; no address and no marker twice, at any time,
// and what strangers have is as it was.
func TestSoak(t *testing.T) {
	k := newSoak(t)
	strangers := k.strangers()
	k.run()
	k.settle()
	k.checkStruck(k.check(strangers))
	k.checkTold()
	k.checkMet()
	t.Logf("%d resources, %d allocations, %d released, %d kept; %d requests; %d looks, %d parked, %d ended by one of two providers; threads were idle for %s%s",
		k.made, k.netbox.Made("provider"), k.released, k.kept, len(k.netbox.Requests()), k.looks, k.parked, k.shared, k.idle.Round(time.Second/10), k.chaos.table(k.netbox))
}

func newSoak(t *testing.T) *soak {
	t.Helper()
	k := &soak{
		t: t, chaos: newChaos(soakSeed), start: time.Now(), lives: map[string]*life{}, over: make(chan struct{}), jobs: make(chan string, 4*soakTotal),
		past: past{all: map[string]history{}, addresses: newAddresses()}, told: tellings{all: map[telling]int{}, last: map[telling]string{}},
	}
	k.netbox = netbox.New(netbox.Options{Version: "4.6.8"})
	k.netbox.AddToken(netbox.Token{Name: "provider", Secret: secret})
	k.netbox.AddMarkerField(field)
	k.netbox.AddTag(netbox.Named{Name: "Nodes", Slug: "nodes"})
	for _, p := range []string{"10.80.0.0/24", "10.80.1.0/29", "10.80.2.0/23", "10.80.16.0/20", "2001:db8:80::/64"} {
		k.netbox.AddCIDR(p)
	}
	if err := k.netbox.Start(""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = k.netbox.Close() })
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { k.visits.Add(1) }))
	t.Cleanup(other.Close)
	k.elsewhere = other.URL + "/api/ipam/ip-addresses/"
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	k.kube = kubefake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&v1alpha1.NetBoxIPAddress{}).WithInterceptorFuncs(k.past.funcs()).Build()
	k.config.Ref = config.Ref{Kind: v1alpha1.ClusterProviderConfigKind, Name: "netbox"}
	k.config.UID, k.config.Token, k.config.SecretVersion = "cfg", secret, "1"
	k.config.Config = v1alpha1.NetBoxConfig{URL: k.netbox.URL(), MarkerField: field}
	k.processes = []*process{k.newProcess()}
	return k
}

// make adds the next resource, if one is left to be made.
func (k *soak) make() {
	k.mu.Lock()
	n := k.made
	if n == soakTotal {
		k.mu.Unlock()
		return
	}
	k.made++
	name := "n-" + strconv.Itoa(n)
	l := &life{keep: n%soakKeeps == 0, patience: 1000}
	if n%4 == 1 {
		l.patience = 1 + k.chaos.pick(4)
	}
	k.lives[name] = l
	k.mu.Unlock()
	mg := &v1alpha1.NetBoxIPAddress{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name, UID: types.UID("uid-" + name), Generation: 1}}
	mg.Spec.ForProvider = k.spec(n)
	if n%4 != 0 { // Else it isn't known to be of this NetBox but by its log.
		mg.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: k.config.Kind, Name: k.config.Name}
	}
	mg.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionAll}
	if err := k.kube.Create(k.t.Context(), mg); err != nil {
		k.t.Error(err)
	}
	k.jobs <- name
}

// run lives through the bad times.
func (k *soak) run() {
	for range soakTogether {
		k.make()
	}
	var wg sync.WaitGroup
	late := time.After(soakPatience)
	for range soakWorkers {
		wg.Go(k.work)
	}
	wg.Go(func() {
		tick := time.NewTicker(soakTicks)
		defer tick.Stop()
		for {
			select {
			case <-k.over:
				return
			case <-tick.C:
				k.now.Add(int64(soakTick))
			case <-late:
				k.giveUp()
			}
		}
	})
	wg.Wait()
	k.left.Wait()
}

// work looks at whatever is to be looked at.
func (k *soak) work() {
	for {
		since := time.Now()
		select {
		case <-k.over:
			return
		case name := <-k.jobs:
			idle := time.Since(since)
			k.mu.Lock()
			k.idle += idle
			k.mu.Unlock()
			k.look(name)
		}
	}
}

// giveUp tells what doesn't come to its end.
func (k *soak) giveUp() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.released+k.kept == soakTotal {
		return // Just in time.
	}
	k.t.Errorf("only %d of %d have come to their ends after %s", k.released+k.kept, soakTotal, soakPatience)
	for name, l := range k.lives {
		if mg := k.get(name); mg != nil && !l.keep {
			k.t.Logf("%s after %d looks: deleted %v, %+v", name, l.looks, mg.DeletionTimestamp, mg.Status.Conditions)
		}
	}
	k.given = true
	close(k.over)
}

// look lets a provider look at one resource, and does what its owner does then.
func (k *soak) look(name string) {
	k.now.Add(int64(500 * time.Millisecond))
	if k.chaos.chance(0.11) {
		remove := k.chaos.inject(k.netbox, k.elsewhere)
		k.mu.Lock()
		k.faults = append(k.faults, remove)
		k.mu.Unlock()
	}
	k.reconcile(name)
	mg := k.get(name)
	k.mu.Lock()
	l := k.lives[name]
	l.looks++
	l.ready = l.ready || mg != nil && ready(mg)
	k.looks++
	impatient := l.looks >= l.patience
	k.mu.Unlock()
	switch {
	case mg == nil:
		if k.chaos.chance(ghostChance) {
			k.reconcile(name)
		}
		k.done(l, &k.released)
		return
	case ready(mg) && k.strike(l, mg), k.endures(l, mg) && (!impatient || l.keep):
	case l.keep && mg.DeletionTimestamp == nil && l.holds(mg):
		k.done(l, &k.kept)
		return
	case mg.DeletionTimestamp == nil && !l.keep && (impatient || l.holds(mg)):
		if err := k.kube.Delete(k.t.Context(), mg); err != nil && !kerrors.IsNotFound(err) {
			k.t.Error(err)
		}
	}
	if until := waitsUntil(mg); !until.IsZero() {
		k.park(name, l, until)
		return
	}
	k.jobs <- name
}

// done counts a life that has come to its end, and begins another, unless that was begun when it was parked.
func (k *soak) done(l *life, counter *int) {
	k.mu.Lock()
	*counter++
	if len(k.processes) > 1 {
		k.shared++
	}
	all := k.released+k.kept == soakTotal && !k.given
	k.mu.Unlock()
	if all {
		close(k.over)
		return
	}
	if !l.parked {
		k.make()
	}
}

func (k *soak) get(name string) *v1alpha1.NetBoxIPAddress {
	mg := &v1alpha1.NetBoxIPAddress{}
	err := k.kube.Get(k.t.Context(), types.NamespacedName{Namespace: "team-a", Name: name}, mg)
	if kerrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		k.t.Error(err)
	}
	return mg
}
