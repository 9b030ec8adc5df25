package config

import (
	"context"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// A probing is a reconciler whose NetBox is what a test says.
type probing struct {
	*reconciler

	t       *testing.T
	kube    client.Client
	config  clustered
	finding Finding
	tokens  []string
	at      time.Time
}

func newProbing(t *testing.T) *probing {
	t.Helper()
	p := &probing{t: t, at: now(), config: clustered{clusterConfig("netbox", netboxSpec(from("infra", "netbox")))}}
	p.kube = testKube(t, interceptor.Funcs{}, p.config.object(), secretAt("infra", "netbox"))
	p.reconciler = &reconciler{Resolver: testResolver(p.kube), kind: v1alpha1.ClusterProviderConfigKind, now: func() time.Time { return p.at }}
	p.ProbeNetBox(func(_ context.Context, n NetBox) Finding {
		p.tokens = append(p.tokens, n.Token)
		return p.finding
	})
	return p
}

// look reconciles after a while, and again when a look that was begun has ended, and returns what the config shows and when it's looked at again.
func (p *probing) look(after time.Duration) (seen, time.Duration) {
	p.t.Helper()
	p.at = p.at.Add(after)
	for {
		res, err := p.Reconcile(p.t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Name: "netbox"}})
		if err != nil {
			p.t.Fatal(err)
		}
		p.looks.wait()
		select {
		case <-p.seen[v1alpha1.ClusterProviderConfigKind]:
		default:
			return see(p.t, p.kube, p.config), res.RequeueAfter
		}
	}
}

func TestProbe(t *testing.T) {
	p := newProbing(t)
	skewed := v1alpha1.NewCondition(v1alpha1.ConditionClockSynced, false, v1alpha1.ReasonClockSkew, "x")
	p.finding = Finding{Facts: v1alpha1.NetBoxFacts{Version: "4.6.8", MarkerField: v1alpha1.MarkerFieldReady, Token: v1alpha1.NetBoxTokenWritable}, Clock: &skewed}
	ready := seen{InUse: true, Ready: corev1.ConditionTrue, Reason: xpv2.ReasonAvailable}
	check := func(reason string, want seen, again time.Duration, probes int, after time.Duration) {
		t.Helper()
		got, when := p.look(after)
		if diff := cmp.Diff(want, got); diff != "" || when != again || len(p.tokens) != probes {
			t.Errorf("%s: again in %s, want %s; %d looks, want %d; -want, +got:\n%s", reason, when, again, len(p.tokens), probes, diff)
		}
	}
	check("A NetBox that is as it must be.", ready, probeEvery, 1, 0)
	checked := metav1.NewTime(now())
	want := &v1alpha1.NetBoxFacts{Version: "4.6.8", MarkerField: v1alpha1.MarkerFieldReady, Token: v1alpha1.NetBoxTokenWritable, LastChecked: &checked}
	if diff := cmp.Diff(want, p.config.Status.NetBox); diff != "" {
		t.Errorf("facts: -want, +got:\n%s", diff)
	}
	if c := p.config.Status.GetCondition(v1alpha1.ConditionClockSynced); c.Status != corev1.ConditionFalse || c.Reason != v1alpha1.ReasonClockSkew {
		t.Errorf("a clock that is wrong is a warning beside Ready: %v", c)
	}
	check("It isn't asked again for each user that comes.", ready, probeEvery-time.Minute, 1, time.Minute)
	p.finding = Finding{Reason: v1alpha1.ReasonUnreachable, Message: "down"}
	down := seen{InUse: true, Ready: corev1.ConditionFalse, Reason: v1alpha1.ReasonUnreachable, Message: "down"}
	check("After ten minutes it is, and doesn't answer.", down, probeAgain, 2, 9*time.Minute)
	if diff := cmp.Diff(want, p.config.Status.NetBox); diff != "" {
		t.Errorf("it is what it last was: -want, +got:\n%s", diff)
	}
	p.finding = Finding{Facts: v1alpha1.NetBoxFacts{Version: "4.7.0"}, Message: "remark"}
	back := ready
	back.Message = "remark"
	check("It's back soon.", back, probeEvery, 3, probeAgain)
	p.finding = Finding{Facts: v1alpha1.NetBoxFacts{Version: "4.7.0", MarkerField: v1alpha1.MarkerFieldMissing}}
	check("The first address makes the field any time.", ready, probeSoon, 4, probeEvery)
}

// TestDoubt: a NetBox that refuses the token it was found to accept is asked at once, and not over and over where nothing is found.
func TestDoubt(t *testing.T) {
	p := newProbing(t)
	fine := Finding{Facts: v1alpha1.NetBoxFacts{Version: "4.6.8"}}
	p.finding = fine
	cases := []struct {
		reason string
		after  time.Duration
		doubts int
		found  xpv2.ConditionReason
		probes int
		again  time.Duration
		woken  int
	}{
		{"it's as it must be", 0, 0, "", 1, probeEvery, 0},
		{"many calls were refused: one look, which finds nothing", time.Minute, 9, "", 2, probeEvery, 1},
		{"they are still, by a constraint perhaps: that was just looked at", time.Second, 9, "", 2, probeSoon - time.Second, 1},
		{"after two minutes it's looked at again", probeSoon - time.Second, 9, "", 3, probeEvery, 0},
		{"nobody is refused any more", probeEvery, 0, "", 4, probeEvery, 0},
		{"the token is withdrawn", time.Minute, 1, v1alpha1.ReasonUnauthorized, 5, probeAgain, 1},
		{"who is refused then says nothing new", time.Second, 9, v1alpha1.ReasonUnauthorized, 5, probeAgain - time.Second, 0},
	}
	for _, tc := range cases {
		p.finding = fine
		if tc.found != "" {
			p.finding = Finding{Reason: tc.found, Message: "x"}
		}
		for range tc.doubts {
			p.Doubt(refTo(p.config))
		}
		p.Doubt(Ref{Kind: v1alpha1.ClusterProviderConfigKind, Name: "other"})
		woken := len(p.seen[v1alpha1.ClusterProviderConfigKind])
		for range woken {
			<-p.seen[v1alpha1.ClusterProviderConfigKind]
		}
		got, again := p.look(tc.after)
		if len(p.tokens) != tc.probes || again != tc.again || woken != tc.woken || (got.Ready == corev1.ConditionTrue) != (tc.found == "") {
			t.Errorf("%s: %d looks, want %d, again in %s, want %s, woken %d, want %d, %+v", tc.reason, len(p.tokens), tc.probes, again, tc.again, woken, tc.woken, got)
		}
	}
}

// TestProbeAfterRotation: a new token in the Secret, and new settings, are tried at once, without a restart.
func TestProbeAfterRotation(t *testing.T) {
	p := newProbing(t)
	p.finding = Finding{Reason: v1alpha1.ReasonUnauthorized, Message: "bad token"}
	if got, _ := p.look(0); got.Reason != v1alpha1.ReasonUnauthorized {
		t.Fatalf("got %+v", got)
	}
	s := &corev1.Secret{}
	if err := p.kube.Get(t.Context(), types.NamespacedName{Namespace: "infra", Name: "netbox"}, s); err != nil {
		t.Fatal(err)
	}
	s.Data = map[string][]byte{"token": []byte("rotated\n")}
	if err := p.kube.Update(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	p.finding = Finding{Facts: v1alpha1.NetBoxFacts{Version: "4.6.8"}}
	if got, _ := p.look(0); got.Ready != corev1.ConditionTrue {
		t.Errorf("after the rotation: %+v", got)
	}
	p.config.Generation++
	if err := p.kube.Update(t.Context(), p.config.object()); err != nil {
		t.Fatal(err)
	}
	_, _ = p.look(0)
	if diff := cmp.Diff([]string{"t0ken", "rotated", "rotated"}, p.tokens); diff != "" {
		t.Errorf("tokens: -want, +got:\n%s", diff)
	}
}

// TestHooked: who takes a webhook, and with which secret.
func TestHooked(t *testing.T) {
	hooked := func(c v1alpha1.Credentials, w *v1alpha1.NetBoxWebhook) v1alpha1.ProviderConfigSpec {
		s := netboxSpec(c)
		s.NetBox.Webhook = w
		return s
	}
	at := func(namespace, name, key string) *v1alpha1.NetBoxWebhook {
		return &v1alpha1.NetBoxWebhook{SecretRef: v1alpha1.SecretReference{Namespace: namespace, Name: name, Key: key}}
	}
	hook := func(namespace string) *corev1.Secret {
		return secretAt(namespace, "hook", func(s *corev1.Secret) { s.Data = map[string][]byte{"secret": []byte("abc\n"), "other": []byte("def")} })
	}
	cluster, mine := Ref{Kind: v1alpha1.ClusterProviderConfigKind, Name: "netbox"}, Ref{Kind: v1alpha1.ProviderConfigKind, Namespace: "team-a", Name: "mine"}
	cases := map[string]struct {
		reason  string
		ref     Ref
		objects []client.Object
		want    string
	}{
		"Cluster":   {"a cluster's", cluster, []client.Object{clusterConfig("netbox", hooked(from("infra", "netbox"), at("infra", "hook", ""))), secretAt("infra", "netbox"), hook("infra")}, "abc"},
		"Key":       {"by a key of its own", cluster, []client.Object{clusterConfig("netbox", hooked(from("infra", "netbox"), at("infra", "hook", "other"))), secretAt("infra", "netbox"), hook("infra")}, "def"},
		"Namespace": {"a namespace's", mine, []client.Object{localConfig("team-a", hooked(from("", "netbox"), at("", "hook", ""))), secretAt("team-a", "netbox"), hook("team-a")}, "abc"},
		"Foreign":   {"a namespace's that names another namespace's Secret", mine, []client.Object{localConfig("team-a", hooked(from("", "netbox"), at("infra", "hook", ""))), secretAt("team-a", "netbox"), hook("infra")}, ""},
		"NoKey":     {"a Secret without the key", cluster, []client.Object{clusterConfig("netbox", hooked(from("infra", "netbox"), at("infra", "hook", "none"))), secretAt("infra", "netbox"), hook("infra")}, ""},
		"NoSecret":  {"no Secret", cluster, []client.Object{clusterConfig("netbox", hooked(from("infra", "netbox"), at("infra", "hook", ""))), secretAt("infra", "netbox")}, ""},
		"NoWebhook": {"a config without one", cluster, []client.Object{clusterConfig("netbox", hooked(from("infra", "netbox"), nil)), secretAt("infra", "netbox")}, ""},
		"BMC":       {"a config for BMCs", cluster, []client.Object{clusterConfig("netbox", redfishSpec(from("infra", "netbox"))), secretAt("infra", "netbox")}, ""},
		"Nobody":    {"no config", cluster, nil, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			n, secret, err := testResolver(testKube(t, interceptor.Funcs{}, tc.objects...)).Hooked(t.Context(), tc.ref)
			if string(secret) != tc.want || (err == nil) != (tc.want != "") {
				t.Fatalf("%s: %q, %v", tc.reason, secret, err)
			}
			if err == nil && n.Token != "t0ken" {
				t.Errorf("%s: token %q", tc.reason, n.Token)
			}
		})
	}
}
