package kubesource

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/artifacts"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

const (
	// calm is the least time between two heartbeats, quiet the longest.
	calm  = time.Second
	quiet = 5 * time.Second
	// listing is how often the first list is looked for.
	listing = 20 * time.Millisecond
	// heartbeatPatience with the API.
	heartbeatPatience = 3 * time.Second
	// maxTried heartbeats are told from another bootd's.
	maxTried = 8
	// maxDigests of a heartbeat, maxFetching of those on their way and maxFailed of those that failed; maxWhy characters say why. All
	// are the schema's own limits.
	maxDigests  = 1024
	maxFetching = 64
	maxFailed   = 64
	maxWhy      = 256
)

// heartbeats are written until ctx ends: at once when a session changed after a quiet second, else once
// a second, and every five seconds when nothing happens. A failure is tried again in a second.
func (s *Source) heartbeats(ctx context.Context, t *tables) error {
	for !t.listed() {
		if !pause(ctx, listing) {
			return nil
		}
	}
	out, clock := outage{log: s.o.Logger, now: s.o.Now}, clockWatch{log: s.o.Logger, now: s.o.Now}
	for {
		t.sessions.retry()
		err := s.heartbeat(ctx, t)
		if err == errRewound { //nolint:errorlint // It's returned bare.
			return err
		}
		if !pause(ctx, calm) {
			return nil
		}
		out.after(err)
		clock.after(s.skew())
		if err != nil {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-s.beat:
		case <-time.After(quiet - calm):
		}
	}
}

// pause says whether ctx lasts longer.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// heartbeat says how far this bootd has come. It reads its own record first: had that gone back, so would
// have all others, and what this bootd has compared with its log would be of another time.
func (s *Source) heartbeat(ctx context.Context, t *tables) error {
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, promptly{}, true), heartbeatPatience)
	defer cancel()
	b := &v1alpha1.BootServer{}
	name := types.NamespacedName{Namespace: s.o.Namespace, Name: s.o.Name}
	err := s.o.Kube.Get(ctx, name, b)
	if kerrors.IsNotFound(err) {
		b = &v1alpha1.BootServer{ObjectMeta: metav1.ObjectMeta{Namespace: s.o.Namespace, Name: s.o.Name}}
		err = s.o.Kube.Create(ctx, b)
	}
	if err != nil {
		return fmt.Errorf("cannot read or make BootServer %q: %w", s.self(), err)
	}
	seen, _ := t.sessions.at()
	if session.Revision(b.ResourceVersion) < s.last() {
		return errRewound
	}
	s.recognise(b.Status.LastSeen)
	if s.refused() { // Nobody else may ask for a while.
		none := metav1.ObjectMeta{Namespace: s.o.Namespace, Name: s.o.Name, ResourceVersion: "1"}
		_ = s.o.Kube.Get(ctx, name, &v1alpha1.BootSession{})
		_ = s.o.Kube.UpdateStatus(ctx, &v1alpha1.BootSession{ObjectMeta: none})
	}
	b.Status = s.status(t, seen)
	if err := s.o.Kube.UpdateStatus(ctx, b); err != nil {
		return fmt.Errorf("cannot write BootServer %q: %w", s.self(), err)
	}
	wrote := session.Revision(b.ResourceVersion)
	if wrote < seen {
		return errRewound
	}
	s.mu.Lock()
	now := s.o.Now()
	if !s.beaten.IsZero() && now.Sub(s.beaten) >= liveFor {
		s.back = now
	}
	s.own, s.beaten = wrote, now
	s.mu.Unlock()
	return nil
}

// recognise finds out whether the record holds another bootd's heartbeat: two under one name would take each other for
// themselves, and not wait for each other's logs.
func (s *Source) recognise(found *metav1.MicroTime) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if found == nil || s.own == 0 {
		return
	}
	for i, x := range s.wrote { // Which of those tried has arrived isn't known, and one that was given up may arrive yet.
		if x.Truncate(time.Microsecond).Equal(found.Time) {
			s.wrote = s.wrote[i:]
			return
		}
	}
	s.twin = s.o.Now()
	s.o.Logger.Error(twins, "name", s.self().String())
}

// twins is what the record of two bootds says.
const twins = "another bootd has the same name, and no install starts while it runs: give each a --name of its own"

func (s *Source) last() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.own
}

func (s *Source) status(t *tables, seen uint64) v1alpha1.BootServerStatus {
	now := metav1.NewMicroTime(s.o.Now())
	s.mu.Lock()
	if n := len(s.wrote); n > maxTried { // The one that was found last, and the newest.
		s.wrote = append(s.wrote[:1:1], s.wrote[n-maxTried+1:]...)
	}
	s.wrote = append(slices.Clip(s.wrote), now)
	twin := !s.twin.IsZero() && now.Sub(s.twin) < liveFor
	s.mu.Unlock()
	st := v1alpha1.BootServerStatus{
		LastSeen: &now, Version: s.o.Version, SyncedRevision: strconv.FormatUint(s.sessions.Synced(seen), 10),
	}
	if s.o.Cache != nil {
		st.Cache = cacheOf(s.o.Cache())
	}
	for _, g := range s.served(t) {
		n := v1alpha1.BootServerNetwork{Namespace: g.Namespace, Name: g.Name.Name}
		if s.o.Advertise != nil {
			n.Address = s.o.Advertise(g)
		}
		if s.o.Report != nil {
			s.o.Report(g).into(&n, &st)
		}
		st.Networks = append(st.Networks, n)
		if n.Address != "" && !slices.Contains(st.Addresses, n.Address) {
			st.Addresses = append(st.Addresses, n.Address)
		}
	}
	st.Message = s.o.Warning
	if twin {
		st.Message = twins
	}
	if s.refused() {
		st.Message = refusedSessions
	}
	if t.sessions.isStuck() {
		st.Message = "a session can't be compared with the log of consumed grants; no install starts in its networks until it can: is the disk of this bootd full?"
	}
	if why := skewed(s.skew()); why != "" { // By how it begins the others know that no boot is to be left to this one.
		st.Message = strings.TrimSuffix(why+"; "+st.Message, "; ")
	}
	if s.draining.Load() { // Whatever else there is: by how it begins the others know that nothing is left to this one.
		st.Message = strings.TrimSuffix(draining+": this bootd is stopping; it leaves new boots to others, and finishes those that run; "+st.Message, "; ")
	}
	return st
}

func cacheOf(r artifacts.Report) v1alpha1.BootServerCache {
	c := v1alpha1.BootServerCache{
		Files: r.Files, SizeBytes: r.Bytes, LimitBytes: r.Limit,
		Digests: r.Digests[:min(len(r.Digests), maxDigests)], Fetching: r.Fetching[:min(len(r.Fetching), maxFetching)],
	}
	for _, f := range r.Failed[:min(len(r.Failed), maxFailed)] {
		why := []rune(f.Message)
		c.Failed = append(c.Failed, v1alpha1.BootServerFailure{Digest: f.Digest, Reason: f.Reason, Message: string(why[:min(len(why), maxWhy)])})
	}
	return c
}
