package netboxipaddress

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kubefake "sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// holding has a harness' API server have these resources, and its cache the same.
func (h *harness) holding(all ...*v1alpha1.NetBoxIPAddress) {
	live := kubefake.NewClientBuilder().WithScheme(scheme()).WithStatusSubresource(&v1alpha1.NetBoxIPAddress{})
	for _, mg := range all {
		if mg.DeletionTimestamp != nil {
			mg.Finalizers = append(mg.Finalizers, managed.FinalizerName)
		}
		live.WithObjects(mg)
	}
	kube := live.Build()
	h.Live = kube
	h.Holders = func(ctx context.Context, a netip.Addr) ([]v1alpha1.NetBoxIPAddress, error) {
		all := &v1alpha1.NetBoxIPAddressList{}
		err := kube.List(ctx, all)
		return slices.DeleteFunc(all.Items, func(mg v1alpha1.NetBoxIPAddress) bool { return !slices.Contains(HostOf(&mg), a.String()) }), err
	}
}

// heldByClaim is a resource whose claim keeps it from going.
func heldByClaim(mg *v1alpha1.NetBoxIPAddress) {
	mg.Finalizers = append(mg.Finalizers, v1alpha1.FinalizerHeldByClaim)
}

// TestUnderWay: an address was given to a resource whose Create hasn't ended yet, somebody deletes its record, and the next one is given the address: that
// waits until it's written down what the first one has.
func TestUnderWay(t *testing.T) {
	bare := func(edits ...edit) *v1alpha1.NetBoxIPAddress {
		return holder(append([]edit{func(mg *v1alpha1.NetBoxIPAddress) {
			meta.RemoveAnnotations(mg, meta.AnnotationKeyExternalName)
			mg.Status.AtProvider = v1alpha1.NetBoxIPAddressObservation{}
		}}, edits...)...)
	}
	answered := func(mg *v1alpha1.NetBoxIPAddress) {
		meta.AddAnnotations(mg, map[string]string{v1alpha1.AnnotationAnswered: "a word"})
	}
	for name, tc := range map[string]struct {
		reason    string
		live      *v1alpha1.NetBoxIPAddress
		lost, err bool
	}{
		"UnderWay": {"it's about to be told", bare(askedAgo(time.Second)), true, true},
		"Named":    {"it was", bare(askedAgo(time.Second), answered, named("5")), true, false},
		"Other":    {"it was told of another one", bare(askedAgo(time.Second), answered, named("6")), false, false},
		"Failed":   {"it has none", bare(askedAgo(time.Second), answered), false, false},
		"Killed":   {"nobody lives that could tell it", bare(askedAgo(time.Hour)), false, false},
		"Ends":     {"it doesn't live", bare(askedAgo(time.Second), deleted), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			was := record(5, "10.77.0.1/24", theirs)
			f.displaced = &was
			h, mg := newHarness(f), newAddress()
			h.holding(tc.live)
			of, err := h.connect(t, mg).loser(t.Context(), mg, record(9, "10.77.0.1/24", ours))
			if (of != nil) != tc.lost || (err != nil) != tc.err {
				t.Errorf("%s: %+v, %v", tc.reason, of, err)
			}
			if err != nil && !strings.Contains(sentence(err, inputs{}).message, "it's waited for that") {
				t.Errorf("%s: %v", tc.reason, sentence(err, inputs{}))
			}
		})
	}
}

// TestUnclaimed: a record that a resource was given, and never showed, may be shown as it was before somebody deleted it. Where another resource shows
// its address by now, it isn't used.
func TestUnclaimed(t *testing.T) {
	one := record(100, "10.77.0.1/24", ours)
	other := record(5, "10.77.0.1/24", theirs)
	lost := func(mg *v1alpha1.NetBoxIPAddress) {
		mg.SetConditions(xpv2.Unavailable())
	}
	inUse := func(mg *v1alpha1.NetBoxIPAddress) { mg.SetConditions(xpv2.Available()) }
	taken := adopts(v1alpha1.AdoptIfUnowned)
	cases := map[string]struct {
		reason  string
		holder  *v1alpha1.NetBoxIPAddress
		records []netbox.IPAddress
		mg      []edit
		// says is why it waits; "" that it doesn't.
		says string
	}{
		"Nobody":   {reason: "nobody else shows it", records: []netbox.IPAddress{one}},
		"Shown":    {reason: "both records are shown, of which one can't be there", holder: holder(inUse), records: []netbox.IPAddress{one, other}, says: "still shows record 5"},
		"Lost":     {reason: "the other one's is gone", holder: holder(inUse), records: []netbox.IPAddress{one}, says: "its own record isn't in NetBox any more"},
		"Released": {reason: "the other one goes", holder: holder(inUse, deleted), records: []netbox.IPAddress{one}},
		"Moved":    {reason: "the other one's was given another address", holder: holder(inUse), records: []netbox.IPAddress{one, record(5, "10.77.0.9/24", theirs)}},
		"ShowedBefore": {reason: "it was seen to be its own", holder: holder(inUse), records: []netbox.IPAddress{one, other}, mg: []edit{func(mg *v1alpha1.NetBoxIPAddress) {
			mg.Status.AtProvider = v1alpha1.NetBoxIPAddressObservation{ID: 100, Address: "10.77.0.1/24", Marker: ours}
		}}},
		"Allowed": {reason: "several may have it", holder: holder(inUse), records: []netbox.IPAddress{one, other}, mg: []edit{params(func(p *v1alpha1.NetBoxIPAddressParameters) {
			p.From, p.Address, p.Duplicates = nil, "10.77.0.1/24", v1alpha1.DuplicatesAllow
		})}},
		"TakenOver": {reason: "whoever may write a resource may say that it takes something over", holder: holder(lost), records: []netbox.IPAddress{one}, mg: []edit{taken}, says: "its own record isn't in NetBox any more"},
		"TakenOverShared": {reason: "it has this very record, whose marker is gone", holder: holder(lost, func(mg *v1alpha1.NetBoxIPAddress) {
			mg.Status.AtProvider.ID = 100
			meta.SetExternalName(mg, "100")
		}), records: []netbox.IPAddress{one}, mg: []edit{taken}, says: "as its status says, and carries this resource's marker"},
		"Held": {reason: "the other one goes, and its claim holds it", holder: holder(inUse, deleted, heldByClaim), records: []netbox.IPAddress{one}, says: "its own record isn't in NetBox any more"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.records = tc.records
			h, mg := newHarness(f), newAddress(append([]edit{named("100"), madeAgo(time.Hour)}, tc.mg...)...)
			h.holding()
			if tc.holder != nil {
				h.holding(tc.holder)
			}
			_, err := h.connect(t, mg).Observe(t.Context(), mg)
			if ready := mg.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue; ready != (tc.says == "") || (err != nil) != (tc.says != "") {
				t.Fatalf("%s: %+v, %v", tc.reason, mg.Status, err)
			}
			if tc.says == "" {
				return
			}
			if !strings.Contains(err.Error(), tc.says) || mg.Status.AtProvider.Address != "" || len(f.writes()) != 0 {
				t.Errorf("%s: %v, status %+v, writes %v", tc.reason, err, mg.Status.AtProvider, f.writes())
			}
			f.records = slices.DeleteFunc(f.records, func(ip netbox.IPAddress) bool { return ip.ID == 100 })
			f.seen = []netbox.IPAddress{one}
			h.MaxAge = time.Minute
			if _, err = h.connect(t, mg).Observe(t.Context(), mg); err != nil || mg.GetCondition(xpv2.TypeReady).Reason != v1alpha1.ReasonLost {
				t.Errorf("%s: once it's gone, whatever was seen of it: %+v, %v", tc.reason, mg.GetCondition(xpv2.TypeReady), err)
			}
		})
	}
}

// TestMadeIsClaimed: what Create made isn't shown at once where another resource shows its address by then, or that can't be told: the look that
// follows finds out.
func TestMadeIsClaimed(t *testing.T) {
	for name, tc := range map[string]struct {
		holders []*v1alpha1.NetBoxIPAddress
		fails   error
		want    bool
	}{
		"Nobody": {want: true},
		"Other":  {holders: []*v1alpha1.NetBoxIPAddress{holder()}},
		"OtherVRF": {holders: []*v1alpha1.NetBoxIPAddress{holder(func(mg *v1alpha1.NetBoxIPAddress) {
			mg.Status.AtProvider.VRF = &v1alpha1.VRFObservation{ID: 3}
		})}, want: true},
		"Observes": {holders: []*v1alpha1.NetBoxIPAddress{holder(func(mg *v1alpha1.NetBoxIPAddress) { mg.Status.AtProvider.Marker = "" })}, want: true},
		"Unknown":  {fails: context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			h, mg := newHarness(newFake()), newAddress()
			h.holding()
			e := h.connect(t, mg)
			if o, err := e.Observe(t.Context(), mg); err != nil || o.ResourceExists {
				t.Fatal(o, err)
			}
			if _, err := e.Create(t.Context(), mg); err != nil {
				t.Fatal(err)
			}
			h.holding(tc.holders...)
			if tc.fails != nil {
				h.Holders = func(context.Context, netip.Addr) ([]v1alpha1.NetBoxIPAddress, error) { return nil, tc.fails }
			}
			if got := h.Made(mg); got != tc.want || (mg.Status.AtProvider.Address != "") != tc.want {
				t.Errorf("got %t, %+v", got, mg.Status)
			}
		})
	}
}
