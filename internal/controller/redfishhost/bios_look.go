package redfishhost

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/bios"
)

// readBIOS compares a declared map with a machine. The registry is read only
// where names and values as they are don't tell it all; own says that it has to be
// this BMC's, since something is written by it.
func (e *external) readBIOS(ctx context.Context, bmc BMC, s redfish.System, w wantBIOS, own bool) (redfish.BIOS, *biosSeen, error) {
	out := &biosSeen{digest: w.digest}
	b, err := bmc.BIOS(ctx, s)
	switch {
	case redfish.IsUnsupported(err):
		out.unread = &trouble{v1alpha1.ReasonNotSupported, "has no BIOS settings: set them in the machine's own setup, and take bios out of the spec"}

		return b, out, nil
	case err != nil && skipped(ctx, err):
		return b, out.without("its BIOS settings", err), nil
	case err != nil:
		return b, nil, err //nolint:wrapcheck // The caller asks for its kind.
	case len(b.Attributes) == 0:
		out.unread = &trouble{v1alpha1.ReasonNotSupported, "shows no BIOS attributes: most tell them after a boot; where it never does, take bios out of the spec"}

		return b, out, nil
	}
	if out.plan(bios.Registry{}, w, b) {
		return b, out, nil
	}
	r, err := e.connector.registries.get(ctx, bmc, asker{e.namespace, e.inputs.address, own}, b, e.connector.watch.elapsed())
	switch {
	case err != nil && skipped(ctx, err):
		return b, out.without("its attribute registry", err), nil
	case err != nil:
		return b, nil, err
	}
	out.plan(r, w, b)

	return b, out, nil
}

// plan compares a declared map with what was read, and says whether nothing is to
// be done.
func (s *biosSeen) plan(r bios.Registry, w wantBIOS, b redfish.BIOS) (asItIs bool) {
	s.changes, s.problems = bios.Plan(r, w.declared, b.Attributes)
	s.back = bios.TakenBack(r, w.declared, b.Attributes, b.Staged)
	asItIs = len(s.changes)+len(s.problems)+len(s.back) == 0
	s.writable = b.Writable
	if len(s.problems) == 0 {
		maps.Copy(s.changes, s.back)
	}
	s.missing, s.foreign = bios.Staged(r, s.changes, w.declared, b.Attributes, b.Staged)
	s.current = map[string]bios.Value{}
	for name := range w.declared {
		secret := slices.ContainsFunc(s.problems, func(p bios.Problem) bool { return p.Name == name && p.Reason == bios.Secret })
		if v, ok := b.Attributes[name]; ok && !secret {
			s.current[name] = v
		}
	}

	return asItIs
}

// without is a look at which something couldn't be read.
func (s *biosSeen) without(what string, err error) *biosSeen {
	s.passing = busy(err)
	s.unread = &trouble{v1alpha1.ReasonRefused, "doesn't show " + what + " at the moment (" + err.Error() + "): they are looked at again"}

	return s
}

// registries keeps the newest attribute registries: one may be a megabyte, and
// a machine that verifies its settings is looked at again and again. Machines of
// one make have about the same, so those of one namespace share it for looks; what
// a BMC says of its make is its own word, so nobody else's machine goes by it, and
// nothing is written by another's. It is safe for concurrent use.
type registries struct {
	mu   sync.Mutex
	kept []keptRegistry
}

type keptRegistry struct {
	namespace, address, of, id string

	registry bios.Registry
	at       time.Duration
}

// asker is a BMC whose registry is wanted.
type asker struct {
	namespace, address string
	// own says that another BMC's won't do, nor one that was read before.
	own bool
}

// maxRegistries is how many registries are kept.
const maxRegistries = 8

func (k *registries) get(ctx context.Context, bmc BMC, who asker, b redfish.BIOS, now time.Duration) (bios.Registry, error) {
	if r, ok := k.known(who, b, now); ok && !who.own {
		return r, nil
	}
	r, err := bmc.BIOSRegistry(ctx, b)
	if err != nil || !r.Known() {
		return r, err //nolint:wrapcheck // The caller asks for its kind.
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kept = append(k.kept, keptRegistry{namespace: who.namespace, address: who.address, of: b.Make, id: b.RegistryID, registry: r, at: now})
	k.kept = k.kept[max(0, len(k.kept)-maxRegistries):]

	return r, nil
}

// known is the newest registry of this BMC, or else of one of the same make.
func (k *registries) known(who asker, b redfish.BIOS, now time.Duration) (bios.Registry, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, shared := range []bool{false, true} {
		for _, one := range slices.Backward(k.kept) {
			same := one.address == who.address || shared && b.Make != ""
			if same && one.namespace == who.namespace && one.of == b.Make && one.id == b.RegistryID && now-one.at < lookAge {
				return one.registry, true
			}
		}
	}

	return bios.Registry{}, false
}

// lookBIOS fills in what the BIOS shows of what is wanted of it: as it was seen
// a while ago where nothing moves.
func (e *external) lookBIOS(ctx context.Context, bmc BMC, host *v1alpha1.RedfishHost, w want) (err error) {
	wanted, moving := "", false
	if w.bios != nil {
		wanted, moving = w.bios.digest, underWay(parseJournal(host.GetAnnotations()[v1alpha1.AnnotationJournal]), w.bios, seenOf(e.system))
	}
	e.bios, err = e.connector.biosLooks.of(e.glance(wanted, moving), func() (*biosSeen, bool, error) {
		_, seen, err := e.readBIOS(ctx, bmc, e.system, *w.bios, false)

		return seen, err == nil && !seen.passing, err
	})

	return err
}

// lookSecureBoot fills in whether Secure Boot is on, where that is wanted. It's
// looked at each time while it isn't as wanted.
func (e *external) lookSecureBoot(ctx context.Context, bmc BMC, host *v1alpha1.RedfishHost, w want) (err error) {
	wanted, j := w.settings.secureBoot, parseJournal(host.GetAnnotations()[v1alpha1.AnnotationJournal])
	e.secureBoot, err = e.connector.secureBootLooks.of(e.glance(wanted, j.pending()), func() (*secureBootSeen, bool, error) {
		b, err := bmc.SecureBoot(ctx, e.system)
		switch {
		case redfish.IsUnsupported(err):
			return nil, true, nil
		case err != nil && skipped(ctx, err):
			return &secureBootSeen{unread: true}, !busy(err), nil
		case err != nil:
			return nil, false, err //nolint:wrapcheck // The caller asks for its kind.
		}

		return &secureBootSeen{SecureBoot: b}, b.Enabled == (wanted == secureBootOn), nil
	})

	return err
}

// underWay says whether the BIOS may change by what we did.
func underWay(j *journal, w *wantBIOS, s seen) bool {
	if j == nil {
		return false
	}
	r := j.biosOf(w)

	// A reset for settings is begun on what is staged now, not a while ago.
	resets := w.apply == v1alpha1.BIOSApplyMaintenance && w.maintenance && r.mayReset()

	return j.pending() && j.Act.Action == actStageBIOS || r.State == biosStaged && (resets || r.bootedSince(s, *j))
}
