package redfishhost

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/gate"
)

const bmcA = "00000000-1111-2222-3333-444444444444"

// sharing is a host with a Secret of its own behind a BMC, whose password is to be another one.
func sharing(name, address string) *v1alpha1.RedfishHost {
	h := enrolled(&journal{Rotation: rotationRecord{Kept: true}})
	h.Name, h.UID = name, types.UID(name)
	h.Spec.ForProvider.Address = address
	h.Spec.ForProvider.CredentialsSecretRef = &v1alpha1.LocalReference{Name: "bmc-" + name}
	h.Spec.ForProvider.CredentialsRotation = &v1alpha1.CredentialsRotation{Generation: 1}
	meta.AddAnnotations(h, map[string]string{v1alpha1.AnnotationIdentity: `{"uri":"/redfish/v1/Systems/` + name + `","serial":"` + name + `"}`})

	return h
}

// lookingAt is a look at a host, among others, and what the API server was asked for.
func lookingAt(t *testing.T, h *v1alpha1.RedfishHost, others ...client.Object) (e *external, asked *int) {
	t.Helper()
	s := runtime.NewScheme()
	if err := errors.Join(v1alpha1.AddToScheme(s), corev1.AddToScheme(s)); err != nil {
		t.Fatal(err)
	}
	asked = new(int)
	own := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: h.Namespace, Name: h.Spec.ForProvider.CredentialsSecretRef.Name}}
	kube := fake.NewClientBuilder().WithScheme(s).WithObjects(append(others, h, own)...).WithIndex(h, fieldMachine, machinesOf).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			*asked++

			return c.Get(ctx, key, o, opts...)
		},
		List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
			lo := (&client.ListOptions{}).ApplyOptions(opts)
			if _, hosts := l.(*v1alpha1.RedfishHostList); hosts && lo.FieldSelector == nil {
				t.Error("all hosts are listed")
			}

			return c.List(ctx, l, opts...)
		},
	}).Build()
	c := NewConnector(Options{Kube: kube, Now: func() time.Time { return t0 }, Elapsed: func() time.Duration { return 0 }})
	t.Cleanup(c.Stop)
	e = &external{connector: c, host: h.GetUID(), target: gate.Target{CredentialVersion: "s/1"}, inputs: inputs{address: h.Spec.ForProvider.Address}}
	e.own.at, e.own.host = types.NamespacedName{Namespace: own.Namespace, Name: own.Name}, h
	e.system.Identity = redfish.Identity{URI: "/redfish/v1/Systems/" + h.Name, Serial: h.Name}

	return e, asked
}

// TestSharer: whoever has the same BMC or Secret is found, by whatever address; and nobody else.
func TestSharer(t *testing.T) {
	recorded := func(h *v1alpha1.RedfishHost, bmc string) *v1alpha1.RedfishHost {
		meta.AddAnnotations(h, map[string]string{v1alpha1.AnnotationIdentity: `{"uri":"/redfish/v1/Systems/` + h.Name + `","serial":"` + h.Name + `","bmcUUID":"` + bmc + `"}`})

		return h
	}
	secret := func(h *v1alpha1.RedfishHost) *v1alpha1.RedfishHost {
		h.Spec.ForProvider.CredentialsSecretRef.Name = "bmc-a"

		return h
	}
	media := func(h *v1alpha1.RedfishHost) *v1alpha1.RedfishHost {
		h.Spec.ForProvider.VirtualMedia = []v1alpha1.VirtualMedium{{Type: "CD", Image: "https://x", CredentialsSecretRef: &v1alpha1.LocalReference{Name: "bmc-a"}}}

		return h
	}
	abroad := func(h *v1alpha1.RedfishHost) *v1alpha1.RedfishHost {
		h.Namespace = "elsewhere"
		meta.SetExternalName(h, "")
		h.SetConditions(condition(v1alpha1.ConditionReachable, corev1.ConditionFalse, v1alpha1.ReasonUnauthorized, ""))

		return h
	}
	twin := sharing("b", "bmc-a.example")
	twin.Status.AtProvider.Identity = v1alpha1.HostIdentity{Serial: "a"}
	node := sharing("b", "10.0.0.2")
	node.Status.AtProvider.Identity = v1alpha1.HostIdentity{Serial: "a", UUID: uuidB}
	cases := map[string]struct {
		reason string
		other  *v1alpha1.RedfishHost
		uuid   string // of the host's machine
		want   string
	}{
		"Nobody":  {reason: "Another BMC and another Secret.", other: sharing("b", "10.0.0.2")},
		"Address": {reason: "Another System of the BMC.", other: sharing("b", "https://10.0.0.1/redfish/v1/Systems/b"), want: `RedfishHost "b"`},
		"Manager": {reason: "The same by another address.", other: recorded(sharing("b", "bmc-a.example"), bmcA), want: `RedfishHost "b"`},
		"Secret":  {reason: "The same Secret.", other: secret(sharing("b", "10.0.0.2")), want: `RedfishHost "b"`},
		"Image":   {reason: "The same Secret, of an image's server.", other: media(sharing("b", "10.0.0.2")), want: `RedfishHost "b"`},
		"Twin":    {reason: "The same machine by another address.", other: twin, want: `RedfishHost "b"`},
		"Node":    {reason: "A node with a BMC of its own, and the chassis' serial.", other: node, uuid: uuidA},
		"Squats":  {reason: "Who only names the BMC has no account there.", other: abroad(sharing("b", "10.0.0.1"))},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h := recorded(sharing("a", "10.0.0.1"), bmcA)
			e, _ := lookingAt(t, h, tc.other)
			e.system.UUID = tc.uuid
			if got, err := e.sharer(t.Context(), h); err != nil || got != tc.want {
				t.Errorf("%s\nsharer(...): %q, %v; want %q", tc.reason, got, err, tc.want)
			}
		})
	}
}

// TestRotationProblemIsBelieved: what stands in the way is looked for once in a while, and when the Secret changes; two thousand hosts that
// can't be given a password don't list each other at each look.
func TestRotationProblemIsBelieved(t *testing.T) {
	h, other := sharing("a", "10.0.0.1"), sharing("b", "10.0.0.1")
	e, asked := lookingAt(t, h, other)
	look := func(want int) {
		t.Helper()
		if err := e.lookRotation(t.Context(), h); err != nil || e.rotation.problem.reason != v1alpha1.ReasonConflict {
			t.Errorf("lookRotation(...): %v, %+v", err, e.rotation.problem)
		}
		if *asked != want {
			t.Errorf("the Secret was read %d times, want %d", *asked, want)
		}
	}
	for range 5 {
		look(1)
	}
	e.target.CredentialVersion = "s/2"
	look(2)
	e.connector.watch.elapsed = func() time.Duration { return lookAge }
	look(3)
}

// TestReadingDoesntStarveARotation: as soon as a password is only waiting for an inventory, no other one is begun.
func TestReadingDoesntStarveARotation(t *testing.T) {
	h := sharing("a", "10.0.0.1")
	h.Spec.ForProvider.Power = v1alpha1.Unmanaged
	e, _ := lookingAt(t, h)
	e.rotation = rotationSeen{own: true, reading: true}
	if !e.rotating(h) {
		t.Error("another inventory is begun")
	}
	if st := following(e.view(h, wanted(h.Spec.ForProvider), e.journal(h, want{}), e.seen(e.system))); st.do != actNone {
		t.Errorf("while one is read, the rotation does %q", st.do)
	}
}

// TestRestartWaitsForNeighbours: a BMC isn't restarted under what is done to another machine of it.
func TestRestartWaitsForNeighbours(t *testing.T) {
	busy := &journal{Act: &act{Action: actPowerOn, State: begun, Time: t0}}
	old := &journal{Act: &act{Action: actPowerOn, State: begun, Time: t0.Add(-2 * stale)}}
	over := &journal{Act: &act{Action: actPowerOn, State: done, Time: t0}}
	cases := map[string]struct {
		reason  string
		address string
		j       *journal
		want    action
	}{
		"Busy":  {reason: "It's being switched on.", address: "10.0.0.1", j: busy},
		"Over":  {reason: "Nothing is done any more.", address: "10.0.0.1", j: over, want: actResetBMC},
		"Old":   {reason: "Nobody goes on with that.", address: "10.0.0.1", j: old, want: actResetBMC},
		"Other": {reason: "Of another BMC.", address: "10.0.0.2", j: busy, want: actResetBMC},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h, other := sharing("a", "10.0.0.1"), sharing("b", tc.address)
			h.Spec.ForProvider.Power, h.Spec.ForProvider.CredentialsRotation = v1alpha1.Unmanaged, nil
			h.Spec.ForProvider.BMCResetGeneration = 1
			meta.AddAnnotations(other, map[string]string{v1alpha1.AnnotationJournal: tc.j.String()})
			e, _ := lookingAt(t, h, other)
			if err := e.lookOthers(t.Context(), h); err != nil {
				t.Fatal(err)
			}
			w := wanted(h.Spec.ForProvider)
			if st := following(e.view(h, w, e.journal(h, w), e.seen(e.system))); st.do != tc.want {
				t.Errorf("%s\nfollowing(...): does %q, want %q", tc.reason, st.do, tc.want)
			}
		})
	}
}
