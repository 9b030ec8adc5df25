package dhcp

import (
	"bytes"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/wire"
)

// ClientPi is the firmware of a Raspberry Pi: the boot ROM of a 3, the EEPROM of a 4 or 5. It says that it's a PXE client on a BIOS, takes no
// name of a file from DHCP, and asks by TFTP for names of its own.
const ClientPi Client = "RaspberryPi"

// piMachineID is what option 97 of a Raspberry Pi 4 or 5 begins with, behind its type: RPi4, RPi5; then board revision, the MAC's last four
// octets and the serial number's. Earlier ones have the serial number there four times.
const piMachineID = "RPi"

// piNIC says whether a MAC is one of those that Raspberry Pis are made with (IEEE's registry of OUIs). Newer ones say who they are by option
// 97, and one whose MAC was changed is known by its plan.
func piNIC(mac boot.MAC) bool {
	const oui = 8
	if len(mac) < oui {
		return false
	}
	switch mac[:oui] {
	case "b8:27:eb", "dc:a6:32", "e4:5f:01", "d8:3a:dd", "2c:cf:67", "28:cd:c1", "88:a2:9e":
		return true
	}
	return false
}

// isPi says whether the firmware of a Raspberry Pi speaks, by what it says. Some leave out class and architecture in a REQUEST. What says that
// it's anything else on such a board (UEFI, U-Boot) is that.
func (f Facts) isPi(m *wire.Message) bool {
	class := m.Get(wire.OptionClass)
	if f.Client != ClientPXE && f.Client != ClientOther || f.Arch != 0 || m.Has(wire.OptionClass) && !begins(class, classPXE) {
		return false
	}
	return begins(f.MachineID, piMachineID) || piNIC(f.MAC)
}

// asPi has the rest of an exchange be with the firmware of a Raspberry Pi.
func (f Facts) asPi() Facts {
	f.Client, f.Firmware = ClientPi, boot.Firmware{Kind: boot.FirmwareRaspberryPi, Arch: boot.ARM64}
	return f
}

// planned takes who says that it's a BIOS for a Raspberry Pi where its plan has files for that and for no x86: a MAC may have been changed.
func (e *exchange) planned() {
	class := e.req.Has(wire.OptionClass)
	bios := e.facts.Client == ClientPXE && e.facts.Firmware.Kind == boot.FirmwareBIOS && (!class || begins(e.req.Get(wire.OptionClass), classPXE))
	silent := e.facts.Client == ClientOther && e.facts.Arch == 0 && !class && !e.req.Has(wire.OptionArchitecture)
	if (bios || silent) && e.plan.OnlyRaspberryPi() {
		e.facts = e.facts.asPi()
	}
}

// piMenu is option 43 as Raspberry Pis look for it (PXE 2.1 §2.2.3): no discovery of boot servers (6), a prompt that waits for nobody (10), and
// a menu of one item (9), whose text they know. The first ROMs of the Pi 3 want three blanks behind it.
const piMenu = "\x06\x01\x03" + "\x0a\x04\x00PXE" + "\x09\x17\x00\x00\x14Raspberry Pi Boot   " + "\xff"

// bootPi says to a Raspberry Pi that its files are here. Which, and whether it gets any, is TFTP's to say: the token of this exchange stands for
// it there, since no answer can tell it one.
func (e *exchange) bootPi(p *wire.Reply) Reason {
	token, ok := e.token()
	if !ok {
		return SilentNoKeys
	}
	e.pi = token
	p.AddressText(wire.OptionTFTPServer, wire.Needed, e.server)
	p.Text(wire.OptionClass, wire.Needed, classPXE)
	p.Text(wire.OptionVendor, wire.Needed, piMenu)
	e.echoMachineID(p)
	return ""
}

// A Pi is a Raspberry Pi's firmware that is being given its address, and may then ask for its files from there.
type Pi struct {
	Plan *boot.Plan
	MAC  boot.MAC
	// MachineID is what it says in option 97, without the type; nil where that's nothing.
	MachineID []byte
	// Token of kind boot.TokenScript: that of the exchange.
	Token string
	At    time.Time
	// Confirmed says that it took its address by a REQUEST, and that its sightings were told so. A Pi 3 never does.
	Confirmed bool
}

// began passes on that a Raspberry Pi is about to boot, before it's told so.
func (s *Server) began(a *Answer, now time.Time) {
	if a.Pi == "" || a.Packet == nil || s.cfg.Pi == nil {
		return
	}
	s.cfg.Pi(Pi{
		Plan: a.Plan.Kept(), MAC: a.Facts.MAC, MachineID: bytes.Clone(a.Facts.MachineID), Token: a.Pi, At: now, Confirmed: a.Stage == boot.StageDHCP,
	})
}
