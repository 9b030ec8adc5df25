package config

import (
	"context"
	"errors"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// said is what an error tells: its reason and its sentence.
type said struct {
	Reason xpv2.ConditionReason
	Text   string
}

func saidBy(err error) said {
	if err == nil {
		return said{}
	}
	return said{Reason: ReasonOf(err), Text: err.Error()}
}

func TestRedfish(t *testing.T) {
	type got struct {
		Username, Password string
		Said               said
	}
	good := got{Username: "root", Password: "calvin"}
	cases := map[string]struct {
		reason  string
		objects []client.Object
		host    *v1alpha1.RedfishHost
		want    got
	}{
		"Cluster": {
			reason:  "A namespace that a ClusterProviderConfig names may use it, and its Secret of another namespace.",
			objects: []client.Object{clusterConfig("bmc", redfishSpec(from("infra", "bmc"), "team-a")), secretAt("infra", "bmc")},
			host:    host("team-a", "h", cluster("bmc")),
			want:    good,
		},
		"ClusterDefault": {
			reason:  "A ClusterProviderConfig with a password is for nobody by default.",
			objects: []client.Object{clusterConfig("bmc", redfishSpec(from("infra", "bmc"))), secretAt("infra", "bmc")},
			host:    host("team-a", "h", cluster("bmc")),
			want: got{Said: said{
				v1alpha1.ReasonNotAllowed,
				`ClusterProviderConfig "bmc" doesn't allow namespace "team-a": its owner must list it in spec.allowedNamespaces`,
			}},
		},
		"ClusterOthers": {
			reason:  "Being named is checked by the resource's own namespace.",
			objects: []client.Object{clusterConfig("bmc", redfishSpec(from("infra", "bmc"), "team-b")), secretAt("infra", "bmc")},
			host:    host("team-a", "h", cluster("bmc"), deleted),
			want: got{Said: said{
				v1alpha1.ReasonNotAllowed,
				`ClusterProviderConfig "bmc" doesn't allow namespace "team-a": its owner must list it in spec.allowedNamespaces`,
			}},
		},
		"Local": {
			reason:  "A ProviderConfig is for its own namespace, with a Secret of it.",
			objects: []client.Object{localConfig("team-a", redfishSpec(from("", "bmc"))), secretAt("team-a", "bmc")},
			host:    host("team-a", "h", local("mine")),
			want:    good,
		},
		"LocalOfAnother": {
			reason:  "A ProviderConfig of another namespace isn't there.",
			objects: []client.Object{localConfig("infra", redfishSpec(from("", "bmc"))), secretAt("infra", "bmc")},
			host:    host("team-a", "h", local("mine")),
			want: got{Said: said{
				v1alpha1.ReasonNotFound,
				`ProviderConfig "mine" doesn't exist: create it, or correct spec.providerConfigRef`,
			}},
		},
		"LocalForeignSecret": {
			reason:  "A ProviderConfig can't name a Secret of a namespace that its author may not read.",
			objects: []client.Object{localConfig("team-a", redfishSpec(from("infra", "bmc"))), secretAt("infra", "bmc")},
			host:    host("team-a", "h", local("mine")),
			want: got{Said: said{
				v1alpha1.ReasonNotAllowed,
				`ProviderConfig "mine" takes its credentials from namespace "infra": a ProviderConfig may use Secrets of its own namespace alone`,
			}},
		},
		"ClusterWithoutNamespace": {
			reason:  "A ClusterProviderConfig has no namespace of its own; admission refuses this too.",
			objects: []client.Object{clusterConfig("bmc", redfishSpec(from("", "bmc"), "team-a"))},
			host:    host("team-a", "h", cluster("bmc")),
			want: got{Said: said{
				v1alpha1.ReasonInvalid,
				`ClusterProviderConfig "bmc" doesn't say in which namespace its credentials are: set secretRef.namespace`,
			}},
		},
		"OwnSecret": {
			reason:  "A host's own credentials go before the config's, which needn't be there.",
			objects: []client.Object{clusterConfig("bmc", redfishSpec(from("infra", "gone"), "team-a")), secretAt("team-a", "h-bmc")},
			host:    host("team-a", "h", cluster("bmc"), ownSecret("h-bmc")),
			want:    good,
		},
		"OwnSecretIsLocal": {
			reason:  "A host's own credentials are of its namespace, whatever else has their name.",
			objects: []client.Object{clusterConfig("bmc", redfishSpec(from("infra", "bmc"), "team-a")), secretAt("infra", "bmc")},
			host:    host("team-a", "h", cluster("bmc"), ownSecret("bmc")),
			want: got{Said: said{
				v1alpha1.ReasonNotFound,
				`Secret "bmc" with credentials for ClusterProviderConfig "bmc" doesn't exist: create it`,
			}},
		},
		"WrongSystem": {
			reason:  "A NetBox's token is no BMC's password.",
			objects: []client.Object{clusterConfig("netbox", netboxSpec(from("infra", "bmc"))), secretAt("infra", "bmc")},
			host:    host("team-a", "h", cluster("netbox")),
			want: got{Said: said{
				v1alpha1.ReasonInvalid,
				`ClusterProviderConfig "netbox" isn't for redfish: name one that has spec.redfish in spec.providerConfigRef`,
			}},
		},
		"SecretMissingElsewhere": {
			reason:  "A tenant isn't told the names of an operator's Secrets.",
			objects: []client.Object{clusterConfig("bmc", redfishSpec(from("infra", "bmc"), "team-a"))},
			host:    host("team-a", "h", cluster("bmc")),
			want: got{Said: said{
				v1alpha1.ReasonNotFound,
				`the credentials of ClusterProviderConfig "bmc" can't be used: its condition Ready says why, its owner must mend it`,
			}},
		},
		"KeyMissing": {
			reason: "A Secret without a password is said to lack that key; an empty one is no password.",
			objects: []client.Object{
				localConfig("team-a", redfishSpec(from("", "bmc"))),
				secretAt("team-a", "bmc", func(s *corev1.Secret) { s.Data["password"] = []byte("\n") }),
			},
			host: host("team-a", "h", local("mine")),
			want: got{Said: said{
				v1alpha1.ReasonInvalid,
				`Secret "bmc" with credentials for ProviderConfig "mine" has no value for key "password": add it`,
			}},
		},
		"NoReference": {
			reason: "A resource must name a config.",
			host:   host("team-a", "h", xpv2.ProviderConfigReference{}),
			want: got{Said: said{
				v1alpha1.ReasonInvalid,
				`"h" has no spec.providerConfigRef: name a ProviderConfig or ClusterProviderConfig there`,
			}},
		},
		"OtherKind": {
			reason: "There are two kinds of configs.",
			host:   host("team-a", "h", xpv2.ProviderConfigReference{Kind: "Secret", Name: "bmc"}),
			want: got{Said: said{
				v1alpha1.ReasonInvalid,
				`spec.providerConfigRef.kind "Secret" is neither ProviderConfig nor ClusterProviderConfig: correct it`,
			}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := testResolver(testKube(t, interceptor.Funcs{}, tc.objects...))
			bmc, err := r.Redfish(t.Context(), tc.host, tc.host.Spec.ForProvider.CredentialsSecretRef)
			if diff := cmp.Diff(tc.want, got{bmc.Username, bmc.Password, saidBy(err)}); diff != "" {
				t.Errorf("%s\nRedfish(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestNetBox(t *testing.T) {
	kube := testKube(t, interceptor.Funcs{},
		clusterConfig("netbox", netboxSpec(from("infra", "netbox"))),
		secretAt("infra", "netbox"))
	r := testResolver(kube)
	mg := address("team-a", "web", cluster("netbox"))

	got, err := r.NetBox(t.Context(), mg)
	if err != nil {
		t.Fatalf("anybody may use a NetBox by default: %v", err)
	}
	if got.Token != "t0ken" || got.Config.URL != "https://netbox.example/" || got.UID != "uid-netbox" || got.Generation != 2 {
		t.Errorf("NetBox(...) = %+v: want the config's URL and identity, and its token without the line break", got)
	}

	s := secretAt("infra", "netbox")
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(s), s); err != nil {
		t.Fatal(err)
	}
	s.Data["token"] = []byte("other")
	if err := kube.Update(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	again, err := r.NetBox(t.Context(), mg)
	if err != nil || again.Token != "other" {
		t.Errorf("after the Secret changed: token %q, error %v: want the new one", again.Token, err)
	}
	if again.SecretVersion == got.SecretVersion {
		t.Error("SecretVersion must change with the Secret, or a remembered 401 would never be forgotten")
	}
}

func TestSecretIsReadOnce(t *testing.T) {
	reads := 0
	kube := testKube(t, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, k client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if _, ok := o.(*corev1.Secret); ok {
				reads++
			}
			return c.Get(ctx, k, o, opts...)
		},
	}, localConfig("team-a", redfishSpec(from("", "bmc"))), secretAt("team-a", "bmc"))
	r := testResolver(kube)
	for range 3 {
		if _, err := r.Redfish(t.Context(), host("team-a", "h", local("mine")), nil); err != nil {
			t.Fatal(err)
		}
	}
	if reads != 1 {
		t.Errorf("the Secret was read %d times: want once, because its metadata said that it's the same", reads)
	}
}

func TestSecretGoneFirst(t *testing.T) {
	cases := map[string]struct {
		reason string
		before bool
		host   *v1alpha1.RedfishHost
		want   said
	}{
		"Deleted": {
			reason: "A host of a terminating namespace is released with the credentials that were last read.",
			before: true,
			host:   host("team-a", "h", local("mine"), deleted),
		},
		"NotDeleted": {
			reason: "A host that stays says that its Secret is gone: somebody may have meant it.",
			before: true,
			host:   host("team-a", "h", local("mine")),
			want:   said{v1alpha1.ReasonNotFound, `Secret "bmc" with credentials for ProviderConfig "mine" doesn't exist: create it`},
		},
		"NeverRead": {
			reason: "What was never read can't be remembered.",
			host:   host("team-a", "h", local("mine"), deleted),
			want:   said{v1alpha1.ReasonNotFound, `Secret "bmc" with credentials for ProviderConfig "mine" doesn't exist: create it`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := secretAt("team-a", "bmc")
			kube := testKube(t, interceptor.Funcs{}, localConfig("team-a", redfishSpec(from("", "bmc"))), s)
			r := testResolver(kube)
			if tc.before {
				if _, err := r.Redfish(t.Context(), host("team-a", "h", local("mine")), nil); err != nil {
					t.Fatal(err)
				}
			}
			s.Finalizers = nil
			s.ResourceVersion = ""
			if err := kube.Update(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			if err := kube.Delete(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			_, err := r.Redfish(t.Context(), tc.host, nil)
			if diff := cmp.Diff(tc.want, saidBy(err)); diff != "" {
				t.Errorf("%s\nRedfish(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestUnreachableAPI(t *testing.T) {
	errBoom := errors.New("boom")
	fail := func(bad client.Object) interceptor.Funcs {
		return interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, k client.ObjectKey, o client.Object, opts ...client.GetOption) error {
				if cmp.Equal(typeOf(o), typeOf(bad)) {
					return errBoom
				}
				return c.Get(ctx, k, o, opts...)
			},
		}
	}
	for name, bad := range map[string]client.Object{
		"Config": &v1alpha1.ProviderConfig{}, "Secret": &corev1.Secret{}, "Usage": &v1alpha1.ProviderConfigUsage{},
	} {
		t.Run(name, func(t *testing.T) {
			kube := testKube(t, fail(bad), localConfig("team-a", redfishSpec(from("", "bmc"))), secretAt("team-a", "bmc"))
			_, err := testResolver(kube).Redfish(t.Context(), host("team-a", "h", local("mine")), nil)
			if !errors.Is(err, errBoom) || ReasonOf(err) != "" {
				t.Errorf("error %v, reason %q: want the cause, and no reason, for nothing is known to be wrong", err, ReasonOf(err))
			}
		})
	}
}

func typeOf(o client.Object) types.NamespacedName {
	switch o.(type) {
	case *v1alpha1.ProviderConfig:
		return types.NamespacedName{Name: "config"}
	case *corev1.Secret:
		return types.NamespacedName{Name: "secret"}
	case *v1alpha1.ProviderConfigUsage:
		return types.NamespacedName{Name: "usage"}
	}
	return types.NamespacedName{}
}
