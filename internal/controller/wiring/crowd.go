package wiring

import (
	"sync"
	"time"
)

const (
	// longCall is how long a call may take before who was asked is slow. He is so until slowFor after the last such call, and
	// until he answers at all. It's more than a call of ours may wait for one that others made (NetBox's look: five seconds).
	longCall = 7 * time.Second
	slowFor  = 10 * time.Second
	// firstAtOnce is how many reconciles may ask somebody at once of whom it isn't known that he answers.
	firstAtOnce = 4
	// slowPart of the workers, and slowLeast of them at least, are for all together who are slow.
	slowPart, slowLeast = 4, 2
	// sparePart of the workers is left to others by those who have some already.
	sparePart = 8
	// rememberedFor is how long is known of somebody what nobody asks any more.
	rememberedFor = time.Hour
	// lookAgain is how soon those that had to wait are looked at again where nothing else happens: some may go by time alone.
	lookAgain = time.Second
)

// A crowd bounds how many reconciles ask the same at once, such as one provider config's NetBox: each that isn't answered holds a worker, and
// nobody else's resource would be looked at. Nobody gets as many workers as would be left for others, which is half of them where nobody else
// works; the last few are for who has none yet, and for who answers once others have fallen silent. Who takes long to answer shares a few with
// all others who do, and who hasn't answered yet gets a few to begin with; both together have half of the workers at most, however many they
// are. It is safe for concurrent use; nil bounds nothing.
type crowd[T comparable] struct {
	workers int
	now     func() time.Time
	// again has those that wait looked at again; set before it's used.
	again func()

	mu sync.Mutex
	// all who are asked, and whom each reconcile asks that is under way.
	all   map[string]*asked[T]
	whom  map[T]string
	timer bool
	// astray are those that were taken out for somebody whom they don't ask any more.
	astray map[T]bool
}

// An asked is who is asked, for which reconciles that are under way.
type asked[T comparable] struct {
	// since when each of them waits for an answer; the zero time: it doesn't.
	since map[T]time.Time
	// answers says that one had an answer in time, and none was late since. silent says that the last
	// one that was late didn't end in an answer yet. slow is until when he's called slow at least, used when he was asked last.
	answers, silent bool
	slow, used      time.Time
}

func newCrowd[T comparable](workers int) *crowd[T] {
	return &crowd[T]{workers: workers, now: time.Now, again: func() {}, all: map[string]*asked[T]{}, whom: map[T]string{}, astray: map[T]bool{}}
}

// first returns the place of the first of those who may be asked once more, or -1. Who is "" is nobody, whom any number may ask.
func (c *crowd[T]) first(order []string) int {
	if c == nil || len(order) == 0 {
		return min(len(order), 1) - 1
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	busy, slow, unproven := c.count(now)
	for i, who := range order {
		most, n := c.workers-busy, 0
		a, known := c.all[who]
		if known {
			n = len(a.since)
		}
		switch {
		case who == "":
			most = n + 1
		case known && a.isSlow(now):
			most = min(most, max(c.workers/slowPart, slowLeast)-slow)
		case !known || !a.answers:
			most = min(most, firstAtOnce, max(c.workers/2, 1)-unproven)
		case n > 0 && n < busy-slow: // Any of those may fall silent, one after the other.
			most = min(most, c.workers-c.workers/sparePart-(busy-slow))
		}
		if n < most {
			return i
		}
	}
	c.wait()
	return -1
}

// count the reconciles that are under way, those of them that ask who is slow, and those, these among them, that ask who isn't known to
// answer. Who wasn't asked for long is forgotten.
func (c *crowd[T]) count(now time.Time) (busy, slow, unproven int) {
	for who, a := range c.all {
		for _, t := range a.since {
			if !t.IsZero() && now.Sub(t) > longCall {
				a.late(now, true)
			}
		}
		n := len(a.since)
		busy += n
		if a.isSlow(now) {
			slow += n
		}
		if !a.answers {
			unproven += n
		}
		if n == 0 && now.Sub(a.used) > rememberedFor {
			delete(c.all, who)
		}
	}
	return busy, slow, unproven
}

// late notes that an answer took long, or takes long and isn't there.
func (a *asked[T]) late(now time.Time, silent bool) {
	a.answers, a.silent, a.slow = false, silent, now.Add(slowFor)
}

func (a *asked[T]) isSlow(now time.Time) bool { return a.silent || now.Before(a.slow) }

// wait has those that had to wait looked at again in a while.
func (c *crowd[T]) wait() {
	if c.timer {
		return
	}
	c.timer = true
	time.AfterFunc(lookAgain, func() {
		c.mu.Lock()
		c.timer = false
		c.mu.Unlock()
		c.again()
	})
}

// idle says that there are workers that have nothing to do.
func (c *crowd[T]) idle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.whom) < c.workers
}

// begin notes that a reconcile is under way that asks so.
func (c *crowd[T]) begin(item T, who string) {
	if c == nil || who == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	a, ok := c.all[who]
	if !ok {
		a = &asked[T]{since: map[T]time.Time{}}
		c.all[who] = a
	}
	a.since[item], c.whom[item], a.used = time.Time{}, who, c.now()
}

// stray notes that an item asks somebody else than it was taken out for.
func (c *crowd[T]) stray(item T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.astray[item] = true
}

// strayed says, once, whether an item does.
func (c *crowd[T]) strayed(item T) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.astray[item]
	delete(c.astray, item)
	return ok
}

// end notes that a reconcile is over, however it ended.
func (c *crowd[T]) end(item T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a, ok := c.all[c.whom[item]]; ok {
		if t := a.since[item]; !t.IsZero() && c.now().Sub(t) > longCall {
			a.late(c.now(), true)
		}
		delete(a.since, item)
		a.used = c.now()
	}
	delete(c.whom, item)
}

// asks notes that a reconcile calls whom it asks. What it returns is to be called with the call's end.
func (c *crowd[T]) asks(item T) (answered func(err error)) {
	if c == nil {
		return func(error) {}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	began := c.now()
	c.note(item, began)
	return func(err error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		a, now := c.note(item, time.Time{}), c.now()
		switch {
		case a == nil:
		case now.Sub(began) > longCall:
			a.late(now, err != nil)
		case err == nil:
			a.silent = false
			a.answers = !now.Before(a.slow)
		}
	}
}

// note since when a reconcile waits for an answer, and return whom it asks: nil where it isn't under way, or asks nobody.
func (c *crowd[T]) note(item T, since time.Time) *asked[T] {
	a, ok := c.all[c.whom[item]]
	if ok {
		a.since[item] = since
	}
	return a
}
