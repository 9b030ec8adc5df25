package netboxipaddress

import (
	"context"
	"errors"
	"maps"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kubefake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// holder is another resource, which says that it has an address by record 5.
func holder(edits ...edit) *v1alpha1.NetBoxIPAddress {
	mg := &v1alpha1.NetBoxIPAddress{}
	mg.Namespace, mg.Name, mg.UID = "team-b", "x", "y"
	mg.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: v1alpha1.ClusterProviderConfigKind, Name: "netbox"}
	mg.Status.AtProvider = v1alpha1.NetBoxIPAddressObservation{ID: 5, Address: "10.77.0.1/24", Marker: theirs}
	meta.SetExternalName(mg, "5")
	for _, e := range edits {
		e(mg)
	}
	return mg
}

// madeAgo is a resource whose Create ended then.
func madeAgo(ago time.Duration) edit {
	return func(mg *v1alpha1.NetBoxIPAddress) { meta.SetExternalCreateSucceeded(mg, time.Now().Add(-ago)) }
}

// askedAgo is one whose Create began then, and of which nobody has written down what came of it.
func askedAgo(ago time.Duration) edit {
	return func(mg *v1alpha1.NetBoxIPAddress) {
		meta.SetExternalCreatePending(mg, time.Now().Add(-ago))
		meta.AddAnnotations(mg, map[string]string{v1alpha1.AnnotationAsked: "a word"})
	}
}

// TestLoser: an address is another resource's whose record was deleted, and nobody's whose was released, whatever the cache says.
func TestLoser(t *testing.T) {
	errLive := errors.New("the API server is away")
	elsewhere := func(mg *v1alpha1.NetBoxIPAddress) {
		mg.Spec.ProviderConfigReference.Name, mg.Status.AtProvider.URL = "other", "https://other.example/ipam/ip-addresses/5/"
	}
	sameURL := func(mg *v1alpha1.NetBoxIPAddress) {
		elsewhere(mg)
		mg.Status.AtProvider.URL = "https://netbox.example/ipam/ip-addresses/5/"
	}
	own := func(mg *v1alpha1.NetBoxIPAddress) {
		sameURL(mg)
		mg.Spec.ProviderConfigReference.Kind = v1alpha1.ProviderConfigKind
	}
	otherField := record(5, "10.77.0.2/24", "")
	otherField.CustomFields["claim_too"] = theirs
	vip := params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.Role = new("vip") })
	shared := func(d v1alpha1.Duplicates, role string) edit {
		return params(func(p *v1alpha1.NetBoxIPAddressParameters) {
			p.From, p.Address, p.Duplicates, p.Role = nil, "10.77.0.1/24", d, &role
		})
	}
	const before = "c0/team-b/x/before"
	restored := func(mg *v1alpha1.NetBoxIPAddress) { mg.Status.AtProvider.Marker = before }
	observes := func(mg *v1alpha1.NetBoxIPAddress) { mg.Status.AtProvider.Marker = "c1/team-b/z/w" }
	deletion := []netbox.Change{{User: "alice", Before: map[string]any{"address": "10.77.0.1/24", "custom_fields": map[string]any{testField: theirs}}}}
	cases := map[string]struct {
		reason string
		// cached is what the cache has of it, and live what the API server has; nil is nothing.
		cached, live *v1alpha1.NetBoxIPAddress
		records      []netbox.IPAddress
		mg           []edit
		fails        error
		// changes are what NetBox's log has of the record, and unread is why that can't be read.
		changes   []netbox.Change
		unread    netbox.Kind
		want, err bool
	}{
		"Lost":       {reason: "its record is gone, and it's there", cached: holder(), live: holder(), want: true},
		"SameURL":    {reason: "by another provider config of the same NetBox", cached: holder(sameURL), live: holder(sameURL), want: true},
		"Released":   {reason: "it's gone, too, which the cache doesn't know yet", cached: holder()},
		"Ends":       {reason: "it's being deleted, which the cache doesn't know yet", cached: holder(), live: holder(deleted)},
		"Held":       {reason: "and its claim holds it, as its machine is on yet", cached: holder(), live: holder(deleted, heldByClaim), want: true},
		"Again":      {reason: "one of the same name was made since", cached: holder(), live: holder(func(mg *v1alpha1.NetBoxIPAddress) { mg.UID = "z" })},
		"Renumbered": {reason: "it has another record by now", cached: holder(), live: holder(named("6")), records: []netbox.IPAddress{record(6, "10.77.0.2/24", theirs)}},
		"RenumberedShown": {reason: "and says so", cached: holder(), live: holder(named("6"), func(mg *v1alpha1.NetBoxIPAddress) {
			mg.Status.AtProvider.ID = 6
		})},
		"Misnamed":     {reason: "somebody wrote a number that is no record's", cached: holder(), live: holder(named("999")), want: true},
		"MisnamedWord": {reason: "or no number", cached: holder(), live: holder(named("web-1")), want: true},
		"MisnamedOther": {
			reason: "or another one's", cached: holder(), live: holder(named("6")), want: true,
			records: []netbox.IPAddress{record(6, "10.77.0.2/24", "c1/team-b/z/w")},
		},
		"Unnamed":   {reason: "or took it off", cached: holder(), live: holder(named("")), want: true},
		"There":     {reason: "its record is there, with another address", cached: holder(), live: holder(), records: []netbox.IPAddress{record(5, "10.77.0.2/24", theirs)}},
		"Behind":    {reason: "it's shown with the address that was given: that is how it was", cached: holder(), live: holder(), records: []netbox.IPAddress{record(5, "10.77.0.1/24", theirs)}, err: true},
		"Reused":    {reason: "its number is another one's by now, as after a backup was restored", cached: holder(), live: holder(), records: []netbox.IPAddress{record(5, "10.77.0.2/24", "c1/team-b/z/w")}, want: true},
		"ReusedNow": {reason: "its number is that of the very record that was just made", cached: holder(), live: holder(), records: []netbox.IPAddress{record(5, "10.77.0.1/24", ours)}, want: true},
		"ReusedElsewhere": {reason: "its number is another one's in another NetBox, where numbers say nothing", cached: holder(elsewhere), live: holder(elsewhere), changes: deletion,
			records: []netbox.IPAddress{record(5, "10.77.0.2/24", "c1/team-b/z/w")}},
		"OtherField": {reason: "it's there, with another address, and its provider config marks another field", cached: holder(sameURL), live: holder(sameURL), records: []netbox.IPAddress{otherField}},
		"OtherFieldLogged": {reason: "a field that anybody may write says so", cached: holder(elsewhere), live: holder(elsewhere), changes: []netbox.Change{
			{User: "alice", Before: map[string]any{"custom_fields": map[string]any{"claim_too": theirs}}},
		}},
		"OtherFieldSame": {reason: "by this very provider config no other field has its marker", cached: holder(), live: holder(), records: []netbox.IPAddress{otherField}, want: true},
		"OtherVRF":       {reason: "of another table", cached: holder(func(mg *v1alpha1.NetBoxIPAddress) { mg.Status.AtProvider.VRF = &v1alpha1.VRFObservation{ID: 3} }), live: holder()},
		"Elsewhere":      {reason: "of another NetBox", cached: holder(elsewhere), live: holder(elsewhere)},
		"OtherName":      {reason: "of this one by another name, as its log says", cached: holder(elsewhere), live: holder(elsewhere), changes: deletion, want: true},
		"OtherRecord": {reason: "of another one, where this one deleted another's of the number", cached: holder(elsewhere), live: holder(elsewhere), changes: []netbox.Change{
			{User: "alice", Before: map[string]any{"custom_fields": map[string]any{testField: ours}}},
		}},
		"LogBehind": {reason: "it's gone, and by the log it's there", cached: holder(elsewhere), live: holder(elsewhere), err: true, changes: []netbox.Change{
			{User: "alice", After: map[string]any{"address": "10.77.0.1/24", "custom_fields": map[string]any{testField: theirs}}},
		}},
		"LogMoved": {reason: "by the log it isn't of this address", cached: holder(elsewhere), live: holder(elsewhere), changes: []netbox.Change{
			{User: "alice", After: map[string]any{"address": "10.77.0.2/24", "custom_fields": map[string]any{testField: theirs}}},
		}},
		"LogEmpty": {reason: "the log has nothing of it, and would by now", cached: holder(elsewhere, madeAgo(time.Hour)), live: holder(elsewhere)},
		"LogYoung": {reason: "a copy may be further behind than the record is old", cached: holder(elsewhere, madeAgo(time.Second)), live: holder(elsewhere), err: true},
		"LogYoungMoved": {reason: "and may have an older change", cached: holder(elsewhere, madeAgo(time.Second)), live: holder(elsewhere), err: true, changes: []netbox.Change{
			{User: "alice", After: map[string]any{"address": "10.77.0.2/24", "custom_fields": map[string]any{testField: theirs}}},
		}},
		"LogUnanswered": {reason: "nor is it known when it was made whose POST was never answered", cached: holder(elsewhere, askedAgo(time.Minute)), live: holder(elsewhere), err: true},
		"LogStrange": {reason: "a newer NetBox may say more of what's gone", cached: holder(elsewhere), live: holder(elsewhere), want: true, changes: []netbox.Change{
			{Action: "delete", Before: deletion[0].Before, After: map[string]any{"quantum_state": "up"}},
		}},
		"LogUnreadable": {reason: "what can't be read says nothing", cached: holder(elsewhere), live: holder(elsewhere), err: true, changes: []netbox.Change{
			{Before: deletion[0].Before, After: map[string]any{"quantum_state": "up"}},
		}},
		"LogLarge": {reason: "its custom fields are too many to be decoded with it", cached: holder(elsewhere), live: holder(elsewhere), want: true, changes: []netbox.Change{
			{User: "alice", Before: map[string]any{"custom_fields": netbox.Undecoded(`{"` + testField + `":"` + theirs + `"}`)}},
		}},
		"Unlogged":      {reason: "nobody may read the log", cached: holder(elsewhere), live: holder(elsewhere), changes: deletion, unread: netbox.KindForbidden},
		"Unread":        {reason: "the log can't be read just now", cached: holder(elsewhere), live: holder(elsewhere), unread: netbox.KindServerError, err: true},
		"Foreign":       {reason: "whoever answers a namespace's own provider config says which page it is", cached: holder(own), live: holder(own)},
		"ForeignLogged": {reason: "this NetBox's own log says so, too", cached: holder(own), live: holder(own), changes: deletion, want: true},
		"Observed":      {reason: "which never was its own", cached: holder(func(mg *v1alpha1.NetBoxIPAddress) { mg.Status.AtProvider.Marker = "" }), live: holder()},
		"Shared":        {reason: "several may have it", cached: holder(), live: holder(), mg: []edit{shared(v1alpha1.DuplicatesAllow, "")}},
		"SharedRole":    {reason: "both have a role that addresses share, and it's said that they may", cached: holder(vip), live: holder(vip), mg: []edit{shared(v1alpha1.DuplicatesSharedRole, "vip")}},
		"RoleAlone":     {reason: "a role alone doesn't say that", cached: holder(vip), live: holder(vip), mg: []edit{shared("", "vip")}, want: true},
		"RoleOfOne":     {reason: "who had it shares it with nobody", cached: holder(), live: holder(), mg: []edit{shared(v1alpha1.DuplicatesSharedRole, "vip")}, want: true},
		"RoleAllocated": {reason: "what NetBox chose is nobody else's", cached: holder(vip), live: holder(vip), mg: []edit{params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.Role = new("vip") })}, want: true},
		"Restored":      {reason: "it has it by the marker of before it was restored", cached: holder(restored), live: holder(restored), want: true},
		"RestoredThere": {reason: "and its record is there yet", cached: holder(restored), live: holder(restored), records: []netbox.IPAddress{record(5, "10.77.0.1/24", before)}, err: true},
		"RestoredElsewhere": {reason: "of this NetBox by another name, as its log says", cached: holder(elsewhere, restored), live: holder(elsewhere, restored), want: true, changes: []netbox.Change{
			{User: "alice", Before: map[string]any{"custom_fields": map[string]any{testField: before}}},
		}},
		"NotItsOwn": {reason: "whoever's marker that is, it isn't its", cached: holder(observes), live: holder(observes)},
		"Unknown":   {reason: "the API server can't be asked", cached: holder(), live: holder(), fails: errLive, err: true},
		"Nobody":    {reason: "nobody had it"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.records, f.rack.changes = tc.records, tc.changes
			if tc.unread != "" {
				f.fail["Changes"] = errKind(tc.unread)
			}
			h, mg := newHarness(f), newAddress(tc.mg...)
			h.cfg.Config.URL = "https://netbox.example/"
			live := kubefake.NewClientBuilder().WithScheme(scheme()).WithInterceptorFuncs(interceptor.Funcs{
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
					if tc.fails != nil {
						return tc.fails
					}
					return c.Get(ctx, key, o, opts...)
				},
			})
			if tc.live != nil {
				if tc.live.DeletionTimestamp != nil {
					tc.live.Finalizers = append(tc.live.Finalizers, managed.FinalizerName)
				}
				live.WithObjects(tc.live)
			}
			h.Live = live.Build()
			h.Holders = func(_ context.Context, a netip.Addr) ([]v1alpha1.NetBoxIPAddress, error) {
				if tc.cached == nil || HostOf(tc.cached)[0] != a.String() {
					return nil, nil
				}
				return []v1alpha1.NetBoxIPAddress{*tc.cached}, nil
			}
			e := h.connect(t, mg)
			of, err := e.loser(t.Context(), mg, record(9, "10.77.0.1/24", ours))
			if (of != nil) != (tc.want || tc.err) || (err != nil) != tc.err || of != nil && types.UID(of.uid) != "y" {
				t.Errorf("%s: %+v, %v", tc.reason, of, err)
			}
			made, err := e.unused(t.Context(), mg, record(9, "10.77.0.1/24", ours))
			if kept := err == nil && made.ID == 9; kept == (tc.want || tc.err) {
				t.Errorf("%s: %+v, %v", tc.reason, made, err)
			}
		})
	}
	if HostOf(newAddress()) != nil || HostOf(&v1alpha1.RedfishHost{}) != nil {
		t.Error("who has none is found by one")
	}
}

// TestLogNeverCatchesUp: a record that is gone, and that NetBox's log has for as long as no copy is behind, was deleted past that log: it's lost. A log
// that can't be read for as long never says anything.
func TestLogNeverCatchesUp(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		change netbox.Change
		lost   bool
	}{
		"There":      {"it was there last", netbox.Change{User: "alice", After: map[string]any{"address": "10.77.0.1/24", "custom_fields": map[string]any{testField: theirs}}}, true},
		"Bare":       {"whose it was that was deleted, isn't said", netbox.Change{Action: "delete"}, false},
		"Unreadable": {"what it was, can't be read", netbox.Change{After: map[string]any{"address": "10.77"}}, false},
	} {
		t.Run(name, func(t *testing.T) { neverCatchesUp(t, tc.reason, tc.change, tc.lost) })
	}
}

// neverCatchesUp holds what becomes of a record whose last change stays that: it's waited for it for as long as a copy may be behind.
func neverCatchesUp(t *testing.T, reason string, last netbox.Change, lost bool) {
	t.Helper()
	f := newFake()
	f.rack.changes = []netbox.Change{last}
	elsewhere := holder(func(mg *v1alpha1.NetBoxIPAddress) { mg.Spec.ProviderConfigReference.Name = "other" })
	h, mg := newHarness(f), newAddress()
	h.Live = kubefake.NewClientBuilder().WithScheme(scheme()).WithObjects(elsewhere).Build()
	h.Holders = func(context.Context, netip.Addr) ([]v1alpha1.NetBoxIPAddress, error) {
		return []v1alpha1.NetBoxIPAddress{*elsewhere}, nil
	}
	for _, step := range []struct {
		reason string
		passes time.Duration
		waits  bool
	}{
		{"it may be behind", 0, true},
		{"by some seconds", hiddenFor - time.Second, true},
		{"and not by more", 2 * time.Second, false},
		{"which stays so", time.Hour, false},
		{"long after that nobody knows since when", noteFor, true},
	} {
		for what, since := range maps.Clone(h.behind.last) {
			h.behind.put(what, since.value.Add(-step.passes))
		}
		of, err := h.connect(t, mg).loser(t.Context(), mg, record(9, "10.77.0.1/24", ours))
		if waits := errors.As(err, new(behindError)); waits != step.waits || !waits && (of != nil) != lost {
			t.Errorf("%s: %s: %+v, %v", reason, step.reason, of, err)
		}
	}
}

// TestFormerIsRemembered: who was seen to have an address has lost it, however often that can't be told, and whoever asks for it, until it's told that
// it isn't so: the connection says it once, and no status does.
func TestFormerIsRemembered(t *testing.T) {
	bare := holder(func(mg *v1alpha1.NetBoxIPAddress) { mg.Status.AtProvider = v1alpha1.NetBoxIPAddressObservation{} })
	f := newFake()
	was := record(5, "10.77.0.1/24", theirs)
	f.displaced = &was
	h, mg := newHarness(f), newAddress()
	errAway := errors.New("the API server is away")
	var errList, errLive error
	live := kubefake.NewClientBuilder().WithScheme(scheme()).WithObjects(bare).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if errLive != nil {
				return errLive
			}
			return c.Get(ctx, key, o, opts...)
		},
	}).Build()
	h.Live = live
	h.Holders = func(context.Context, netip.Addr) ([]v1alpha1.NetBoxIPAddress, error) { return nil, errList }
	p, a := v1alpha1.NetBoxIPAddressParameters{Address: "10.77.0.1/24"}, netip.MustParsePrefix("10.77.0.1/24")
	e := h.connect(t, mg)
	e.displace(mg, record(9, "10.77.0.1/24", ours))
	for _, step := range []struct {
		reason    string
		happen    func()
		lost, err bool
	}{
		{"others can't be listed", func() { errList = errAway }, true, true},
		{"NetBox can't be asked", func() { errList, f.fail["Get"] = nil, errKind(netbox.KindServerError) }, true, true},
		{"the API server can't be asked", func() { clear(f.fail); errLive = errAway }, true, true},
		{"it's told", func() { errLive = nil }, true, false},
		{"and again", func() {}, true, false},
		{"it goes", func() {
			if err := live.Delete(t.Context(), bare.DeepCopy()); err != nil {
				t.Fatal(err)
			}
		}, false, false},
		{"which is all", func() { errLive = errAway }, false, false},
	} {
		step.happen()
		e := h.connect(t, mg)
		for name, err := range map[string]error{"unlost": e.unlost(t.Context(), p, a, nil), "usurped": e.usurped(t.Context(), mg, record(9, "10.77.0.1/24", ours))} {
			if taken := errors.As(err, new(takenError)); taken != (step.lost && !step.err) || (err != nil) != step.lost {
				t.Errorf("%s: %s: %v", step.reason, name, err)
			}
		}
		if e = h.connect(t, mg); e.unlost(t.Context(), p, netip.MustParsePrefix("10.77.0.2/24"), nil) != nil && !step.err {
			t.Errorf("%s: another address", step.reason)
		}
	}
}

// TestFormerOfOwnConfig: who answers a namespace's own provider config says what he likes of who had an address: that's remembered for it alone, whatever
// URL it names.
func TestFormerOfOwnConfig(t *testing.T) {
	bare := holder(func(mg *v1alpha1.NetBoxIPAddress) { mg.Status.AtProvider = v1alpha1.NetBoxIPAddressObservation{} })
	was := record(5, "10.77.0.1/24", theirs)
	for name, tc := range map[string]struct {
		namespace string
		want      bool
	}{
		"Clusters": {"", true},
		"Own":      {"team-b", false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.displaced = &was
			h, mg := newHarness(f), newAddress()
			h.Live = kubefake.NewClientBuilder().WithScheme(scheme()).WithObjects(bare).Build()
			h.Holders = func(context.Context, netip.Addr) ([]v1alpha1.NetBoxIPAddress, error) { return nil, nil }
			sees := h.connect(t, mg)
			sees.of.Namespace = tc.namespace
			sees.displace(mg, record(9, "10.77.0.1/24", ours))
			err := h.connect(t, mg).unlost(t.Context(), v1alpha1.NetBoxIPAddressParameters{}, netip.MustParsePrefix("10.77.0.1/24"), nil)
			if errors.As(err, new(takenError)) != tc.want {
				t.Errorf("another provider config is told: %v", err)
			}
		})
	}
}

// TestKept: what is another one's, and is neither asked for nor to be made here, isn't said to be set aside.
func TestKept(t *testing.T) {
	for name, tc := range map[string]struct {
		unasked  bool
		policies []edit
		want     string
	}{
		"Unasked":  {true, nil, "which never asked for it, as far as is known here"},
		"Observes": {false, []edit{managedBy(xpv2.ManagementActionObserve, xpv2.ManagementActionUpdate)}, "add Create there"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			h, mg := newHarness(f), newAddress(append(tc.policies, madeAgo(time.Hour))...)
			h.Live = kubefake.NewClientBuilder().WithScheme(scheme()).WithObjects(holder()).Build()
			h.Holders = func(context.Context, netip.Addr) ([]v1alpha1.NetBoxIPAddress, error) {
				return []v1alpha1.NetBoxIPAddress{*holder()}, nil
			}
			e, ip := h.connect(t, mg), record(9, "10.77.0.1/24", ours)
			e.record, e.unasked = &ip, tc.unasked
			back, err := e.proveUnused(t.Context(), mg)
			if aside := (asideError{}); back || !errors.As(err, &aside) {
				t.Fatalf("%v, %v", back, err)
			}
			if says := sentence(err, e.inputs).message; !strings.Contains(says, tc.want) || strings.Contains(says, "is set aside there") {
				t.Errorf("it says %q", says)
			}
		})
	}
}
