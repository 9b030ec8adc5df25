package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Keys of a Secret with a BMC's credentials.
const (
	// SecretKeyPassword is the password that is used.
	SecretKeyPassword = "password"
	// SecretKeyPasswordNext is the one that the BMC is being given. It's there before the BMC hears of it, and is tried once where the BMC
	// refuses the other one.
	SecretKeyPasswordNext = "password-next"
	// SecretKeyPasswordRotated is the one that the provider gave the BMC last. Whatever puts an older one back as password leaves this; it's
	// tried once where the BMC refuses that.
	SecretKeyPasswordRotated = "password-rotated"
)

// CredentialsRotation asks for a new password of the BMC's account, made by the provider and stored in the host's own Secret.
type CredentialsRotation struct {
	// Generation of the rotation. A raised one asks for one more.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9007199254740991
	// +kubebuilder:validation:XValidation:rule="self >= oldSelf",message="generation never falls: raise it to have the password changed once more"
	Generation int64 `json:"generation"`
}

// RotationObservation is the newest rotation that was carried out.
type RotationObservation struct {
	// Generation of credentialsRotation that it was for.
	Generation int64 `json:"generation"`
	// At is when the new password was in the Secret; absent of one that counts as done since the host was registered with it.
	// +optional
	At *metav1.Time `json:"at,omitempty"`
}
