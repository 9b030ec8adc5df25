package specdir

import (
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// portYAML is an entry of a machine that's known by its port.
func portYAML(name, machine, address string, generation int) string {
	return strings.Replace(entryYAML(name, mac1, address, generation), `{macs: ["`+mac1+`"]}`, machine, 1)
}

// TestPorts: an entry of a port is served and installs nothing, and of two that want one port one is served, and nothing installed by it.
func TestPorts(t *testing.T) {
	const (
		alone  = `{port: {circuitID: Ethernet1/12}}`
		same   = `{port: {circuitID: "0x45746865726e6574312f3132"}}`
		beside = `{macs: ["` + mac1 + `"], port: {circuitID: Ethernet1/12}}`
	)
	relays := networkYAML + "  dhcp: {relays: [10.77.0.2/32]}\n"
	folder := func(network string, entries ...string) string {
		return strings.Join(append([]string{network, profileYAML, givenYAML}, entries...), "---\n")
	}
	cases := map[string]struct {
		reason string
		text   string
		served string // the entry of the port; "": none
		grants bool
		says   string
	}{
		"Alone": {
			reason: "whoever is there", text: folder(relays, portYAML("m1", alone, "10.77.0.11", 0)), served: "m1",
		},
		"AloneInstall": {
			reason: "a place isn't installed", text: folder(relays, portYAML("m1", alone, "10.77.0.11", 1)), says: "machine.port without machine.macs installs nothing",
		},
		"NoRelay": {
			reason: "nobody says who is where", text: folder(networkYAML, portYAML("m1", alone, "10.77.0.11", 0)), says: "machine.port needs dhcp.relays",
		},
		"Beside": {
			reason: "a machine in its place", text: folder(relays, portYAML("m1", beside, "10.77.0.11", 1)), served: "m1", grants: true,
		},
		"Two": {
			reason: "one port is one entry's, however it's written", text: folder(relays, portYAML("m1", beside, "10.77.0.11", 1), portYAML("m2", same, "10.77.0.12", 0)),
			served: "m2", says: "port \"Ethernet1/12\" is already BootEntry lab/m2's",
		},
		"Contested": {
			reason: "one that isn't served wants it", text: folder(relays, portYAML("m1", beside, "10.77.0.11", 1), portYAML("m2", same, "10.99.0.12", 0)),
			served: "m1", says: "BootEntry lab/m2, which isn't served, wants port \"Ethernet1/12\", too",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, tc.text)
			r.start()
			p, ok := r.src.State().ByPort(boot.Name{Namespace: "lab", Name: "rack"}, boot.Port{Circuit: "Ethernet1/12"})
			if ok != (tc.served != "") || ok && p.Entry.Name != tc.served {
				t.Errorf("%s: %v", tc.reason, p)
			}
			if got := r.grant() != nil; got != tc.grants {
				t.Errorf("%s: granted %t\n%s", tc.reason, got, r.said.String())
			}
			if !strings.Contains(strings.ReplaceAll(r.said.String(), `\"`, `"`), tc.says) {
				t.Errorf("%s: it's said\n%s", tc.reason, r.said.String())
			}
		})
	}
}

// TestPortComesLater: what comes to a folder may want a port that's free, and none that isn't.
func TestPortComesLater(t *testing.T) {
	relays := networkYAML + "  dhcp: {relays: [10.77.0.2/32]}\n"
	r := newRig(t, strings.Join([]string{relays, profileYAML, givenYAML, portYAML("m1", `{port: {circuitID: E1}}`, "10.77.0.11", 0)}, "---\n"))
	r.start()
	rack := boot.Name{Namespace: "lab", Name: "rack"}
	r.write("b.yaml", portYAML("m2", `{port: {circuitID: E2}}`, "10.77.0.12", 0))
	r.turn()
	if p, ok := r.src.State().ByPort(rack, boot.Port{Circuit: "E2"}); !ok || p.Entry.Name != "m2" {
		t.Fatalf("%v", p)
	}
	r.write("c.yaml", portYAML("m3", `{port: {circuitID: E2}}`, "10.77.0.13", 0))
	r.turn()
	if p, ok := r.src.State().ByPort(rack, boot.Port{Circuit: "E2"}); !ok || p.Entry.Name != "m2" || r.src.State().Len() != 2 {
		t.Errorf("%v, of %d", p, r.src.State().Len())
	}
}
