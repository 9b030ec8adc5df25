package v1alpha1

// MediaType is a kind of drive that a BMC has.
// +kubebuilder:validation:Enum=CD;DVD;Floppy;USBStick
type MediaType string

// Values of MediaType.
const (
	MediaCD       MediaType = "CD"
	MediaDVD      MediaType = "DVD"
	MediaFloppy   MediaType = "Floppy"
	MediaUSBStick MediaType = "USBStick"
)

// A VirtualMedium is an image in one of the BMC's drives. One that is taken out of the list is ejected, if it was inserted from here.
type VirtualMedium struct {
	// Type of the drive: CD, DVD, Floppy or USBStick.
	Type MediaType `json:"type"`
	// Image is its URL, without user name and password.
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^(https?|nfs|cifs|smb)://[^@\s]+$`
	Image string `json:"image"`
	// WriteProtect is Enabled or Disabled. Enabled where absent.
	// +optional
	// +kubebuilder:validation:Enum=Enabled;Disabled
	WriteProtect string `json:"writeProtect,omitempty"`
	// Slot is the id of the BMC's drive, where several fit.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Slot string `json:"slot,omitempty"`
	// CredentialsSecretRef names a Secret of this namespace with the keys username and password, for the image's server: the BMC is
	// told them with the image. A change of the Secret is used when the image is inserted next.
	// +optional
	CredentialsSecretRef *LocalReference `json:"credentialsSecretRef,omitempty"`
}

// MediumObservation is one of a BMC's virtual drives.
type MediumObservation struct {
	// Slot is the id of the drive.
	Slot string `json:"slot"`
	// Types of media that it takes.
	// +optional
	// +listType=atomic
	Types []string `json:"types,omitempty"`
	// Inserted is Yes or No.
	// +optional
	Inserted string `json:"inserted,omitempty"`
	// Image that is in it, without the query of its URL; some BMCs keep it to themselves.
	// +optional
	Image string `json:"image,omitempty"`
	// WriteProtected is Yes or No.
	// +optional
	WriteProtected string `json:"writeProtected,omitempty"`
	// Ours is Yes where the image was inserted from here.
	// +optional
	Ours string `json:"ours,omitempty"`
}
