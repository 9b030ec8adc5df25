package cluster_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
	"github.com/crossplane-contrib/provider-baremetal/test/cluster/stage"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
)

const (
	hookPort   = "9444"
	hookName   = "netbox-webhook"
	hookSecret = "what-netbox-signs-with"
	// told is a provider config whose NetBox tells of changes.
	told = `
apiVersion: v1
kind: Secret
metadata: {namespace: crossplane-system, name: netbox-telling}
stringData: {secret: "` + hookSecret + `"}
---
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: ClusterProviderConfig
metadata: {name: netbox-telling}
spec:
  allowedNamespaces: {from: Names, names: [infra]}
  netbox:
    url: "«netbox»"
    credentials: {source: Secret, secretRef: {namespace: crossplane-system, name: netbox, key: token}}
    webhook: {secretRef: {namespace: crossplane-system, name: netbox-telling, key: secret}}
`
)

// replicas runs two providers, as the manifests have them, behind the manifest's Service: whichever of them NetBox tells, the one that leads
// takes it. The cluster's network keeps no NetworkPolicy; whom the manifest's one lets in is read from it.
func (w *site) replicas(t *testing.T, s *stage.Stage, _ string) {
	t.Helper()
	began := time.Now()
	must(t, s.ApplyYAML(t.Context(), strings.ReplaceAll(told, "«netbox»", w.netbox.Address)))
	must(t, s.Apply(t.Context(), s.Packages.Manifest("netbox-webhook.yaml")))
	back := runs(t, s, 2, "--netbox-webhook-address=:"+hookPort)
	pods := both(t, s)
	letsIn(t, s, pods)
	leader := leads(t, s, pods)
	t.Logf("two providers run after %.0f s; %s leads", time.Since(began).Seconds(), leader)
	for i, p := range pods {
		if status := tells(t, s, net.JoinHostPort(p.Status.PodIP, hookPort), i+1); status != http.StatusNoContent {
			t.Errorf("%s (leads: %t) answers %d to NetBox", p.Name, p.Name == leader, status)
		}
	}
	service := &corev1.Service{}
	must(t, s.Client().Get(t.Context(), client.ObjectKey{Namespace: local.CrossplaneNamespace, Name: hookName}, service))
	const often = 6 // The Service chooses anew for each connection.
	for i := range often {
		if status := tells(t, s, net.JoinHostPort(service.Spec.ClusterIP, "80"), len(pods)+i+1); status != http.StatusNoContent {
			t.Errorf("the Service answers %d to NetBox", status)
		}
	}
	back()
	_, err := s.Kubectl(t.Context(), "delete", "-f", s.Packages.Manifest("netbox-webhook.yaml"))
	must(t, err)
	for _, r := range []lab.Ref{lab.Kind("ClusterProviderConfig", "", "netbox-telling"), {APIVersion: "v1", Kind: "Secret", Namespace: local.CrossplaneNamespace, Name: "netbox-telling"}} {
		must(t, s.Client().Delete(t.Context(), r.Object()))
	}
}

// runs gives the provider more replicas and an argument more, by its runtime configuration, until the function that it returns is called.
func runs(t *testing.T, s *stage.Stage, replicas int64, arg string) (back func()) {
	t.Helper()
	provider, err := s.Get(t.Context(), lab.Ref{APIVersion: "pkg.crossplane.io/v1", Kind: "Provider", Name: stage.Installed(stage.ProviderPackage)})
	must(t, err)
	r := lab.Ref{APIVersion: "pkg.crossplane.io/v1beta1", Kind: "DeploymentRuntimeConfig", Name: lab.StringOf(provider, "spec", "runtimeConfigRef", "name")}
	was, err := s.Get(t.Context(), r)
	must(t, err)
	is := was.DeepCopy()
	path := []string{"spec", "deploymentTemplate", "spec"}
	must(t, unstructured.SetNestedField(is.Object, replicas, append(path, "replicas")...))
	containers, _, err := unstructured.NestedSlice(is.Object, append(path, "template", "spec", "containers")...)
	must(t, err)
	for _, c := range containers {
		if m, ok := c.(map[string]any); ok && m["name"] == "package-runtime" {
			args, _ := m["args"].([]any)
			m["args"] = append(args, arg)
		}
	}
	must(t, unstructured.SetNestedSlice(is.Object, containers, append(path, "template", "spec", "containers")...))
	must(t, s.Client().Patch(t.Context(), is, client.MergeFrom(was)))
	return func() {
		t.Helper()
		again := is.DeepCopy()
		again.Object["spec"] = was.DeepCopy().Object["spec"]
		must(t, s.Client().Patch(t.Context(), again, client.MergeFrom(is)))
		must(t, s.Until(t.Context(), "one provider to run", patience, func(ctx context.Context) error {
			all, err := providers(ctx, s, false)
			if err == nil && len(all) != 1 {
				err = fmt.Errorf("%d run", len(all))
			}
			return err
		}))
	}
}

// both are the two providers, which listen.
func both(t *testing.T, s *stage.Stage) []corev1.Pod {
	t.Helper()
	var all []corev1.Pod
	must(t, s.Until(t.Context(), "two providers to run", patience, func(ctx context.Context) (err error) {
		all, err = providers(ctx, s, true)
		if err == nil && len(all) != 2 {
			err = fmt.Errorf("%d run", len(all))
		}
		return err
	}))
	return all
}

// providers are the provider's pods, all of which must be ready, and listen or not.
func providers(ctx context.Context, s *stage.Stage, listening bool) ([]corev1.Pod, error) {
	all := &corev1.PodList{}
	if err := s.Client().List(ctx, all, client.InNamespace(local.CrossplaneNamespace),
		client.MatchingLabels{"pkg.crossplane.io/provider": stage.Installed(stage.ProviderPackage)}); err != nil {
		return nil, fmt.Errorf("cannot list providers: %w", err)
	}
	for _, p := range all.Items {
		ready := slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue })
		listens := slices.ContainsFunc(p.Spec.Containers, func(c corev1.Container) bool {
			return slices.ContainsFunc(c.Args, func(a string) bool { return strings.HasPrefix(a, "--netbox-webhook-address") })
		})
		if !ready || p.DeletionTimestamp != nil || listens != listening {
			return nil, fmt.Errorf("%s isn't as it should be yet", p.Name)
		}
	}
	return all.Items, nil
}

// letsIn holds that the manifest's NetworkPolicy is about these pods, and lets them reach one another where they listen.
func letsIn(t *testing.T, s *stage.Stage, pods []corev1.Pod) {
	t.Helper()
	policy := &networkingv1.NetworkPolicy{}
	must(t, s.Client().Get(t.Context(), client.ObjectKey{Namespace: local.CrossplaneNamespace, Name: hookName}, policy))
	selects := func(l *metav1.LabelSelector, p corev1.Pod) bool {
		selector, err := metav1.LabelSelectorAsSelector(l)
		must(t, err)
		return selector.Matches(labels.Set(p.Labels))
	}
	for _, p := range pods {
		in := slices.ContainsFunc(policy.Spec.Ingress, func(r networkingv1.NetworkPolicyIngressRule) bool {
			return len(r.Ports) == 1 && r.Ports[0].Port.String() == hookPort && slices.ContainsFunc(r.From, func(f networkingv1.NetworkPolicyPeer) bool {
				return f.PodSelector != nil && f.NamespaceSelector == nil && selects(f.PodSelector, p)
			})
		})
		if !in || !selects(&policy.Spec.PodSelector, p) {
			t.Errorf("%s isn't let in to the others, or isn't what the NetworkPolicy is about: %+v", p.Name, policy.Spec)
		}
	}
}

// leads waits for one of these pods to lead, and to say where it listens.
func leads(t *testing.T, s *stage.Stage, pods []corev1.Pod) (name string) {
	t.Helper()
	must(t, s.Until(t.Context(), "one of the two to lead", patience, func(ctx context.Context) error {
		l, err := s.Get(ctx, leaseRef())
		if err != nil {
			return err
		}
		holder := lab.StringOf(l, "spec", "holderIdentity")
		for _, p := range pods {
			if strings.HasPrefix(holder, p.Name+"_") && strings.HasSuffix(holder, "_"+net.JoinHostPort(p.Status.PodIP, hookPort)) {
				name = p.Name
				return nil
			}
		}
		return fmt.Errorf("%q leads", holder)
	}))
	return name
}

// tells sends what NetBox would, to an address inside, and returns the answer's status: 204 where it was taken, by whoever leads.
func tells(t *testing.T, s *stage.Stage, address string, number int) (status int) {
	t.Helper()
	body := fmt.Sprintf(`{"event":"updated","object_type":"ipam.ipaddress","data":{"id":%d,"last_updated":"1"}}`, 1000+number)
	m := hmac.New(sha512.New, []byte(hookSecret))
	_, _ = m.Write([]byte(body)) // It never fails.
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/netbox/webhook/netbox-telling", strings.NewReader(body))
	must(t, err)
	req.Header.Set("X-Hook-Signature", hex.EncodeToString(m.Sum(nil)))
	c := &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
		return s.Dial(ctx, address)
	}}}
	res, err := c.Do(req)
	must(t, err)
	must(t, res.Body.Close())
	return res.StatusCode
}
