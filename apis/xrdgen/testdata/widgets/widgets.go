// Package widgets is what the generator is tried on.
//
// +groupName=platform.baremetal.crossplane.io
// +versionName=v1alpha1
package widgets

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// A Widget is a kind.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,path=widgets,singular=widget,shortName=wd
// +kubebuilder:printcolumn:name="SIZE",type="integer",JSONPath=".spec.size"
// +kubebuilder:validation:XValidation:rule="self.spec.size < 100",message="too big"
type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   WidgetSpec   `json:"spec"`
	Status WidgetStatus `json:"status,omitempty"`
}

// A WidgetSpec has a size.
type WidgetSpec struct {
	// Size in widths.
	Size int32 `json:"size"`
}

// A WidgetStatus has a phase.
type WidgetStatus struct {
	// Phase of it.
	Phase string `json:"phase,omitempty"`
}
