package netboxwebhook

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
)

const (
	// readsPerSecond and readBurst bound what deliveries can make us ask of one NetBox.
	readsPerSecond, readBurst = 10, 20
	// many that wait are looked at together, by pages of a thousand. After such a look NetBox is left alone for as long as it took, for which
	// they wait: for leastRest at least, and mostRest at most.
	many      = 20
	leastRest = 2 * time.Second
	mostRest  = 2 * time.Minute
	// mostWaiting records, and mostRemembered deliveries that aren't taken again: of all provider configs of one namespace together, as of each
	// ClusterProviderConfig. Whoever may write ProviderConfigs may sign what he likes.
	mostWaiting, mostRemembered = 10000, 20000
	// mostWords are the bytes of markers that records which wait keep. Of one without them nobody is woken where it's gone or can't be read:
	// the next look at all addresses shows that.
	mostWords = 4 << 20
	// idleLine is how long a line is kept that has nothing to do, and sweepLines between looks for those.
	idleLine   = time.Hour
	sweepLines = time.Minute
	// pollMany is between looks whether that time has come.
	pollMany = 100 * time.Millisecond
	// readPatience is how long a look at one record may take, and lookPatience one at all of them, which ends by itself before. One that is under
	// way already is waited for.
	readPatience = 30 * time.Second
	lookPatience = 20 * time.Minute
)

// lines are what waits to be looked at, by provider config.
type lines struct {
	Options

	now func() time.Time

	mu   sync.Mutex
	each map[types.UID]*line
	// swept is when lines that had nothing to do were last let go.
	swept time.Time
}

// A line is what waits to be looked at in one NetBox. One goroutine works on it, while anything waits.
type line struct {
	ref     config.Ref
	conn    Connection
	limiter *rate.Limiter
	waiting map[int64]netbox.Hook
	order   []int64
	working bool
	// rests is until when not all are looked at together again.
	rests time.Time
	// taken are the deliveries that were taken lately, and told is when one last came.
	taken map[delivery]bool
	told  time.Time
	// words are the bytes of markers that what waits has.
	words int
}

// A delivery is what tells one from another: the digest of a record, what happened to it, and when.
type delivery [16]byte

func deliveryOf(h netbox.Hook) delivery {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %q %q", h.ID, h.Event, h.LastUpdated))
	return delivery(sum[:len(delivery{})])
}

func newLines(o Options) *lines {
	return &lines{Options: o, now: time.Now, each: map[types.UID]*line{}}
}

// put has a record looked at, once, however often it's told of until then. A delivery that came before is told nothing for.
func (l *lines) put(ctx context.Context, n config.NetBox, c Connection, h netbox.Hook) (result string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at, d := l.line(n), deliveryOf(h)
	at.conn, at.told = c, l.now()
	if at.taken[d] {
		return resultRepeated
	}
	waiting, taken, words := l.held(at)
	if _, waits := at.waiting[h.ID]; !waits {
		if waiting >= mostWaiting {
			return resultCrowded
		}
		at.order = append(at.order, h.ID)
	}
	if taken >= mostRemembered {
		clear(at.taken)
	}
	at.taken[d] = true
	at.merge(h, mostWords-words)
	if !at.working {
		at.working = true
		go l.work(ctx, at)
	}
	return resultTaken
}

// line is a provider config's. Those that have had nothing to do for long are let go: of their provider configs some are gone.
func (l *lines) line(n config.NetBox) *line {
	if now := l.now(); now.Sub(l.swept) >= sweepLines {
		l.swept = now
		maps.DeleteFunc(l.each, func(_ types.UID, at *line) bool { return !at.working && now.Sub(at.told) >= idleLine })
	}
	at := l.each[n.UID]
	if at == nil {
		at = &line{ref: n.Ref, limiter: rate.NewLimiter(readsPerSecond, readBurst), waiting: map[int64]netbox.Hook{}, taken: map[delivery]bool{}}
		l.each[n.UID] = at
	}
	return at
}

// held is what all lines of a line's owner hold together: a namespace's, or its own alone where it's a ClusterProviderConfig's.
func (l *lines) held(at *line) (waiting, taken, words int) {
	for _, o := range l.each {
		if o == at || at.ref.Namespace != "" && o.ref.Namespace == at.ref.Namespace {
			waiting, taken, words = waiting+len(o.order), taken+len(o.taken), words+o.words
		}
	}
	return waiting, taken, words
}

// merge keeps of a record that waits whose it was by each delivery, as far as there's place for that.
func (at *line) merge(h netbox.Hook, place int) {
	was, told := at.waiting[h.ID], h.Markers
	h.Markers = was.Markers
	for _, m := range told {
		if n := wordsOf(m); !slices.Contains(h.Markers, m) && n <= place {
			h.Markers = append(h.Markers, m)
			place -= n
			at.words += n
		}
	}
	at.waiting[h.ID] = h
}

// wordsOf is what a marker takes, in bytes: its text, and its place in a list.
func wordsOf(marker string) int { return len(marker) + 32 }

// work looks at what waits until nothing does.
func (l *lines) work(ctx context.Context, at *line) {
	for {
		var conn Connection
		var batch []netbox.Hook
		var together bool
		if wait.PollUntilContextCancel(ctx, pollMany, true, func(context.Context) (bool, error) {
			var rests bool
			conn, batch, together, rests = l.next(at)
			return !rests, nil
		}) != nil {
			return // The provider ends.
		}
		if len(batch) == 0 || !together && at.limiter.Wait(ctx) != nil {
			return
		}
		l.look(ctx, at, conn, batch, together)
	}
}

// next takes what is to be looked at next: one record, or all that wait, where they are many. Those wait for the next look at all together, where NetBox
// rests.
func (l *lines) next(at *line) (c Connection, batch []netbox.Hook, together, rests bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(1, len(at.order))
	if len(at.order) >= many {
		if l.now().Before(at.rests) {
			return nil, nil, false, true
		}
		n, together = len(at.order), true
	}
	for _, id := range at.order[:n] {
		h := at.waiting[id]
		for _, m := range h.Markers {
			at.words -= wordsOf(m)
		}
		batch = append(batch, h)
		delete(at.waiting, id)
	}
	at.order = slices.Clone(at.order[n:])
	at.working = n > 0
	return at.conn, batch, together, false
}

// look asks NetBox, and wakes whose records are other than they were. Where it can't be asked, and where a record is gone that was never
// seen, those are woken whom the deliveries name: they look themselves, as nothing is known of their records any more.
func (l *lines) look(ctx context.Context, at *line, c Connection, batch []netbox.Hook, together bool) {
	changed, err := l.ask(ctx, at, c, batch, together)
	if err != nil {
		l.Log.Debug("Cannot look at what a webhook told of", "config", at.ref.String(), "error", err)
		for _, h := range batch {
			c.Forget(h.ID)
		}
	}
	markers := map[string]bool{}
	for _, ip := range changed {
		markers[ip.Marker(c.MarkerField())] = true
	}
	for _, h := range batch {
		if err == nil && h.Event != deleted {
			continue
		}
		for _, m := range h.Markers {
			markers[m] = true
		}
	}
	for m := range markers {
		l.Wake(ctx, at.ref, m)
	}
}

// ask for one record, or for all together.
func (l *lines) ask(ctx context.Context, at *line, c Connection, batch []netbox.Hook, together bool) ([]netbox.IPAddress, error) {
	patience := readPatience
	if together {
		patience = lookPatience
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if !together {
		return c.Reread(ctx, batch[0].ID)
	}
	began := l.now()
	changed, err := c.Refresh(ctx, 0)
	ended := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	at.rests = ended.Add(min(max(ended.Sub(began), leastRest), mostRest))
	return changed, err
}

// deleted is the event of a record that is gone.
const deleted = "deleted"
