package onlab

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local/programs"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/machine"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// acts are what happens beside the commands of the pages, by their words there: the troubles themselves, and what a person does about
// them elsewhere than at a keyboard. Those that begin a symptom end the one before.
func (s *stage) acts() map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"one more machine":                               s.oneMore,
		"a claim for a host that isn't there":            s.claims("r7-u99"),
		"a claim for a host that somebody has":           s.claims("r7-u13"),
		"every address is taken":                         s.claims("r7-u12", s.fillPrefix),
		"an address is freed":                            s.freePrefix,
		"the token of NetBox is withdrawn":               s.claims("r7-u12", s.withdrawToken),
		"the password of a BMC was changed":              s.claims("", s.changePassword, s.poke),
		"somebody locked the account of a BMC":           s.then(s.lockAccount, s.poke),
		"the account is unlocked":                        done(func() { s.host().BMC.Unlock() }),
		"a BMC has a new certificate":                    s.then(s.renew, s.poke),
		"bootd is gone":                                  s.claims("r7-u12", done(func() { s.Bootds[0].Kill() })),
		"bootd is back":                                  func(ctx context.Context) error { return s.HealBootd(ctx, s.Bootds[0]) },
		"the cable to the segment is cut":                s.claims("r7-u12", s.fault(machine.Fault{Stage: machine.StageDHCP, Action: machine.Fail})),
		"the cable is mended":                            s.mend,
		"the kernel of the installer resets the machine": s.claims("r7-u12", s.fault(machine.Fault{Stage: machine.StageKernel, Action: machine.Reset})),
		"an image isn't where its profile says":          s.claims("r7-u12", s.lateImage),
		"the image is put there":                         s.putImage,
		"the installer is mended":                        s.mend,
		"the machine is reset while it writes its disk":  s.claims("r7-u12", s.fault(machine.Fault{Stage: machine.StageWriting, Action: machine.Reset, Times: 1})),
		"the machine hangs at its disk":                  s.claims("r7-u12", s.hangAtDisk),
		"the machine boots from its disk":                done(func() { close(s.disk) }),
		"a machine is found running":                     s.claims("r7-u12", s.foundOn),
		"a machine's BMC dies":                           s.then(s.claims("r7-u12"), s.ready, func(context.Context) error { return s.host().BMC.SetDead(true) }),
		"the BMC is repaired and the address freed":      s.repaired,
		"a claim's finalizers were taken off":            s.then(s.claims("r7-u12"), s.ready, s.forsake),
		"a provider config that is used":                 s.oldConfig,
	}
}

type act = func(context.Context) error

// done is an act that can't fail.
func done(f func()) act {
	return func(context.Context) error {
		f()
		return nil
	}
}

// then does one after the other.
func (s *stage) then(all ...act) act {
	return func(ctx context.Context) error {
		for _, a := range all {
			if err := a(ctx); err != nil {
				return err
			}
		}
		return nil
	}
}

// claims ends the symptom before, makes the next one, and claims a host, if one is named.
func (s *stage) claims(host string, before ...act) act {
	return func(ctx context.Context) error {
		if err := s.then(append([]act{s.reset}, before...)...)(ctx); err != nil || host == "" {
			return err
		}
		return s.Apply(ctx, `
apiVersion: platform.baremetal.crossplane.io/v1alpha1
kind: BareMetalNode
metadata: {namespace: team-a, name: web-1}
spec:
  host: {ref: {kind: RedfishHost, namespace: infra, name: `+host+`}}
  installGeneration: 1
  profileRef: {namespace: infra, name: `+s.profile+`}
  networks: [{name: boot, networkRef: {namespace: infra, name: rack-7}, addresses: [{family: IPv4}]}]
`)
	}
}

func (s *stage) host() *lab.Host { return s.Host("r7-u12") }

func hostRef() lab.Ref { return lab.Kind("RedfishHost", lab.InfraNamespace, "r7-u12") }

func node() lab.Ref { return lab.Node("team-a", "web-1") }

// reset gives back what the symptom before has, and mends what it broke.
func (s *stage) reset(ctx context.Context) error {
	s.profile = "debian-12"
	s.host().BMC.Heal()
	s.host().Machine.ClearFaults()
	if err := client.IgnoreNotFound(s.Delete(ctx, node())); err != nil {
		return err
	}
	if err := s.AwaitGone(ctx, node(), patience); err != nil {
		return err
	}
	return s.freePrefix(ctx)
}

func (s *stage) ready(ctx context.Context) error {
	_, err := s.Await(ctx, node(), "Ready", patience, lab.Is("Ready", "True"))
	return err
}

// poke has the host looked at now.
func (s *stage) poke(ctx context.Context) error {
	return s.patch(ctx, hostRef(), fmt.Sprintf(`{"metadata":{"annotations":{"crossplane.io/reconcile-requested-at":"%d"}}}`, time.Now().UnixNano()))
}

func (s *stage) patch(ctx context.Context, r lab.Ref, merge string) error {
	if err := s.Client().Patch(ctx, r.Object(), client.RawPatch("application/merge-patch+json", []byte(merge))); err != nil {
		return fmt.Errorf("cannot change %s: %w", r, err)
	}
	return nil
}

func (s *stage) fault(f machine.Fault) act {
	return func(context.Context) error {
		s.host().Machine.Inject(f)
		return nil
	}
}

func (s *stage) mend(context.Context) error {
	s.host().Machine.ClearFaults()
	return nil
}

func (s *stage) oneMore(context.Context) error {
	h, err := s.AddHost(lab.HostSpec{Name: "r7-u16", Serial: "R7U16"})
	if err != nil {
		return err
	}
	s.know("10.0.7.16", h.BMC.Addr())
	return s.edit()
}

// fillPrefix takes all addresses that are free, as people do in NetBox.
func (s *stage) fillPrefix(context.Context) error {
	prefix := netip.MustParsePrefix(lab.Prefix)
	there := map[netip.Addr]bool{}
	for _, a := range s.NetBox.Addresses() {
		there[a.Address.Addr()] = true
	}
	for a := prefix.Addr().Next(); prefix.Contains(a.Next()); a = a.Next() {
		if !there[a] {
			s.filler = append(s.filler, s.NetBox.AddAddress(netbox.Address{Address: netip.PrefixFrom(a, prefix.Bits()), Status: "active"}))
		}
	}
	return nil
}

func (s *stage) freePrefix(context.Context) error {
	for _, id := range s.filler {
		s.NetBox.RemoveAddress(id)
	}
	s.filler = nil
	return nil
}

func (s *stage) withdrawToken(context.Context) error {
	fresh := strings.Repeat("89abcdef", 5)
	s.NetBox.AddToken(netbox.Token{Name: "fresh", Secret: fresh})
	s.NetBox.RemoveToken(lab.NetBoxToken)
	s.know("NEW-TOKEN", fresh)
	return nil
}

const newPassword = "changed-by-hand"

func (s *stage) changePassword(context.Context) error {
	s.host().BMC.SetPassword(newPassword)
	s.know("NEW-PASSWORD", newPassword)
	return nil
}

func (s *stage) renew(context.Context) error {
	h := s.host()
	if err := h.BMC.Renew(); err != nil {
		return err
	}
	s.know("BMC-OF-R7-U12", h.BMC.Addr())
	s.know("NEW-FINGERPRINT", h.BMC.CertificateSHA256())
	return nil
}

// late is an image that is put where its profile says after it's asked for.
const late = "late.raw"

func (s *stage) lateImage(ctx context.Context) error {
	s.profile = "debian-13"
	image := []byte(strings.Repeat("late image\n", 64<<10))
	sum := sha256.Sum256(image)
	s.image = image
	file := func(name string) string {
		return `{url: "` + s.Artifacts.URL(name) + `", digest: "` + s.Artifacts.Digest(name) + `"}`
	}
	return s.Apply(ctx, `
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: BootProfile
metadata: {namespace: infra, name: debian-13}
spec:
  allowedNamespaces: {from: All}
  mode: Install
  method: DiskImage
  artifacts:
  - arch: amd64
    kernel: `+file(lab.KernelFile)+`
    initrds: [`+file(lab.InitrdFile)+`]
    image: {url: "`+s.Artifacts.URL(late)+`", digest: "sha256:`+hex.EncodeToString(sum[:])+`", format: Raw, compression: None}
`)
}

func (s *stage) putImage(context.Context) error {
	s.Artifacts.Put(late, s.image)
	return nil
}

func (s *stage) hangAtDisk(context.Context) error {
	s.disk = make(chan struct{})
	s.host().Machine.Inject(machine.Fault{Stage: machine.StageDisk, Action: machine.Hang, Until: s.disk, Times: 1})
	return nil
}

// powerSeen waits until the provider has seen a power state.
func (s *stage) powerSeen(ctx context.Context, power string) error {
	if err := s.poke(ctx); err != nil {
		return err
	}
	_, err := s.Await(ctx, hostRef(), power, patience, lab.Field(power, "status", "atProvider", "power"))
	return err
}

func (s *stage) foundOn(ctx context.Context) error {
	if err := s.host().Machine.On(""); err != nil {
		return err
	}
	return s.powerSeen(ctx, "PoweredOn")
}

// repaired is a machine that somebody looked after: it's off, its BMC answers, and its address was deleted by hand.
func (s *stage) repaired(ctx context.Context) error {
	s.freeAddresses("/team-a/web-1")
	if err := s.host().Machine.Off(false); err != nil {
		return err
	}
	if err := s.host().BMC.SetDead(false); err != nil {
		return err
	}
	if err := s.poke(ctx); err != nil {
		return err
	}
	// A claim that gets it before it was seen again would be asked about a machine that was last seen on. What was dead for long is
	// looked at rarely.
	_, err := s.Await(ctx, hostRef(), "seen again", 2*patience, lab.Is("Reachable", "True"))
	return err
}

// freeAddresses deletes those in NetBox whose marker has a part.
func (s *stage) freeAddresses(part string) {
	for _, a := range s.NetBox.Addresses() {
		if m, _ := a.CustomFields["crossplane_claim"].(string); strings.Contains(m, part) {
			s.NetBox.RemoveAddress(a.ID)
		}
	}
}

// forsake takes a claim away as if it had never been, while nobody works who could release it.
func (s *stage) forsake(ctx context.Context) error {
	claim, err := s.Get(ctx, node())
	if err != nil {
		return err
	}
	crossplane := s.Plane.Process(programs.Crossplane)
	s.Provider.Kill()
	crossplane.Kill()
	for _, r := range []lab.Ref{
		node(), {APIVersion: lab.Platform, Kind: "XBareMetalNode", Name: lab.StringOf(claim, "spec", "resourceRef", "name")},
		lab.Kind("HostClaim", "team-a", "web-1"),
	} {
		if err := s.patch(ctx, r, `{"metadata":{"finalizers":null}}`); err != nil {
			return err
		}
		if err := client.IgnoreNotFound(s.Delete(ctx, r)); err != nil {
			return err
		}
		if err := s.AwaitGone(ctx, r, patience); err != nil {
			return err
		}
	}
	if err := crossplane.Start(); err != nil {
		return fmt.Errorf("cannot start Crossplane again: %w", err)
	}
	return s.HealProvider(ctx)
}

func (s *stage) oldConfig(ctx context.Context) error {
	if err := s.reset(ctx); err != nil {
		return err
	}
	const config = `
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: ClusterProviderConfig
metadata: {name: netbox-old}
spec:
  allowedNamespaces: {from: All}
  netbox:
    url: https://netbox.example/
    credentials: {source: Secret, secretRef: {namespace: crossplane-system, name: netbox, key: token}}
---
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: NetBoxIPAddress
metadata: {namespace: infra, name: old-vip}
spec:
  providerConfigRef: {kind: ClusterProviderConfig, name: netbox-old}
  forProvider: {from: [{prefix: {cidr: ` + lab.Prefix + `}}]}
`
	if err := s.Apply(ctx, config); err != nil {
		return err
	}
	_, err := s.Await(ctx, lab.Kind("NetBoxIPAddress", lab.InfraNamespace, "old-vip"), "Ready", patience, lab.Is("Ready", "True"))
	return err
}
