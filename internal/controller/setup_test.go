package controller

import (
	"net/http"
	"strings"
	"testing"
	"time"

	xpcontroller "github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/gate"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/wiring"
)

// offline is a manager that is never started, with a mapper that knows all kinds: nothing asks an API server.
func offline(t *testing.T) ctrl.Manager {
	t.Helper()
	scheme, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}
	skip := true
	o := managerOptions(Settings{Log: silent(), MetricsAddress: "0", ProbeAddress: "0", Sync: time.Hour}, scheme)
	o.Controller = ctrlconfig.Controller{SkipNameValidation: &skip}
	o.MapperProvider = func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return mapperOf(scheme), nil }
	mgr, err := ctrl.NewManager(&rest.Config{Host: "https://127.0.0.1:1"}, o)
	if err != nil {
		t.Fatal(err)
	}
	return mgr
}

func mapperOf(scheme *runtime.Scheme) meta.RESTMapper {
	m := meta.NewDefaultRESTMapper([]schema.GroupVersion{v1alpha1.GroupVersion, corev1.SchemeGroupVersion, apiextensionsv1.SchemeGroupVersion})
	for gvk := range scheme.AllKnownTypes() {
		scope := meta.RESTScopeNamespace
		if strings.HasPrefix(gvk.Kind, "Cluster") || gvk.Kind == "CustomResourceDefinition" {
			scope = meta.RESTScopeRoot
		}
		m.Add(gvk, scope)
	}
	return m
}

func TestSetup(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*wiring.Options)
		fails  bool
	}{
		"Ungated": {
			reason: "All controllers can be assembled beside each other: names and indexes don't meet.",
			change: func(*wiring.Options) {},
		},
		"Gated": {
			reason: "With a gate they wait for their CRDs, which are watched.",
			change: func(o *wiring.Options) { o.Gate = new(gate.Gate[schema.GroupVersionKind]) },
		},
		"NoClusterID": {
			reason: "A kind that can't be set up isn't left out in silence.",
			change: func(o *wiring.Options) { o.ClusterID = "" },
			fails:  true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mgr := offline(t)
			o := wiring.Options{
				Options:   xpcontroller.DefaultOptions(),
				Config:    config.NewResolver(mgr.GetClient(), mgr.GetCache(), mgr.GetAPIReader()),
				ClusterID: "00010203040506ff", Namespace: "crossplane-system", BootNamespace: v1alpha1.BootNamespace,
			}
			tc.change(&o)
			if err := Setup(mgr, o); (err != nil) != tc.fails {
				t.Errorf("%s\nSetup(...): %v, want an error: %v", tc.reason, err, tc.fails)
			}
		})
	}
}
