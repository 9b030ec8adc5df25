package lab

import (
	"context"
	"net/netip"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
)

// Addresses are what this lab has in place of what an example makes up.
type Addresses struct {
	// NetBox is its URL, and Token what it takes.
	NetBox, Token string
	// BMC gives each host's HOST:PORT by the host's name; a host that isn't there keeps its own.
	BMC map[string]string
	// User and Password of every BMC.
	User, Password string
	// Files gives URL and digest of each artifact by its role: kernel, initrd, image.
	Files map[string]File
}

// A File is one artifact.
type File struct{ URL, Digest string }

// Example reads YAML files of examples/ and puts this lab's addresses, credentials and artifacts into them.
func (l *Lab) Example(paths ...string) ([]*unstructured.Unstructured, error) {
	full := make([]string, 0, len(paths))
	for _, p := range paths {
		full = append(full, l.path("examples", p))
	}
	objects, err := local.Load(full...)
	if err != nil {
		return nil, err
	}
	Substitute(objects, l.addresses())
	return objects, nil
}

// ApplyExample applies YAML files of examples/ with this lab's addresses.
func (l *Lab) ApplyExample(ctx context.Context, paths ...string) error {
	objects, err := l.Example(paths...)
	if err != nil {
		return err
	}
	return l.Plane.Apply(ctx, objects...)
}

// Apply applies YAML as the administrator, with this lab's addresses where an object is of a kind that has any; Secrets stay as
// they are.
func (l *Lab) Apply(ctx context.Context, manifest string) error {
	objects, err := local.Decode([]byte(manifest))
	if err != nil {
		return err
	}
	a := l.addresses()
	a.Token, a.User, a.Password = "", "", ""
	Substitute(objects, a)
	return l.Plane.Apply(ctx, objects...)
}

func (l *Lab) addresses() Addresses {
	a := Addresses{
		NetBox: l.NetBox.URL(), Token: NetBoxToken, User: BMCUser, Password: BMCPassword,
		BMC: map[string]string{},
		Files: map[string]File{
			"kernel": {URL: l.Artifacts.URL(KernelFile), Digest: l.Artifacts.Digest(KernelFile)},
			"initrd": {URL: l.Artifacts.URL(InitrdFile), Digest: l.Artifacts.Digest(InitrdFile)},
			"image":  {URL: l.Artifacts.URL(ImageFile), Digest: l.Artifacts.Digest(ImageFile)},
		},
	}
	for _, h := range l.Hosts() {
		a.BMC[h.Name] = h.BMC.Addr()
	}
	return a
}

// Substitute puts addresses, credentials and artifacts into those objects that have any. An address that already is one of
// loopback is a test's own and stays.
func Substitute(objects []*unstructured.Unstructured, a Addresses) {
	for _, u := range objects {
		switch u.GetKind() {
		case "Secret":
			a.secret(u.Object)
		case "ClusterProviderConfig", "ProviderConfig":
			a.providerConfig(u.Object)
		case "BootProfile":
			a.profile(u.Object)
		case "BootNetwork":
			relayed(u.Object, "spec")
		case "RackPool":
			a.pool(u.Object)
		case "RedfishHost":
			a.host(u.GetName(), nested(u.Object, "spec", "forProvider"))
		}
	}
}

func (a Addresses) secret(o map[string]any) {
	data := nested(o, "stringData")
	replace(data, "token", a.Token)
	replace(data, "username", a.User)
	replace(data, "password", a.Password)
}

func (a Addresses) providerConfig(o map[string]any) {
	replace(nested(o, "spec", "netbox"), "url", a.NetBox)
	if redfish := nested(o, "spec", "redfish"); redfish != nil {
		redfish["allowedAddresses"] = []any{"127.0.0.0/8"}
		redfish["requestsPerSecond"] = float64(50) // As decoded YAML has it. Emulated BMCs don't tire.
	}
}

func (a Addresses) profile(o map[string]any) {
	for _, artifact := range list(nested(o, "spec"), "artifacts") {
		a.file(nested(artifact, "kernel"), "kernel")
		a.file(nested(artifact, "image"), "image")
		for _, i := range list(artifact, "initrds") {
			a.file(i, "initrd")
		}
	}
}

func (a Addresses) file(o map[string]any, role string) {
	if o == nil || isLoopback(o["url"]) {
		return
	}
	f := a.Files[role]
	o["url"], o["digest"] = f.URL, f.Digest
}

func (a Addresses) pool(o map[string]any) {
	for _, h := range list(nested(o, "spec"), "hosts") {
		name, _ := h["name"].(string)
		a.host(name, h)
	}
	relayed(o, "spec", "network")
}

func (a Addresses) host(name string, o map[string]any) {
	if addr, ok := a.BMC[name]; ok {
		replace(o, "address", addr)
	}
}

// relayed lets a network trust the relay that all simulated machines come through.
func relayed(o map[string]any, path ...string) {
	dhcp := nested(o, append(path, "dhcp")...)
	if dhcp == nil {
		return
	}
	relays := []any{"127.0.0.0/8"}
	for _, s := range list(nested(o, path...), "subnets") {
		if cidr, _ := s["cidr"].(string); strings.Contains(cidr, ":") && len(relays) == 1 {
			relays = append(relays, "::1/128")
		}
	}
	dhcp["relays"] = relays
}

// replace sets a key that is there, unless it's a test's own address or there is nothing to put in its place.
func replace(o map[string]any, key, value string) {
	if old, ok := o[key]; ok && value != "" && !isLoopback(old) {
		o[key] = value
	}
}

// isLoopback says whether a value is a URL or HOST:PORT of loopback.
func isLoopback(v any) bool {
	s, _ := v.(string)
	for _, prefix := range []string{"http://", "https://"} {
		if len(s) > len(prefix) && s[:len(prefix)] == prefix {
			s = s[len(prefix):]
		}
	}
	for i, c := range s {
		if c == '/' {
			s = s[:i]
			break
		}
	}
	ap, err := netip.ParseAddrPort(s)
	return err == nil && ap.Addr().IsLoopback()
}

func nested(o map[string]any, path ...string) map[string]any {
	for _, p := range path {
		o, _ = o[p].(map[string]any)
	}
	return o
}

func list(o map[string]any, key string) []map[string]any {
	all, _ := o[key].([]any)
	out := make([]map[string]any, 0, len(all))
	for _, a := range all {
		if m, ok := a.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

func mustPrefix(s string) netip.Prefix { return netip.MustParsePrefix(s) }
