package redfishhost

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

const (
	uuidA = "00112233-4455-6677-8899-aabbccddeeff"
	uuidB = "11112222-3333-4444-5555-666677778888"
	uuidC = "99999999-3333-4444-5555-666677778888"
)

func TestRecognise(t *testing.T) {
	const node0, node1 = "/redfish/v1/Systems/Node0", "/redfish/v1/Systems/Node1"
	cases := map[string]struct {
		reason   string
		external string
		record   string
		is       redfish.Identity
		want     error
		was      string
	}{
		"Same":         {reason: "All as it was.", external: "ABC", record: `{"uri":"/s","serial":"ABC","uuid":"` + uuidA + `"}`, is: redfish.Identity{URI: "/s", Serial: "ABC", UUID: uuidA}},
		"NoRecord":     {reason: "A host of an older version.", external: "ABC", is: redfish.Identity{URI: "/s", Serial: "ABC"}},
		"BadRecord":    {reason: "A record that can't be read says nothing.", external: "ABC", record: "{", is: redfish.Identity{URI: "/s", Serial: "ABC"}},
		"Serial":       {reason: "Another serial, though somebody gave the host its name.", external: "XYZ", record: `{"uri":"/s","serial":"ABC"}`, is: redfish.Identity{URI: "/s", Serial: "XYZ"}, want: errIdentityChanged, was: "ABC"},
		"UUID":         {reason: "A serial that many machines have.", external: "ABC", record: `{"uri":"/s","serial":"ABC","uuid":"` + uuidA + `"}`, is: redfish.Identity{URI: "/s", Serial: "ABC", UUID: uuidB}, want: errIdentityChanged, was: uuidA},
		"Pooled":       {reason: "A UUID out of a pool was given anew: the serial and the BMC are the same.", external: "ABC", record: `{"uri":"/s","serial":"ABC","uuid":"` + uuidA + `","bmcUUID":"` + uuidC + `"}`, is: redfish.Identity{URI: "/s", Serial: "ABC", UUID: uuidB, BMCUUID: uuidC}},
		"PooledIn":     {reason: "The same by its chassis.", external: "ABC", record: `{"uri":"/s","serial":"ABC","uuid":"` + uuidA + `","chassisSerial":"C1"}`, is: redfish.Identity{URI: "/s", Serial: "ABC", UUID: uuidB, ChassisSerial: "C1"}},
		"PooledAway":   {reason: "The serial is the same, but the chassis isn't.", external: "ABC", record: `{"uri":"/s","serial":"ABC","uuid":"` + uuidA + `","chassisSerial":"C1"}`, is: redfish.Identity{URI: "/s", Serial: "ABC", UUID: uuidB, ChassisSerial: "C2"}, want: errIdentityChanged, was: uuidA},
		"PooledName":   {reason: "Its name is the UUID that it had, from before its serial was told.", external: uuidA, record: `{"uri":"/s","serial":"ABC","uuid":"` + uuidA + `","bmcUUID":"` + uuidC + `"}`, is: redfish.Identity{URI: "/s", Serial: "ABC", UUID: uuidB, BMCUUID: uuidC}},
		"PooledOther":  {reason: "Another BMC's isn't believed.", external: uuidA, record: `{"uri":"/s","serial":"ABC","uuid":"` + uuidA + `","bmcUUID":"` + uuidC + `"}`, is: redfish.Identity{URI: "/s", Serial: "ABC", UUID: uuidB, BMCUUID: uuidB}, want: errIdentityChanged, was: uuidA},
		"OtherNode":    {reason: "All nodes of a chassis have its serial, and BMCs of their own.", external: "ABC", record: `{"uri":"/s","serial":"ABC","uuid":"` + uuidA + `","chassisSerial":"ABC","bmcUUID":"` + uuidC + `"}`, is: redfish.Identity{URI: "/s", Serial: "ABC", UUID: uuidB, ChassisSerial: "ABC", BMCUUID: uuidB}, want: errIdentityChanged, was: uuidA},
		"NoSerial":     {reason: "What an older version took for a serial number isn't one: the UUID tells.", external: "123456789", record: `{"uri":"/s","serial":"123456789","uuid":"` + uuidA + `"}`, is: redfish.Identity{URI: "/s", UUID: uuidA}},
		"OtherJunk":    {reason: "The same of another machine.", external: "123456789", record: `{"uri":"/s","serial":"123456789","uuid":"` + uuidA + `"}`, is: redfish.Identity{URI: "/s", UUID: uuidB}, want: errIdentityChanged, was: uuidA},
		"SerialLate":   {reason: "The BMC was restarted and knows the serial once the machine is on: its UUID says that it's the same.", external: uuidA, record: `{"uri":"/s","serial":"ABC","uuid":"` + uuidA + `"}`, is: redfish.Identity{URI: "/s", UUID: uuidA}},
		"SerialWaits":  {reason: "The same where the serial is its name.", external: "ABC", record: `{"uri":"/s","serial":"ABC","uuid":"` + uuidA + `","bmcUUID":"` + uuidC + `"}`, is: redfish.Identity{URI: "/s", UUID: uuidA, BMCUUID: uuidC}},
		"UUIDLent":     {reason: "Another BMC has its UUID: nobody knows whose that is, so it's waited for.", external: "ABC", record: `{"uri":"/s","serial":"ABC","uuid":"` + uuidA + `","bmcUUID":"` + uuidC + `"}`, is: redfish.Identity{URI: "/s", UUID: uuidA, BMCUUID: uuidB}, want: errSilent, was: "ABC"},
		"ByChassis":    {reason: "A chassis may have several machines.", external: "ABC", record: `{"uri":"/s","serial":"ABC","chassisSerial":"C1"}`, is: redfish.Identity{URI: "/s", ChassisSerial: "C1"}, want: errSilent, was: "ABC"},
		"LateBeside":   {reason: "Nor is its neighbour's word.", external: "ABC", record: `{"uri":"` + node0 + `","serial":"ABC","uuid":"` + uuidA + `","systems":2}`, is: redfish.Identity{URI: node1, UUID: uuidA}, want: errIdentityChanged, was: node0},
		"UUIDTurned":   {reason: "Firmware learned to read SMBIOS.", external: "ABC", record: `{"uri":"/s","serial":"ABC","uuid":"` + uuidA + `"}`, is: redfish.Identity{URI: "/s", Serial: "ABC", UUID: "33221100-5544-7766-8899-aabbccddeeff"}},
		"NameTurned":   {reason: "Also where the UUID is all the name that it has.", external: uuidA, record: `{"uri":"/s","uuid":"` + uuidA + `"}`, is: redfish.Identity{URI: "/s", UUID: "33221100-5544-7766-8899-aabbccddeeff"}},
		"UUIDGone":     {reason: "The serial says enough.", external: "ABC", record: `{"uri":"/s","serial":"ABC","uuid":"` + uuidA + `"}`, is: redfish.Identity{URI: "/s", Serial: "ABC"}},
		"SerialGone":   {reason: "A BMC that is starting says nothing yet.", external: "ABC", record: `{"uri":"/s","serial":"ABC"}`, is: redfish.Identity{URI: "/s"}, want: errSilent, was: "ABC"},
		"OnlyUUIDGone": {reason: "The same where there never was a serial.", external: uuidA, record: `{"uri":"/s","uuid":"` + uuidA + `"}`, is: redfish.Identity{URI: "/s"}, want: errSilent, was: uuidA},
		"Moved":        {reason: "A firmware update gave the System another URI.", external: "ABC", record: `{"uri":"/old","serial":"ABC","systems":1}`, is: redfish.Identity{URI: "/new", Serial: "ABC"}},
		"Neighbour":    {reason: "Two nodes of one BMC have one serial: the URI decides.", external: "ABC", record: `{"uri":"` + node0 + `","serial":"ABC","systems":2}`, is: redfish.Identity{URI: node1, Serial: "ABC"}, want: errIdentityChanged, was: node0},
		"Chassis":      {reason: "A machine that has no name itself: its chassis'.", external: "/s", record: `{"uri":"/s","chassisSerial":"C1","bmcUUID":"` + uuidA + `"}`, is: redfish.Identity{URI: "/s", ChassisSerial: "C1", BMCUUID: uuidB}},
		"OtherChassis": {reason: "Another machine behind the same address.", external: "/s", record: `{"uri":"/s","chassisSerial":"C1"}`, is: redfish.Identity{URI: "/s", ChassisSerial: "C2"}, want: errIdentityChanged, was: "C1"},
		"ChassisGone":  {reason: "Not told just now.", external: "/s", record: `{"uri":"/s","chassisSerial":"C1"}`, is: redfish.Identity{URI: "/s"}, want: errSilent},
		"OtherBMC":     {reason: "Neither: the BMC's own.", external: "/s", record: `{"uri":"/s","bmcUUID":"` + uuidA + `"}`, is: redfish.Identity{URI: "/s", BMCUUID: uuidB}, want: errIdentityChanged, was: uuidA},
		"BMCGone":      {reason: "Not told just now.", external: "/s", record: `{"uri":"/s","bmcUUID":"` + uuidA + `"}`, is: redfish.Identity{URI: "/s"}, want: errSilent},
		"NameComes":    {reason: "A machine that tells its serial by now, in the same chassis.", external: "/s", record: `{"uri":"/s","chassisSerial":"C1"}`, is: redfish.Identity{URI: "/s", Serial: "ABC", ChassisSerial: "C1"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h := &v1alpha1.RedfishHost{}
			meta.SetExternalName(h, tc.external)
			meta.AddAnnotations(h, map[string]string{v1alpha1.AnnotationIdentity: tc.record})
			r, _ := recordOf(h)
			tc.is = vouched(r, tc.is)
			if got := recognise(h, tc.is); !errors.Is(got, tc.want) {
				t.Errorf("\n%s\nrecognise(...): got %v, want %v", tc.reason, got, tc.want)
			}
			if was, _ := changedFrom(h, tc.is); was != tc.was {
				t.Errorf("\n%s\nchangedFrom(...): got %q, want %q", tc.reason, was, tc.was)
			}
		})
	}
}

func TestCompleted(t *testing.T) {
	first := completed(v1alpha1.IdentityRecord{}, redfish.System{Identity: redfish.Identity{URI: "/s", ChassisSerial: "C1", BMCUUID: uuidA}, Sharing: 1})
	want := v1alpha1.IdentityRecord{URI: "/s", ChassisSerial: "C1", BMCUUID: uuidA, Systems: 1}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Errorf("a new record: -want, +got:\n%s", diff)
	}
	want.Serial = "ABC"
	second := completed(first, redfish.System{Identity: redfish.Identity{URI: "/t", Serial: "ABC", ChassisSerial: "C2"}, Sharing: 3})
	if diff := cmp.Diff(want, second); diff != "" {
		t.Errorf("what a record doesn't say is added, what it says stays: -want, +got:\n%s", diff)
	}
}

func TestTracesFor(t *testing.T) {
	all := redfish.Traces{Chassis: true, BMC: true}
	cases := map[string]struct {
		reason string
		record v1alpha1.IdentityRecord
		new    bool
		is     redfish.Identity
		want   redfish.Traces
	}{
		"New":       {reason: "All that there is.", new: true, is: redfish.Identity{Serial: "ABC"}, want: all},
		"Named":     {reason: "Its own words are enough.", record: v1alpha1.IdentityRecord{Serial: "ABC", ChassisSerial: "C1"}, is: redfish.Identity{Serial: "abc"}},
		"Nameless":  {reason: "The chassis that is known.", record: v1alpha1.IdentityRecord{ChassisSerial: "C1", BMCUUID: uuidA}, want: redfish.Traces{Chassis: true, Serial: "C1"}},
		"NoChassis": {reason: "The BMC, where there's none.", record: v1alpha1.IdentityRecord{BMCUUID: uuidA}, want: redfish.Traces{BMC: true}},
		"Untold":    {reason: "Neither was told when it was recorded.", want: all},
		"Unsaid":    {reason: "Its own word is missing.", record: v1alpha1.IdentityRecord{Serial: "ABC", BMCUUID: uuidC}, want: redfish.Traces{BMC: true}},
		"Reissued":  {reason: "Its words disagree.", record: v1alpha1.IdentityRecord{Serial: "ABC", UUID: uuidA, ChassisSerial: "C1", BMCUUID: uuidC}, is: redfish.Identity{Serial: "ABC", UUID: uuidB}, want: redfish.Traces{Chassis: true, BMC: true, Serial: "C1"}},
		"NoTraces":  {reason: "Nothing else is known.", record: v1alpha1.IdentityRecord{Serial: "ABC"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tracesFor(tc.record, !tc.new, tc.is); got != tc.want {
				t.Errorf("\n%s\ntracesFor(...): got %+v, want %+v", tc.reason, got, tc.want)
			}
		})
	}
}

// looked observes a host by a provider that has just started, stores its status, and returns it as it is stored then.
func looked(t *testing.T, h *v1alpha1.RedfishHost, kube client.Client, bmc BMC) *v1alpha1.RedfishHost {
	t.Helper()

	return lookedBy(t, connectorOf(kube, bmc), h, kube)
}

// lookedBy does it by one that has looked before.
func lookedBy(t *testing.T, c *Connector, h *v1alpha1.RedfishHost, kube client.Client) *v1alpha1.RedfishHost {
	t.Helper()
	e := connectedBy(t, c, h, kube)
	o, err := e.Observe(t.Context(), h)
	if err != nil {
		t.Fatalf("Observe(...): %v", err)
	}
	if o.ResourceLateInitialized {
		status := h.Status.DeepCopy()
		if err := kube.Update(t.Context(), h); err != nil {
			t.Fatal(err)
		}
		h.Status = *status
	}
	if err := kube.Status().Update(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	stored := &v1alpha1.RedfishHost{}
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(h), stored); err != nil {
		t.Fatal(err)
	}

	return stored
}

// TestEnrolledForEver: a machine without a name of its own is known again by its chassis, also where the host is only observed.
func TestEnrolledForEver(t *testing.T) {
	for name, tc := range map[string]struct {
		policies xpv2.ManagementPolicies
		journal  bool
	}{
		"Managed":  {xpv2.ManagementPolicies{xpv2.ManagementActionAll}, true},
		"Observed": {xpv2.ManagementPolicies{xpv2.ManagementActionObserve}, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := &v1alpha1.RedfishHost{}
			h.Namespace, h.Name, h.UID = "infra", "h", "h"
			h.Spec.ForProvider.Address, h.Spec.ManagementPolicies = "10.0.0.1", tc.policies
			writes := 0
			kube := kubeWith(t, h, interceptor.Funcs{
				Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
					writes++

					return c.Patch(ctx, o, p, opts...)
				},
				Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
					writes++

					return c.Update(ctx, o, opts...)
				},
			})
			bmc := &fakeBMC{system: redfish.System{Identity: redfish.Identity{URI: "/redfish/v1/Systems/1"}, Sharing: 1}, chassis: "C1", uuid: uuidA}
			got := looked(t, h, kube, bmc).GetAnnotations()
			if got[v1alpha1.AnnotationIdentity] != `{"uri":"/redfish/v1/Systems/1","chassisSerial":"C1","bmcUUID":"`+uuidA+`","systems":1}` ||
				got[meta.AnnotationKeyExternalName] != "/redfish/v1/Systems/1" || (got[v1alpha1.AnnotationJournal] != "") != tc.journal {
				t.Errorf("annotations: %v", got)
			}
			looked(t, h, kube, bmc)
			if writes != 1 {
				t.Errorf("who the machine is was written %d times, want once", writes)
			}
			bmc.chassis = "C2"
			c := looked(t, h, kube, bmc).Status.GetCondition(xpv2.TypeReady)
			if c.Reason != v1alpha1.ReasonIdentityChanged || !strings.Contains(c.Message, `shows machine "C2", but this host is "C1"`) {
				t.Errorf("another machine answers: %v", c)
			}
		})
	}
}

// TestRecordOfAnOlderHost: a host that was enrolled before there were records gets one, and its journal stays.
func TestRecordOfAnOlderHost(t *testing.T) {
	h := enrolled(&journal{BootOnce: 7})
	meta.RemoveAnnotations(h, v1alpha1.AnnotationIdentity)
	h.Spec.ForProvider.Power = v1alpha1.Unmanaged
	h.Status.AtProvider.Identity.SystemURI = off().URI
	bmc := &fakeBMC{system: off(), ambiguous: true} // Its BMC shows its DPU, too, since the last firmware update.
	kube := kubeWith(t, h, interceptor.Funcs{})
	c := connectorOf(kube, bmc)
	got := lookedBy(t, c, h, kube).GetAnnotations()
	if got[v1alpha1.AnnotationIdentity] != `{"uri":"/redfish/v1/Systems/1","serial":"ABC"}` || parseJournal(got[v1alpha1.AnnotationJournal]).BootOnce != 7 {
		t.Errorf("annotations: %v", got)
	}
	// How many Systems have its serial is asked for once more, and once its BMC tells it's recorded.
	bmc.hints = nil
	for range 3 {
		lookedBy(t, c, h, kube)
	}
	if want := []string{"", off().URI, off().URI, off().URI}; !slices.Equal(bmc.hints, want) {
		t.Errorf("looked for all Systems, by hints %q; want once in a process: %q", bmc.hints, want)
	}
	bmc.ambiguous, bmc.system.Sharing = false, 2
	got = lookedBy(t, connectorOf(kube, bmc), h, kube).GetAnnotations()
	if got[v1alpha1.AnnotationIdentity] != `{"uri":"/redfish/v1/Systems/1","serial":"ABC","systems":2}` {
		t.Errorf("annotations after a restart: %v", got)
	}
}

// TestShownAsRecorded: a serial that the BMC doesn't tell just now, and that is vouched for, stays in status: what's planned for a machine depends on it.
func TestShownAsRecorded(t *testing.T) {
	h := enrolled(&journal{})
	h.Spec.ForProvider.Power = v1alpha1.Unmanaged
	meta.AddAnnotations(h, map[string]string{v1alpha1.AnnotationIdentity: `{"uri":"/redfish/v1/Systems/1","serial":"ABC","uuid":"` + uuidA + `","bmcUUID":"` + uuidC + `","systems":1}`})
	s := off()
	s.Serial, s.UUID = "", uuidA
	got := looked(t, h, kubeWith(t, h, interceptor.Funcs{}), &fakeBMC{system: s, uuid: uuidC})
	if got.Status.AtProvider.Identity.Serial != "ABC" || got.Status.GetCondition(v1alpha1.ConditionReachable).Status != "True" {
		t.Errorf("serial %q, %v", got.Status.AtProvider.Identity.Serial, got.Status.Conditions)
	}
	got = looked(t, h, kubeWith(t, h, interceptor.Funcs{}), &fakeBMC{system: s})
	if c := got.Status.GetCondition(v1alpha1.ConditionReachable); c.Status != "False" || !strings.Contains(c.Message, "answers, but doesn't tell the machine's serial number") {
		t.Errorf("without its BMC's word: %v", c)
	}
}

// TestFirstUseKeepsTheRest: the pin of a certificate that is trusted on first use is written beside what the host says of it.
func TestFirstUseKeepsTheRest(t *testing.T) {
	h := enrolled(&journal{})
	h.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionAll}
	h.Spec.ForProvider.TLS = &v1alpha1.HostTLS{ServerName: "bmc.example"}
	e := &external{}
	e.target.TLS.Verify = redfish.VerifyTrustOnFirstUse
	if late, err := e.enrol(t.Context(), h, "ab"); err != nil || !late {
		t.Fatalf("enrol(...): %v, %v", late, err)
	}
	if diff := cmp.Diff(&v1alpha1.HostTLS{ServerName: "bmc.example", PinnedSHA256: []string{"ab"}}, h.Spec.ForProvider.TLS); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

func TestByOthers(t *testing.T) {
	cases := map[string]struct {
		reason string
		err    error
		want   bool
	}{
		"Broken":       {"a GPU board that is ill isn't the machine", &redfish.Error{Kind: redfish.Unreachable, Status: 500}, true},
		"Forbidden":    {"nor is a System that isn't ours to read", &redfish.Error{Kind: redfish.Forbidden, Status: 403}, true},
		"Ambiguous":    {"nor a DPU that's listed since", &redfish.Error{Kind: redfish.Ambiguous}, true},
		"Away":         {"nothing answers at all", &redfish.Error{Kind: redfish.Unreachable}, false},
		"Unauthorized": {"each log-in that is refused counts", &redfish.Error{Kind: redfish.Unauthorized, Status: 401}, false},
		"Fine":         {"nothing is wrong", nil, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := byOthers(tc.err); got != tc.want {
				t.Errorf("%s: got %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
}
