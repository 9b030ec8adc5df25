package bootspec

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// A Fault is what is wrong with one field of an object. It's what an API server's admission says by the schema; where there's no API
// server it's said here, by the same rules and in the same words. test/examples holds both against each other.
type Fault struct {
	// Field as a path from the object's root, such as spec.forProvider.machine.macs[0].
	Field   string
	Message string
}

// faults collects what is wrong below one field.
type faults struct {
	at   string
	list *[]Fault
}

func (f faults) field(format string, args ...any) faults {
	if len(args) == 0 {
		return faults{f.at + format, f.list}
	}
	return faults{f.at + fmt.Sprintf(format, args...), f.list}
}

func (f faults) whenf(wrong bool, format string, args ...any) {
	if wrong {
		*f.list = append(*f.list, Fault{f.at, fmt.Sprintf(format, args...)})
	}
}

// maxGeneration is the largest number that JSON carries exactly.
const maxGeneration = 9007199254740991

var (
	nameForm     = formOf(`^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$`)                                                   //nolint:gochecknoglobals // A pattern, as regexp.MustCompile gives it.
	labelForm    = formOf(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)                                                     //nolint:gochecknoglobals // A pattern, as regexp.MustCompile gives it.
	macForm      = formOf(`^([0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}$`)                                                  //nolint:gochecknoglobals // A pattern, as regexp.MustCompile gives it.
	unicastForm  = formOf(`^[0-9a-fA-F][02468aceACE]`)                                                                //nolint:gochecknoglobals // A pattern, as regexp.MustCompile gives it.
	digestForm   = formOf(`^(sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$`)                                             //nolint:gochecknoglobals // A pattern, as regexp.MustCompile gives it.
	wordForm     = formOf(`^[\x20-\x7e]{1,512}$`)                                                                     //nolint:gochecknoglobals // A pattern, as regexp.MustCompile gives it.
	parameterKey = formOf(`^[a-z][A-Za-z0-9]{0,62}$`)                                                                 //nolint:gochecknoglobals // A pattern, as regexp.MustCompile gives it.
	domainForm   = formOf(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$`)              //nolint:gochecknoglobals // A pattern, as regexp.MustCompile gives it.
	keyForm      = formOf(`^([^\n\r]+[ \t])?(ssh|ecdsa|sk)-[a-zA-Z0-9@.-]+[ \t]+[A-Za-z0-9+/=]+([ \t][^\n\r]*)?\n?$`) //nolint:gochecknoglobals // A pattern, as regexp.MustCompile gives it.
	ignitionForm = formOf(`^[23]\.[0-9]+\.[0-9]+(-experimental)?$`)                                                   //nolint:gochecknoglobals // A pattern, as regexp.MustCompile gives it.
)

// ValidEntry says what is wrong with a BootEntry.
func ValidEntry(e *v1alpha1.BootEntry) []Fault {
	var list []Fault
	meta(faults{"metadata", &list}, e.Namespace, e.Name)
	f, p := faults{"spec.forProvider", &list}, e.Spec.ForProvider
	validMachine(f.field(".machine"), p.Machine)
	f.field(".profileRef.name").whenf(p.ProfileRef.Name == "", "profileRef needs a name")
	validNetworks(f.field(".networks"), p.Networks)
	f.field(".hostname").whenf(p.Hostname != "" && !labelForm.MatchString(p.Hostname),
		"hostname must be a DNS label: lower-case letters, digits and dashes, beginning and ending with a letter or a digit")
	for _, r := range DataRefs(e) {
		f.field(".%s", r.Field).whenf(r.Name == "" || r.Key == "", "%s needs a name and a key", r.Field)
	}
	f.field(".networkDataSecretRef").whenf(p.NetworkDataSecretRef != nil && slices.ContainsFunc(p.Networks, func(n v1alpha1.EntryNetwork) bool { return n.Interface != nil }),
		"networkDataSecretRef and a network's interface are two network configs: remove one")
	f.field(".networks").whenf(p.Machine.HostClaimRef == nil && slices.ContainsFunc(p.Networks, func(n v1alpha1.EntryNetwork) bool { return n.Interface != nil && len(n.Interface.Ports) > 0 }),
		"interface.ports are names that a host's BMC gives; a machine that is named by macs has interface.macs")
	f.field(".rootDevice").whenf(p.RootDevice != nil, "rootDevice is not supported yet; the machine's only disk is taken")
	f.field(".sshAuthorizedKeys").whenf(len(p.SSHAuthorizedKeys) > 64, "sshAuthorizedKeys has more than 64 keys")
	for i, k := range p.SSHAuthorizedKeys {
		f.field(".sshAuthorizedKeys[%d]", i).whenf(len(k) > 4096 || !keyForm.MatchString(k), "a key of sshAuthorizedKeys must be one line of an authorized_keys file: options, type, base64, comment")
	}
	f.field(".install.generation").whenf(p.Install.Generation < 0 || p.Install.Generation > maxGeneration,
		"install.generation should be from 0 to %d", int64(maxGeneration))
	f.field(".machine.port").whenf(p.Machine.Port != nil && len(p.Machine.MACs) == 0 && p.Install.Generation > 0,
		"machine.port without machine.macs installs nothing: a port says where a machine is, and not which; name its macs, or leave install.generation 0")
	switch p.Otherwise {
	case "", v1alpha1.OtherwiseLocalDisk, v1alpha1.OtherwiseHold:
	default:
		f.field(".otherwise").whenf(true, "otherwise: %s is not supported yet; use LocalDisk or Hold", p.Otherwise)
	}
	f.field(".parameters").whenf(len(p.Parameters) > 32, "parameters has more than 32 values")
	for k, v := range p.Parameters {
		f.field(".parameters").whenf(len(k) > 63 || len(v) > 1024, "a parameter's name has at most 63 characters and its value at most 1024; user data has room for more")
	}
	return list
}

func meta(f faults, namespace, name string) {
	f.field(".name").whenf(!nameForm.MatchString(name), "name %q must be lower-case letters, digits, dashes and dots", name)
	f.field(".namespace").whenf(!labelForm.MatchString(namespace), "namespace %q must be a DNS label", namespace)
}

func validMachine(f faults, m v1alpha1.MachineSelector) {
	f.whenf((m.HostClaimRef != nil) == (len(m.MACs) > 0 || m.Port != nil), "exactly one of hostClaimRef and macs must be set; port may stand in the place of macs, or beside them")
	validPort(f.field(".port"), m.Port)
	f.whenf(m.HostClaimRef != nil && (m.UUID != "" || m.Serial != ""), "uuid and serial belong to macs: a HostClaim's machine is known by its host")
	f.field(".firstStage").whenf(m.HostClaimRef != nil && m.FirstStage != "", "firstStage belongs to macs: a HostClaim's machine has that of its host")
	f.field(".firstStage").whenf(!slices.Contains([]v1alpha1.FirstStage{"", v1alpha1.FirstStageAuto, v1alpha1.FirstStageShim, v1alpha1.FirstStageNativeIPXE}, m.FirstStage),
		`firstStage is Auto, Shim or NativeIPXE, not %q`, m.FirstStage)
	f.field(".localBoot").whenf(m.HostClaimRef != nil && m.LocalBoot != "", "localBoot belongs to macs: a HostClaim's machine has that of its host")
	f.field(".localBoot").whenf(!slices.Contains([]v1alpha1.LocalBoot{
		"", v1alpha1.LocalBootAuto, v1alpha1.LocalBootExit, v1alpha1.LocalBootSanboot, v1alpha1.LocalBootNotFound, v1alpha1.LocalBootGrub,
	}, m.LocalBoot), `localBoot is Auto, Exit, Sanboot, NotFound or Grub, not %q`, m.LocalBoot)
	f.field(".macs").whenf(len(m.MACs) > 64, "macs has more than 64 addresses")
	seen := map[string]bool{}
	for i, mac := range m.MACs {
		at := f.field(".macs[%d]", i)
		at.whenf(!macForm.MatchString(mac), "macs must look like 52:54:00:00:00:01, and one is %q", mac)
		at.whenf(macForm.MatchString(mac) && !unicastForm.MatchString(mac), "macs must not be multicast: the second digit of %q must be even", mac)
		at.whenf(seen[plainMAC(mac)], "MAC %s is there twice", mac)
		seen[plainMAC(mac)] = true
	}
	f.field(".uuid").whenf(len(m.UUID) > 36, "uuid is longer than 36 characters")
	f.field(".serial").whenf(len(m.Serial) > 128, "serial is longer than 128 characters")
}

// plainMAC is a MAC however it's written: UIDs of machines without a host rest on it.
func plainMAC(mac string) string { return strings.ToLower(strings.ReplaceAll(mac, "-", ":")) }

func validNetworks(f faults, ns []v1alpha1.EntryNetwork) {
	f.whenf(len(ns) == 0, "networks must name the network to boot from")
	f.whenf(len(ns) > 1, "networks with more than one entry is not supported yet; name the network to boot from")
	for i, n := range ns {
		at := f.field("[%d]", i)
		at.field(".name").whenf(n.Name == "" || len(n.Name) > 63, "a network of an entry has a name of at most 63 characters")
		at.field(".networkRef.name").whenf(n.NetworkRef.Name == "", "networkRef needs a name")
		at.field(".addresses").whenf(len(n.Addresses) == 0, "addresses must name the machine's address")
		at.field(".addresses").whenf(len(n.Addresses) > 2, "addresses has more than two entries; name one of IPv4 and one of IPv6, or one alone")
		at.field(".addresses").whenf(ofOneFamily(n.Addresses), "addresses are of one family; name one of IPv4 and one of IPv6, or one alone")
		validInterface(at.field(".interface"), n.Interface)
		at.field(".interface.from").whenf(fromNetBox(n.Interface) && !slices.ContainsFunc(n.Addresses, func(a v1alpha1.EntryAddress) bool { return a.Ref != nil }),
			"interface.from: NetBox is of the interface that a NetBoxIPAddress is assigned to: name one by ref in addresses")
		for j, a := range n.Addresses {
			to := at.field(".addresses[%d]", j)
			to.whenf((a.Ref != nil) == (a.Address != ""), "exactly one of ref and address must be set")
			_, err := netip.ParsePrefix(a.Address)
			to.field(".address").whenf(a.Address != "" && err != nil, "address must be an address with its mask, such as 10.77.0.40/24, and is %q", a.Address)
		}
	}
}

// ofOneFamily says whether two addresses are both of IPv4, or both of IPv6.
func ofOneFamily(as []v1alpha1.EntryAddress) bool {
	if len(as) != 2 { //nolint:mnd // Of more it's said that there are too many.
		return false
	}
	a, err := netip.ParsePrefix(as[0].Address)
	b, also := netip.ParsePrefix(as[1].Address)
	return err == nil && also == nil && a.Addr().Is4() == b.Addr().Is4()
}

// DefaultEntry fills in what an API server fills in.
func DefaultEntry(e *v1alpha1.BootEntry) {
	if e.Spec.ForProvider.Otherwise == "" {
		e.Spec.ForProvider.Otherwise = v1alpha1.OtherwiseLocalDisk
	}
}

func validArtifact(f faults, a v1alpha1.Artifact) {
	u, err := url.Parse(a.URL)
	f.field(".url").whenf(err != nil || u.Host == "" || !slices.Contains([]string{"http", "https", "oci"}, u.Scheme) || len(a.URL) > 2048, "url must be an http, https or oci URL")
	f.field(".digest").whenf(!digestForm.MatchString(a.Digest), "digest must be sha256:… or sha512:…, in lower-case hex")
}
