package wiring

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// TestCrowd holds how many reconciles may ask the same.
func TestCrowd(t *testing.T) {
	const workers = 56
	errBoom := errors.New("boom")
	type scene struct {
		*crowd[string]

		now time.Time
	}
	// add lets as many of somebody in as may be, and returns how many there are.
	add := func(s *scene, who string) int {
		for i := 0; s.first([]string{who}) == 0; i++ {
			s.begin(fmt.Sprintf("%s/%d", who, i), who)
		}
		if a, ok := s.all[who]; ok {
			return len(a.since)
		}
		return 0
	}
	// answer has one be under way whose call has ended.
	answer := func(s *scene, who string, after time.Duration, err error) {
		item := who + "/once"
		s.begin(item, who)
		answered := s.asks(item)
		s.now = s.now.Add(after)
		answered(err)
	}
	// hang has as many as may be ask without an answer, for long.
	hang := func(s *scene, who string) {
		add(s, who)
		for item := range s.all[who].since {
			s.asks(item)
		}
		s.now = s.now.Add(longCall + time.Second)
	}
	cases := map[string]struct {
		reason string
		before func(*scene)
		want   int
	}{
		"Unknown":   {"Of whom nothing is known gets a few to begin with.", func(*scene) {}, firstAtOnce},
		"Answers":   {"Who answers gets half, where nobody else is asked.", func(s *scene) { answer(s, "a", time.Second, nil) }, workers / 2},
		"Fails":     {"Who just refuses isn't known to answer.", func(s *scene) { answer(s, "a", time.Second, errBoom) }, firstAtOnce},
		"Slow":      {"Who took long shares a few with his like.", func(s *scene) { answer(s, "a", longCall+time.Second, nil) }, workers / slowPart / 2},
		"SlowStill": {"One quick answer doesn't end that,", func(s *scene) { answer(s, "a", longCall+time.Second, nil); answer(s, "a", 0, nil) }, workers / slowPart / 2},
		"SlowOnce": {"but time does, and then an answer.", func(s *scene) {
			answer(s, "a", longCall+time.Second, nil)
			s.now = s.now.Add(slowFor)
			answer(s, "a", 0, nil)
		}, workers / 2},
		"Hangs":    {"Who hasn't answered for long is known for it before he does.", func(s *scene) { hang(s, "a") }, workers / slowPart / 2},
		"OneHangs": {"Another one who hangs has a few, and half of the rest is there.", func(s *scene) { hang(s, "b"); answer(s, "a", 0, nil) }, (workers - firstAtOnce) / 2},
		"OneFellSilent": {"One that hangs after it had answered has half, and half of the rest is there.", func(s *scene) {
			answer(s, "b", 0, nil)
			hang(s, "b")
			answer(s, "a", 0, nil)
		}, workers / 4},
		"ManyHang": {"All that hang get no more than a few together.", func(s *scene) {
			const many = 20
			for i := range many {
				answer(s, fmt.Sprint("h", i), longCall+time.Second, nil)
				s.now = s.now.Add(-longCall - time.Second)
			}
			for i := range many {
				if n := add(s, fmt.Sprint("h", i)); n != 1 {
					t.Errorf("one that hangs has %d", n)
				}
			}
			answer(s, "a", 0, nil)
		}, (workers - 20) / 2},
		"ManyHangLater": {"Nor do they when they come again, long after they were late, with as many who are new.", func(s *scene) {
			const many = 30
			for i := range many {
				answer(s, fmt.Sprint("h", i), longCall+time.Second, errBoom)
				s.end(fmt.Sprint("h", i, "/once"))
				s.now = s.now.Add(-longCall - time.Second)
			}
			s.now = s.now.Add(10 * slowFor)
			together := 0
			for i := range many {
				together += add(s, fmt.Sprint("h", i)) + add(s, fmt.Sprint("new", i))
			}
			if together > workers/2 {
				t.Errorf("those that hang or are new have %d together", together)
			}
			answer(s, "a", 0, nil)
		}, workers / 4},
		"ManyFellSilent": {"Nor are all gone where several fall silent one after the other that had answered.", func(s *scene) {
			for i := range 6 {
				who := fmt.Sprint("b", i)
				answer(s, who, 0, nil)
				hang(s, who)
				s.now = s.now.Add(-longCall)
			}
			if n := workers - len(s.whom); n < workers/8 {
				t.Errorf("%d workers are left", n)
			}
			s.now = s.now.Add(longCall)
			answer(s, "a", 0, nil)
		}, workers/8/2 + 1},
		"Remembered": {"Who answers is known for it when he's asked again.", func(s *scene) {
			answer(s, "a", 0, nil)
			s.end("a/once")
			s.now = s.now.Add(rememberedFor / 2)
		}, workers / 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &scene{crowd: newCrowd[string](workers), now: time.Now()}
			s.crowd.now = func() time.Time { return s.now }
			tc.before(s)
			if got := add(s, "a"); got != tc.want {
				t.Errorf("%s\n%d at once, want %d", tc.reason, got, tc.want)
			}
		})
	}
}

// TestCrowdOfNobody: who asks nobody waits for nobody.
func TestCrowdOfNobody(t *testing.T) {
	c := newCrowd[string](4)
	for i := 0; c.first([]string{"a"}) == 0; i++ {
		c.begin(fmt.Sprint(i), "a")
	}
	if i := c.first([]string{"a", ""}); i != 1 {
		t.Errorf("%d", i)
	}
}

// TestCrowdForgets: of whom nobody asks any more nothing is kept.
func TestCrowdForgets(t *testing.T) {
	c := newCrowd[string](8)
	now := time.Now()
	c.now = func() time.Time { return now }
	for i := range 100 {
		who := fmt.Sprint(i)
		c.begin(who, who)
		answered := c.asks(who)
		if i%2 == 0 {
			now = now.Add(longCall + 1)
		}
		answered(nil)
		c.end(who)
	}
	now = now.Add(rememberedFor + slowFor)
	if i := c.first([]string{"a"}); i != 0 || len(c.all)+len(c.whom) != 0 {
		t.Errorf("first %d, kept %v and %v", i, c.all, c.whom)
	}
}

// TestQueueOfHanging: workers that are all asleep, or at one who hangs, come to each item of who answers, at once, and to each of the other one as soon as
// that answers. None is lost, and none is worked on twice at the same time.
func TestQueueOfHanging(t *testing.T) {
	const workers, each = 16, 100
	c := newCrowd[string](workers)
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Millisecond, time.Second)
	q := newQueue("hanging", limiter, newTurns(func(s string) place { return place{asks: s[:1]} }, c))
	var mu sync.Mutex
	done, under := map[string]int{}, map[string]bool{}
	mend := make(chan struct{})
	var wg sync.WaitGroup
	work := func(item string) {
		defer q.Done(item)
		defer func() { _ = recover() }() // As the controller does.
		mu.Lock()
		twice := under[item]
		under[item] = true
		mu.Unlock()
		if twice {
			t.Errorf("%s twice at once", item)
		}
		answered := c.asks(item)
		if item[0] == 'h' {
			<-mend
		}
		mu.Lock()
		delete(under, item)
		done[item]++
		mu.Unlock()
		if strings.HasSuffix(item, "7") {
			panic("its call has no end")
		}
		answered(nil)
	}
	for range workers {
		wg.Go(func() {
			for {
				item, shutdown := q.Get()
				if shutdown {
					return
				}
				work(item)
			}
		})
	}
	until := func(what string, n int) {
		t.Helper()
		for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
			mu.Lock()
			got := len(done)
			mu.Unlock()
			if got == n {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%s: %d are done, want %d", what, got, n)
			}
		}
	}
	for i := range each {
		q.Add(fmt.Sprintf("h%d", i))
	}
	for i := range each {
		q.Add(fmt.Sprintf("g%d", i))
	}
	until("while one hangs", each)
	q.AddRateLimited("g0")
	q.Add("g1")
	close(mend)
	until("after it has answered", 2*each)
	q.ShutDown()
	wg.Wait()
	if got := q.Len(); got != 0 {
		t.Errorf("%d are left", got)
	}
	if n := len(c.whom); n != 0 {
		t.Errorf("%d are under way for ever", n)
	}
}

// TestQueueByTime: what may go by time alone does, though nothing else happens: all others hang.
func TestQueueByTime(t *testing.T) {
	c := newCrowd[string](8)
	var mu sync.Mutex
	now := time.Now()
	pass := func(d time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(d)
	}
	c.now = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Millisecond, time.Second)
	q := newQueue("by-time", limiter, newTurns(func(s string) place { return place{asks: s[:1]} }, c))
	defer q.ShutDown()
	for _, item := range []string{"h1", "g1", "a1"} {
		q.Add(item)
		if got, _ := q.Get(); got != item {
			t.Fatalf("%s goes, want %s", got, item)
		}
		answered := c.asks(item)
		pass(longCall + time.Second)
		if item == "a1" {
			answered(nil)
			q.Done(item)
		}
	}
	q.Add("a2")
	got := make(chan string)
	go func() {
		item, _ := q.Get()
		got <- item
	}()
	select {
	case item := <-got:
		t.Fatalf("%s goes, though others who are slow have all that these may have", item)
	case <-time.After(100 * time.Millisecond):
	}
	pass(slowFor)
	select {
	case item := <-got:
		if item != "a2" {
			t.Errorf("%s goes", item)
		}
	case <-time.After(10 * time.Second):
		t.Error("it waits for ever")
	}
}

// TestGetIsNotTheEnd: a worker goes on where what could be taken out can't be any more by the time that it's taken.
func TestGetIsNotTheEnd(t *testing.T) {
	c := newCrowd[string](8)
	start := time.Now()
	var mu sync.Mutex
	now, jump := start, 0
	c.now = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		jump--
		if jump == 0 {
			now = now.Add(longCall + time.Second)
		}
		return now
	}
	c.begin("a/old", "a")
	c.asks("a/old")(nil)
	q := newQueue("end", workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Millisecond, time.Second),
		newTurns(func(string) place { return place{asks: "a"} }, c))
	defer q.ShutDown()
	for _, item := range []string{"a/1", "a/2"} {
		c.begin(item, "a")
		c.asks(item)
	}
	q.Add("a/new")
	mu.Lock()
	jump = 2
	mu.Unlock()
	got := make(chan bool, 1)
	go func() {
		_, shutdown := q.Get()
		got <- shutdown
	}()
	select {
	case shutdown := <-got:
		if shutdown {
			t.Error("the worker is told that the queue shuts down")
		}
	case <-time.After(200 * time.Millisecond): // It waits.
	}
}
