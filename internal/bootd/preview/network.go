package preview

import (
	"fmt"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot/netconfig"
)

// Network is what a machine's system would be told of its network in a language: cloud-init, nmstate or talos.
func Network(p *boot.Plan, g boot.Segment, language string) (string, error) {
	c, ok := netconfig.Of(p, g)
	if !ok {
		return "", fmt.Errorf("BootEntry %s says no interface of its network, so that nothing is made for its system; see what its networkDataSecretRef names", p.Entry)
	}
	switch language {
	case "cloud-init":
		return string(c.CloudInit()), nil
	case "nmstate":
		return string(c.NMState()), nil
	case "talos":
		return string(c.Talos()), nil
	}
	return "", fmt.Errorf("a network is said in cloud-init, nmstate or talos, not in %q", language)
}
