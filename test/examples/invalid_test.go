package examples_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/specdir"
)

// A refusal is an edit of a valid document that must be refused with a sentence a person understands.
type refusal struct {
	reason string
	// file below examples/, and the kind of the document in it.
	file, kind string
	// before, where set, is the edit of the stored document: this is an update then.
	before string
	// edit is merged into the document: RFC 7396.
	edit string
	want string
}

// node returns a refusal of an edit of the BareMetalNode example.
func node(reason, edit, want string) refusal {
	return refusal{reason: reason, file: "kinds/baremetalnode.yaml", kind: "BareMetalNode", edit: edit, want: want}
}

// pool returns a refusal of an edit of the RackPool example.
func pool(reason, edit, want string) refusal {
	return refusal{reason: reason, file: "kinds/rackpool.yaml", kind: "RackPool", edit: edit, want: want}
}

// update turns a refusal into one of an update.
func (r refusal) update(before string) refusal {
	r.before = before
	return r
}

func TestInvalidNode(t *testing.T) {
	refuse(t, map[string]refusal{
		"UnknownField": node("an unknown field is never ignored",
			`{spec: {installGenration: 2}}`, `unknown field "spec.installGenration"`),
		"NoHost": node("a node needs a host",
			`{spec: {host: {ref: null}}}`, "host needs exactly one of claim"),
		"TwoHosts": node("a node has one host",
			`{spec: {host: {bmc: {address: 10.0.0.1, providerConfigRef: {name: x}}}}}`, "host needs exactly one of claim"),
		"Pools": node("claims by pool come later",
			`{spec: {host: {ref: null, claim: {poolRefs: [{name: rack-7}]}}}}`, "host.claim is not supported yet"),
		"Rebind": node("rebinding comes later",
			`{spec: {host: {rebindGeneration: 1}}}`, "rebindGeneration is not supported yet"),
		"OtherHostKind": node("there is one kind of host",
			`{spec: {host: {ref: {kind: IPMIHost}}}}`, `supported values: "RedfishHost"`),
		"Adopt": node("adoption comes later",
			`{spec: {onBind: Adopt}}`, "onBind: Adopt is not supported yet"),
		"Retain": node("retaining comes later",
			`{spec: {reclaimPolicy: Retain}}`, "reclaimPolicy: Retain is not supported yet"),
		"Storage": node("choosing a disk comes later",
			`{spec: {storage: {rootDevice: {type: NVMe}}}}`, "storage is not supported yet"),
		"NetworkData": node("a part of a Secret is meant",
			`{spec: {networkDataSecretRef: {name: a}}}`, "networkDataSecretRef.key"),
		"VendorData": node("a Secret has a name",
			`{spec: {vendorDataSecretRef: {name: "", key: b}}}`, "vendorDataSecretRef.name"),
		"TwoNetworks": node("one network for now",
			`{spec: {networks: [{name: a, networkRef: {name: x}}, {name: b, networkRef: {name: z}}]}}`, "networks with more than one entry is not supported yet"),
		"NoNetwork": node("a node boots from a network",
			`{spec: {networks: []}}`, "should have at least 1 items"),
		"TwoAddresses": node("a machine has one address of a family",
			`{spec: {networks: [{name: a, networkRef: {name: x}, addresses: [{family: IPv4}, {family: IPv4}]}]}}`, "addresses are of one family; ask for one of IPv4 and one of IPv6"),
		"TwoOfIPv6": node("of either family",
			`{spec: {networks: [{name: a, networkRef: {name: x}, addresses: [{family: IPv6, address: "fd00:77::40"}, {family: IPv6}]}]}}`, "addresses are of one family"),
		"ThreeAddresses": node("there are two families",
			`{spec: {networks: [{name: a, networkRef: {name: x}, addresses: [{family: IPv4}, {family: IPv6}, {family: IPv6}]}]}}`, "addresses has more than two entries"),
		"IPv6Unasked": node("IPv4 is what is asked for where nothing is said",
			`{spec: {networks: [{name: a, networkRef: {name: x}, addresses: [{address: "2001:db8::1/64"}]}]}}`, "address is of the other family; an IPv6 address needs family: IPv6"),
		"IPv4Unasked": node("an address is of the family that is asked for",
			`{spec: {networks: [{name: a, networkRef: {name: x}, addresses: [{family: IPv6, address: 10.77.0.40}]}]}}`, "address is of the other family"),
		"NotAnAddress": node("an address is an address",
			`{spec: {networks: [{name: a, networkRef: {name: x}, addresses: [{address: 10.77.0.400}]}]}}`, "address must be an IP address"),
		"ZonedAddress": node("a zone is of one machine's own",
			`{spec: {networks: [{name: a, networkRef: {name: x}, addresses: [{family: IPv6, address: "fe80::1%eth0"}]}]}}`, "address must be an IP address"),
		"BondAndPort": node("a network is on one port or on a bond",
			`{spec: {networks: [{name: a, networkRef: {name: x}, interface: {name: NIC.1, bond: {members: [NIC.2], mode: LACP}}}]}}`, "name is the one port, and a bond has its members"),
		"BondTaken": node("nor has it a port's name",
			`{spec: {networks: [{name: a, networkRef: {name: x}, interface: {bond: {name: port1, mode: LACP}}}]}}`, "ports are port0, port1"),
		"BondMode": node("a bond says how its members share the work",
			`{spec: {networks: [{name: a, networkRef: {name: x}, interface: {bond: {}}}]}}`, "bond.mode"),
		"BondName": node("systems take short names",
			`{spec: {networks: [{name: a, networkRef: {name: x}, interface: {bond: {name: Bond-of-the-rack, mode: LACP}}}]}}`, "bond.name"),
		"NoMember": node("a port has a name",
			`{spec: {networks: [{name: a, networkRef: {name: x}, interface: {bond: {members: [""], mode: LACP}}}]}}`, "should be at least 1 chars long"),
		"VLAN": node("IEEE 802.1Q has 4094 of them",
			`{spec: {networks: [{name: a, networkRef: {name: x}, interface: {vlanID: 4095}}]}}`, "should be less than or equal to 4094"),
		"MTU": node("it's that of a BootNetwork, at most",
			`{spec: {networks: [{name: a, networkRef: {name: x}, interface: {mtu: 9217}}]}}`, "should be less than or equal to 9216"),
		"Addressing": node("there are two ways to an address",
			`{spec: {networks: [{name: a, networkRef: {name: x}, interface: {addressing: SLAAC}}]}}`, `supported values: "Static", "DHCP"`),
		"FromElsewhere": node("NetBox alone is asked for a network",
			`{spec: {networks: [{name: a, networkRef: {name: x}, interface: {from: Nautobot}}]}}`, `supported values: "NetBox"`),
		"TwoNetworkConfigs": node("a system has one network config",
			`{spec: {networkDataSecretRef: {name: a, key: b}, networks: [{name: a, networkRef: {name: x}, interface: {}}]}}`, "are two network configs: remove one"),
		"Hostname": node("a host name is a DNS label",
			`{spec: {hostname: ledger.example}}`, "hostname must be a DNS label"),
		"DottedName": node("the claim's name becomes a host name",
			`{metadata: {name: ledger.example}}`, "must not contain dots"),
		"LongName": node("the claim's name becomes a label",
			`{metadata: {name: `+strings.Repeat("a", 64)+`}}`, "may not be more than 63 bytes"),
		"Key": node("a key is a line of authorized_keys",
			`{spec: {sshAuthorizedKeys: ["command=\"x\" ssh-ed25519 AAAA"]}}`, "an SSH key must be one line"),
		"PowerOn": node("unquoted On is a boolean",
			`{spec: {power: on}}`, "must be of type string"),
		"NegativeGeneration": node("a generation counts upwards",
			`{spec: {installGeneration: -1}}`, "should be greater than or equal to 0"),
		"HugeGeneration": node("a number that no program holds could never be raised again",
			`{spec: {installGeneration: 9007199254740992}}`, "should be less than or equal to"),
		"LongParameter": node("a parameter is a word of a command line",
			`{spec: {parameters: {role: `+strings.Repeat("a", 1025)+`}}}`, "a parameter's name has at most 63 characters"),
		"EmptyProtection": node("who is refused wants to know why",
			`{spec: {protection: {reason: ""}}}`, "should be at least 1 chars long"),
	})
}

func TestInvalidNodeUpdate(t *testing.T) {
	refuse(t, map[string]refusal{
		"LoweredGeneration": node("installGeneration never falls",
			`{spec: {installGeneration: 1}}`, "installGeneration never falls").update(`{spec: {installGeneration: 2}}`),
		"RemovedGeneration": node("leaving it out is lowering it to 0",
			`{spec: {installGeneration: null}}`, "installGeneration never falls").update(`{}`),
		"OtherHost": node("a host is kept",
			`{spec: {host: {ref: {name: r7-u17}}}}`, "host can't be changed").update(`{}`),
		"OtherWayToName": node("a host is kept, however it is named",
			`{spec: {host: {ref: null, bmc: {address: 10.0.0.1, providerConfigRef: {name: x}}}}}`, "host can't be changed").update(`{}`),
		"OtherNetwork": node("networks are kept for now",
			`{spec: {networks: [{name: boot, networkRef: {namespace: infra, name: rack-8}}]}}`, "changing networks of an existing node is not supported yet, but for interface").update(`{}`),
		"OtherAddress": node("addresses are kept for now",
			`{spec: {networks: [{name: boot, networkRef: {namespace: infra, name: rack-7}, addresses: [{family: IPv4}, {family: IPv6}]}]}}`, "changing networks of an existing node").update(`{}`),
		"OtherNameOfNetwork": node("addresses are named after it",
			`{spec: {networks: [{name: front, networkRef: {namespace: infra, name: rack-7}}]}}`, "changing networks of an existing node").update(`{}`),
	})
}

func TestValidNodeUpdate(t *testing.T) {
	ks := kinds(t)
	base := find(t, "kinds/baremetalnode.yaml", "BareMetalNode")
	for name, edit := range map[string]string{
		"RaiseGeneration": `{spec: {installGeneration: 2}}`,
		"Stop":            `{spec: {power: PoweredOff}}`,
		"Profile":         `{spec: {profileRef: {name: debian-13}}}`,
		"Confirm":         `{spec: {confirm: {serial: R7U16}}}`,
		"Unprotect":       `{spec: {protection: null}}`,
		"SpellOutKind":    `{spec: {host: {ref: {kind: RedfishHost}}}}`,
		"FromNetBox":      `{spec: {networks: [{name: boot, networkRef: {namespace: infra, name: rack-7}, interface: {from: NetBox, bond: {mode: ActiveBackup}}}]}}`,
		"Interface":       `{spec: {networks: [{name: boot, networkRef: {namespace: infra, name: rack-7}, interface: {bond: {mode: LACP, members: [NIC.1, "52:54:00:00:00:02"]}, vlanID: 77}}]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			for _, p := range ks[base.GroupVersionKind()].validate(edited(t, base, edit), base) {
				t.Error(p)
			}
		})
	}
}

func TestInvalidPool(t *testing.T) {
	const hosts = `{spec: {hosts: [{name: a, address: 10.0.0.1, `
	refuse(t, map[string]refusal{
		"NoConfig": pool("a host needs credentials",
			`{spec: {defaults: null}}`, "every host needs a provider config"),
		"Cleaning": pool("cleaning comes later",
			`{spec: {reclaim: {cleaning: Metadata}}}`, "cleaning: Metadata is not supported yet; use None"),
		"FullCleaning": pool("cleaning comes later",
			`{spec: {reclaim: {cleaning: Full}}}`, "cleaning: Full is not supported yet"),
		"LeftOn": pool("a released host is left off",
			`{spec: {reclaim: {power: PoweredOn}}}`, `supported values: "PoweredOff"`),
		"KeptForADay": pool("what wouldn't be done is not taken",
			`{spec: {reclaim: {addresses: {policy: Delete, after: 24h}}}}`, "after goes with policy: Quarantine"),
		"LocalBoot": pool("five ways to the disk are known",
			`{spec: {defaults: {localBoot: Reboot}}}`, `Unsupported value: "Reboot"`),
		"LocalBootOfAHost": pool("five ways to the disk are known",
			hosts+`localBoot: GRUB}]}}`, `Unsupported value: "GRUB"`),
		"LabelKey": pool("a label's name has a form",
			hosts+`labels: {"has gpu": "no"}}]}}`, "a key of labels must be a label's name"),
		"LabelValue": pool("so has its value",
			hosts+`labels: {gpu: "no gpu"}}]}}`, "labels.gpu"),
		"Lease": pool("a network's durations hold in a pool too",
			`{spec: {network: {subnets: [{cidr: 10.0.0.0/24}], dhcp: {leaseDuration: 1d}}}}`, "leaseDuration must be a duration"),
		"Until": pool("there is no such day",
			hosts+`maintenance: {reason: x, until: "2026-02-31T10:00:00Z"}}]}}`, "maintenance.until: Invalid value"),
		"Taints": pool("taints come later",
			hosts+`taints: [{key: repair, effect: NoBind}]}]}}`, "taints are not supported yet"),
		"NetBoxDevice": pool("a device is named one way",
			hosts+`netboxDevice: {name: a, id: 3}}]}}`, "exactly one of name and id must be set"),
		"Multicast": pool("a machine's MAC address is unicast",
			hosts+`macs: ["01:00:5e:00:00:01"]}]}}`, "macs must not be multicast"),
		"NotAMAC": pool("a MAC address is six bytes",
			hosts+`macs: ["52:54:00"]}]}}`, "macs must look like 52:54:00:00:00:01"),
		"TwoSystems": pool("one way to choose a System",
			hosts+`system: {id: "1", serial: x}}]}}`, "exactly one of id, uuid and serial"),
		"Twice": pool("hosts are named once",
			`{spec: {hosts: [{name: a, address: 10.0.0.1}, {name: a, address: 10.0.0.2}]}}`, "Duplicate value"),
		"TopologyKey": pool("a topology key becomes a label",
			`{spec: {topology: {Rack_No: "7"}}}`, "a topology key must be a DNS label"),
		"NamesWithoutFrom": pool("names are for Names",
			`{spec: {allowedNamespaces: {from: All, names: [a]}}}`, "names must be set when from is Names, and only then"),
		"OutOfBand": pool("a machine boots by no BMC's address",
			`{spec: {network: {subnets: [{cidr: 10.0.0.0/24, addressesFrom: {netboxProviderConfigRef: {name: x}, sources: [{prefix: {cidr: 10.0.0.0/24}}], assignTo: {use: OutOfBand}}}]}}}`, `Unsupported value: "OutOfBand"`),
		"NoNameOfInterface": pool("an interface has a name",
			`{spec: {network: {subnets: [{cidr: 10.0.0.0/24, addressesFrom: {netboxProviderConfigRef: {name: x}, sources: [{prefix: {cidr: 10.0.0.0/24}}], assignTo: {interfaceName: ""}}}]}}}`, "should be at least 1 chars long"),
		"Network": pool("a network's rules hold in a pool too",
			`{spec: {network: {subnets: [{cidr: 10.0.0.0/24, gateway: 10.0.1.1}]}}}`, "gateway must be inside cidr"),
	})
}

// refuse runs a table of refusals.
func refuse(t *testing.T, cases map[string]refusal) {
	t.Helper()
	ks := kinds(t)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			base := find(t, tc.file, tc.kind)
			var old *unstructured.Unstructured
			if tc.before != "" {
				old = edited(t, base, tc.before)
			}
			got := ks[base.GroupVersionKind()].validate(edited(t, base, tc.edit), old)
			if !strings.Contains(strings.Join(got, "\n"), tc.want) {
				t.Errorf("%s:\nwant a refusal with %q\ngot %q", tc.reason, tc.want, got)
			}
			if tc.before == "" {
				inFolder(t, tc, edited(t, base, tc.edit))
			}
			if tc.kind == "NetBoxIPAddress" {
				t.Logf("\n| bad input, at admission: %s, %s | 1 | 1 |", name, tc.reason)
			}
		})
	}
}

// inFolder holds that a bootd without a cluster refuses what an API server does: there the schema isn't asked, and what it refuses, such as
// the choice of a disk that isn't supported yet, may cost one.
func inFolder(t *testing.T, r refusal, doc *unstructured.Unstructured) {
	t.Helper()
	if !slices.Contains([]string{"BootEntry", "BootProfile", "BootNetwork"}, r.kind) {
		return
	}
	b, err := doc.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if len(specdir.Check("f.json", b)) == 0 {
		t.Errorf("%s: bootd takes it from a folder", r.reason)
	}
}

// TestTakenFromAFolder: what an API server takes bootd takes from a folder, as far as it's there for.
func TestTakenFromAFolder(t *testing.T) {
	for _, file := range []string{"kinds/bootentry.yaml", "kinds/bootnetwork.yaml", "kinds/bootprofile.yaml", "bootd/cloud-init.yaml", "bootd/dual-stack.yaml", "bootd/edge.yaml", "bootd/firmware.yaml", "bootd/hold.yaml", "bootd/https.yaml", "bootd/installers.yaml", "bootd/interfaces.yaml", "bootd/ipv6.yaml", "bootd/iso.yaml", "bootd/no-router.yaml", "bootd/options.yaml", "bootd/proxy.yaml", "bootd/qcow2.yaml", "bootd/raspberry-pi.yaml", "bootd/script.yaml", "bootd/secure-boot.yaml", "bootd/segments.yaml", "bootd/two-bootds.yaml"} {
		b, err := os.ReadFile(filepath.Join(root, "examples", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, wrong := range specdir.Check(file, b) {
			t.Error(wrong)
		}
	}
}

// find returns an example.
func find(t *testing.T, file, kind string) *unstructured.Unstructured {
	t.Helper()
	for _, doc := range documents(t, filepath.Join(root, "examples", file)) {
		if doc.GetKind() == kind {
			return doc
		}
	}
	t.Fatalf("%s holds no %s", file, kind)
	return nil
}

// edited returns a copy of a document with an edit, in YAML, merged into it.
func edited(t *testing.T, doc *unstructured.Unstructured, edit string) *unstructured.Unstructured {
	t.Helper()
	out := doc.DeepCopy()
	merge(out.Object, decode(t, edit, edit))
	return out
}

// merge does what RFC 7396 says: maps are merged, null deletes, everything else replaces.
func merge(into, patch map[string]any) {
	for k, v := range patch {
		if v == nil {
			delete(into, k)
			continue
		}
		deeper, ok := v.(map[string]any)
		at, was := into[k].(map[string]any)
		if ok && was {
			merge(at, deeper)
			continue
		}
		into[k] = v
	}
}
