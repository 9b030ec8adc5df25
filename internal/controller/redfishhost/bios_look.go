package redfishhost

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/bios"
)

// biosAge is how long a look at a BIOS is believed where nothing is on its way.
const biosAge = 10 * time.Minute

// readBIOS compares a declared map with a machine. The registry is read only
// where names and values as they are don't tell it all.
func (e *external) readBIOS(ctx context.Context, bmc BMC, s redfish.System, w wantBIOS) (redfish.BIOS, *biosSeen, error) {
	out := &biosSeen{digest: w.digest, current: map[string]bios.Value{}}
	b, err := bmc.BIOS(ctx, s)
	switch {
	case redfish.IsUnsupported(err):
		out.unread = &trouble{v1alpha1.ReasonNotSupported, "has no BIOS settings: set them in the machine's own setup, and take bios out of the spec"}

		return b, out, nil
	case err != nil && redfish.IsOfOneResource(err):
		out.unread = &trouble{v1alpha1.ReasonRefused, "doesn't show its BIOS settings at the moment (" + err.Error() + "): they are looked at again"}

		return b, out, nil
	case err != nil:
		return b, nil, err //nolint:wrapcheck // The caller asks for its kind.
	case len(b.Attributes) == 0:
		out.unread = &trouble{v1alpha1.ReasonNotSupported, "shows no BIOS attributes: most tell them after a boot; where it never does, take bios out of the spec"}

		return b, out, nil
	}
	var r bios.Registry
	out.changes, out.problems = bios.Plan(r, w.declared, b.Attributes)
	if len(out.changes)+len(out.problems) > 0 {
		if r, err = e.connector.registries.get(ctx, bmc, e.inputs.address, b, e.connector.watch.elapsed()); err != nil {
			return b, nil, err
		}
		out.changes, out.problems = bios.Plan(r, w.declared, b.Attributes)
	}
	out.writable = b.Writable
	if len(out.problems) == 0 {
		maps.Copy(out.changes, bios.TakenBack(r, w.declared, b.Attributes, b.Staged))
	}
	out.missing, out.foreign = bios.Staged(r, out.changes, w.declared, b.Attributes, b.Staged)
	for name := range w.declared {
		secret := slices.ContainsFunc(out.problems, func(p bios.Problem) bool { return p.Name == name && p.Reason == bios.Secret })
		if v, ok := b.Attributes[name]; ok && !secret {
			out.current[name] = v
		}
	}

	return b, out, nil
}

// registries keeps the newest attribute registries: one may be a megabyte, and
// a machine that verifies its settings is looked at again and again. It is safe
// for concurrent use.
type registries struct {
	mu   sync.Mutex
	kept []keptRegistry
}

type keptRegistry struct {
	address, id string
	registry    bios.Registry
	at          time.Duration
}

// maxRegistries is how many registries are kept.
const maxRegistries = 8

func (k *registries) get(ctx context.Context, bmc BMC, address string, b redfish.BIOS, now time.Duration) (bios.Registry, error) {
	if r, ok := k.known(address, b.RegistryID, now); ok {
		return r, nil
	}
	r, err := bmc.BIOSRegistry(ctx, b)
	if err != nil || !r.Known() || b.RegistryID == "" {
		return r, err //nolint:wrapcheck // The caller asks for its kind.
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kept = append(k.kept, keptRegistry{address: address, id: b.RegistryID, registry: r, at: now})
	k.kept = k.kept[max(0, len(k.kept)-maxRegistries):]

	return r, nil
}

func (k *registries) known(address, id string, now time.Duration) (bios.Registry, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, one := range slices.Backward(k.kept) {
		if one.address == address && one.id == id && now-one.at < biosAge {
			return one.registry, true
		}
	}

	return bios.Registry{}, false
}

// looks remember what was seen of each host beside its System, so that a host
// on which nothing is on its way isn't asked for it at each look. They are safe
// for concurrent use.
type looks[T any] struct {
	mu    sync.Mutex
	taken map[types.UID]taken[T]
}

// taken is one look: what it was for, and how the machine was.
type taken[T any] struct {
	seen      *T
	wanted    string
	at        time.Duration
	power     redfish.Power
	lastReset time.Time
}

func newLooks[T any]() *looks[T] { return &looks[T]{taken: map[types.UID]taken[T]{}} }

// get returns what was seen for the same wish, a while ago, of a machine that
// hasn't been reset since; false where it must be looked at.
func (l *looks[T]) get(host types.UID, wanted string, s redfish.System, now time.Duration) (*T, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k, ok := l.taken[host]
	if !ok || k.wanted != wanted || now-k.at >= biosAge || k.power != s.Power || !k.lastReset.Equal(s.LastReset) {
		return nil, false
	}

	return k.seen, true
}

func (l *looks[T]) put(host types.UID, wanted string, seen *T, s redfish.System, now time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.taken[host] = taken[T]{seen: seen, wanted: wanted, at: now, power: s.Power, lastReset: s.LastReset}
}

func (l *looks[T]) forget(host types.UID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.taken, host)
}

// lookBIOS fills in what the BIOS shows of what is wanted of it: as it was seen
// a while ago where nothing moves.
func (e *external) lookBIOS(ctx context.Context, bmc BMC, host *v1alpha1.RedfishHost, w want) error {
	e.bios = nil
	if w.bios == nil {
		e.connector.biosLooks.forget(host.GetUID())

		return nil
	}
	j, now := parseJournal(host.GetAnnotations()[v1alpha1.AnnotationJournal]), e.connector.watch.elapsed()
	if !underWay(j, w.bios, seenOf(e.system)) {
		if seen, ok := e.connector.biosLooks.get(host.GetUID(), w.bios.digest, e.system, now); ok {
			e.bios = seen

			return nil
		}
	}
	_, seen, err := e.readBIOS(ctx, bmc, e.system, *w.bios)
	if err != nil {
		return err
	}
	e.bios = seen
	e.connector.biosLooks.put(host.GetUID(), w.bios.digest, seen, e.system, now)

	return nil
}

// lookSecureBoot fills in whether Secure Boot is on, where that is wanted.
func (e *external) lookSecureBoot(ctx context.Context, bmc BMC, host *v1alpha1.RedfishHost, w want) error {
	e.secureBoot = nil
	wanted := w.settings.secureBoot
	if wanted == "" {
		e.connector.secureBootLooks.forget(host.GetUID())

		return nil
	}
	j, now := parseJournal(host.GetAnnotations()[v1alpha1.AnnotationJournal]), e.connector.watch.elapsed()
	if !j.pending() {
		if seen, ok := e.connector.secureBootLooks.get(host.GetUID(), wanted, e.system, now); ok {
			e.secureBoot = seen

			return nil
		}
	}
	b, err := bmc.SecureBoot(ctx, e.system)
	if err != nil && !redfish.IsUnsupported(err) && !redfish.IsOfOneResource(err) {
		return err //nolint:wrapcheck // The caller asks for its kind.
	}
	if err == nil {
		e.secureBoot = &b
	}
	if err == nil && b.Enabled == (wanted == secureBootOn) || err != nil {
		e.connector.secureBootLooks.put(host.GetUID(), wanted, e.secureBoot, e.system, now)
	}

	return nil
}

// underWay says whether the BIOS may change by what we did.
func underWay(j *journal, w *wantBIOS, s seen) bool {
	if j == nil {
		return false
	}
	r := j.biosOf(w)

	return j.pending() && j.Act.Action == actStageBIOS || r.State == biosStaged && r.bootedSince(s, *j)
}
