package redfishhost

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/gate"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/quirk"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
)

func TestTLSOf(t *testing.T) {
	cases := map[string]struct {
		reason string
		config *v1alpha1.TLS
		host   *v1alpha1.HostTLS
		want   redfish.TLS
	}{
		"Nothing":   {reason: "The system's roots.", want: redfish.TLS{Verify: redfish.VerifySystem}},
		"Config":    {reason: "As the config says.", config: &v1alpha1.TLS{Verify: v1alpha1.TLSVerifyCABundle, CABundle: "x"}, want: redfish.TLS{Verify: redfish.VerifyCABundle, CABundle: []byte("x")}},
		"HostPin":   {reason: "A host's pin wins over a laxer config.", config: &v1alpha1.TLS{Verify: v1alpha1.TLSVerifyNone}, host: &v1alpha1.HostTLS{PinnedSHA256: []string{"aa"}}, want: redfish.TLS{Verify: redfish.VerifyPinned, CABundle: []byte{}, Pins: []string{"aa"}}},
		"FirstUse":  {reason: "A stored pin is what trust on first use goes by.", config: &v1alpha1.TLS{Verify: v1alpha1.TLSVerifyTrustOnFirstUse}, host: &v1alpha1.HostTLS{PinnedSHA256: []string{"aa"}}, want: redfish.TLS{Verify: redfish.VerifyTrustOnFirstUse, CABundle: []byte{}, Pins: []string{"aa"}}},
		"OldTLS":    {reason: "As the config says.", config: &v1alpha1.TLS{Verify: v1alpha1.TLSVerifyNone, MinVersion: "TLS10"}, want: redfish.TLS{Verify: redfish.VerifyNone, CABundle: []byte{}, MinVersion: "TLS10"}},
		"Name":      {reason: "The host knows its certificate's name, and that changes nothing else.", config: &v1alpha1.TLS{Verify: v1alpha1.TLSVerifyCABundle, CABundle: "x"}, host: &v1alpha1.HostTLS{ServerName: "bmc.example"}, want: redfish.TLS{Verify: redfish.VerifyCABundle, CABundle: []byte("x"), ServerName: "bmc.example"}},
		"EmptyPins": {reason: "No pins are no pins.", host: &v1alpha1.HostTLS{}, want: redfish.TLS{Verify: redfish.VerifySystem}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tlsOf(tc.config, tc.host)); diff != "" {
				t.Errorf("\n%s\ntlsOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestTargetOfAConfig: what a provider config says of BMCs gets to their client, its quirks after the built-in ones.
func TestTargetOfAConfig(t *testing.T) {
	facts := v1alpha1.QuirkFacts{
		OverrideOn: "Settings", Mode: "IfPresent", IfMatch: "Never", StoredAs: map[string]string{"Cd": "UsbCd"}, Continuous: "Refused", Rungs: []string{"System"},
		OEMBoot: &v1alpha1.OEMBoot{Resources: []string{"{system}/Oem/X"}, Target: "/Next", Words: map[string]string{"Pxe": "Lan"}, With: map[string]string{"/Once": "true"}},
	}
	r := config.Redfish{Config: v1alpha1.RedfishConfig{
		AllowedAddresses: []string{"10.0.0.0/8"}, RequestTimeout: &metav1.Duration{Duration: time.Minute},
		Quirks: []v1alpha1.RedfishQuirk{{Name: "ours", Match: v1alpha1.QuirkMatch{Manufacturer: "dell*", Model: "*R750*"}, Facts: facts, Source: "seen"}},
	}}
	h := host("h", 1, "10.0.0.1", nil)
	got, err := NewConnector(Options{}).target(&h, r)
	if err != nil || got.RequestTimeout != time.Minute {
		t.Fatalf("target(...): timeout %s, %v", got.RequestTimeout, err)
	}
	is, names := quirk.For(got.Quirks, quirk.Machine{Manufacturer: "Dell Inc.", Model: "PowerEdge R750"})
	want := quirk.Facts{
		OverrideOn: "Settings", Mode: "IfPresent", IfMatch: "Never", StoredAs: map[string]string{"Cd": "UsbCd"}, Continuous: "Refused", Rungs: []string{"System"},
		OEM: quirk.OEMBoot{
			Resources: []string{"{system}/Oem/X"}, Target: "/Next", Words: map[string]string{"Pxe": "Lan"},
			With: map[string]string{"/Once": "true"},
		},
	}
	if diff := cmp.Diff(want, is); diff != "" || names[len(names)-1] != "ours" {
		t.Errorf("rows %v; facts: -want, +got:\n%s", names, diff)
	}
}

// fakeBMC is a BMC of functions; what isn't set mustn't be called.
type fakeBMC struct {
	BMC // What isn't faked isn't called.

	system redfish.System
	// chassis and uuid are what Trace finds.
	chassis, uuid string
	// ambiguous says that several Systems can be meant.
	ambiguous bool
	// hints that Find got.
	hints []string
	reset func(redfish.Act) error
	boot  func(target string) error
}

func (f *fakeBMC) Find(_ context.Context, _ redfish.Selector, hint string) (redfish.System, error) {
	f.hints = append(f.hints, hint)
	if f.ambiguous && hint != f.system.URI {
		return redfish.System{}, &redfish.Error{Kind: redfish.Ambiguous, Count: 2}
	}

	return f.system, nil
}

func (f *fakeBMC) Trace(_ context.Context, s redfish.System, want redfish.Traces) (redfish.System, error) {
	if want.Chassis {
		s.ChassisSerial = f.chassis
	}
	if want.BMC {
		s.BMCUUID = f.uuid
	}

	return s, nil
}

func (f *fakeBMC) Walk(context.Context, *redfish.Walk, int) (bool, error) { return true, nil }

func (f *fakeBMC) Reset(_ context.Context, _ redfish.System, a redfish.Act) (redfish.Receipt, error) {
	return redfish.Receipt{}, f.reset(a)
}

func (f *fakeBMC) SetBoot(_ context.Context, _ redfish.System, want redfish.BootSource) (redfish.BootVia, error) {
	return redfish.BootVia{Rung: redfish.RungSystem}, f.boot(want.Target)
}

func (f *fakeBMC) ClearBoot(context.Context, redfish.System, string) error { return f.boot("") }

func (f *fakeBMC) SetBootOrder(_ context.Context, _ redfish.System, want []string) (redfish.BootVia, error) {
	return redfish.BootVia{First: want}, f.boot("order")
}

func (f *fakeBMC) PutFirst(_ context.Context, _ redfish.System, plan redfish.OrderPlan) (redfish.BootVia, error) {
	return redfish.BootVia{Rung: redfish.RungOrder}, f.boot("first " + plan.First)
}

func (f *fakeBMC) PutBack(context.Context, redfish.System, redfish.OrderPlan) error {
	return f.boot("back")
}

func (f *fakeBMC) SetOEM(_ context.Context, _ redfish.System, target string, _ redfish.OEMPlan) (redfish.BootVia, error) {
	return redfish.BootVia{Rung: redfish.RungOEM}, f.boot("own " + target)
}

func (f *fakeBMC) ClearOEM(_ context.Context, _ redfish.System, target string, _ redfish.OEMPlan) error {
	return f.boot("no own " + target)
}

func (f *fakeBMC) Pin() string { return "" }

func (f *fakeBMC) Connection() redfish.Connection { return redfish.Connection{} }

// openGate lets everybody in.
type openGate struct{ bmc BMC }

func (g openGate) Do(ctx context.Context, _ gate.Target, f func(context.Context, BMC) error) error {
	return f(ctx, g.bmc)
}

func (g openGate) Forget(context.Context, string) error { return nil }

func (openGate) Distrust(string) {}

func enrolled(j *journal) *v1alpha1.RedfishHost {
	h := &v1alpha1.RedfishHost{ObjectMeta: metav1.ObjectMeta{Namespace: "infra", Name: "h", UID: "h"}}
	h.Spec.ForProvider.Address = "10.0.0.1"
	h.Spec.ForProvider.Power = v1alpha1.PoweredOn
	meta.SetExternalName(h, "ABC")
	meta.AddAnnotations(h, map[string]string{
		v1alpha1.AnnotationJournal: j.String(), v1alpha1.AnnotationIdentity: `{"uri":"/redfish/v1/Systems/1","serial":"ABC"}`,
	})

	return h
}

func kubeWith(t *testing.T, h *v1alpha1.RedfishHost, f interceptor.Funcs) client.Client {
	t.Helper()
	s := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}

	return fake.NewClientBuilder().WithScheme(s).WithObjects(h).WithStatusSubresource(h).WithInterceptorFuncs(f).
		WithIndex(h, fieldMachine, machinesOf).Build()
}

// connectorOf is a provider that has just started, beside a BMC.
func connectorOf(kube client.Client, bmc BMC) *Connector {
	return NewConnector(Options{
		Kube: kube, Gates: openGate{bmc}, Now: func() time.Time { return t0 },
		Resolve: func(context.Context, *v1alpha1.RedfishHost) (config.Redfish, error) { return config.Redfish{}, nil },
	})
}

// connected reads a host as it is stored, and connects to its BMC.
func connected(t *testing.T, h *v1alpha1.RedfishHost, kube client.Client, bmc BMC) managed.TypedExternalClient[*v1alpha1.RedfishHost] {
	t.Helper()

	return connectedBy(t, connectorOf(kube, bmc), h, kube)
}

// connectedBy does it by one provider.
func connectedBy(t *testing.T, c *Connector, h *v1alpha1.RedfishHost, kube client.Client) managed.TypedExternalClient[*v1alpha1.RedfishHost] {
	t.Helper()
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(h), h); err != nil {
		t.Fatal(err)
	}
	e, err := c.Connect(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}

	return e
}

// updated observes and updates the host once, and returns it as it is stored.
func updated(t *testing.T, h *v1alpha1.RedfishHost, kube client.Client, bmc BMC) (*v1alpha1.RedfishHost, error) {
	t.Helper()
	e := connected(t, h, kube, bmc)
	o, err := e.Observe(t.Context(), h)
	if err != nil || o.ResourceUpToDate {
		t.Fatalf("Observe(...): %+v, %v; want something to do", o, err)
	}
	_, updateErr := e.Update(t.Context(), h)
	stored := &v1alpha1.RedfishHost{}
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(h), stored); err != nil {
		t.Fatal(err)
	}

	return stored, updateErr
}

func off() redfish.System {
	return redfish.System{Identity: redfish.Identity{Serial: "ABC", URI: "/redfish/v1/Systems/1"}, Power: redfish.PowerOff, CanReset: true}
}

func TestNoCallWithoutJournal(t *testing.T) {
	conflict := kerrors.NewConflict(schema.GroupResource{}, "h", errors.New("stale"))
	for name, patchErr := range map[string]error{"Conflict": conflict, "Error": errors.New("boom")} {
		t.Run(name, func(t *testing.T) {
			h := enrolled(&journal{})
			kube := kubeWith(t, h, interceptor.Funcs{Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
				return patchErr
			}})
			bmc := &fakeBMC{system: off(), reset: func(a redfish.Act) error {
				t.Errorf("Reset(%s): nothing may be done that isn't in the journal", a)

				return nil
			}}
			_, err := updated(t, h, kube, bmc)
			if !errors.Is(err, patchErr) && !kerrors.IsConflict(err) {
				t.Errorf("Update(...): got %v, want %v", err, patchErr)
			}
		})
	}
}

func TestJournalIsThereBeforeTheCall(t *testing.T) {
	h := enrolled(&journal{})
	kube := kubeWith(t, h, interceptor.Funcs{})
	bmc := &fakeBMC{system: off()}
	bmc.reset = func(a redfish.Act) error {
		stored := &v1alpha1.RedfishHost{}
		if err := kube.Get(t.Context(), client.ObjectKeyFromObject(h), stored); err != nil {
			t.Fatal(err)
		}
		j := parseJournal(stored.GetAnnotations()[v1alpha1.AnnotationJournal])
		if !j.pending() || j.Act.Action != actPowerOn || a != redfish.ActOn {
			t.Errorf("Reset(%s) with journal %s", a, j)
		}
		bmc.system.Power = redfish.PowerOn

		return nil
	}
	stored, err := updated(t, h, kube, bmc)
	if err != nil {
		t.Fatal(err)
	}
	j := parseJournal(stored.GetAnnotations()[v1alpha1.AnnotationJournal])
	if j.pending() || !j.PoweredOn.Equal(t0) || h.Status.AtProvider.Power != v1alpha1.PoweredOn || h.Status.AtProvider.PoweredOnAt == nil {
		t.Errorf("after the call: journal %s, status %+v", j, h.Status.AtProvider)
	}
}

// TestNoCallOnAnotherMachine: what was wanted of one machine isn't done to the one that its BMC shows by the time of the call.
func TestNoCallOnAnotherMachine(t *testing.T) {
	h := enrolled(&journal{})
	bmc := &fakeBMC{system: off(), reset: func(a redfish.Act) error {
		t.Errorf("Reset(%s) of another machine", a)

		return nil
	}}
	kube := kubeWith(t, h, interceptor.Funcs{Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
		bmc.system.Serial = "XYZ" // Its board is swapped while the journal is written.

		return c.Patch(ctx, o, p, opts...)
	}})
	stored, err := updated(t, h, kube, bmc)
	if err == nil || !strings.Contains(err.Error(), `shows machine "XYZ", but this host is "ABC"`) {
		t.Errorf("Update(...): got %v, want one that names both machines", err)
	}
	if j := parseJournal(stored.GetAnnotations()[v1alpha1.AnnotationJournal]); j.pending() {
		t.Errorf("journal: got %s, want nothing that is on its way", j)
	}
}

func TestFailedCalls(t *testing.T) {
	cases := map[string]struct {
		reason string
		err    error
		state  string
	}{
		"Refused":     {reason: "The BMC said that it didn't: told again in a while.", err: &redfish.Error{Kind: redfish.Refused, Status: 400}, state: begun},
		"Unsupported": {reason: "It can't: that isn't tried again, and a condition says so.", err: &redfish.Error{Kind: redfish.Unsupported}, state: gaveUp},
		"Internal":    {reason: "An internal error may come after the effect.", err: &redfish.Error{Kind: redfish.Refused, Status: 500}, state: begun},
		"Unreachable": {reason: "Nobody knows: the next look tells.", err: &redfish.Error{Kind: redfish.Unreachable}, state: begun},
		"Unknown":     {reason: "The same.", err: errors.New("boom"), state: begun},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h := enrolled(&journal{})
			stored, err := updated(t, h, kubeWith(t, h, interceptor.Funcs{}), &fakeBMC{system: off(), reset: func(redfish.Act) error { return tc.err }})
			if (err == nil) != redfish.IsUnsupported(tc.err) {
				t.Errorf("Update(...): got error %v", err)
			}
			if j := parseJournal(stored.GetAnnotations()[v1alpha1.AnnotationJournal]); j.Act.State != tc.state {
				t.Errorf("\n%s\njournal: got %s, want %q", tc.reason, j, tc.state)
			}
		})
	}
}

func TestUnusableConfig(t *testing.T) {
	trouble := &config.Error{Reason: v1alpha1.ReasonNotAllowed}
	c := NewConnector(Options{
		Kube: kubeWith(t, enrolled(&journal{}), interceptor.Funcs{}), Gates: openGate{},
		Resolve: func(context.Context, *v1alpha1.RedfishHost) (config.Redfish, error) { return config.Redfish{}, trouble },
	})
	h := enrolled(&journal{})
	e, err := c.Connect(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	o, err := e.Observe(t.Context(), h)
	if err != nil || !o.ResourceExists || !o.ResourceUpToDate {
		t.Errorf("Observe(...): %+v, %v; what a person must mend is shown on the host", o, err)
	}
	if got := h.Status.GetCondition(v1alpha1.ConditionReachable); got.Reason != v1alpha1.ReasonNotAllowed {
		t.Errorf("Reachable: got %v, want NotAllowed", got)
	}
	now := metav1.NewTime(t0)
	h.SetDeletionTimestamp(&now)
	if o, err := e.Observe(t.Context(), h); err != nil || o.ResourceExists {
		t.Errorf("Observe(...) of an unbound host that is deleted: %+v, %v; its config mustn't hold it up", o, err)
	}
}
