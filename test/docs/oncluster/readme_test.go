package oncluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/cluster/node"
	"github.com/crossplane-contrib/provider-baremetal/test/docs"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// readme is what the README says of a cluster. It's the first page that a newcomer reads, and the only one that Ready takes.
func readme() (docs.Page, error) {
	p, err := docs.ReadSection(filepath.Join(root, "README.md"), "## On your cluster")
	if err != nil {
		return p, fmt.Errorf("cannot read the README: %w", err)
	}
	return p, nil
}

// surroundings are a NetBox and a machine, which does nothing but be on or off: nothing here is about what it boots. There's one of each
// for all pages.
func (c *cluster) surroundings() (*host, error) {
	if c.host != nil {
		return c.host, nil
	}
	h := &host{machine: &bmc.Idle{}}
	mac, err := net.ParseMAC("52:54:00:00:07:12")
	if err != nil {
		return nil, fmt.Errorf("cannot make a machine: %w", err)
	}
	if h.netbox, err = c.NetBox(); err != nil {
		return nil, err
	}
	if h.Server, err = c.BMC(node.SegmentAddress+":0", bmc.SystemConfig{
		Model: bmc.ModelInline, Serial: "R7U12", MACs: []net.HardwareAddr{mac}, Machine: h.machine,
	}); err != nil {
		return nil, err
	}
	c.host = h
	return h, nil
}

// ownRack writes into the reader's copy of the demo's rack what is here: as the README says, and nothing else.
func (c *cluster) ownRack(ctx context.Context) error {
	h, err := c.surroundings()
	if err != nil {
		return err
	}
	if err := c.learned(ctx); err != nil {
		return err
	}
	for name, values := range map[string][]string{
		"10-secrets.yaml": {
			"token: 0123456789abcdef0123456789abcdef01234567", "token: " + lab.NetBoxToken,
			"username: crossplane", "username: " + lab.BMCUser, "password: change-me-please", "password: " + lab.BMCPassword,
		},
		"20-clusterproviderconfigs.yaml": {"https://netbox.example/", h.netbox.Address, "10.0.7.0/24", node.SegmentPrefix},
		"40-rackpool.yaml": {
			"10.0.7.12", h.Addr(), "10.77.0.0/24", node.SegmentPrefix, "10.77.0.1", node.SegmentAddress,
		},
	} {
		if err := edit(filepath.Join(c.shell.Dir, "my-rack", name), values); err != nil {
			return err
		}
	}
	return nil
}

// learning is how long a cluster's garbage collector may take to know a new kind: it looks for them every 30 s, after the last look's end.
const learning = 45 * time.Second

// learned waits until the garbage collector knows all kinds of ours. Of a claim that is deleted before, it forgets a part, which
// troubleshooting.md says how to mend; a person takes longer to get so far, and the reader here doesn't.
func (c *cluster) learned(ctx context.Context) error {
	return c.Until(ctx, "the garbage collector to know our kinds", patience, func(ctx context.Context) error {
		kinds := &metav1.PartialObjectMetadataList{}
		kinds.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinitionList"))
		if err := c.Client().List(ctx, kinds); err != nil {
			return fmt.Errorf("cannot list kinds: %w", err)
		}
		for _, k := range kinds.Items {
			if age := time.Since(k.GetCreationTimestamp().Time); strings.Contains(k.GetName(), ".baremetal.") && age < learning {
				return fmt.Errorf("%s is there for %s", k.GetName(), age)
			}
		}
		return nil
	})
}

// edit replaces values in a file, in pairs, each of which must be there; of a rack it leaves the first host.
func edit(path string, values []string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("cannot read the reader's file: %w", err)
	}
	text := string(b)
	for i := 0; i < len(values); i += 2 {
		if !strings.Contains(text, values[i]) {
			return fmt.Errorf("%s has no %q any more", path, values[i])
		}
	}
	if before, rest, found := strings.Cut(text, "    - name: r7-u13\n"); found {
		_, after, _ := strings.Cut(rest, "  removalPolicy:")
		text = before + "  removalPolicy:" + after
	}
	if err := os.WriteFile(path, []byte(strings.NewReplacer(values...).Replace(text)), 0o600); err != nil { //nolint:gosec // As above.
		return fmt.Errorf("cannot write the reader's file: %w", err)
	}
	return nil
}

// rackDown takes the README's rack away, for the pages that follow, which have one of their own. The machine must be off, and its address
// free but for the node's own.
func (c *cluster) rackDown(ctx context.Context) error {
	if err := c.freed(ctx, 1); err != nil {
		return err
	}
	var errs []error
	for _, args := range []string{
		"delete rackpools.platform.baremetal.crossplane.io --all -A --timeout=5m",
		"delete redfishhosts.baremetal.m.crossplane.io,bootprofiles.baremetal.m.crossplane.io --all -A --timeout=5m",
		"delete clusterproviderconfigs.baremetal.m.crossplane.io --all --timeout=5m",
	} {
		_, err := c.Kubectl(ctx, strings.Fields(args)...)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
