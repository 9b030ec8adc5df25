package artifacts

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestTenThousandMachines: a hall that is powered on asks for one kernel at once, before it's there. It's fetched once, and every machine
// has it.
func TestTenThousandMachines(t *testing.T) {
	const machines = 10000
	kernel := make([]byte, 1<<20)
	var asked atomic.Int32
	begin := make(chan struct{})
	url := serving(t, func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		<-begin
		_, _ = w.Write(kernel)
	})
	c := newCache(t, nil)
	a := boot.Artifact{URL: url, Digest: sum(string(kernel))}
	var waiting, got atomic.Int32
	var wg sync.WaitGroup
	var descriptors sync.Mutex // Of these a machine of the tests may have few.
	for range machines {
		wg.Go(func() {
			waiting.Add(1)
			if err := c.Await(t.Context(), a); err != nil {
				t.Error(err)
				return
			}
			descriptors.Lock()
			defer descriptors.Unlock()
			f, sent, err := c.Open(a)
			if err != nil {
				t.Error(err)
				return
			}
			defer sent()
			if i, err := f.Stat(); err == nil && i.Size() == int64(len(kernel)) {
				got.Add(1)
			}
			_ = f.Close()
		})
	}
	for end := time.Now().Add(30 * time.Second); waiting.Load() < machines && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	close(begin)
	wg.Wait()
	if asked.Load() != 1 || got.Load() != machines {
		t.Errorf("fetched %d times, %d machines have it", asked.Load(), got.Load())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := c.kept[fileOf(a.Digest)].senders; n != 0 {
		t.Errorf("%d still send it", n)
	}
}
