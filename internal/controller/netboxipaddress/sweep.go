package netboxipaddress

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/netboxlink"
)

const (
	// sweepEvery is between looks at the released records of each NetBox, where none is due before; sweepRetry after one that failed.
	sweepEvery = 5 * time.Minute
	sweepRetry = time.Minute
	// sweepTimeout is how long one NetBox may take.
	sweepTimeout = 2 * time.Minute
)

// Reasons of events on a provider config.
const (
	eventExpired   event.Reason = "QuarantineEnded"
	eventInUse     event.Reason = "QuarantineInUse"
	eventUnexpired event.Reason = "CannotEndQuarantine"
)

// Quarantine is what a sweeper needs of a NetBox; netbox.Client implements it.
type Quarantine interface {
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

	// sooner is told of a quarantine that ends before the next look.
	sooner chan time.Time

	mu sync.Mutex
	// told are the events that were given once.
	told map[string]bool
}

func newSweeper(s *sweeper) *sweeper {
	s.sooner, s.told = make(chan time.Time, 1), map[string]bool{}
	return s
}

// due notes when a record is to be looked at. What can't be noted is found at the next look.
func (s *sweeper) due(at time.Time) {
	select {
	case s.sooner <- at:
	default:
	}
}

// Start sweeps until ctx ends. The manager starts it on the leader alone.
func (s *sweeper) Start(ctx context.Context) error {
	for {
		next := s.sweep(ctx)
		for waiting := true; waiting; {
			t := time.NewTimer(max(0, next.Sub(s.now())))
			select {
			case <-ctx.Done():
				t.Stop()
				return nil
			case at := <-s.sooner:
				if at.Before(next) {
					next = at
				}
			case <-t.C:
				waiting = false
			}
			t.Stop()
		}
	}
}

// sweep looks at each NetBox once, all at a time, as one that doesn't answer mustn't keep the others waiting; and says when to look again.
func (s *sweeper) sweep(ctx context.Context) time.Time {
	next := s.now().Add(sweepEvery)
	all, err := s.configs(ctx)
	if err != nil {
		s.log.Debug("Cannot list the provider configs whose NetBoxes may have released addresses", "error", err)
		return s.now().Add(sweepRetry)
	}
	times := make([]time.Time, len(all))
	var wg sync.WaitGroup
	for i, c := range all {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, sweepTimeout)
			defer cancel()
			times[i] = s.sweepOne(ctx, c)
		})
	}
	wg.Wait()
	for _, t := range times {
		if t.Before(next) {
			next = t
		}
	}
	return next
}

// sweepOne looks at one NetBox, and says when to look again.
func (s *sweeper) sweepOne(ctx context.Context, c config.Known) time.Time {
	next := s.now().Add(sweepEvery)
	nb, err := s.client(c.Identity, netboxlink.Settings(c.NetBox, s.cluster))
	if err != nil {
		s.log.Debug("Cannot connect to a NetBox that may have released addresses", "config", c.String(), "error", err)
		return next
	}
	all, err := nb.Released(ctx)
	if netbox.IsReleaseField(err) {
		return next // Nobody releases anything there so.
	}
	if err != nil {
		s.log.Debug("Cannot look for released addresses", "config", c.String(), "error", err)
		return s.now().Add(sweepRetry)
	}
	for _, ip := range all {
		text := ip.Marker(netboxlink.NoteFieldOf(c.Config))
		n, ok := parseNote(text)
		of, _ := parseMarker(n.marker)
		switch {
		case !ok || of.cluster != s.cluster || n.until.IsZero():
		case !nb.Retired(ip):
			s.inUse(c, ip, text)
		case n.until.After(s.now()):
			if n.until.Before(next) {
				next = n.until
			}
		default:
			if err := nb.Expire(ctx, ip.ID, text); err != nil {
				s.failed(c, ip, text, err)
				next = earliest(next, s.now().Add(sweepRetry))
				continue
			}
			s.events.Event(c.Object, event.Normal(eventExpired, fmt.Sprintf("record %d (%s) of NetBox was deleted: its quarantine is over", ip.ID, ip.Address)))
		}
	}
	return next
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// failed says why a record couldn't be deleted. That somebody took it back between two looks is nothing to mend.
func (s *sweeper) failed(c config.Known, ip netbox.IPAddress, text string, err error) {
	if netbox.IsConflict(err) {
		s.inUse(c, ip, text)
		return
	}
	s.once(c, text+" "+string(netbox.KindOf(err)), event.Warning(eventUnexpired,
		errors.New(sentence(err, inputs{config: c.String(), note: netboxlink.NoteFieldOf(c.Config)}).message)))
}

// inUse says that a record which was released is somebody's again. It's left alone.
func (s *sweeper) inUse(c config.Known, ip netbox.IPAddress, text string) {
	s.once(c, text, event.Warning(eventInUse, fmt.Errorf(
		"record %d (%s) of NetBox was released and is in use again (its status, marker or assignment says so): it isn't deleted; clear custom field %q on it if that's meant",
		ip.ID, ip.Address, netboxlink.NoteFieldOf(c.Config))))
}

// once gives an event, unless this process did already.
func (s *sweeper) once(c config.Known, what string, e event.Event) {
	s.mu.Lock()
	key := string(c.UID) + " " + what
	told := s.told[key]
	s.told[key] = true
	s.mu.Unlock()
	if !told {
		s.events.Event(c.Object, e)
	}
}
