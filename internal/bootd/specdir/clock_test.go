package specdir

import (
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestClockJumps: a system clock that jumps by a day, forth or back, installs no machine twice, whenever it does; and one that waits for its
// install gets it.
func TestClockJumps(t *testing.T) {
	const day = 24 * time.Hour
	jumps := 0
	for _, d := range []time.Duration{day, -day} {
		for when, at := range map[string]int{"before": 0, "after": 1, "between": 2} {
			t.Run(d.String()+when, func(t *testing.T) {
				r := newRig(t, all(1))
				jump := func(n int) {
					if n == at {
						r.pass(d)
						jumps++
						r.turn()
					}
				}
				r.start()
				jump(0)
				if r.granted() == nil {
					t.Fatalf("it waits for ever\n%s", r.said.String())
				}
				r.install(true)
				jump(1)
				never := func(step string) {
					t.Helper()
					r.turn()
					if got := r.told(mac1); got != boot.AnswerLocalDisk || r.grant() != nil {
						t.Errorf("%s: an installed machine is told %s\n%s", step, got, r.said.String())
					}
				}
				never("installed")
				before := r.src.State()
				r.stop()
				if at == 2 {
					r.pass(d)
					jumps++
				}
				r.start(func(o *Options) { o.Before = before })
				never("started anew")
				r.pass(-d)
				never("and back")
				r.write("a.yaml", all(2))
				if r.granted() == nil || r.plan().InstallGeneration != 2 {
					t.Errorf("a raised generation isn't granted\n%s", r.said.String())
				}
			})
		}
	}
	t.Logf("\n| bootd: the clock jumps by a day around an install | %d | %d |", jumps, jumps)
}
