package wiring

import (
	"net/http"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"

	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// mapper knows our kinds without asking an API server.
func mapper(*rest.Config, *http.Client) (meta.RESTMapper, error) {
	m := meta.NewDefaultRESTMapper([]schema.GroupVersion{v1alpha1.GroupVersion, corev1.SchemeGroupVersion})
	for _, k := range []string{v1alpha1.RedfishHostKind, v1alpha1.BootEntryKind, v1alpha1.ProviderConfigKind, v1alpha1.ProviderConfigUsageKind} {
		m.Add(v1alpha1.GroupVersion.WithKind(k), meta.RESTScopeNamespace)
	}
	m.Add(v1alpha1.ClusterProviderConfigGroupVersionKind, meta.RESTScopeRoot)
	m.Add(corev1.SchemeGroupVersion.WithKind("Secret"), meta.RESTScopeNamespace)
	return m, nil
}

// skipNames lets several tests of one process have controllers of one name.
func skipNames(skip *bool) ctrlconfig.Controller {
	return ctrlconfig.Controller{SkipNameValidation: skip}
}
