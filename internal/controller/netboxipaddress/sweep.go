package netboxipaddress

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/netboxlink"
)

const (
	// sweepEvery is between looks at the released records of each NetBox, where none is due before; sweepRetry after one that failed.
	sweepEvery = 5 * time.Minute
	sweepRetry = time.Minute
	// sweepTimeout is how long one NetBox may take, for which nobody waits: a slow one that has many released records takes its time.
	sweepTimeout = 10 * time.Minute
	// overdue is after which time a quarantine that is over isn't ended by another provider config of the same NetBox any more.
	overdue = 3 * sweepEvery
)

// Reasons of events on a provider config.
const (
	eventExpired   event.Reason = "QuarantineEnded"
	eventInUse     event.Reason = "QuarantineInUse"
	eventUnexpired event.Reason = "CannotEndQuarantine"
)

// Quarantine is what a sweeper needs of a NetBox; netbox.Client implements it.
type Quarantine interface {
	Dater
	Released(ctx context.Context) ([]netbox.IPAddress, error)
	Retired(ip netbox.IPAddress) bool
	Expire(ctx context.Context, number int64, note string) error
}

// A sweeper deletes records whose quarantine is over. When that is stands in NetBox itself, so nothing is lost with the provider, nor with
// the resource that let the record go. It looks at the NetBoxes of all provider configs: the one that was used may have no users by now.
type sweeper struct {
	configs func(ctx context.Context) ([]config.Known, error)
	client  func(of config.Identity, cfg netbox.Config) (Quarantine, error)
	cluster string
	now     func() time.Time
	events  event.Recorder
	log     logging.Logger

	looks oneEach[types.UID]
	// sooner is told that next is earlier than it was.
	sooner chan struct{}

	mu sync.Mutex
	// next is when to look again.
	next time.Time
	// told are the events of each provider config that were given once, as long as there is a reason for them.
	told map[types.UID]map[string]bool
}

func newSweeper(s *sweeper) *sweeper {
	s.sooner, s.told = make(chan struct{}, 1), map[types.UID]map[string]bool{}
	return s
}

// due has the next look made at that time, at the latest.
func (s *sweeper) due(at time.Time) {
	s.mu.Lock()
	earlier := at.Before(s.next)
	if earlier {
		s.next = at
	}
	s.mu.Unlock()
	if !earlier {
		return
	}
	select {
	case s.sooner <- struct{}{}:
	default:
	}
}

// Start sweeps until ctx ends. The manager starts it on the leader alone.
func (s *sweeper) Start(ctx context.Context) error {
	defer s.looks.wait()
	for {
		s.sweep(ctx)
		for waiting := true; waiting; {
			t := time.NewTimer(max(0, s.soonest().Sub(s.now())))
			select {
			case <-ctx.Done():
				t.Stop()
				return nil
			case <-s.sooner:
			case <-t.C:
				waiting = false
			}
			t.Stop()
		}
	}
}

func (s *sweeper) soonest() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.next
}

// sweep begins to look at each NetBox. One that's still being looked at is left out, and looked at again at the end of that: a quarantine
// that was told meanwhile may be over by now.
func (s *sweeper) sweep(ctx context.Context) {
	s.mu.Lock()
	s.next = s.now().Add(sweepEvery)
	s.mu.Unlock()
	all, err := s.configs(ctx)
	if err != nil {
		s.log.Debug("Cannot list the provider configs whose NetBoxes may have released addresses", "error", err)
		s.due(s.now().Add(sweepRetry))
		return
	}
	s.forget(all)
	for _, c := range all {
		s.looks.begin(c.UID, func() bool { return s.lookAt(ctx, c) })
	}
}

// lookAt one NetBox, and say whether all of its released records were seen. Else it's tried again after a while, and not at once.
func (s *sweeper) lookAt(ctx context.Context, of config.Known) (whole bool) {
	ctx, cancel := context.WithTimeout(ctx, sweepTimeout)
	defer cancel()
	l := &sweeping{sweeper: s, of: of, next: s.now().Add(sweepEvery), told: map[string]bool{}}
	whole = l.look(ctx)
	s.end(l, whole)
	s.due(l.next)
	return whole
}

// forget what is remembered of provider configs that are gone.
func (s *sweeper) forget(there []config.Known) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.told, func(of types.UID, _ map[string]bool) bool {
		return !slices.ContainsFunc(there, func(c config.Known) bool { return c.UID == of })
	})
}

// end of a look at a NetBox. What there's no reason for any more may be told again some day; one that didn't see all knows of none.
func (s *sweeper) end(l *sweeping, whole bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !whole {
		maps.Copy(l.told, s.told[l.of.UID])
	}
	s.told[l.of.UID] = l.told
}

// A sweeping is one look at one NetBox.
type sweeping struct {
	*sweeper

	of config.Known
	// next is when to look again, and told what was, now or before.
	next time.Time
	told map[string]bool
	// late are records that may only be looked at, and whose quarantine is over for long; early those whose quarantine is over by our clock alone,
	// which differs from NetBox's by behind.
	late, early []netbox.IPAddress
	behind      time.Duration
}

// look at all released records, and say whether all were seen.
func (l *sweeping) look(ctx context.Context) (whole bool) {
	nb, err := l.client(l.of.Identity, netboxlink.Settings(l.of.NetBox, l.cluster))
	if err != nil {
		l.log.Debug("Cannot connect to a NetBox that may have released addresses", "config", l.of.String(), "error", err)
		l.again(sweepRetry)
		return false
	}
	all, err := nb.Released(ctx)
	switch {
	case l.readOnly() && err != nil: // What there is, one that may write says.
		return false
	case netbox.IsReleaseField(err), netbox.IsForbidden(err): // Only a person can help.
		l.cannot("", err)
		return false
	case err != nil:
		l.log.Debug("Cannot look for released addresses", "config", l.of.String(), "error", err)
		l.again(sweepRetry)
		return false
	}
	for _, ip := range all {
		l.judge(ctx, nb, ip)
	}
	l.keeps()
	l.differs()
	return true
}

// readOnly says that nothing is to be written. Another provider config may be there for that.
func (l *sweeping) readOnly() bool { return l.of.Config.Access == v1alpha1.NetBoxReadOnly }

// judge decides about one record that has a release note.
func (l *sweeping) judge(ctx context.Context, nb Quarantine, ip netbox.IPAddress) {
	text := ip.Marker(netboxlink.NoteFieldOf(l.of.Config))
	n, ok := parseNote(text)
	of, _ := parseMarker(n.marker)
	switch {
	case !ok || of.cluster != l.cluster || n.until.IsZero():
	case l.readOnly():
		if l.now().Sub(n.until) >= overdue && nb.Retired(ip) {
			l.late = append(l.late, ip)
		}
	case !nb.Retired(ip):
		l.inUse(ip, text)
	case n.until.After(l.now()):
		l.next = earliest(l.next, n.until)
	case l.unripe(nb, ip, n.until):
	default:
		err := nb.Expire(ctx, ip.ID, text)
		if err == nil {
			l.events.Event(l.of.Object, event.Normal(eventExpired, fmt.Sprintf("record %d (%s) of NetBox was deleted: its quarantine is over", ip.ID, ip.Address)))
			return
		}
		l.again(sweepRetry)
		if netbox.IsConflict(err) { // Somebody took it back between two looks.
			l.inUse(ip, text)
			return
		}
		l.cannot(text, err)
	}
}

// again has the next look made after a while, at the latest.
func (l *sweeping) again(after time.Duration) { l.next = earliest(l.next, l.now().Add(after)) }

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// cannot says why a record couldn't be deleted, or, without its note, why none can be looked for.
func (l *sweeping) cannot(note string, err error) {
	m := sentence(err, inputs{config: l.of.String(), field: netboxlink.FieldOf(l.of.Config), note: netboxlink.NoteFieldOf(l.of.Config)}).message
	if note == "" {
		m = "whatever is in quarantine stays in NetBox: " + m
	}
	l.once(note+" "+string(netbox.KindOf(err)), event.Warning(eventUnexpired, errors.New(m)))
}

// keeps says of which records the quarantine isn't ended since they may only be looked at: one that was begun when they weren't.
func (l *sweeping) keeps() {
	if len(l.late) == 0 {
		return
	}
	l.once("ReadOnly", event.Warning(eventUnexpired, fmt.Errorf(
		"the quarantine of %s of NetBox is over, and nobody ends it, since spec.netbox.access is ReadOnly: set it to ReadWrite, or delete what is deprecated and has a note in custom field %q yourself",
		which(l.late), netboxlink.NoteFieldOf(l.of.Config))))
}

// which names the first of some records.
func which(all []netbox.IPAddress) string {
	out := fmt.Sprintf("record %d (%s)", all[0].ID, all[0].Address)
	if more := len(all) - 1; more > 0 {
		out += fmt.Sprintf(" and %d more", more)
	}
	return out
}

// inUse says that a record which was released is somebody's again. It's left alone.
func (l *sweeping) inUse(ip netbox.IPAddress, text string) {
	l.once(text, event.Warning(eventInUse, fmt.Errorf(
		"record %d (%s) of NetBox was released and is in use again (its status, marker, assignment or DNS name says so): it isn't deleted; clear custom field %q on it if that's meant",
		ip.ID, ip.Address, netboxlink.NoteFieldOf(l.of.Config))))
}

// once gives an event, unless the look before did.
func (l *sweeping) once(what string, e event.Event) {
	l.told[what] = true
	l.mu.Lock()
	before := l.sweeper.told[l.of.UID][what]
	l.mu.Unlock()
	if !before {
		l.events.Event(l.of.Object, e)
	}
}
