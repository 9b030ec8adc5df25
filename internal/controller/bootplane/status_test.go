package bootplane

import (
	"context"
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootspec"
)

func entry(namespace, name, profile, network string) *v1alpha1.BootEntry {
	ref := func(s string) v1alpha1.NamespacedReference {
		if ns, n, ok := strings.Cut(s, "/"); ok {
			return v1alpha1.NamespacedReference{Namespace: ns, Name: n}
		}
		return v1alpha1.NamespacedReference{Name: s}
	}
	e := &v1alpha1.BootEntry{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	e.Spec.ForProvider.ProfileRef = ref(profile)
	e.Spec.ForProvider.Networks = []v1alpha1.EntryNetwork{{Name: "boot", NetworkRef: ref(network)}}
	return e
}

// server is a bootd of namespace baremetal-boot that serves infra/rack-7.
func server(name string, seen time.Duration, digests ...string) *v1alpha1.BootServer {
	at := metav1.NewMicroTime(now().Add(-seen))
	return &v1alpha1.BootServer{
		ObjectMeta: metav1.ObjectMeta{Namespace: "baremetal-boot", Name: name},
		Status: v1alpha1.BootServerStatus{
			LastSeen: &at,
			Networks: []v1alpha1.BootServerNetwork{{Namespace: "infra", Name: "rack-7", Address: "10.77.0.2"}},
			Cache:    v1alpha1.BootServerCache{Digests: digests},
		},
	}
}

// without is a bootd that can't get a file.
func without(s *v1alpha1.BootServer, digest string) *v1alpha1.BootServer {
	s.Status.Cache.Failed = []v1alpha1.BootServerFailure{{Digest: digest, Reason: "ArtifactUnavailable", Message: "its server answered 404 (text/plain), not 200"}}
	return s
}

func testKube(t *testing.T, writes *int, objects ...client.Object) client.Client {
	t.Helper()
	s := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(s).WithObjects(objects...).
		WithStatusSubresource(&v1alpha1.BootProfile{}, &v1alpha1.BootNetwork{}).
		WithIndex(&v1alpha1.BootEntry{}, fieldProfile, index(profilesOf)).
		WithIndex(&v1alpha1.BootEntry{}, fieldNetwork, index(networksOf)).
		WithInterceptorFuncs(interceptor.Funcs{
			SubResourcePatch: func(ctx context.Context, k client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
				*writes++
				return k.SubResource(sub).Patch(ctx, o, p, opts...)
			},
		}).Build()
}

func profile(mods ...func(*v1alpha1.BootProfileSpec)) *v1alpha1.BootProfile {
	p := &v1alpha1.BootProfile{
		ObjectMeta: metav1.ObjectMeta{Namespace: "infra", Name: "debian-12", Generation: 3},
		Spec: v1alpha1.BootProfileSpec{
			Mode: v1alpha1.BootModeInstall, Method: v1alpha1.BootMethodDiskImage,
			Artifacts: []v1alpha1.ProfileArtifacts{{
				Arch:    v1alpha1.AMD64,
				Kernel:  &v1alpha1.Artifact{URL: "http://a.example/kernel", Digest: "sha256:k"},
				Initrds: []v1alpha1.Artifact{{URL: "http://a.example/initrd", Digest: "sha256:i"}},
				Image:   &v1alpha1.ImageArtifact{Artifact: v1alpha1.Artifact{URL: "http://a.example/image", Digest: "sha512:m"}},
			}},
		},
	}
	for _, m := range mods {
		m(&p.Spec)
	}
	return p
}

func TestProfile(t *testing.T) {
	writes := 0
	kube := testKube(t, &writes, profile(),
		entry("team-a", "one", "infra/debian-12", "infra/rack-7"), entry("infra", "two", "debian-12", "rack-7"),
		entry("team-a", "other", "debian-12", "infra/rack-7"),
		server("a", 0, "sha256:k", "sha256:i"), without(server("c", 0, "sha256:k"), "sha512:m"), without(server("b", 0), "sha512:m"))
	r := &profiles{kube: kube}
	for range 2 {
		if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(profile())}); err != nil {
			t.Fatal(err)
		}
	}
	got := &v1alpha1.BootProfile{}
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(profile()), got); err != nil {
		t.Fatal(err)
	}
	want := v1alpha1.BootProfileStatus{
		ConditionedStatus: xpv2.ConditionedStatus{Conditions: []xpv2.Condition{xpv2.Available().WithObservedGeneration(3)}},
		Digest:            bootspec.ProfileDigest(profile().Spec),
		Users:             2,
		Artifacts: []v1alpha1.ArtifactStatus{
			{URL: "http://a.example/kernel", CachedOn: 2}, {URL: "http://a.example/initrd", CachedOn: 1}, {
				URL: "http://a.example/image", Message: "BootServer b: ArtifactUnavailable: its server answered 404 (text/plain), not 200",
			},
		},
	}
	if diff := cmp.Diff(want, got.Status, cmpopts.IgnoreFields(xpv2.Condition{}, "LastTransitionTime")); diff != "" {
		t.Errorf("status of a profile: -want, +got:\n%s", diff)
	}
	if writes != 1 {
		t.Errorf("%d writes: a status isn't rewritten when nothing changed", writes)
	}
	if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "infra", Name: "gone"}}); err != nil {
		t.Errorf("a profile that is gone needs nothing: %v", err)
	}
}

func TestProfileDigest(t *testing.T) {
	d := bootspec.ProfileDigest(profile().Spec)
	if len(d) != len("sha256:")+64 || d != bootspec.ProfileDigest(profile().Spec) {
		t.Errorf("digest %q: want sha256:… and the same for the same spec", d)
	}
	if d == bootspec.ProfileDigest(profile(func(s *v1alpha1.BootProfileSpec) { s.CommandLine = []string{"quiet"} }).Spec) {
		t.Error("another spec has another digest")
	}
}

func TestProfileReady(t *testing.T) {
	def := "db server"
	cases := map[string]struct {
		reason    string
		parameter v1alpha1.ProfileParameter
		want      string
	}{
		"Good":       {reason: "A parameter without a default is given by each entry.", parameter: v1alpha1.ProfileParameter{Name: "role", Pattern: "[a-z]+"}},
		"BadPattern": {reason: "Admission can't compile RE2.", parameter: v1alpha1.ProfileParameter{Name: "role", Pattern: "("}, want: `pattern "(" of parameter "role" isn't RE2: correct it`},
		"BadDefault": {
			reason: "A default enters the command line too. Patterns are anchored.", parameter: v1alpha1.ProfileParameter{Name: "role", Pattern: "[a-z]+", Default: &def},
			want: `default "db server" of parameter "role" doesn't match its pattern "[a-z]+": change one of them`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := profileReady(profile(func(s *v1alpha1.BootProfileSpec) { s.Parameters = []v1alpha1.ProfileParameter{tc.parameter} }))
			if got.Message != tc.want || (got.Status == corev1.ConditionTrue) != (tc.want == "") {
				t.Errorf("%s\nprofileReady(...) = %s: %q, want %q", tc.reason, got.Status, got.Message, tc.want)
			}
		})
	}
}

// TestTemplateReady: what is wrong with a template for each machine is its profile's to say.
func TestTemplateReady(t *testing.T) {
	for template, want := range map[string]string{
		"#!ipxe\nkernel {{ .kernel }} {{ .role }}": "",
		"#!ipxe\n  echo {{ .roles }}":              "scriptTemplate, line 2, column 8: {{ .roles }} is neither a parameter of the profile nor one of address, ",
	} {
		got := profileReady(profile(func(s *v1alpha1.BootProfileSpec) {
			s.Method, s.ScriptTemplate, s.Parameters = v1alpha1.BootMethodScript, template, []v1alpha1.ProfileParameter{{Name: "role", Pattern: "[a-z]+"}}
		}))
		if !strings.HasPrefix(got.Message, want) || (got.Status == corev1.ConditionTrue) != (want == "") || strings.Contains(got.Message, "\n") {
			t.Errorf("%q: %s: %q, want %q", template, got.Status, got.Message, want)
		}
	}
}

func TestServersOf(t *testing.T) {
	silent := server("never", 0)
	silent.Status.LastSeen = nil
	elsewhere := server("elsewhere", 0)
	elsewhere.Status.Networks = []v1alpha1.BootServerNetwork{{Namespace: "infra", Name: "rack-8"}}
	all := []v1alpha1.BootServer{*server("b", 3*time.Second), *server("a", 14*time.Second), *server("dead", 15*time.Second), *silent, *elsewhere}
	live, next := serversOf(client.ObjectKey{Namespace: "infra", Name: "rack-7"}, all, now())
	var names []string
	for _, s := range live {
		names = append(names, s.Name)
	}
	if diff := cmp.Diff([]string{"a", "b"}, names); diff != "" {
		t.Errorf("live bootds of the network: -want, +got:\n%s", diff)
	}
	if next != time.Second {
		t.Errorf("again after %s: want when the first of them would be silent for 15 s", next)
	}
}

func TestNetwork(t *testing.T) {
	network := &v1alpha1.BootNetwork{ObjectMeta: metav1.ObjectMeta{Namespace: "infra", Name: "rack-7", Generation: 2}}
	cases := map[string]struct {
		reason  string
		servers []client.Object
		status  corev1.ConditionStatus
		why     xpv2.ConditionReason
		count   int
		after   time.Duration
	}{
		"Served": {
			reason:  "A network with a live bootd is ready.",
			servers: []client.Object{server("a", 5*time.Second)},
			status:  corev1.ConditionTrue, why: xpv2.ReasonAvailable, count: 1, after: 10 * time.Second,
		},
		"Silent": {
			reason:  "Without a heartbeat it waits for a bootd.",
			servers: []client.Object{server("a", time.Minute)},
			status:  corev1.ConditionFalse, why: v1alpha1.ReasonWaitingForBootServer,
		},
		"None": {
			reason: "So does one that no bootd ever served.",
			status: corev1.ConditionFalse, why: v1alpha1.ReasonWaitingForBootServer,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			writes := 0
			kube := testKube(t, &writes, append(tc.servers, network.DeepCopy(), entry("team-a", "one", "infra/p", "infra/rack-7"))...)
			r := &networks{kube: kube, now: now}
			var result reconcile.Result
			for range 2 {
				var err error
				if result, err = r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(network)}); err != nil {
					t.Fatal(err)
				}
			}
			got := &v1alpha1.BootNetwork{}
			if err := kube.Get(t.Context(), client.ObjectKeyFromObject(network), got); err != nil {
				t.Fatal(err)
			}
			ready := got.Status.GetCondition(xpv2.TypeReady)
			if ready.Status != tc.status || ready.Reason != tc.why || len(got.Status.Servers) != tc.count || got.Status.Machines != 1 {
				t.Errorf("%s\nstatus %+v: want %s, %s, %d servers, 1 machine", tc.reason, got.Status, tc.status, tc.why, tc.count)
			}
			if result.RequeueAfter != tc.after || writes != 1 {
				t.Errorf("%s\nagain after %s, %d writes: want %s, 1", tc.reason, result.RequeueAfter, writes, tc.after)
			}
		})
	}
}

func TestHeartbeatsAreNotAllWritten(t *testing.T) {
	n := &v1alpha1.BootNetwork{}
	at := func(d time.Duration) []v1alpha1.NetworkServer {
		x := metav1.NewTime(now().Add(d))
		return []v1alpha1.NetworkServer{{Name: "a", LastSeen: &x}}
	}
	for _, step := range []struct{ seen, shown time.Duration }{{0, 0}, {5 * time.Second, 0}, {59 * time.Second, 0}, {time.Minute, time.Minute}} {
		showNetwork(n, at(step.seen), 0)
		if got := n.Status.Servers[0].LastSeen.Sub(now()); got != step.shown {
			t.Errorf("heartbeat of +%s shown as +%s: want +%s, for a status is written once a minute at most", step.seen, got, step.shown)
		}
	}
}

func TestWaking(t *testing.T) {
	if diff := cmp.Diff([]string{"infra/rack-7"}, names(served(t.Context(), server("a", 0)))); diff != "" {
		t.Errorf("a heartbeat wakes the networks it names: -want, +got:\n%s", diff)
	}
	if got := served(t.Context(), profile()); got != nil {
		t.Errorf("a profile is no heartbeat, and woke %v", got)
	}
	p := cacheChanged()
	if p.Update(event.UpdateEvent{ObjectOld: server("a", time.Second, "x"), ObjectNew: server("a", 0, "x")}) {
		t.Error("a mere heartbeat must not wake all profiles")
	}
	if !p.Update(event.UpdateEvent{ObjectOld: server("a", 0, "x"), ObjectNew: server("a", 0, "x", "y")}) || !p.Delete(event.DeleteEvent{}) {
		t.Error("a bootd with another file, or gone, must wake profiles")
	}
	if !p.Update(event.UpdateEvent{ObjectOld: server("a", 0, "x"), ObjectNew: without(server("a", 0, "x"), "y")}) {
		t.Error("so must one that can't get a file")
	}
	loading := server("a", 0, "x")
	loading.Status.Cache.SizeBytes, loading.Status.Cache.Fetching = 4<<20, []string{"y"}
	if p.Update(event.UpdateEvent{ObjectOld: server("a", 0, "x"), ObjectNew: loading}) {
		t.Error("how far a download has come is nothing that a profile shows")
	}
}

func names(rs []reconcile.Request) []string {
	var out []string
	for _, r := range rs {
		out = append(out, r.String())
	}
	return out
}
