package examples_test

import "testing"

// of returns a refusal of an edit of a kind's example.
func of(kind, reason, edit, want string) refusal {
	files := map[string]string{
		"BootEntry": "bootentry", "BootNetwork": "bootnetwork", "BootProfile": "bootprofile", "HostClaim": "hostclaim",
		"NetBoxIPAddress": "netboxipaddress", "RedfishHost": "redfishhost",
		"ClusterProviderConfig": "clusterproviderconfig", "ProviderConfig": "providerconfig",
	}
	return refusal{reason: reason, file: "kinds/" + files[kind] + ".yaml", kind: kind, edit: edit, want: want}
}

func TestInvalidAddress(t *testing.T) {
	ip := func(reason, edit, want string) refusal {
		return of("NetBoxIPAddress", reason, `{spec: {forProvider: `+edit+`}}`, want)
	}
	refuse(t, map[string]refusal{
		"PrefixZero":  ip("NetBox takes no address with the mask /0", `{from: [{prefix: {cidr: 0.0.0.0/0}}]}`, "NetBox takes no address with the mask /0"),
		"PrefixZero6": ip("of IPv6, too", `{from: [{prefix: {cidr: "::/0"}}]}`, "NetBox takes no address with the mask /0"),
		"RangeZero":   ip("nor of a range", `{from: [{range: {start: 10.0.0.1/0}}]}`, "NetBox takes no address with /0"),
		"FieldSpace":  ip("custom fields have names of one word", `{from: [{prefix: {filter: {customFields: {"po ol": x}}}}]}`, "a name of customFields must be one"),
		"FieldNone":   ip("and have a name", `{from: [{range: {filter: {customFields: {"": x}}}}]}`, "a name of customFields must be one"),
		"FieldLookup": ip("a lookup isn't a field", `{from: [{prefix: {filter: {customFields: {pool__ic: x}}}}]}`, "a name of customFields must be one"),
		"FieldEmpty":  ip("no value selects nothing", `{from: [{prefix: {filter: {customFields: {pool: ""}}}}]}`, "a value of customFields must not be empty"),
		"FieldEmpty2": ip("of ranges neither", `{from: [{range: {filter: {customFields: {pool: ""}}}}]}`, "a value of customFields must not be empty"),
		"Family":      ip("an address is of one family", `{from: null, address: 10.77.0.40/24, family: IPv6}`, "family is another one than that of address"),
		"Family4":     ip("whose sources are all of the other one", `{family: IPv6}`, "family is another one than that of all sources"),
		"Family6":     ip("each way", `{from: [{prefix: {cidr: "2001:db8::/64"}}, {range: {start: "2001:db8::10/64"}}], family: IPv4}`, "family is another one than that of all sources"),
		"FamilyRange": ip("ranges, too", `{from: [{range: {start: 10.77.0.100/24}}], family: IPv6}`, "family is another one than that of all sources"),
		"FamilyMany":  ip("and what is filtered", `{from: [{prefix: {filter: {family: IPv4}}}, {range: {filter: {family: IPv4}}}], family: IPv6}`, "family is another one than that of all sources"),
		"FamilyMask":  ip("IPv4 has 32 bits, whatever the source is", `{from: [{prefix: {id: 3}}], family: IPv4, prefixLength: 64}`, "prefixLength is at most 32 with family: IPv4"),
		"FamilyOther": ip("a mask must fit a source of the family", `{from: [{prefix: {cidr: 10.77.0.0/24}}, {prefix: {cidr: "2001:db8::/64"}}], family: IPv6, prefixLength: 32}`, "prefixLength fits none of the sources"),
		"SLAAC":       ip("only IPv6 addresses configure themselves", `{from: null, address: 10.77.0.40/24, status: slaac}`, "status: slaac is for IPv6 alone"),
		"SLAACFamily": ip("also where one is yet to be found", `{from: [{prefix: {id: 3}}], family: IPv4, status: slaac}`, "status: slaac is for IPv6 alone"),
		"EmptyFilter": ip("a filter that says nothing is all prefixes", `{from: [{prefix: {filter: {}}}]}`, "a filter must say something: site, role"),
		"FilterVRF":   ip("a filter has its own VRF", `{from: [{prefix: {filter: {role: nodes}, vrf: {name: prod}}}]}`, "vrf goes into filter: filter.vrf"),
		"EmptyRange":  ip("a range is named one way", `{from: [{range: {}}]}`, "exactly one of id, start and filter must be set"),
		"TwoRanges":   ip("and no two", `{from: [{range: {id: 12, start: 10.77.0.100/24}}]}`, "exactly one of id, start and filter must be set"),
		"RangeMask":   ip("its start has a mask", `{from: [{range: {start: 10.77.0.100}}]}`, "start must be an address with its mask"),
		"RangeFilter": ip("nor is a range chosen by nothing", `{from: [{range: {filter: {tags: []}}}]}`, "a filter must say something: role"),
		"TwoTables":   ip("a table is named one way", `{from: [{prefix: {cidr: 10.77.0.0/24, vrf: {table: Global, name: prod}}}]}`, "exactly one of table, name, rd and id must be set"),
		"Table":       ip("there's one table that is no VRF", `{from: [{prefix: {cidr: 10.77.0.0/24, vrf: {table: Local}}}]}`, `Unsupported value: "Local"`),
		"FixedMask":   ip("a fixed address has its mask", `{from: null, address: 10.77.0.40/24, prefixLength: 32}`, "prefixLength goes with from"),
		"VRFOfFrom":   ip("a source has its own VRF", `{vrf: {name: prod}}`, "vrf goes with address"),
		"Twice":       ip("an allocated address is nobody else's", `{duplicates: Allow}`, "duplicates goes with address"),
		"NotShared":   ip("addresses are shared by role", `{from: null, address: 10.77.0.40/24, role: loopback, duplicates: SharedRole}`, "duplicates: SharedRole needs a role that addresses share"),
		"TwoHolders": ip("an interface is of one thing", `{assignTo: {device: {name: a}, virtualMachine: {name: b}, interface: {name: eno1}}}`,
			"exactly one of device, virtualMachine and hostRef (or hostSelector) must be set"),
		"NoHolder":    ip("names of interfaces aren't unique", `{assignTo: {interface: {name: eno1}}}`, "only an interface.mac may stand alone"),
		"NoInterface": ip("a device has several interfaces", `{assignTo: {device: {name: a}}}`, "interface must be set"),
		"TwoNames": ip("an interface is named one way", `{assignTo: {device: {name: a}, interface: {name: eno1, id: 3}}}`,
			"exactly one of name, mac and id must be set"),
		"NetworkAssigned": ip("NetBox puts a network address on no interface",
			`{from: null, address: 10.77.0.0/24, assignTo: {device: {name: a}, interface: {name: eno1}}}`, "a network address can't be assigned"),
		"Network6Assigned": ip("nor that of an IPv6 network",
			`{from: null, address: "2001:db8:77::/64", assignTo: {device: {name: a}, interface: {name: eno1}}}`, "a network address can't be assigned"),
		"NoNetwork":   ip("an address is in a network", `{from: null, address: 10.77.0.40/0}`, "NetBox takes none with /0"),
		"AnyHost":     ip("a selector that says nothing chooses any host", `{assignTo: {hostSelector: {}}}`, "hostSelector must say something"),
		"AnyHostMore": ip("in whichever way", `{assignTo: {hostSelector: {matchLabels: {}, matchControllerRef: false}}}`, "hostSelector must say something"),
		"SiteOfID":    ip("a number needs no site", `{assignTo: {device: {id: 3, site: fra1}, interface: {name: eno1}}}`, "leave it out beside id"),
		"NotAMAC":     ip("a MAC address is six bytes", `{assignTo: {interface: {mac: "52:54:00"}}}`, "should match"),
		"VirtualOOB": ip("a virtual machine has no BMC",
			`{assignTo: {virtualMachine: {name: a}, interface: {name: eth0}, use: OutOfBand}}`, "a virtual machine has no out-of-band address"),
		"Use":   ip("an address is one of three things", `{assignTo: {device: {name: a}, interface: {name: eno1}, use: Secondary}}`, `Unsupported value: "Secondary"`),
		"Drift": ip("drift is corrected or reported", `{drift: Ignore}`, `Unsupported value: "Ignore"`),
		"DeleteLater": ip("an address that is to be kept for a day isn't freed at once",
			`{release: {policy: Delete, after: 24h}}`, "after goes with policy: Quarantine"),
		"QuarantineDays": ip("Go knows no days", `{release: {policy: Quarantine, after: 1d}}`, "after must be a duration"),
		"AdoptNoAddress": ip("which record is meant?", `{adopt: IfUnowned}`, "adopt: IfUnowned goes with address"),
		"AdoptAlways":    ip("somebody's record is never taken", `{adopt: Always}`, `Unsupported value: "Always"`),
		"WhenLost":       ip("another address never takes its place", `{whenLost: Replace}`, `Unsupported value: "Replace"`),
		"Both":           ip("an address is allocated or given", `{address: 10.77.0.40/24}`, "exactly one of from and address must be set"),
		"Neither":        ip("an address comes from somewhere", `{from: []}`, "exactly one of from and address must be set"),
		"ReleasedAlone":  of("NetBoxIPAddress", "what does more than look needs it", `{spec: {managementPolicies: [Observe, Delete], forProvider: {from: null}}}`, "exactly one of from and address must be set"),
		"NoMask":         ip("NetBox wants a mask", `{from: null, address: 10.77.0.40}`, "address must be an address with its mask"),
		"HostBits": ip("a prefix has no host bits",
			`{from: [{prefix: {cidr: 10.77.0.1/24}}]}`, "cidr must be a network such as 10.77.0.0/24"),
		"TwoWays": ip("a prefix is named one way",
			`{from: [{prefix: {cidr: 10.77.0.0/24, id: 3}}]}`, "exactly one of cidr, id and filter must be set"),
		"HugeID": ip("a number that JSON can't carry exactly is never stored",
			`{from: [{prefix: {id: 9007199254740992}}]}`, "should be less than or equal to"),
		"NoVRFName":   ip("an empty name would be any table", `{from: [{prefix: {cidr: 10.77.0.0/24, vrf: {name: ""}}}]}`, "should be at least 1 chars long"),
		"NoVRFRD":     ip("so would an empty RD", `{from: [{prefix: {cidr: 10.77.0.0/24, vrf: {rd: ""}}}]}`, "should be at least 1 chars long"),
		"NoVRFRange":  ip("of a range", `{from: [{range: {start: 10.77.0.100/24, vrf: {name: ""}}}]}`, "should be at least 1 chars long"),
		"NoVRFInSet":  ip("of a filter, which would be all prefixes", `{from: [{prefix: {filter: {vrf: {name: ""}}}}]}`, "should be at least 1 chars long"),
		"NoVRFRanges": ip("or all ranges", `{from: [{range: {filter: {vrf: {rd: ""}}}}]}`, "should be at least 1 chars long"),
		"NoVRFFixed":  ip("of a fixed address", `{from: null, address: 10.77.0.40/24, vrf: {name: ""}}`, "should be at least 1 chars long"),
		"ShortMask":   ip("an address has its network's mask at least", `{prefixLength: 16}`, "prefixLength fits none of the sources"),
		"LongMask":    ip("IPv4 has 32 bits", `{from: [{prefix: {cidr: 10.77.0.0/24}}], prefixLength: 64}`, "prefixLength fits none of the sources"),
		"LongRange":   ip("of a range, too", `{from: [{range: {start: 10.77.0.100/24}}], prefixLength: 64}`, "prefixLength fits none of the sources"),
		"ShortRange":  ip("nor is a range's mask shorter", `{from: [{range: {start: "2001:db8::10/64"}}], prefixLength: 48}`, "prefixLength fits none of the sources"),
		"LongFamily":  ip("nor has what is filtered", `{from: [{prefix: {filter: {family: IPv4}}}, {range: {filter: {family: IPv4}}}], prefixLength: 128}`, "prefixLength fits none of the sources"),
		"LongOfAll":   ip("of several, one must fit", `{from: [{prefix: {cidr: 10.77.0.0/24}}, {prefix: {cidr: "2001:db8::/64"}}], prefixLength: 48}`, "prefixLength fits none of the sources"),
		"EmptyTag":    ip("a tag has a slug", `{tags: [""]}`, "should be at least 1 chars long"),
		"TagName":     ip("which isn't its name", `{tags: ["Not a slug"]}`, "should match"),
		"TagFilter":   ip("in a filter, too", `{from: [{prefix: {filter: {tags: ["Not a slug"]}}}]}`, "should match"),
		"RangeTag":    ip("and of ranges", `{from: [{range: {filter: {tags: [""]}}}]}`, "should be at least 1 chars long"),
		"TenantName":  ip("a tenant has a slug", `{tenant: {slug: "Team A"}}`, "should match"),
		"SiteName":    ip("and so have sites", `{from: [{prefix: {filter: {site: "Frankfurt 1"}}}]}`, "should match"),
		"RoleName":    ip("and roles", `{from: [{range: {filter: {role: "Nodes/2"}}}]}`, "should match"),
		"DeviceSite":  ip("also of a device", `{assignTo: {device: {name: a, site: ""}, interface: {name: eno1}}}`, "should be at least 1 chars long"),
		"DNSName":     ip("NetBox refuses a name with a space", `{dnsName: "web 1.example"}`, "should match"),
		"DNSDots":     ip("or with an empty label", `{dnsName: web..example}`, "should match"),
		"Role":        ip("NetBox knows its roles", `{role: gateway}`, `Unsupported value: "gateway"`),
		"Exchanged": ip("an address isn't moved", `{from: null, address: 10.77.0.41/24}`, "address can't change").
			update(`{spec: {forProvider: {from: null, address: 10.77.0.40/24}}}`),
		"OtherVRF": ip("nor to another table", `{from: null, address: 10.77.0.40/24, vrf: {name: prod}}`, "vrf can't change").
			update(`{spec: {forProvider: {from: null, address: 10.77.0.40/24, vrf: {table: Global}}}}`),
		"NoVRF": ip("also where that wasn't said", `{from: null, address: 10.77.0.40/24, vrf: {name: prod}}`, "vrf can't change").
			update(`{spec: {forProvider: {from: null, address: 10.77.0.40/24, vrf: null}}}`),
		"Fixed": ip("nor is an allocated one pinned", `{from: null, address: 10.77.0.41/24}`, "address can't change").update(`{}`),
	})
}

// TestValidAddress: what admission refuses is only what can't be.
func TestValidAddress(t *testing.T) {
	ks := kinds(t)
	base := find(t, "kinds/netboxipaddress.yaml", "NetBoxIPAddress")
	for name, edit := range map[string]string{
		"MaskOfOne":    `{from: [{prefix: {cidr: 10.77.0.0/24}}, {prefix: {cidr: "2001:db8::/64"}}], prefixLength: 32}`,
		"MaskOfOther":  `{from: [{prefix: {cidr: 10.77.0.0/24}}, {range: {start: "2001:db8::10/64"}}], prefixLength: 128}`,
		"MaskOfNumber": `{from: [{prefix: {cidr: 10.77.0.0/24}}, {prefix: {id: 3}}], prefixLength: 16}`,
		"MaskOfFilter": `{from: [{prefix: {filter: {role: nodes}}}], prefixLength: 128}`,
		"MaskIPv6":     `{from: [{prefix: {filter: {family: IPv6}}}, {range: {filter: {family: IPv4}}}], prefixLength: 128}`,
		"MaskOwn":      `{prefixLength: 24}`,
		"FieldNames":   `{from: [{prefix: {filter: {customFields: {Pool_1: nodes, _x: "a"}}}}]}`,
		"Family":       `{from: [{prefix: {id: 3}}], family: IPv6}`,
		"FamilyOfOne":  `{from: [{prefix: {cidr: 10.77.0.0/24}}, {prefix: {filter: {role: nodes}}}], family: IPv6, prefixLength: 128}`,
		"FamilyOfAll":  `{from: [{prefix: {filter: {family: IPv4}}}, {range: {start: "2001:db8::10/64"}}], family: IPv6}`,
		"FamilyFixed":  `{from: null, address: 10.77.0.40/24, family: IPv4}`,
		"SLAAC":        `{from: null, address: "2001:db8::40/64", status: slaac}`,
		"SLAACFrom":    `{from: [{prefix: {cidr: "2001:db8::/64"}}], status: slaac}`,
		"Slugs":        `{tags: [k8s_1, "straße-größe"], tenant: {slug: Team_A-1}}`,
		"DNSName":      `{dnsName: "*.Web_1.example."}`,
	} {
		t.Run(name, func(t *testing.T) {
			for _, p := range ks[base.GroupVersionKind()].validate(edited(t, base, `{spec: {forProvider: `+edit+`}}`), nil) {
				t.Error(p)
			}
		})
	}
}

func TestInvalidHost(t *testing.T) {
	host := func(reason, edit, want string) refusal {
		return of("RedfishHost", reason, `{spec: {forProvider: `+edit+`}}`, want)
	}
	refuse(t, map[string]refusal{
		"Taints":       host("taints come later", `{taints: [{key: repair, effect: NoBind}]}`, "taints is not supported yet; use unschedulable"),
		"Lasting":      host("a boot option lasts by the order", `{boot: {persistent: {target: BootOption, bootOption: Boot0001}}}`, "a boot option is persistent by being first in order"),
		"Word":         host("targets are Redfish's words", `{boot: {once: {target: Network, generation: 1}}}`, "Unsupported value"),
		"Mode":         host("so are modes", `{boot: {once: {target: Pxe, mode: BIOS, generation: 1}}}`, "Unsupported value"),
		"Images":       host("a password in an image's URL is a leak", `{virtualMedia: [{type: CD, image: "https://u:p@x.example/a.iso"}]}`, "should match"),
		"Light":        host("a light has three states", `{indicator: Red}`, "Unsupported value"),
		"Restart":      host("a restart isn't taken back", `{bmcResetGeneration: -1}`, "greater than or equal to 0"),
		"Rotate":       host("a shared password isn't changed", `{credentialsRotation: {generation: 1}}`, "only a host's own Secret is rotated: set credentialsSecretRef"),
		"RotateNever":  host("a rotation has a number", `{credentialsSecretRef: {name: a}, credentialsRotation: {generation: 0}}`, "greater than or equal to 1"),
		"Name":         host("a certificate's name is a name", `{tls: {serverName: "bmc.example:443"}}`, "should match"),
		"NoPath":       host("a UEFI target has a path", `{boot: {once: {target: UefiTarget, generation: 1}}}`, "devicePath goes with target: UefiTarget"),
		"Path":         host("and nothing else has", `{boot: {once: {target: Pxe, devicePath: a, generation: 1}}}`, "devicePath goes with target: UefiTarget, and only with it"),
		"NoOption":     host("a boot option is named", `{boot: {once: {target: BootOption, generation: 1}}}`, "bootOption goes with target: BootOption"),
		"URI":          host("PXE loads what DHCP says", `{boot: {once: {target: Pxe, uri: "http://x.example/a.efi", generation: 1}}}`, "uri goes with target: UefiHttp only"),
		"URIUser":      host("a password isn't written into a host", `{boot: {once: {target: UefiHttp, uri: "http://u:p@x.example/a.efi", generation: 1}}}`, "should match"),
		"Legacy":       host("UEFI boots by UEFI", `{boot: {persistent: {target: UefiHttp, mode: Legacy}}}`, "UefiHttp and UefiTarget are UEFI's"),
		"Twice":        host("an order names each once", `{boot: {order: [Boot0001, Boot0001]}}`, "order names each boot option once"),
		"TwoCDs":       host("one drive, one image", `{virtualMedia: [{type: CD, image: "https://x.example/a.iso"}, {type: CD, image: "https://x.example/b.iso"}]}`, "Duplicate value"),
		"LocalBoot":    host("five ways to the disk are known", `{localBoot: Reboot}`, `Unsupported value: "Reboot"`),
		"PowerOn":      host("unquoted On is a boolean", `{power: on}`, "must be of type string"),
		"Sight":        host("a state in between is seen, never asked for", `{power: PoweringOn}`, `Unsupported value: "PoweringOn"`),
		"Days":         host("Go knows no days", `{powerOff: {grace: 1d}}`, "grace must be a duration in hours, minutes and seconds, such as 5m"),
		"Signed":       host("time doesn't run backwards", `{powerOff: {grace: -5m}}`, "grace must be a duration"),
		"NoTime":       host("there is no such day", `{maintenance: {reason: x, until: "2026-02-31T10:00:00Z"}}`, "spec.forProvider.maintenance.until: Invalid value"),
		"OddTime":      host("Go reads a big T alone", `{maintenance: {reason: x, until: "2026-02-01t10:00:00z"}}`, "spec.forProvider.maintenance.until: Invalid value"),
		"HugeReset":    host("a number that JSON can't carry exactly is never stored", `{resetGeneration: 9007199254740992}`, "should be less than or equal to"),
		"LoweredReset": host("a generation never falls", `{resetGeneration: 1}`, "resetGeneration never falls").update(`{spec: {forProvider: {resetGeneration: 2}}}`),
		"Multicast":    host("a machine's MAC address is unicast", `{macs: ["33:33:00:00:00:01"]}`, "macs must not be multicast"),
		"TwoSystems":   host("one way to choose a System", `{system: {serial: a, uuid: b}}`, "exactly one of id, uuid and serial must be set"),
	})
}

func TestInvalidEntry(t *testing.T) {
	entry := func(reason, edit, want string) refusal {
		return of("BootEntry", reason, `{spec: {forProvider: `+edit+`}}`, want)
	}
	refuse(t, map[string]refusal{
		"Inspect": entry("inspection comes later", `{otherwise: Inspect}`, "otherwise: Inspect is not supported yet; use LocalDisk or Hold"),
		"PortsAndMACs": entry("ports are named in one way",
			`{networks: [{name: boot, networkRef: {name: a}, addresses: [{ref: {name: a}}], interface: {ports: [NIC.1], macs: ["52:54:00:00:00:01"]}}]}`, "two ways to name ports"),
		"TwoNamedPorts": entry("a network is on one port or on a bond",
			`{networks: [{name: boot, networkRef: {name: a}, addresses: [{ref: {name: a}}], interface: {ports: [NIC.1, NIC.2]}}]}`, "ports without a bond names one port"),
		"PortsOfMACs": entry("whoever names a machine by MACs names its ports so, too",
			`{machine: {hostClaimRef: null, macs: ["52:54:00:00:00:01"]}, networks: [{name: boot, networkRef: {name: a}, addresses: [{ref: {name: a}}], interface: {ports: [NIC.1]}}]}`, "interface.ports are names that a host's BMC gives"),
		"RootDevice":  entry("choosing a disk comes later", `{rootDevice: {serial: S6XY}}`, "rootDevice is not supported yet"),
		"KeyLines":    entry("a key is one line", `{sshAuthorizedKeys: ["ssh-ed25519 AAAA a\nssh-ed25519 BBBB b"]}`, "must be one line of an authorized_keys file"),
		"KeyNone":     entry("and there is one on it", `{sshAuthorizedKeys: ["id_ed25519.pub"]}`, "must be one line of an authorized_keys file"),
		"NetworkData": entry("a part of a Secret is meant", `{networkDataSecretRef: {name: a}}`, "networkDataSecretRef.key"),
		"VendorData":  entry("a Secret has a name", `{vendorDataSecretRef: {name: "", key: b}}`, "vendorDataSecretRef.name"),
		"TwoNetworks": entry("one network for now",
			`{networks: [{name: a, networkRef: {name: x}, addresses: [{address: 10.0.0.1/24}]}, {name: b, networkRef: {name: x}, addresses: [{address: 10.0.0.2/24}]}]}`,
			"networks with more than one entry is not supported yet"),
		"TwoConfigs": entry("one of two network configs",
			`{networkDataSecretRef: {name: a, key: b}, networks: [{name: a, networkRef: {name: x}, addresses: [{address: 10.0.0.1/24}], interface: {}}]}`,
			"networkDataSecretRef and a network's interface are two network configs"),
		"TwoPorts": entry("two ports are a bond",
			`{networks: [{name: a, networkRef: {name: x}, addresses: [{address: 10.0.0.1/24}], interface: {macs: ["52:54:00:00:00:01", "52:54:00:00:00:02"]}}]}`,
			"macs without a bond names one port"),
		"FromNoRef": entry("NetBox is asked of an address that it has", `{networks: [{name: boot, networkRef: {namespace: infra, name: rack-8}, addresses: [{address: 10.78.0.99/24}], interface: {from: NetBox}}]}`,
			"interface.from: NetBox is of the interface that a NetBoxIPAddress is assigned to: name one by ref in addresses"),
		"FromElse": entry("and nobody else", `{networks: [{name: boot, networkRef: {namespace: infra, name: rack-8}, addresses: [{ref: {name: a}}], interface: {from: DNS}}]}`,
			`Unsupported value: "DNS"`),
		"MTU": entry("an MTU is one that people have", `{networks: [{name: boot, networkRef: {namespace: infra, name: rack-8}, addresses: [{address: 10.78.0.99/24}], interface: {mtu: 65535}}]}`,
			"should be less than or equal to 9216"),
		"BondName": entry("a name that the kernel takes, with a VLAN behind it",
			`{networks: [{name: a, networkRef: {name: x}, addresses: [{address: 10.0.0.1/24}], interface: {bond: {name: "bond 0", mode: LACP}}}]}`,
			"name must be a lower-case letter, then"),
		"BondTaken": entry("a name that nothing else has",
			`{networks: [{name: a, networkRef: {name: x}, addresses: [{address: 10.0.0.1/24}], interface: {bond: {name: port0, mode: LACP}}}]}`,
			"ports are port0, port1"),
		"BondMode": entry("a mode that we know",
			`{networks: [{name: a, networkRef: {name: x}, addresses: [{address: 10.0.0.1/24}], interface: {bond: {mode: Fast}}}]}`, `Unsupported value: "Fast"`),
		"VLAN": entry("twelve bits, without the last",
			`{networks: [{name: a, networkRef: {name: x}, addresses: [{address: 10.0.0.1/24}], interface: {vlanID: 4095}}]}`, "should be less than or equal to 4094"),
		"ThreeAddresses": entry("one of each family at most",
			`{networks: [{name: a, networkRef: {name: x}, addresses: [{address: 10.0.0.1/24}, {address: "2001:db8::1/64"}, {ref: {name: x}}]}]}`,
			"addresses has more than two entries; name one of IPv4 and one of IPv6"),
		"OneFamily": entry("DHCP gives one address",
			`{networks: [{name: a, networkRef: {name: x}, addresses: [{address: 10.0.0.1/24}, {address: 10.0.0.2/24}]}]}`,
			"addresses are of one family; name one of IPv4 and one of IPv6"),
		"OneFamilySix": entry("so does DHCPv6",
			`{networks: [{name: a, networkRef: {name: x}, addresses: [{address: "2001:db8::1/64"}, {address: "2001:db8::2/64"}]}]}`,
			"addresses are of one family; name one of IPv4 and one of IPv6"),
		"RefAndAddress": entry("an address is named one way",
			`{networks: [{name: a, networkRef: {name: x}, addresses: [{address: 10.0.0.1/24, ref: {name: x}}]}]}`, "exactly one of ref and address must be set"),
		"ClaimAndMACs": entry("a machine is named one way",
			`{machine: {hostClaimRef: {name: x}}}`, "exactly one of hostClaimRef and macs must be set"),
		"ClaimAndPort": entry("a claim's machine is its host",
			`{machine: {hostClaimRef: {name: x}, macs: null, port: {circuitID: eth0}}}`, "exactly one of hostClaimRef and macs must be set"),
		"PortInstalls": entry("a port names a place, and no machine",
			`{machine: {macs: null, port: {circuitID: eth0}}, install: {generation: 1}}`, "machine.port without machine.macs installs nothing"),
		"EmptyPort": entry("nothing to look for", `{machine: {port: {}}}`, "port needs a circuitID or a remoteID"),
		"PortDigits": entry("an octet has two digits",
			`{machine: {port: {circuitID: "0xabc"}}}`, "a port's ids are printable ASCII, or 0x and hexadecimal digits"),
		"PortText": entry("a line's end is no text",
			`{machine: {port: {remoteID: "a\nb"}}}`, "a port's ids are printable ASCII, or 0x and hexadecimal digits"),
		"ClaimAndSerial": entry("what wouldn't be looked at is not taken",
			`{machine: {hostClaimRef: {name: x}, macs: null, serial: ABC}}`, "uuid and serial belong to macs"),
		"ClaimAndStage": entry("nor is this",
			`{machine: {hostClaimRef: {name: x}, macs: null, firstStage: Shim}}`, "firstStage belongs to macs"),
		"FirstStage": entry("one of three", `{machine: {firstStage: Lilo}}`, `Unsupported value: "Lilo"`),
		"LocalBootOfAHost": entry("a host says its own",
			`{machine: {hostClaimRef: {name: x}, macs: null, localBoot: Exit}}`, "localBoot belongs to macs"),
		"LocalBoot":      entry("one of five", `{machine: {localBoot: Reboot}}`, `Unsupported value: "Reboot"`),
		"Hostname":       entry("a host name is a DNS label", `{hostname: a.b}`, "hostname must be a DNS label"),
		"Lowered":        entry("a generation never falls", `{install: {generation: 1}}`, "install.generation never falls").update(`{spec: {forProvider: {install: {generation: 2}}}}`),
		"HugeGeneration": entry("a number that JSON can't carry exactly is never stored", `{install: {generation: 9007199254740992}}`, "should be less than or equal to"),
	})
}

func TestInvalidClaim(t *testing.T) {
	claim := func(reason, edit, want string) refusal { return of("HostClaim", reason, `{spec: `+edit+`}`, want) }
	refuse(t, map[string]refusal{
		"NoHost":       claim("a claim names a host", `{hostRef: null}`, "hostRef must be set"),
		"Pools":        claim("claims by pool come later", `{poolRefs: [{name: rack-7}]}`, "poolRefs is not supported yet"),
		"Selector":     claim("claims by label come later", `{selector: {matchLabels: {gpu: "no"}}}`, "selector is not supported yet"),
		"Requirements": claim("claims by hardware come later", `{requirements: {arch: amd64, minCores: 16, minMemory: 64Gi, drives: [{type: NVMe, minSize: 1Ti, minCount: 2}], nics: [{minSpeedGbps: 25}]}}`, "requirements is not supported yet"),
		"Tolerations":  claim("taints come later", `{tolerations: [{key: repair}]}`, "tolerations is not supported yet"),
		"Spread": claim("spreading comes later",
			`{topologySpreadConstraints: [{topologyKey: topology.baremetal.crossplane.io/rack, maxSkew: 1}]}`, "topologySpreadConstraints is not supported yet"),
		"Retain": claim("retaining comes later", `{reclaimPolicy: Retain}`, "reclaimPolicy: Retain is not supported yet; use Release"),
		"Rebind": claim("rebinding comes later", `{rebindGeneration: 1}`, "rebindGeneration is not supported yet"),
		"Other":  claim("a host is kept", `{hostRef: {name: r7-u17}}`, "hostRef can't change").update(`{}`),
		"Kind":   claim("there is one kind of host", `{hostRef: {kind: IPMIHost}}`, `supported values: "RedfishHost"`),
	})
}

func TestInvalidProfile(t *testing.T) {
	profile := func(reason, edit, want string) refusal {
		return of("BootProfile", reason, `{spec: `+edit+`}`, want)
	}
	const file = `url: https://x.example/a, digest: "sha256:a4052e51598b257621edc75bc019c759bc478338f99aa7e230bfc6e7862988e2"`
	refuse(t, map[string]refusal{
		"Installer":     profile("an installer that asks people isn't one", `{mode: Install, method: Installer}`, "method: Installer needs a userDataFormat that answers the installer's questions"),
		"LiveInstaller": profile("an installer writes to a disk", `{method: Installer, userDataFormat: Kickstart}`, "mode: Live needs method: Kernel or ISO"),
		"LiveReport":    profile("who reports is an installer", `{installer: {report: None}}`, "installer is for method: Installer alone"),
		"OthersReport":  profile("who can report does", `{mode: Install, method: Installer, userDataFormat: Kickstart, installer: {report: None}}`, "report: None is for userDataFormat: Talos"),
		"ScriptOfPi":    profile("a Pi's firmware runs no script", `{mode: Install, method: Script, scriptTemplate: "#!ipxe", artifacts: [{arch: arm64, kernel: {`+file+`}, raspberryPi: {files: [{name: start4.elf, `+file+`}]}}]}`, "raspberryPi doesn't go with method: Script"),
		"Report":        profile("two ways are known", `{mode: Install, method: Installer, userDataFormat: Talos, installer: {report: Maybe}}`, `Unsupported value: "Maybe"`),
		"Method":        profile("five are known", `{method: Floppy}`, `Unsupported value: "Floppy"`),
		"NoISO":         profile("an ISO is booted", `{method: ISO}`, "method: ISO needs an iso in each of artifacts"),
		"ISOKernel":     profile("an ISO has its own kernel", `{method: ISO, artifacts: [{arch: amd64, iso: {`+file+`}, kernel: {`+file+`}}]}`, "kernel, initrds and raspberryPi don't go with method: ISO"),
		"ISOWords":      profile("and its own loader", `{method: ISO, commandLine: [quiet], artifacts: [{arch: amd64, iso: {`+file+`}}]}`, "commandLine doesn't go with method: ISO"),
		"ISOData":       profile("and can't be told where its data is", `{method: ISO, userDataFormat: CloudInit, artifacts: [{arch: amd64, iso: {`+file+`}}]}`, "userDataFormat: CloudInit does not go with method: ISO"),
		"ISOElsewhere":  profile("an ISO is a method of its own", `{artifacts: [{arch: amd64, kernel: {`+file+`}, iso: {`+file+`}}]}`, "iso is for method: ISO alone"),
		"LiveScript":    profile("a script may write to a disk", `{method: Script, scriptTemplate: "#!ipxe"}`, "mode: Live needs method: Kernel or ISO"),
		"NoScript":      profile("a script is somebody's", `{mode: Install, method: Script}`, "method: Script needs a scriptTemplate for iPXE, a grubTemplate for grub, or both"),
		"Template":      profile("a script is a method of its own", `{scriptTemplate: "#!ipxe"}`, "scriptTemplate and grubTemplate are for method: Script alone"),
		"GrubTemplate":  profile("grub's, too", `{grubTemplate: "reboot"}`, "scriptTemplate and grubTemplate are for method: Script alone"),
		"Format":        profile("five and two are known", `{userDataFormat: Sysprep}`, `Unsupported value: "Sysprep"`),
		"LiveTalos":     profile("what installs needs a grant", `{userDataFormat: Talos}`, "userDataFormat: Talos installs to a disk, which needs a grant: use mode: Install"),
		"ImageIgnition": profile("an image's installer knows two formats",
			`{mode: Install, method: DiskImage, userDataFormat: Ignition, artifacts: [{arch: amd64, kernel: {`+file+`}, image: {`+file+`}}]}`,
			"userDataFormat: Ignition is for method: Installer or Kernel"),
		"RootDevice": profile("choosing a disk comes later",
			`{rootDevice: {minSize: 20Gi}}`, "rootDevice is not supported yet"),
		"QCOW2Zstd": profile("an image of QEMU's is compressed by itself",
			`{mode: Install, method: DiskImage, artifacts: [{arch: amd64, kernel: {`+file+`}, image: {`+file+`, format: QCOW2, compression: Zstd}}]}`, "compression doesn't go with format: QCOW2, which has its own; leave it out"),
		"OCI": profile("a registry is where it lies, and not what it is",
			`{mode: Install, method: DiskImage, artifacts: [{arch: amd64, kernel: {`+file+`}, image: {`+file+`, format: OCI}}]}`, "format says what is in the file: Raw or QCOW2; name the registry by an oci:// URL"),
		"LiveImage":   profile("what is live writes no disk", `{method: DiskImage}`, "mode: Live needs method: Kernel or ISO"),
		"NoImage":     profile("an image is written", `{mode: Install, method: DiskImage}`, "method: DiskImage needs an image"),
		"NoKernel":    profile("a machine boots a kernel", `{artifacts: [{arch: amd64}]}`, "each of artifacts needs a kernel"),
		"Arch":        profile("two architectures are known", `{artifacts: [{arch: riscv64, kernel: {`+file+`}}]}`, `Unsupported value: "riscv64"`),
		"Digest":      profile("a file has a digest", `{artifacts: [{arch: amd64, kernel: {url: "https://x.example/a", digest: "md5:0"}}]}`, "digest"),
		"FileURL":     profile("files come by HTTP, or from a registry", `{artifacts: [{arch: amd64, kernel: {url: "file:///etc/passwd", digest: "sha256:a4052e51598b257621edc75bc019c759bc478338f99aa7e230bfc6e7862988e2"}}]}`, "url must be an http, https or oci URL"),
		"Days":        profile("Go knows no days", `{timeouts: {install: 1d}}`, "install must be a duration"),
		"Spelled":     profile("nor words", `{timeouts: {install: 30 minutes}}`, "install must be a duration"),
		"TwiceOneArc": profile("one set of files an architecture", `{artifacts: [{arch: amd64, kernel: {`+file+`}}, {arch: amd64, kernel: {`+file+`}}]}`, "Duplicate value"),
	})
}

func TestInvalidNetwork(t *testing.T) {
	const ofFamily = "addressesFrom.sources must be of the subnet's own family"
	sources := func(cidr, sources string) string {
		return `{subnets: [{cidr: ` + cidr + `, addressesFrom: {netboxProviderConfigRef: {name: x}, sources: [` + sources + `]}}]}`
	}
	network := func(reason, edit, want string) refusal {
		return of("BootNetwork", reason, `{spec: `+edit+`}`, want)
	}
	refuse(t, map[string]refusal{
		"Mode": network("four modes are known", `{dhcp: {mode: Fancy}}`, `Unsupported value: "Fancy"`),
		"AssignToDevice": network("which device it is says the host",
			`{subnets: [{cidr: 10.0.0.0/24, addressesFrom: {netboxProviderConfigRef: {name: x}, sources: [{prefix: {cidr: 10.0.0.0/24}}], assignTo: {device: {name: a}}}}]}`, `unknown field "spec.subnets[0].addressesFrom.assignTo.device"`),
		"Tolerate": network("foreign servers are refused or told of", `{dhcp: {foreignServer: Tolerate}}`, `Unsupported value: "Tolerate"`),
		"RangeOutside": network("a range is of its subnet",
			`{subnets: [{cidr: 10.0.0.0/24, discoveryRanges: [{start: 10.0.0.9, end: 10.0.1.10}]}]}`, "discoveryRanges must be inside cidr"),
		"RangeBackwards": network("a range has a beginning",
			`{subnets: [{cidr: 10.0.0.0/24, discoveryRanges: [{start: 10.0.0.10, end: 10.0.0.9}]}]}`, "a range must not end before it starts"),
		"RangeLarge": network("a range has a size",
			`{subnets: [{cidr: 10.0.0.0/16, discoveryRanges: [{start: 10.0.0.10, end: 10.0.16.10}]}]}`, "has at most 4096 addresses"),
		"RangesOverlap": network("an address is of one range",
			`{subnets: [{cidr: 10.0.0.0/24, discoveryRanges: [{start: 10.0.0.10, end: 10.0.0.20}, {start: 10.0.0.20, end: 10.0.0.30}]}]}`, "discoveryRanges must not overlap"),
		"RangeTwice": network("nor twice of the same",
			`{subnets: [{cidr: 10.0.0.0/24, discoveryRanges: [{start: 10.0.0.10, end: 10.0.0.20}, {start: 10.0.0.10, end: 10.0.0.20}]}]}`, "discoveryRanges must not overlap"),
		"RangeIPv6": network("IPv4 for now",
			`{subnets: [{cidr: 10.0.0.0/24, discoveryRanges: [{start: "2001::1", end: "2001::9"}]}]}`, "start must be an IPv4 address, such as 10.77.0.200"),
		"RouteOutside":  network("a router is on the link", `{subnets: [{cidr: 10.77.0.0/24, routes: [{to: 10.20.0.0/16, via: 10.78.0.1}]}]}`, "via of a route must be inside cidr"),
		"RouteBits":     network("a network has no host bits", `{subnets: [{cidr: 10.77.0.0/24, routes: [{to: 10.20.0.1/16, via: 10.77.0.1}]}]}`, "to must be an IPv4 network"),
		"RouteAnywhere": network("there's one gateway", `{subnets: [{cidr: 10.77.0.0/24, routes: [{to: 0.0.0.0/0, via: 10.77.0.1}]}]}`, "the way to everywhere is gateway"),
		"RouteSix":      network("over IPv6 routers say theirs", `{subnets: [{cidr: "2001:db8::/64", routes: [{to: "2001:db8:1::/64", via: "2001:db8::1"}]}]}`, "must be an IPv4"),
		"RouteTwice":    network("one way to each", `{subnets: [{cidr: 10.77.0.0/24, routes: [{to: 10.20.0.0/16, via: 10.77.0.1}, {to: 10.20.0.0/16, via: 10.77.0.2}]}]}`, "10.20.0.0/16"),
		"OptionOwn":     network("what is booted is bootd's", `{dhcp: {options: [{code: 67, text: evil.efi}]}}`, "this option is bootd's own"),
		"OptionVendor":  network("a BMC understands another vendor's", `{dhcp: {options: [{code: 43, hex: "0101"}]}}`, "option 43 goes with vendorClass"),
		"OptionNothing": network("an option has a value", `{dhcp: {options: [{code: 150}]}}`, "exactly one of text, hex and addresses"),
		"OptionTwoWays": network("and one", `{dhcp: {options: [{code: 150, text: a, hex: "00"}]}}`, "exactly one of text, hex and addresses"),
		"OptionHalf":    network("octets have two digits", `{dhcp: {options: [{code: 150, hex: "0"}]}}`, "hex"),
		"OptionAddress": network("addresses are of IPv4", `{dhcp: {options: [{code: 150, addresses: ["::1"]}]}}`, "addresses must be IPv4 addresses"),
		"OptionEnd":     network("255 ends all options", `{dhcp: {options: [{code: 255, text: a}]}}`, "less than or equal to 254"),
		"LinkLocal":     network("what is on each link is on none", `{subnets: [{cidr: "fe80::/64"}]}`, "an IPv6 subnet must be of global or unique local addresses"),
		"DNSFamily":     network("a machine has one family", `{subnets: [{cidr: "2001:db8::/64", dns: [10.77.0.2]}]}`, "dns must be addresses of the subnet's own family"),
		"ProxySix":      network("there is no proxy of DHCPv6", `{subnets: [{cidr: "2001:db8::/64"}], dhcp: {mode: Proxy}}`, "Proxy is not supported with an IPv6 subnet"),
		"RefuseSix":     network("nobody looks for foreign servers of DHCPv6", `{subnets: [{cidr: "2001:db8::/64"}], dhcp: {foreignServer: Refuse}}`, "Refuse is not supported with an IPv6 subnet"),
		"Solicit":       network("solicitations are answered or not", `{dhcp: {mode: Authoritative, routerSolicitations: Ask}}`, `Unsupported value: "Ask"`),
		"SolicitRelay": network("who comes by a relay looks for a router elsewhere", `{dhcp: {mode: RelayOnly, routerSolicitations: Answer}}`,
			"routerSolicitations: Answer goes with mode Authoritative or Proxy"),
		"SolicitOff":    network("a bootd that's off is off", `{dhcp: {mode: "Off", routerSolicitations: Answer}}`, "routerSolicitations: Answer goes with mode Authoritative or Proxy"),
		"NarrowSix":     network("RFC 8200 section 5", `{subnets: [{cidr: "2001:db8::/64"}], mtu: 576}`, "mtu must be at least 1280"),
		"SourceFamily":  network("an IPv6 machine has an IPv6 address", sources(`"fd00:77::/64"`, `{prefix: {cidr: 10.77.0.0/24}}`), ofFamily),
		"SourceSix":     network("and an IPv4 one has another", sources(`10.77.0.0/24`, `{prefix: {cidr: 10.77.0.0/24}}, {prefix: {cidr: "fd00:77::/64"}}`), ofFamily),
		"RangeFamily":   network("a range has a family", sources(`"fd00:77::/64"`, `{range: {start: 10.77.0.100/24}}`), ofFamily),
		"FilterFamily":  network("a filter may have one", sources(`"fd00:77::/64"`, `{prefix: {filter: {family: IPv4}}}`), ofFamily),
		"RangesFamily":  network("of ranges, too", sources(`10.77.0.0/24`, `{range: {filter: {family: IPv6}}}`), ofFamily),
		"SourceOutside": network("a machine boots in its subnet", sources(`10.77.0.0/24`, `{prefix: {cidr: 10.99.0.0/24}}`), "addressesFrom.sources must be inside the subnet's cidr"),
		"SourceAround":  network("all of a source is in it", sources(`10.77.0.0/24`, `{prefix: {cidr: 10.77.0.0/16}}`), "addressesFrom.sources must be inside the subnet's cidr"),
		"SourceRange":   network("a range, too", sources(`10.77.0.0/24`, `{range: {start: 10.99.0.100/24}}`), "addressesFrom.sources must be inside the subnet's cidr"),
		"IPv6DNS":       network("a machine has one family", `{subnets: [{cidr: 10.0.0.0/24, dns: ["2001:db8::1"]}]}`, "dns must be addresses of the subnet's own family"),
		"DomainDots":    network("a DNS name has no empty label", `{domain: rack7..example}`, "domain"),
		"DomainDash":    network("nor one that begins with a dash", `{domain: rack7.-example}`, "domain"),
		"NTPName":       network("DHCP gives addresses", `{ntp: [pool.ntp.org]}`, "ntp must be IP addresses"),
		"Gateway6":      network("of IPv6, too", `{subnets: [{cidr: "fd00:77::/64", gateway: "fd00:78::1"}]}`, "gateway must be inside cidr, or link-local"),
		"GatewayLink4":  network("of IPv4 a link-local one isn't its own", `{subnets: [{cidr: 10.0.0.0/24, gateway: "fe80::1"}]}`, "gateway must be inside cidr, or link-local"),
		"GatewayLink6":  network("nor has IPv6 one of IPv4", `{subnets: [{cidr: "fd00:77::/64", gateway: 169.254.0.1}]}`, "gateway must be inside cidr, or link-local"),
		"Gateway":       network("a gateway is near", `{subnets: [{cidr: 10.0.0.0/24, gateway: 10.0.1.1}]}`, "gateway must be inside cidr"),
		"HostBits":      network("a subnet has no host bits", `{subnets: [{cidr: 10.0.0.1/24}]}`, "without host bits"),
		"Relay":         network("relays are CIDRs", `{dhcp: {relays: [10.78.0.1]}}`, "relays must be CIDRs"),
		"Days":          network("Go knows no days", `{dhcp: {leaseDuration: 1d}}`, "leaseDuration must be a duration in hours, minutes and seconds, such as 12h"),
		"Moment":        network("a lease that ends before its answer comes", `{dhcp: {leaseDuration: 1s}}`, "of a minute at least and a year at most"),
		"Ever":          network("its half and its seven eighths must be times", `{dhcp: {leaseDuration: 99999h}}`, "of a minute at least and a year at most"),
		"Number":        network("a duration has a unit", `{dhcp: {leaseDuration: "3600"}}`, "leaseDuration must be a duration"),
	})
}
