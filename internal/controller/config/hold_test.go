package config

import (
	"slices"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

func TestRelease(t *testing.T) {
	stays := host("team-a", "h", local("mine"))
	goes := host("team-a", "g", local("mine"), deleted)
	at := func(ago time.Duration) *metav1.Time { x := metav1.NewTime(now().Add(-ago)); return &x }
	cases := map[string]struct {
		reason  string
		deleted *metav1.Time
		users   []resource.ModernManaged
		rotates bool
		gone    bool
		after   time.Duration
	}{
		"Unused":          {reason: "Nobody needs it.", gone: true},
		"UnusedDeleted":   {reason: "Nobody needs it.", deleted: at(0), gone: true},
		"Used":            {reason: "It's kept for later.", users: []resource.ModernManaged{stays}, after: time.Minute},
		"JustDeleted":     {reason: "Its users may be deleted in a moment, with the namespace.", deleted: at(time.Second), users: []resource.ModernManaged{stays}, after: 4 * time.Second},
		"DeletedAlone":    {reason: "Somebody wants to replace it.", deleted: at(5 * time.Second), users: []resource.ModernManaged{stays}, gone: true},
		"DeletedRotating": {reason: "It may be all that has a machine's password.", deleted: at(time.Hour), users: []resource.ModernManaged{stays}, rotates: true, after: 2 * time.Second},
		"RotatingUnused":  {reason: "Nobody needs it.", deleted: at(time.Hour), rotates: true, gone: true},
		"DeletedWithOne":  {reason: "One of its users must be released with it.", deleted: at(time.Hour), users: []resource.ModernManaged{stays, goes}, after: 2 * time.Second},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			gone, after := release(now(), tc.deleted, tc.users, tc.rotates)
			if gone != tc.gone || after != tc.after {
				t.Errorf("%s\nrelease(...) = %v, %s: want %v, %s", tc.reason, gone, after, tc.gone, tc.after)
			}
		})
	}
}

// held says whether a Secret has our finalizer; gone that it isn't there.
func held(t *testing.T, kube client.Client, namespace, name string) (held, gone bool) {
	t.Helper()
	s := &corev1.Secret{}
	err := kube.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, s)
	if kerrors.IsNotFound(err) {
		return false, true
	}
	if err != nil {
		t.Fatal(err)
	}
	return slices.Contains(s.Finalizers, FinalizerCredentials), false
}

func TestHold(t *testing.T) {
	cases := map[string]struct {
		reason    string
		host      *v1alpha1.RedfishHost
		namespace string
		mods      []mod[*corev1.Secret]
		want      bool
	}{
		"Local": {
			reason: "The Secret of a ProviderConfig would go with the namespace, before its users.",
			host:   host("team-a", "h", local("mine")), namespace: "team-a", want: true,
		},
		"Own": {
			reason: "So would a host's own Secret.",
			host:   host("team-a", "h", cluster("bmc"), ownSecret("bmc")), namespace: "team-a", want: true,
		},
		"Elsewhere": {
			reason: "The Secret of another namespace doesn't go with the resource's.",
			host:   host("team-a", "h", cluster("bmc")), namespace: "infra",
		},
		"DeletedHost": {
			reason: "It's too late for a host that is being deleted, and it mustn't be hard to get rid of.",
			host:   host("team-a", "h", local("mine"), deleted), namespace: "team-a",
		},
		"DeletedSecret": {
			reason: "The API server lets nobody add a finalizer to what is being deleted.",
			host:   host("team-a", "h", local("mine")), namespace: "team-a", mods: []mod[*corev1.Secret]{deleted[*corev1.Secret]},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			kube := testKube(t, interceptor.Funcs{},
				clusterConfig("bmc", redfishSpec(from("infra", "bmc"), "team-a")),
				localConfig("team-a", redfishSpec(from("", "bmc"))),
				secretAt(tc.namespace, "bmc", tc.mods...))
			r := testResolver(kube)
			first, err := r.Redfish(t.Context(), tc.host, tc.host.Spec.ForProvider.CredentialsSecretRef)
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := held(t, kube, tc.namespace, "bmc"); got != tc.want {
				t.Errorf("%s\nheld: %v, want %v", tc.reason, got, tc.want)
			}
			second, err := r.Redfish(t.Context(), tc.host, tc.host.Spec.ForProvider.CredentialsSecretRef)
			if err != nil || second.SecretVersion != first.SecretVersion {
				t.Errorf("holding a Secret must not change its version after its first use: %q, then %q (error %v)",
					first.SecretVersion, second.SecretVersion, err)
			}
		})
	}
}

func TestHolder(t *testing.T) {
	holding := func(s *corev1.Secret) { s.Finalizers = append(s.Finalizers, FinalizerCredentials) }
	dying := func(s *corev1.Secret) {
		at := metav1.NewTime(now().Add(-time.Minute))
		s.DeletionTimestamp = &at
	}
	cases := map[string]struct {
		reason  string
		objects []client.Object
		running time.Duration
		held    bool
		gone    bool
		after   time.Duration
	}{
		"Young": {
			reason:  "Just after the start not all kinds are known: whoever uses it may be of one of them.",
			objects: []client.Object{secretAt("team-a", "bmc", holding)},
			running: 4 * time.Second,
			held:    true, after: 6 * time.Second,
		},
		"Unused": {
			reason:  "The finalizer goes with the last user.",
			objects: []client.Object{secretAt("team-a", "bmc", holding)},
			running: time.Minute,
		},
		"UsedElsewhere": {
			reason: "Users in other namespaces don't go with this one.",
			objects: []client.Object{
				secretAt("team-a", "bmc", holding), clusterConfig("c", redfishSpec(from("team-a", "bmc"), "team-b")), host("team-b", "h", cluster("c")),
			},
			running: time.Minute,
		},
		"Used": {
			reason: "It stays for a host that names its config.",
			objects: []client.Object{
				secretAt("team-a", "bmc", holding), localConfig("team-a", redfishSpec(from("", "bmc"))), host("team-a", "h", local("mine")),
			},
			running: time.Minute,
			held:    true, after: time.Minute,
		},
		"Terminating": {
			reason: "In a terminating namespace it stays until its hosts are released.",
			objects: []client.Object{
				secretAt("team-a", "bmc", holding, dying), host("team-a", "h", cluster("c"), ownSecret("bmc"), deleted),
			},
			running: time.Minute,
			held:    true, after: 2 * time.Second,
		},
		"Replaced": {
			reason: "Whoever deletes the Secret alone gets their way: the host stays, and says that its Secret is missing.",
			objects: []client.Object{
				secretAt("team-a", "bmc", holding, dying), host("team-a", "h", cluster("c"), ownSecret("bmc")),
			},
			running: time.Minute,
			gone:    true,
		},
		"Rotating": {
			reason: "It may be all that has the password of a machine, while another one is given to that.",
			objects: []client.Object{
				secretAt("team-a", "bmc", holding, dying, func(s *corev1.Secret) { s.Annotations = map[string]string{AnnotationRotating: "u"} }),
				host("team-a", "h", cluster("c"), ownSecret("bmc")),
			},
			running: time.Minute,
			held:    true, after: 2 * time.Second,
		},
		"NotOurs": {
			reason:  "A Secret without our finalizer is left alone.",
			objects: []client.Object{secretAt("team-a", "bmc")},
			running: time.Minute,
		},
		"Gone": {
			reason:  "What isn't there needs nothing.",
			running: time.Minute,
			gone:    true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			kube := testKube(t, interceptor.Funcs{}, tc.objects...)
			h := &holder{Resolver: testResolver(kube), now: now, started: now().Add(-tc.running)}
			got, err := h.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "team-a", Name: "bmc"}})
			if err != nil || got.RequeueAfter != tc.after {
				t.Errorf("%s\nagain after %s, error %v: want %s", tc.reason, got.RequeueAfter, err, tc.after)
			}
			held, gone := held(t, kube, "team-a", "bmc")
			if held != tc.held || gone != tc.gone {
				t.Errorf("%s\nheld %v, gone %v: want %v, %v", tc.reason, held, gone, tc.held, tc.gone)
			}
		})
	}
}
