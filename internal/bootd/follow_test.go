package bootd

import (
	"errors"
	"log/slog"
	"net"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFollow: a socket hears whatever interface has the name that it was told, however often that is made anew.
func TestFollow(t *testing.T) {
	type look struct {
		index int // 0: there's none.
		fails error
	}
	type want struct {
		bound  int
		closed bool
	}
	cases := map[string]struct {
		reason string
		looks  []look
		want   want
	}{
		"Same":    {reason: "nothing is bound while nothing changes", looks: []look{{index: 3}, {index: 3}}},
		"Gone":    {reason: "one that is gone can't be heard", looks: []look{{}, {}}},
		"Back":    {reason: "the same one may come back", looks: []look{{}, {index: 3}}},
		"Anew":    {reason: "one that is made anew is heard", looks: []look{{}, {index: 4}, {index: 4}}, want: want{bound: 1}},
		"Between": {reason: "it may be made anew between two looks", looks: []look{{index: 4}, {index: 4}}, want: want{bound: 1}},
		"Twice":   {reason: "as often as that happens", looks: []look{{index: 4}, {}, {index: 5}}, want: want{bound: 2}},
		"Fails":   {reason: "what can't be bound is tried again", looks: []look{{index: 4, fails: errors.New("no such device")}, {index: 4}}, want: want{bound: 1}},
		"Closed":  {reason: "a closed socket hears nothing", looks: []look{{index: 4, fails: net.ErrClosed}}, want: want{closed: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var now look
			var got want
			f := follower{
				name: "eth1.7", at: 3, log: slog.New(slog.DiscardHandler),
				find: func(string) (int, error) {
					if now.index == 0 {
						return 0, errors.New("no such network interface")
					}
					return now.index, nil
				},
				bind: func(name string) error {
					if now.fails == nil && name == "eth1.7" {
						got.bound++
					}
					return now.fails
				},
			}
			for _, now = range tc.looks {
				got.closed = f.look()
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}
