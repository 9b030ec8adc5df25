package boot

// A Stage says where a boot is. Sights of them go to the session's timeline.
type Stage string

// Values of Stage, in the order of a boot.
const (
	StageWaiting        Stage = "Waiting"
	StageDHCP           Stage = "DHCP"
	StageFirmware       Stage = "Firmware"
	StageScript         Stage = "Script"
	StageKernel         Stage = "Kernel"
	StageInstalling     Stage = "Installing"
	StageInstalled      Stage = "Installed"
	StageBootedFromDisk Stage = "BootedFromDisk"
	StageFailed         Stage = "Failed"
)
