package specdir

import "time"

const (
	// burst is how long much work goes on until others get the processor, and gasp for how long it waits then.
	burst = 2 * time.Millisecond
	gasp  = time.Millisecond
)

// A breath is taken now and then by what goes through all machines. A bootd that has just started serves what an earlier life read, and reads a
// hall's specs meanwhile: where there's one processor, Go looks for packets only when nobody works, or each 10 ms.
type breath struct{ since time.Time }

func (b *breath) take() {
	now := time.Now()
	switch {
	case b.since.IsZero():
		b.since = now
	case now.Sub(b.since) >= burst:
		time.Sleep(gasp)
		b.since = time.Now()
	}
}
