package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// How changes of machines are heard of.
const (
	// DeliveryPoll: BMCs are asked.
	DeliveryPoll = "Poll"
	// DeliveryStream: they tell of changes on a connection of ours.
	DeliveryStream = "Stream"
	// DeliveryPush: they send changes to a receiver of ours.
	DeliveryPush = "Push"
	// DeliveryAuto: whatever works with a BMC.
	DeliveryAuto = "Auto"
)

// EventsObservation says how changes of a machine are heard of. It changes with that, and not with each event.
type EventsObservation struct {
	// Delivery is Stream where the BMC tells of changes on a connection of ours, Push where it has a subscription of ours and sends them, and Poll
	// where it's only asked, once a minute.
	// +kubebuilder:validation:Enum=Poll;Stream;Push
	Delivery string `json:"delivery"`
	// Since when that is so.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
	// Reason why it's Poll, in a word, such as NotOffered, Flooded or Full.
	// +optional
	Reason string `json:"reason,omitempty"`
	// Message says the same for people.
	// +optional
	Message string `json:"message,omitempty"`
}
