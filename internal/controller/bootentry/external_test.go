package bootentry

import (
	"context"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// decidedOnly is an entry whose grant is decided, and whose machine is off.
func decidedOnly(in *inputs) {
	r := v1alpha1.GrantRecord{EntryUID: "entry", HostUID: "host", Generation: 1, GrantID: "g", SessionUID: "session", State: v1alpha1.GrantIssuing, Revision: "90"}
	note(in.entry, v1alpha1.AnnotationGranted, r)
	note(in.host, v1alpha1.AnnotationGranted, r)
}

// clientOf is an external client on an API server that holds the inputs, and what that server holds by now.
func clientOf(t *testing.T, in inputs, funcs interceptor.Funcs) (*external, client.Client) {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, corev1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	in.addresses[0].Namespace, in.addresses[0].Name = "team-a", "web-1-boot-ipv4"
	in.servers[0].Namespace, in.servers[0].Name = "baremetal-boot", "bootd"
	kube := fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(funcs).
		WithObjects(in.entry, in.session, in.claim, in.host, in.addresses[0], in.profile, in.network, &in.servers[0]).Build()
	e := &external{connector: &connector{
		kube: kube, cached: kube, live: kube, bootNamespace: "baremetal-boot", record: event.NewNopRecorder(),
		now: func() time.Time { return noon }, newID: func() string { return "00000000000000a1" }, failpoint: func(string) {},
	}}
	return e, kube
}

// TestUpdateConflicts holds that a step whose write meets another's is decided anew, and that nobody reads of it.
func TestUpdateConflicts(t *testing.T) {
	conflict := kerrors.NewConflict(schema.GroupResource{Resource: "bootsessions"}, "web-1", errors.New("changed"))
	errBoom := errors.New("boom")
	cases := map[string]struct {
		reason string
		// refused are the errors of the first writes of the session; the last one stays. before happens before each.
		refused []error
		before  func(context.Context, client.Client) error
		granted bool
		want    error
	}{
		"Free":   {reason: "Nobody else writes.", refused: []error{nil}, granted: true},
		"Once":   {reason: "bootd wrote in between: the next try has what it wrote.", refused: []error{conflict, conflict, nil}, granted: true},
		"Always": {reason: "One that never gets through is left to the next look.", refused: []error{conflict}},
		"Broken": {reason: "Any other error is said.", refused: []error{errBoom}, want: errBoom},
		"Released": {
			reason: "A release in between: what was decided before doesn't count.", refused: []error{conflict, nil},
			before: func(ctx context.Context, kube client.Client) error {
				return errors.Join(
					change(ctx, kube, func(s *v1alpha1.BootSession) { s.Spec.Revocation = &v1alpha1.Revocation{ID: "r"} }),
					kube.Delete(ctx, &v1alpha1.RedfishHost{ObjectMeta: world().host.ObjectMeta}))
			},
		},
		"MovesOn": {
			reason: "A boot that moved on in between changes nothing that was decided: the same is written again at once.", refused: []error{conflict, nil},
			before: func(ctx context.Context, kube client.Client) error {
				return change(ctx, kube, func(s *v1alpha1.BootSession) { s.Status.Stage, s.Status.Boots = v1alpha1.StageDHCP, 7 })
			},
			granted: true,
		},
		"Remade": {
			reason: "Another session under its name isn't the one that was decided on.", refused: []error{conflict, nil},
			before: func(ctx context.Context, kube client.Client) error {
				return change(ctx, kube, func(s *v1alpha1.BootSession) { s.UID = "another" })
			},
		},
		"Deleted": {
			reason: "An entry that is gone, or made anew under its name, isn't worked on.", refused: []error{conflict, nil},
			before: func(ctx context.Context, kube client.Client) error {
				return kube.Delete(ctx, &v1alpha1.BootEntry{ObjectMeta: world().entry.ObjectMeta})
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			writes := 0
			in := world(decidedOnly)
			e, kube := clientOf(t, in, interceptor.Funcs{
				Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
					err := tc.refused[min(writes, len(tc.refused)-1)]
					writes++
					if writes == 1 && tc.before != nil {
						if err := tc.before(ctx, c); err != nil {
							t.Fatal(err)
						}
					}
					if err != nil {
						return err
					}
					return c.Update(ctx, o, opts...)
				},
			})
			if _, err := e.Update(t.Context(), in.entry.DeepCopy()); !errors.Is(err, tc.want) || (err == nil) != (tc.want == nil) {
				t.Errorf("%s\nUpdate(...) = %v, want %v", tc.reason, err, tc.want)
			}
			s := &v1alpha1.BootSession{}
			if err := kube.Get(t.Context(), client.ObjectKeyFromObject(in.session), s); err != nil {
				t.Fatal(err)
			}
			if got := s.Spec.Grant != nil; got != tc.granted {
				t.Errorf("%s\ngranted: %t, want %t, after %d writes", tc.reason, got, tc.granted, writes)
			}
			if most := conflictTries * sessionTries; writes > most {
				t.Errorf("%s\n%d writes, want %d at most", tc.reason, writes, most)
			}
		})
	}
}

// change writes the session as bootd and a release do.
func change(ctx context.Context, kube client.Client, f func(*v1alpha1.BootSession)) error {
	s := &v1alpha1.BootSession{}
	if err := kube.Get(ctx, client.ObjectKeyFromObject(world().session), s); err != nil {
		return err
	}
	f(s)
	return kube.Update(ctx, s)
}

// TestIssueBySteps takes a grant from its decision to its record, each step by an Update of its own: one write of the entry is all
// that Crossplane hears of it.
func TestIssueBySteps(t *testing.T) {
	in := world()
	writes := map[string]int{}
	count := func(o client.Object) {
		switch o.(type) {
		case *v1alpha1.BootEntry:
			writes["entry"]++
		case *v1alpha1.RedfishHost:
			writes["host"]++
		case *v1alpha1.BootSession:
			writes["session"]++
		}
	}
	e, kube := clientOf(t, in, interceptor.Funcs{
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			count(o)
			return c.Update(ctx, o, opts...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			count(o)
			return c.Patch(ctx, o, p, opts...)
		},
	})
	entry := &v1alpha1.BootEntry{}
	for range 6 {
		if err := kube.Get(t.Context(), client.ObjectKeyFromObject(in.entry), entry); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Update(t.Context(), entry); err != nil {
			t.Fatal(err)
		}
	}
	if writes["entry"] != 1 || writes["host"] != 2 || writes["session"] != 1 {
		t.Errorf("writes of entry, host and session: %v, want 1, 2 and 1", writes)
	}
	host := &v1alpha1.RedfishHost{}
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(in.host), host); err != nil {
		t.Fatal(err)
	}
	if r := v1alpha1.ReadRecord[v1alpha1.GrantRecord](host.Annotations, v1alpha1.AnnotationGranted); r == nil || r.State != v1alpha1.GrantIssued || r.Revision == "" {
		t.Errorf("the host's record is %+v, want it issued, with the revision that holds the grant", r)
	}
}

// TestRaisedWhileOn raises the generation of a machine that runs: nothing is in its session that it could use before it's off, and
// its entry says what it waits for.
func TestRaisedWhileOn(t *testing.T) {
	cases := map[string]struct {
		reason string
		in     inputs
	}{
		"Installed": {"A machine that runs what was installed.", world(granted, installed, poweredOn, func(in *inputs) { in.entry.Spec.ForProvider.Install.Generation = 2 })},
		"Looping": {"One that boots over the network again and again, with an unused grant.", world(granted, poweredOn, func(in *inputs) {
			in.entry.Spec.ForProvider.Install.Generation = 2
		})},
		"Overtaken": {"One that loads by the script of another plan, of the same generation.", world(granted, poweredOn, func(in *inputs) {
			in.entry.Spec.ForProvider.Hostname = "web-2"
			in.session.Status.OpenedGrantID = "g"
			in.session.Status.Opened = []v1alpha1.Opened{{Nonce: "n", At: metav1.NewMicroTime(noon.Add(-time.Minute))}}
			note(in.claim, v1alpha1.AnnotationBoot, v1alpha1.BootRecord{EntryUID: "entry", HostUID: "host", Generation: 1, Once: 1})
		})},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e, kube := clientOf(t, tc.in, interceptor.Funcs{})
			generation := tc.in.entry.Spec.ForProvider.Install.Generation
			entry := &v1alpha1.BootEntry{}
			look := func() *v1alpha1.Grant {
				t.Helper()
				for range 6 {
					if err := kube.Get(t.Context(), client.ObjectKeyFromObject(tc.in.entry), entry); err != nil {
						t.Fatal(err)
					}
					if _, err := e.Update(t.Context(), entry); err != nil {
						t.Fatal(err)
					}
				}
				if _, err := e.Observe(t.Context(), entry); err != nil {
					t.Fatal(err)
				}
				s := &v1alpha1.BootSession{}
				if err := kube.Get(t.Context(), client.ObjectKeyFromObject(tc.in.session), s); err != nil {
					t.Fatal(err)
				}
				return s.Spec.Grant
			}
			if g := look(); g != nil {
				t.Fatalf("%s\nin its session while it's on: %+v", tc.reason, g)
			}
			if c := entry.GetCondition(v1alpha1.ConditionInstalled); c.Reason != v1alpha1.ReasonWaitingForPowerOff {
				t.Errorf("%s\nInstalled says %s: %s", tc.reason, c.Reason, c.Message)
			}
			host := &v1alpha1.RedfishHost{}
			if err := kube.Get(t.Context(), client.ObjectKeyFromObject(tc.in.host), host); err != nil {
				t.Fatal(err)
			}
			host.Spec.ForProvider.Power, host.Status.AtProvider.Power = v1alpha1.PoweredOff, v1alpha1.PoweredOff
			if err := kube.Update(t.Context(), host); err != nil {
				t.Fatal(err)
			}
			if g := look(); g == nil || g.Generation != generation || g.ID != "00000000000000a1" {
				t.Errorf("%s\ngranted once it's off: %+v", tc.reason, g)
			}
		})
	}
}
