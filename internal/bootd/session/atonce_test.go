package session

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestNoMoreAtOnce: where a hall asks at once, so many changes ask the API that each of them ends in time; the others are told that it's their number.
func TestNoMoreAtOnce(t *testing.T) {
	const all = 2 * atOnce
	var rs []Record
	for i := range all {
		r := granted()
		r.Name.Name = strconv.Itoa(i)
		rs = append(rs, r)
	}
	api := newAPI(rs...)
	asking, most, goOn := atomic.Int64{}, atomic.Int64{}, make(chan struct{})
	api.before = func(Record) error {
		if n := asking.Add(1); n > most.Load() {
			most.Store(n)
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
		if err := <-errs; !errors.Is(err, ErrBusy) {
			t.Errorf("who hasn't its turn is told %v", err)
		}
	}
	close(goOn)
	for range atOnce {
		if err := <-errs; errors.Is(err, ErrBusy) {
			t.Error(err)
		}
	}
	if most.Load() != atOnce {
		t.Errorf("%d asked at once", most.Load())
	}
}
