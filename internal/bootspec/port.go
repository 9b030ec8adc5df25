package bootspec

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// PortOf reads a port of a switch; nil for none.
func PortOf(p *v1alpha1.SwitchPort) (*boot.Port, error) {
	if p == nil {
		return nil, nil //nolint:nilnil // There's none.
	}
	circuit, err := boot.ParsePortID(p.CircuitID)
	if err != nil {
		return nil, err //nolint:wrapcheck // It says what is wrong.
	}
	remote, err := boot.ParsePortID(p.RemoteID)
	if err != nil {
		return nil, err //nolint:wrapcheck // It says what is wrong.
	}
	if circuit == "" && remote == "" {
		return nil, nil //nolint:nilnil // No relay that says anything says this.
	}
	return &boot.Port{Circuit: circuit, Remote: remote}, nil
}

func portStatus(p *boot.Port) *v1alpha1.SwitchPort {
	if p == nil {
		return nil
	}
	return &v1alpha1.SwitchPort{CircuitID: p.Circuit, RemoteID: p.Remote}
}

// portUID stands for the UID of a machine that is named by its port alone. Nothing is ever granted to it.
func portUID(m *v1alpha1.SwitchPort) string {
	p, err := PortOf(m)
	if err != nil || p == nil {
		return ""
	}
	s := sha256.Sum256([]byte(strconv.Quote(p.Circuit) + strconv.Quote(p.Remote)))
	return "port-" + hex.EncodeToString(s[:16])
}

// checkPort says why a segment can't tell which port a machine is behind; nil: it can.
func checkPort(port *v1alpha1.SwitchPort, n *v1alpha1.BootNetwork) *boot.Problem {
	d, name := n.Spec.DHCP, n.Namespace+"/"+n.Name
	switch {
	case port == nil:
		return nil
	case d == nil || len(d.Relays) == 0:
		return no(v1alpha1.ReasonInvalid, "machine.port needs dhcp.relays in BootNetwork %q: which port a machine is behind is believed of relays that are named there", name)
	case d.Mode == v1alpha1.DHCPProxy || d.Mode == v1alpha1.DHCPOff:
		return no(v1alpha1.ReasonInvalid, "machine.port needs dhcp.mode Authoritative or RelayOnly in BootNetwork %q: what a machine asks another server for doesn't say its port", name)
	}
	return nil
}

func validPort(f faults, p *v1alpha1.SwitchPort) {
	if p == nil {
		return
	}
	f.whenf(p.CircuitID == "" && p.RemoteID == "", "port needs a circuitID or a remoteID")
	for field, id := range map[string]string{".circuitID": p.CircuitID, ".remoteID": p.RemoteID} {
		_, err := boot.ParsePortID(id)
		f.field("%s", field).whenf(err != nil, "a port's ids are printable ASCII, or 0x and hexadecimal digits, two for each octet, of at most 255 octets: %v", err)
	}
}
