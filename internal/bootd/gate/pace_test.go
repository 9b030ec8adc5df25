package gate

import (
	"strconv"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

func TestPaceIsEachMachinesOwn(t *testing.T) {
	p := paces{of: map[boot.EntryKey]*rate.Limiter{}}
	now := time.Now()
	for range liveBurst {
		if err := p.take(boot.KeyOf("a"), now); err != nil {
			t.Fatal(err)
		}
	}
	if p.take(boot.KeyOf("a"), now) == nil || p.take(boot.KeyOf("b"), now) != nil {
		t.Error("one machine's pace is none of another's")
	}
	for i := range 2 * maxPaced {
		_ = p.take(boot.KeyOf(strconv.Itoa(i)), now)
	}
	if len(p.of) > maxPaced {
		t.Errorf("%d machines are remembered", len(p.of))
	}
}
