package wiring

import (
	"context"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// A place is where an item waits: in a line with others, for whom all of these ask.
type place struct{ asks, line string }

// turns is the order of a queue in which those who are asked take turns, and of each the lines: what waits in a long one delays only those
// behind it. Nothing is taken out for whom as many ask already as may.
type turns[T comparable] struct {
	// at says where an item waits.
	at    func(T) place
	crowd *crowd[T]

	// order of those for whom items wait, the next one first.
	order []string
	lines map[string]*lines[T]
	n     int
	// knocked says that the zero item is there, which is no item: it only has a worker look.
	knocked bool
}

// lines are what waits for one who is asked.
type lines[T comparable] struct {
	// order of the lines that have items, the next one first.
	order []string
	items map[string][]T
}

var _ workqueue.Queue[string] = &turns[string]{}

func newTurns[T comparable](at func(T) place, c *crowd[T]) *turns[T] {
	return &turns[T]{at: at, crowd: c, lines: map[string]*lines[T]{}}
}

// Touch does nothing: who waits already keeps his place.
func (t *turns[T]) Touch(T) {}

// Len is how many items there are; none, where none may be taken out.
func (t *turns[T]) Len() int {
	switch {
	case t.knocked:
		return t.n + 1
	case t.crowd.first(t.order) < 0:
		return 0
	}
	return t.n
}

// Push puts an item at the end of its line.
func (t *turns[T]) Push(item T) {
	if item == *new(T) {
		t.knocked = true
		return
	}
	p := t.at(item)
	l, ok := t.lines[p.asks]
	if !ok {
		l = &lines[T]{items: map[string][]T{}}
		t.lines[p.asks] = l
		t.order = append(t.order, p.asks)
	}
	if len(l.items[p.line]) == 0 {
		l.order = append(l.order, p.line)
	}
	l.items[p.line] = append(l.items[p.line], item)
	t.n++
}

// Pop takes the first item of the line whose turn it is. One that has to wait elsewhere by now is astray: whoever gets it puts it there.
func (t *turns[T]) Pop() T {
	if t.knocked {
		t.knocked = false
		return *new(T)
	}
	i := max(t.crowd.first(t.order), 0) // A moment ago one could be taken: whoever counts has seen it.
	who := t.order[i]
	t.order = slices.Delete(t.order, i, i+1)
	l := t.lines[who]
	item := l.pop()
	if len(l.order) > 0 {
		t.order = append(t.order, who)
	} else {
		delete(t.lines, who)
	}
	t.n--
	if t.crowd != nil && t.at(item).asks != who { // It was edited while it waited: nobody pays for another one's.
		t.crowd.stray(item)
		return item
	}
	t.crowd.begin(item, who)
	return item
}

func (l *lines[T]) pop() T {
	line := l.order[0]
	l.order = l.order[1:]
	item := l.items[line][0]
	if rest := l.items[line][1:]; len(rest) > 0 {
		l.items[line] = rest
		l.order = append(l.order, line)
	} else {
		delete(l.items, line)
	}
	return item
}

// A queue gives out items as its crowd lets it.
type queue[T comparable] struct {
	workqueue.TypedRateLimitingInterface[T]

	crowd *crowd[T]
}

// Get waits for an item. Where another one may be taken out, too, a worker is told that sleeps since none could: more than one may go once an
// answer came.
func (q *queue[T]) Get() (item T, shutdown bool) {
	for {
		item, shutdown = q.TypedRateLimitingInterface.Get()
		switch {
		case shutdown && q.ShuttingDown():
			return item, true
		case shutdown: // The queue looks twice whether there's an item; what could be taken out the first time can't be any more.
			continue
		case item == *new(T):
			q.TypedRateLimitingInterface.Done(item)
			continue
		case q.crowd.strayed(item): // What the queue counts as waiting is right only if what it gave out is put back as any other.
			q.Add(item)
			q.TypedRateLimitingInterface.Done(item)
			continue
		case q.crowd.idle() && q.Len() > 0:
			q.knock()
		}
		return item, false
	}
}

// knock has a worker look at what waits.
func (q *queue[T]) knock() { q.Add(*new(T)) }

// Done with an item.
func (q *queue[T]) Done(item T) {
	q.crowd.end(item) // Before it's put back, if it is: it may be the next one.
	q.TypedRateLimitingInterface.Done(item)
}

// inTurns lets the resources of a kind take turns. Where they wait is told by what the cache has of them.
func inTurns[T resource.ModernManaged](kube client.Reader, object client.Object, k Kind[T], c *crowd[reconcile.Request]) func(string, workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
	of := func(r reconcile.Request) place {
		p := place{}
		mg, ok := object.DeepCopyObject().(T)
		if !ok || kube.Get(context.Background(), r.NamespacedName, mg) != nil {
			return p
		}
		if k.Asks != nil {
			p.asks = k.Asks(mg)
		}
		if k.Flow != nil {
			p.line = k.Flow(mg)
		}
		return p
	}
	return func(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
		return newQueue(name, limiter, newTurns(of, c))
	}
}

// newQueue is a queue of that order.
func newQueue[T comparable](name string, limiter workqueue.TypedRateLimiter[T], t *turns[T]) workqueue.TypedRateLimitingInterface[T] {
	plain := workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[T]{
		Name: name,
		DelayingQueue: workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[T]{
			Name: name, Queue: workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[T]{Name: name, Queue: t}),
		}),
	})
	if t.crowd == nil {
		return plain
	}
	q := &queue[T]{plain, t.crowd}
	t.crowd.again = q.knock
	return q
}
