package redfishhost

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// TestStreamsOfOneName: a host that was made anew under its name is told of once, whoever didn't tell of the end of the one before.
func TestStreamsOfOneName(t *testing.T) {
	f := &fakeStreams{listen: func(ctx context.Context, _ func(), _ func(int)) error {
		<-ctx.Done()

		return ctx.Err()
	}}
	for name, address := range map[string]string{"Here": "10.0.0.1", "Elsewhere": "10.0.0.2"} {
		t.Run(name, func(t *testing.T) {
			l := newStreams(f, newTallies(), time.Millisecond, func(types.UID, types.NamespacedName) {})
			defer l.stop()
			anew := hostAt("a", address)
			anew.UID = "b"
			l.refresh(hostAt("a", "10.0.0.1"), targetAt("10.0.0.1", "1"))
			l.refresh(anew, targetAt(address, "1"))
			if got := len(gathered(t, l)); got != 2 {
				t.Errorf("%d series, want two", got)
			}
			if s := l.of[l.at["b"]]; name == "Here" && (len(l.at) != 1 || len(s.hosts) != 1 || s.owner != "b") {
				t.Errorf("the one before is still listened to: %v", l.at)
			}
		})
	}
}
