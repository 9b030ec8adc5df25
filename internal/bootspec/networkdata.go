package bootspec

import (
	"fmt"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// maxNetworkConfig is how long a network config may be before it's filled in.
const maxNetworkConfig = 64 << 10

// networkValues are what boot.Plan says of the network once these parts are one.
func (p Parts) networkValues() map[string]string {
	plan := boot.Plan{Hostname: p.Entry.Spec.ForProvider.Hostname, Network: SegmentConfig(p.Network).Told(p.Addresses)}
	return plan.NetworkValues()
}

// filled puts a machine's place into a network config.
func (p Parts) filled(b []byte) (config []byte, wrong string) {
	if len(b) > maxNetworkConfig {
		return nil, fmt.Sprintf("it's longer than the %d bytes that a network config may have", maxNetworkConfig)
	}
	return boot.FillNetworkConfig(b, p.networkValues(), fmt.Sprintf("neither BootNetwork %q nor the machine's entry says it", p.Network.Namespace+"/"+p.Network.Name))
}

// Data is what the machine of these parts is given, by key (see the function Data). Its place on the network is filled in as it's given, by
// its plan: so who edits a network changes no data of an install that runs.
func (p Parts) Data() map[string][]byte { return Data(p.Entry, p.Profile, p.Secrets) }

// networkData is a network config as the machine is given it, or what is wrong with it.
func (p Parts) networkData(r DataRef, b []byte) ([]byte, *boot.Problem) {
	f, wrong := p.filled(b)
	if wrong != "" {
		return nil, no(boot.ProblemInvalid, "key %q of Secret %q: %s", r.Key, r.Name, wrong)
	}
	if !networkConfig(f) {
		return nil, no(boot.ProblemInvalid, "key %q of Secret %q isn't a network config of cloud-init, YAML with version: 1 or 2; OpenStack's network_data isn't one", r.Key, r.Name)
	}
	return f, nil
}
