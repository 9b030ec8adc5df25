package gate

import (
	"strconv"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

func TestMemos(t *testing.T) {
	g := New(Options{})
	k := boot.KeyOf("entry")
	packed := boot.Pack([]*boot.Plan{{EntryUID: "entry", Mode: boot.ModeLive}}, nil)
	p := packed.Ref(0).Plan()
	of := func(p *boot.Plan) *Memo { return g.memos.of(k, boot.Pack([]*boot.Plan{p}, packed).Ref(0), p) }
	first := of(p)
	if first.live != LiveID(p) || of(p) != first {
		t.Error("what was made for a plan is made once")
	}
	g.Renewed()
	if of(p) != first {
		t.Error("a plan that another state has, too, keeps what was made for it")
	}
	other := &boot.Plan{EntryUID: "entry", Mode: boot.ModeLive, Hostname: "other"}
	if m := of(other); m == first || m.live != LiveID(other) {
		t.Error("another plan has its own")
	}
	g.Renewed()
	g.Renewed()
	if len(g.memos.now)+len(g.memos.before) != 0 {
		t.Error("who doesn't ask is forgotten with the state after the next")
	}
	install := &boot.Plan{}
	for i := range maxMemos + 10 {
		g.memos.of(boot.KeyOf(strconv.Itoa(i)), boot.RefTo(install), install)
	}
	if len(g.memos.now) > maxMemos {
		t.Errorf("%d machines are remembered", len(g.memos.now))
	}
}

func TestLately(t *testing.T) {
	l := lately{at: map[boot.Artifact]time.Time{}}
	now, a := time.Now(), boot.Artifact{URL: "http://x/a", Digest: "sha256:a"}
	l.saw(a, now)
	cases := map[string]struct {
		reason string
		a      boot.Artifact
		at     time.Time
		want   bool
	}{
		"Now":    {reason: "it was there a moment ago", a: a, at: now, want: true},
		"Soon":   {reason: "for a moment that counts", a: a, at: now.Add(still - 1), want: true},
		"Later":  {reason: "not for longer", a: a, at: now.Add(still)},
		"Before": {reason: "a clock that's put back makes no file be there", a: a, at: now.Add(-time.Hour)},
		"Other":  {reason: "another file is another", a: boot.Artifact{URL: "http://x/a", Digest: "sha256:b"}, at: now},
	}
	for name, tc := range cases {
		if got := l.there(tc.a, tc.at); got != tc.want {
			t.Errorf("%s: %s\nthere(...) = %t", name, tc.reason, got)
		}
	}
	for i := range 2 * maxLately {
		l.saw(boot.Artifact{Digest: strconv.Itoa(i)}, now)
	}
	if len(l.at) > maxLately {
		t.Errorf("%d files are remembered", len(l.at))
	}
}
