package session

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/util/flowcontrol"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestNoMoreAtOnce: where a hall asks at once, so many changes ask the API that these end in time; the others wait, and who gives up isn't told that it's their number.
func TestNoMoreAtOnce(t *testing.T) {
	const all = 2 * atOnce
	var rs []Record
	for i := range all {
		r := granted()
		r.Name.Name = strconv.Itoa(i)
		rs = append(rs, r)
	}
	api := newAPI(rs...)
	asking, tooMany, goOn := atomic.Int64{}, atomic.Bool{}, make(chan struct{})
	api.before = func(Record) error {
		if n := asking.Add(1); n > atOnce {
			tooMany.Store(true)
		}
		<-goOn
		asking.Add(-1)
		return nil
	}
	m := bootd(t, api, "a", t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	errs := make(chan error, all)
	for i := range all {
		go func() {
			errs <- m.change(ctx, boot.Name{Namespace: "team", Name: strconv.Itoa(i)}, func(r Record) (Record, error) {
				r.Progress.Stage = boot.StageScript
				return r, nil
			}, noLoss)
		}()
	}
	for asking.Load() < atOnce {
		time.Sleep(time.Millisecond)
	}
	cancel()
	for range all - atOnce {
		if err := <-errs; !errors.Is(err, context.Canceled) {
			t.Errorf("who gives up before its turn is told %v", err)
		}
	}
	close(goOn)
	for range atOnce {
		if err := <-errs; errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	if tooMany.Load() {
		t.Errorf("more than %d asked at once", atOnce)
	}
}

// limited is an API that is asked as often as bootd asks one: each request waits for its turn.
type limited struct {
	*api

	turns flowcontrol.RateLimiter
}

func (l limited) Get(ctx context.Context, n boot.Name) (Record, error) {
	if err := l.turns.Wait(ctx); err != nil {
		return Record{}, err
	}
	return l.api.Get(ctx, n)
}

func (l limited) Update(ctx context.Context, r Record) (Record, error) {
	if err := l.turns.Wait(ctx); err != nil {
		return Record{}, err
	}
	return l.api.Update(ctx, r)
}

// TestAHallAtOnce: of four thousand machines that ask at once, and again in a moment, as many are written down as two requests for each allow, and
// whoever isn't is told that it's their number.
func TestAHallAtOnce(t *testing.T) {
	const all, qps, burst, lasts, again = 4000, 200, 400, 20 * time.Second, 2 * time.Second
	var rs []Record
	for i := range all {
		r := granted()
		r.Name.Name = strconv.Itoa(i)
		rs = append(rs, r)
	}
	synctest.Test(t, func(t *testing.T) {
		m := bootd(t, limited{newAPI(rs...), flowcontrol.NewTokenBucketRateLimiter(qps, burst)}, "a", t.TempDir())
		var done atomic.Int64
		var wg sync.WaitGroup
		for i := range all {
			wg.Go(func() {
				for began := time.Now(); time.Since(began) < lasts; time.Sleep(again) {
					err := m.change(t.Context(), boot.Name{Namespace: "team", Name: strconv.Itoa(i)}, func(r Record) (Record, error) {
						r.Progress.Stage = boot.StageScript
						return r, nil
					}, noLoss)
					if err == nil {
						done.Add(1)
						return
					}
					if !errors.Is(err, ErrBusy) {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if n, most := done.Load(), (burst+qps*int64(lasts/time.Second))/2; n < most*9/10 {
			t.Errorf("%d of %d are written", n, most)
		}
	})
}
