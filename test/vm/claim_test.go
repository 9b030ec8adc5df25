package vm_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local/programs"
	"github.com/crossplane-contrib/provider-baremetal/test/guest"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/qemu"
)

const (
	// patience is how long a step may take of two emulated processors that share two real ones with a control plane.
	patience = 8 * time.Minute
	tenant   = "team-a"
	gateway  = "10.77.0.1"
)

// host is one virtual machine and its BMC.
type host struct {
	name    string
	serial  string
	mac     net.HardwareAddr
	machine *qemu.Machine
	bmc     *bmc.Server
}

// rack is a lab whose bootd serves a bridge with virtual machines.
type rack struct {
	*lab.Lab

	t       *testing.T
	segment *qemu.Segment
	image   guest.File
	state   string // holds all logs; it stays when the test fails
}

func newRack(t *testing.T) *rack {
	t.Helper()
	a := artifacts(t)
	segment, err := qemu.NewSegment("br0", gateway+"/24")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = segment.Close() })
	state := stateDir(t)
	l, err := lab.Start(t.Context(), lab.Options{
		StateDir: state, Say: func(s string) { t.Log(s) },
		// Of a repeated flag the last one counts: these stand behind the lab's own, which are for relays on loopback.
		BootdArgs: []string{
			"--dhcp-listen=0.0.0.0:67", "--dhcp-interface=br0", "--tftp-listen=0.0.0.0:69", "--http-listen=0.0.0.0:8480",
			"--advertise-address=" + gateway,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Stop)
	for name, f := range map[string]guest.File{lab.KernelFile: a.Kernel, lab.InitrdFile: a.Initrd, lab.ImageFile: a.Image} {
		content, err := os.ReadFile(f.Path)
		if err != nil {
			t.Fatal(err)
		}
		l.Artifacts.Put(name, content)
	}
	r := &rack{Lab: l, t: t, segment: segment, image: a.Image, state: state}
	r.must(l.ApplyExample(t.Context(), "demo/00-namespaces.yaml", "demo/10-secrets.yaml", "demo/20-clusterproviderconfigs.yaml"))
	r.must(l.Apply(t.Context(), strings.ReplaceAll(rackManifest, "«commandLine»", guest.CommandLine)))
	return r
}

// stateDir makes a folder that a failed test leaves behind.
func stateDir(t *testing.T) string {
	t.Helper()
	cache, err := programs.Cache()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(cache, 0o750); err != nil {
		t.Fatal(err)
	}
	state, err := os.MkdirTemp(cache, "e2e-vm-") //nolint:usetesting // t.TempDir would remove the logs of a failed test
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("logs and serial ports are in %s", state)
			return
		}
		_ = os.RemoveAll(state)
	})
	return state
}

// rackManifest is what the operator applies once. The digests are put in by the lab.
const rackManifest = `
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: BootProfile
metadata: {namespace: infra, name: tiny}
spec:
  allowedNamespaces: {from: All}
  mode: Install
  method: DiskImage
  userDataFormat: CloudInit
  artifacts:
  - arch: amd64
    kernel: {url: "https://images.example/vmlinuz", digest: ""}
    initrds: [{url: "https://images.example/initrd", digest: ""}]
    image: {url: "https://images.example/disk", digest: "", format: Raw, compression: None}
  commandLine: ["«commandLine»"]
---
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: BootNetwork
metadata: {namespace: infra, name: segment}
spec:
  allowedNamespaces: {from: All}
  subnets:
  - cidr: 10.77.0.0/24
    gateway: 10.77.0.1
    addressesFrom:
      netboxProviderConfigRef: {kind: ClusterProviderConfig, name: netbox}
      sources: [{prefix: {cidr: 10.77.0.0/24}}]
  dhcp: {mode: Authoritative, leaseDuration: 12h}
`

func (r *rack) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// newHost makes a machine that is off, its BMC, and its RedfishHost.
func (r *rack) newHost(name string, number byte, f qemu.Firmware, model bmc.Model) *host {
	r.t.Helper()
	tap, err := r.segment.Tap("tap-" + name)
	r.must(err)
	h := &host{name: name, serial: "VM" + strings.ToUpper(name), mac: net.HardwareAddr{0x52, 0x54, 0, 0x77, 0, number}}
	id := uuid.NewSHA1(uuid.NameSpaceOID, []byte(h.serial))
	h.machine, err = qemu.New(qemu.Config{
		Name: name, MAC: h.mac, UUID: id, Serial: h.serial, Firmware: f, Dir: filepath.Join(r.state, "machines", name), Netdev: tap,
	})
	r.must(err)
	r.t.Cleanup(h.machine.Close)
	h.bmc, err = bmc.NewServer(bmc.Config{
		Username: lab.BMCUser, Password: lab.BMCPassword,
		Systems: []bmc.SystemConfig{{
			Model: model, Serial: h.serial, UUID: id.String(), MACs: []net.HardwareAddr{h.mac}, Machine: h.machine,
		}},
	})
	r.must(err)
	r.t.Cleanup(func() { _ = h.bmc.Close() })
	r.apply(h, `
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: RedfishHost
metadata: {namespace: infra, name: «name»}
spec:
  providerConfigRef: {kind: ClusterProviderConfig, name: bmc-rack-7}
  allowedNamespaces: {from: Names, names: [team-a]}
  forProvider: {address: "«bmc»", system: {serial: «serial»}, macs: ["«mac»"], powerOff: {grace: 20s, then: Force}}
`)
	return h
}

// claim asks for a machine and returns the claim.
func (r *rack) claim(h *host) lab.Ref {
	r.t.Helper()
	r.apply(h, `
apiVersion: v1
kind: Secret
metadata: {namespace: team-a, name: «name»}
stringData: {userData: "#cloud-config\nhostname: «name»\n"}
---
apiVersion: platform.baremetal.crossplane.io/v1alpha1
kind: BareMetalNode
metadata: {namespace: team-a, name: «name»}
spec:
  host: {ref: {kind: RedfishHost, namespace: infra, name: «name»}}
  installGeneration: 1
  profileRef: {namespace: infra, name: tiny}
  userDataSecretRef: {name: «name», key: userData}
  networks: [{name: boot, networkRef: {namespace: infra, name: segment}, addresses: [{family: IPv4}]}]
`)
	return lab.Node(tenant, h.name)
}

func (r *rack) apply(h *host, manifest string) {
	r.t.Helper()
	r.must(r.Apply(r.t.Context(), strings.NewReplacer(
		"«name»", h.name, "«serial»", h.serial, "«mac»", h.mac.String(), "«bmc»", h.bmc.Addr()).Replace(manifest)))
}

// await waits until an object is as wanted. Of a claim that doesn't become so it shows the machine's serial port too.
func (r *rack) await(h *host, ref lab.Ref, what string, check lab.Check) {
	r.t.Helper()
	if _, err := r.Await(r.t.Context(), ref, what, patience, check); err != nil {
		s := h.machine.Serial()
		r.t.Fatalf("%v\nthe serial port of %s ends with:\n%s", err, h.name, s[max(0, len(s)-3000):])
	}
}

// TestClaimToReadyOnRealFirmware is the main job with SeaBIOS and iPXE, and with OVMF's own PXE client. Both machines go
// their way at once.
func TestClaimToReadyOnRealFirmware(t *testing.T) {
	needMachines(t)
	r := newRack(t)
	bios := r.newHost("bios", 1, qemu.BIOS, bmc.ModelInline)
	uefi := r.newHost("uefi", 2, qemu.UEFI, bmc.ModelActionInfo)
	hosts := []*host{bios, uefi}
	for _, h := range hosts {
		r.await(h, lab.Kind("RedfishHost", lab.InfraNamespace, h.name), "Available", lab.Field("Available", "status", "phase"))
		r.claim(h)
	}
	claimed := time.Now()
	for _, h := range hosts {
		r.await(h, lab.Node(tenant, h.name), "Ready", lab.Is("Ready", "True"))
		t.Logf("%s: Ready %.0f s after the last claim", h.name, time.Since(claimed).Seconds())
		r.installedOnce(h, 1)
		if !strings.Contains(h.machine.Serial(), "GUEST user data: ") {
			t.Errorf("%s: the installer fetched no user data", h.name)
		}
		if got := diskDigest(t, h.machine, r.image.Size); got != r.image.Digest {
			t.Errorf("%s: the disk holds %s, the image is %s", h.name, got, r.image.Digest)
		}
	}
	r.bootsItsDisk(uefi, bmc.BootNormal)
	r.bootsItsDisk(bios, bmc.BootPxe) // it asks bootd, which sends it to its disk
	for _, h := range hosts {
		r.must(r.Delete(t.Context(), lab.Node(tenant, h.name)))
	}
	for _, h := range hosts {
		r.must(r.AwaitGone(t.Context(), lab.Node(tenant, h.name), patience))
		if h.machine.Powered() {
			t.Errorf("%s is still on after its claim has gone", h.name)
		}
	}
}

// installedOnce counts on the serial port what the machine did.
func (r *rack) installedOnce(h *host, diskBoots int) {
	r.t.Helper()
	s := h.machine.Serial()
	installs, boots := strings.Count(s, "GUEST installed\n"), strings.Count(s, "GUEST running from disk")
	if installs != 1 || boots != diskBoots || h.machine.Starts() != 1 {
		r.t.Errorf("%s: %d installs, %d boots from disk, %d power-ons; want 1, %d, 1", h.name, installs, boots, h.machine.Starts(), diskBoots)
	}
}

// bootsItsDisk resets a Ready machine, as an operator would at the machine, and sees it run from its disk again.
func (r *rack) bootsItsDisk(h *host, target bmc.BootTarget) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	r.must(h.machine.Restart(target))
	r.must(h.machine.WaitSerial(ctx, "GUEST running from disk", 2))
	r.installedOnce(h, 2)
}
