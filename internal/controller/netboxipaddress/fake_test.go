package netboxipaddress

import (
	"context"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kubefake "sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
)

const (
	testField = "crossplane_claim"
	ours      = "c1/team-a/web-1/u1"
)

// A fakeNetBox has records and prefixes, fails where fail says so, and writes down the calls.
type fakeNetBox struct {
	// displaced is what Displaced tells; nil: nothing.
	displaced *netbox.IPAddress

	field    netbox.FieldState
	prefixes []netbox.Parent
	ranges   []netbox.Parent
	// masks says that it takes Request.PrefixLength, as 4.5.1 and later do.
	masks bool
	// loose says that it takes several records of one address.
	loose   bool
	vrfs    []netbox.VRF
	records []netbox.IPAddress
	// seen is what a look at all records showed, some time ago.
	seen []netbox.IPAddress
	full []int64
	fail map[string]error
	// lose makes the named call take effect and fail all the same.
	lose map[string]error
	// drops are custom fields that it doesn't know, and says nothing about.
	drops []string
	calls []string
	rack  rack
	// untagged says that it knows no tag, and refuses each.
	untagged bool
	// veiled are the markers of records that it doesn't show.
	veiled []string
	// date is what its clock shows; the zero time: it doesn't tell.
	date time.Time
	// onPatch happens before a PATCH does, and may refuse it; nil does nothing.
	onPatch func() error
}

func kind(k netbox.Kind) error { return &netbox.Error{Kind: k, Op: "do", Reason: "so"} }

func (f *fakeNetBox) call(name string) error {
	f.calls = append(f.calls, name)
	return f.fail[name]
}

// writes are the calls that change something.
func (f *fakeNetBox) writes() []string {
	var out []string
	for _, c := range f.calls {
		if slices.Contains([]string{"CreateMarkerField", "Allocate", "Create", "Patch", "Delete", "Seat", "Adopt", "EnsureReleaseField", "Release"}, c) {
			out = append(out, c)
		}
	}
	return out
}

func (f *fakeNetBox) Preflight(context.Context) (netbox.Preflight, error) {
	return netbox.Preflight{Field: f.field, Version: netbox.Version{Full: "4.6.8"}}, f.call("Preflight")
}

func (f *fakeNetBox) CreateMarkerField(context.Context) error {
	f.field = netbox.FieldReady
	return f.call("CreateMarkerField")
}

func (f *fakeNetBox) FindVRF(_ context.Context, ref netbox.VRFRef) (netbox.VRF, error) {
	if err := f.call("FindVRF"); err != nil {
		return netbox.VRF{}, err
	}
	for _, v := range f.vrfs {
		if ref.Matches(&v) {
			return v, nil
		}
	}
	return netbox.VRF{}, kind(netbox.KindNotFound)
}

func (f *fakeNetBox) Allocate(_ context.Context, p netbox.Parent, r netbox.Request) (netbox.IPAddress, error) {
	if err := f.call("Allocate"); err != nil {
		return netbox.IPAddress{}, err
	}
	if slices.Contains(f.full, p.ID) {
		return netbox.IPAddress{}, kind(netbox.KindFull)
	}
	a, bits := p.Prefix.Addr().Next(), p.Prefix.Bits()
	switch {
	case p.Kind == netbox.ParentRange:
		a = p.First
	case p.Pool:
		a = p.Prefix.Addr()
	}
	if f.masks && r.PrefixLength != 0 {
		bits = r.PrefixLength
	}
	for range f.records {
		a = a.Next()
	}
	return f.add(netip.PrefixFrom(a, bits), p.VRF, r, "Allocate")
}

func (f *fakeNetBox) Create(_ context.Context, address netip.Prefix, vrf *netbox.VRF, r netbox.Request) (netbox.IPAddress, error) {
	if err := f.call("Create"); err != nil {
		return netbox.IPAddress{}, err
	}
	for _, ip := range f.records {
		if ip.Address.Addr() == address.Addr() && !f.loose {
			return netbox.IPAddress{}, &netbox.Error{Kind: netbox.KindInvalid, Fields: []string{"address"}}
		}
	}
	return f.add(address, vrf, r, "Create")
}

func (f *fakeNetBox) add(a netip.Prefix, vrf *netbox.VRF, r netbox.Request, call string) (netbox.IPAddress, error) {
	for _, ip := range f.records {
		if ip.Marker(testField) == r.Marker {
			return netbox.IPAddress{}, kind(netbox.KindMarkerTaken)
		}
	}
	if r.Assigned != nil && edgeOf(a) != "" {
		return netbox.IPAddress{}, kind(netbox.KindMarkerTaken)
	}
	ip := record(int64(100+len(f.records)), a.String(), r.Marker)
	ip.VRF, ip.Status, ip.DNSName, ip.Tenant, ip.Assigned = vrf, r.Status, r.DNSName, r.Tenant, r.Assigned
	ip.Role, ip.Description, ip.Comments, ip.Tags = r.Role, r.Description, r.Comments, r.Tags
	maps.Copy(ip.CustomFields, r.CustomFields)
	f.records = append(f.records, ip)
	return ip, f.lose[call]
}

// Seen shows what records were when they were last put there.
func (f *fakeNetBox) Seen(_ context.Context, number int64, _ time.Duration) (netbox.IPAddress, bool, error) {
	if err := f.call("Seen"); err != nil {
		return netbox.IPAddress{}, false, err
	}
	for _, ip := range f.seen {
		if ip.ID == number {
			return ip, true, nil
		}
	}
	return netbox.IPAddress{}, false, nil
}

func (f *fakeNetBox) Get(_ context.Context, number int64) (netbox.IPAddress, error) {
	if err := f.call("Get"); err != nil {
		return netbox.IPAddress{}, err
	}
	for _, ip := range f.records {
		if ip.ID == number {
			return ip, nil
		}
	}
	return netbox.IPAddress{}, kind(netbox.KindNotFound)
}

func (f *fakeNetBox) FindByMarker(_ context.Context, marker string) (netbox.IPAddress, error) {
	if err := f.call("FindByMarker"); err != nil {
		return netbox.IPAddress{}, err
	}
	for _, ip := range f.records {
		if ip.Marker(testField) == marker {
			return ip, nil
		}
	}
	return netbox.IPAddress{}, kind(netbox.KindNotFound)
}

// Hides tells of those that are veiled.
func (f *fakeNetBox) Hides(_ context.Context, marker, _ string, _ map[string]any) (bool, error) {
	return slices.Contains(f.veiled, marker), f.call("Hides")
}

func (f *fakeNetBox) Patch(_ context.Context, ip netbox.IPAddress, p netbox.Patch) (netbox.IPAddress, error) {
	if err := f.call("Patch"); err != nil {
		return netbox.IPAddress{}, err
	}
	if f.onPatch != nil {
		if err := f.onPatch(); err != nil {
			return netbox.IPAddress{}, err
		}
	}
	i := slices.IndexFunc(f.records, func(r netbox.IPAddress) bool { return r.ID == ip.ID })
	if i < 0 {
		return netbox.IPAddress{}, kind(netbox.KindNotFound)
	}
	r := &f.records[i]
	at := r.Address
	if p.Address != nil {
		at = netip.MustParsePrefix(*p.Address)
	}
	if p.Assigned != nil && p.Assigned.ID != 0 && edgeOf(at) != "" {
		return netbox.IPAddress{}, kind(netbox.KindMarkerTaken)
	}
	if p.Address != nil && !f.loose && slices.ContainsFunc(f.records, func(o netbox.IPAddress) bool {
		return o.ID != ip.ID && o.Address.Addr() == netip.MustParsePrefix(*p.Address).Addr()
	}) {
		return netbox.IPAddress{}, &netbox.Error{Kind: netbox.KindInvalid, Fields: []string{"address"}}
	}
	if err := f.reassign(r, p.Assigned); err != nil {
		return netbox.IPAddress{}, err
	}
	for value, change := range map[*string]*string{
		&r.Status: p.Status, &r.Role: p.Role, &r.DNSName: p.DNSName, &r.Description: p.Description, &r.Comments: p.Comments, &r.Tenant: p.Tenant,
	} {
		if change != nil {
			*value = strings.TrimSpace(*change)
		}
	}
	if p.Tags != nil {
		r.Tags = p.Tags
	}
	if p.Address != nil {
		r.Address = netip.MustParsePrefix(*p.Address)
	}
	if p.VRF != nil {
		r.VRF = nil
		if *p.VRF != 0 {
			r.VRF = &netbox.VRF{ID: *p.VRF}
		}
	}
	r.CustomFields = maps.Clone(r.CustomFields)
	for name, v := range p.CustomFields {
		if !slices.Contains(f.drops, name) {
			r.CustomFields[name] = v
		}
	}
	return *r, f.lose["Patch"]
}

func record(id int64, address, marker string) netbox.IPAddress {
	return netbox.IPAddress{ID: id, Address: netip.MustParsePrefix(address), Status: "active", CustomFields: map[string]any{testField: marker}}
}

// newFake has one prefix with room, and the field.
func newFake() *fakeNetBox {
	return &fakeNetBox{
		field:    netbox.FieldReady,
		prefixes: []netbox.Parent{inPrefix(1, "10.77.0.0/24"), inPrefix(2, "10.78.0.0/24")},
		ranges:   []netbox.Parent{inRange(12, "10.77.0.100/24", "10.77.0.109/24")},
		vrfs:     []netbox.VRF{{ID: 3, Name: "prod"}},
		rack:     aRack(),
		fail:     map[string]error{}, lose: map[string]error{},
	}
}

// newAddress is a resource that wants an address of 10.77.0.0/24.
func newAddress(change ...func(*v1alpha1.NetBoxIPAddress)) *v1alpha1.NetBoxIPAddress {
	mg := &v1alpha1.NetBoxIPAddress{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "web-1", UID: types.UID("u1"), Generation: 1}}
	mg.Spec.ForProvider = v1alpha1.NetBoxIPAddressParameters{From: from("10.77.0.0/24"), Status: "active"}
	mg.SetProviderConfigReference(&xpv2.ProviderConfigReference{Kind: v1alpha1.ClusterProviderConfigKind, Name: "netbox"})
	for _, c := range change {
		c(mg)
	}
	return mg
}

func named(id string) func(*v1alpha1.NetBoxIPAddress) {
	return func(mg *v1alpha1.NetBoxIPAddress) { meta.SetExternalName(mg, id) }
}

// deleted is being deleted, after a Create was at least begun.
func deleted(mg *v1alpha1.NetBoxIPAddress) {
	now := metav1.Now()
	mg.SetDeletionTimestamp(&now)
	meta.SetExternalCreatePending(mg, now.Add(-time.Hour)) // What was asked for long ago has come, or never will.
}

func params(change func(*v1alpha1.NetBoxIPAddressParameters)) func(*v1alpha1.NetBoxIPAddress) {
	return func(mg *v1alpha1.NetBoxIPAddress) { change(&mg.Spec.ForProvider) }
}

// A harness is a connector of a fake NetBox, with a clock that stands.
type harness struct {
	*Connector

	netbox *fakeNetBox
	cfg    config.NetBox
	err    error
	now    time.Time
	points []string
	saw    []string
	events events
	due    []time.Time
	// crash is the failpoint at which the process ends.
	crash  string
	warned []string
}

// events are what people are told.
type events []string

// Event implements event.Recorder. That an address was taken is told to all who take one: TestAllocated looks at it.
func (e *events) Event(_ runtime.Object, v event.Event) {
	if v.Reason == "Allocated" {
		return
	}
	*e = append(*e, string(v.Reason)+": "+v.Message)
}

// WithAnnotations implements event.Recorder.
func (e *events) WithAnnotations(...string) event.Recorder { return e }

func newHarness(f *fakeNetBox) *harness {
	h := &harness{netbox: f, now: time.Unix(1000, 0)}
	h.cfg.Ref = config.Ref{Kind: v1alpha1.ClusterProviderConfigKind, Name: "netbox"}
	h.cfg.UID, h.cfg.SecretVersion = "cfg", "1"
	h.Connector = NewConnector(Options{
		Resolve:   func(context.Context, *v1alpha1.NetBoxIPAddress) (config.NetBox, error) { return h.cfg, h.err },
		Client:    func(config.Identity, netbox.Config) (NetBox, error) { return f, nil },
		Saw:       func(of config.Identity, version string) { h.saw = append(h.saw, string(of.UID)+" "+version) },
		Kube:      kubefake.NewClientBuilder().WithScheme(scheme()).WithObjects(hosts()...).Build(),
		Recorder:  &h.events,
		Warn:      func(of config.Identity, message string) { h.warned = append(h.warned, of.Name+": "+message) },
		ClusterID: "c1",
		Failpoint: func(name string) {
			h.points = append(h.points, name)
			if name == h.crash {
				panic(crashed(name))
			}
		},
		Due: func(at time.Time) { h.due = append(h.due, at) },
		Now: func() time.Time { return h.now },
	})
	return h
}

func (h *harness) connect(t *testing.T, mg *v1alpha1.NetBoxIPAddress) *external {
	t.Helper()
	c, err := h.Connect(t.Context(), mg)
	if err != nil {
		t.Fatal(err)
	}
	return c.(*external)
}

func scheme() *runtime.Scheme {
	s := runtime.NewScheme()
	_ = v1alpha1.AddToScheme(s)
	return s
}

// hosts are of infra: one bound to a claim of team-a, one of team-b; and one of team-a itself.
func hosts() []client.Object {
	host := func(namespace, name, claimant string) *v1alpha1.RedfishHost {
		h := &v1alpha1.RedfishHost{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"rack": "r7"}}}
		h.Spec.ForProvider.MACs = []string{"52:54:00:00:00:02"}
		if claimant != "" {
			h.Spec.ClaimRef = &v1alpha1.ClaimReference{Namespace: claimant, Name: "web-1", UID: "u"}
		}
		return h
	}
	two, both := host("infra", "two", "team-a"), host("infra", "both", "team-a")
	two.Spec.ForProvider.NetBoxDevice = &v1alpha1.NetBoxDevice{Name: "r7-u12"}
	two.Status.AtProvider.MACs = []v1alpha1.HostMAC{{Address: "52:54:00:00:00:01", Permanent: true}, {Address: "52:54:00:00:00:02", Permanent: true}}
	both.Spec.ForProvider.NetBoxDevice, both.Spec.ForProvider.MACs = two.Spec.ForProvider.NetBoxDevice, nil
	both.Status.AtProvider.MACs = two.Status.AtProvider.MACs
	odd := host("infra", "other", "team-a")
	odd.Spec.ForProvider.NetBoxDevice = &v1alpha1.NetBoxDevice{Name: "r7-u12"}
	odd.Status.AtProvider.Identity.Serial = "XYZ"
	return []client.Object{two, both, host("infra", "r7-u12", "team-a"), host("team-a", "r7-u13", "team-a"), host("infra", "r7-u13", "team-b"), host("team-a", "own", ""), odd}
}
