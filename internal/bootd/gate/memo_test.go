package gate

import (
	"slices"
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

// TestMemosBeside: what was made for a plan is found beside it, and goes over to another state by its machine.
func TestMemosBeside(t *testing.T) {
	g := New(Options{})
	plan := boot.Plan{EntryUID: "entry", Entry: boot.Name{Namespace: "team", Name: "web"}, MACs: []boot.MAC{"52:54:00:00:00:01"}, Mode: boot.ModeLive}
	k := boot.KeyOf("entry")
	in := func(p boot.Plan) *Memo {
		noted, ok := boot.NewState(nil, []boot.Plan{p}, nil).Noted(k)
		if !ok {
			t.Fatal("the plan isn't served")
		}
		first := g.memos.beside(k, noted)
		if g.memos.beside(k, noted) != first || noted.Note.Load() != any(first) {
			t.Error("it's noted beside the plan")
		}
		return first
	}
	first := in(plan)
	if first.Entry != "team/web" || first.MAC != "52:54:00:00:00:01" || first.live != LiveID(&plan) {
		t.Errorf("%+v", first)
	}
	other := plan
	other.Hostname = "other"
	if m := in(other); m == first || m.live != LiveID(&other) {
		t.Error("another plan has its own")
	}
	if m := in(boot.Plan{EntryUID: "entry", Mode: boot.ModeInstall}); m.live != "" || m.MAC != "" {
		t.Errorf("an install has no id of a live boot, and no NIC no MAC: %+v", m)
	}
}

// TestMemosGoOn: who asks in each state is remembered, also where several states have its plan as it was made once.
func TestMemosGoOn(t *testing.T) {
	g := New(Options{})
	st := boot.NewState(nil, []boot.Plan{{EntryUID: "entry", Mode: boot.ModeLive}}, nil)
	memo := func() *Memo {
		noted, _ := st.Noted(boot.KeyOf("entry"))
		return g.memos.beside(boot.KeyOf("entry"), noted)
	}
	first := memo()
	for i := range 3 {
		st, _ = st.With([]*boot.Plan{{EntryUID: "late" + strconv.Itoa(i)}})
		g.Renewed()
		if memo() != first {
			t.Fatal("it isn't beside its plan")
		}
	}
	g.Renewed()
	if st = boot.PackedState(nil, st.Packed(), nil); memo() != first {
		t.Error("it's forgotten")
	}
}

func TestLately(t *testing.T) {
	l := lately{at: map[load]time.Time{}}
	p := &boot.Plan{Artifacts: []boot.Artifacts{{Arch: boot.AMD64}, {Arch: boot.ARM64}}}
	changed := &boot.Plan{Artifacts: slices.Clone(p.Artifacts)}
	same := *p
	now, a, pi := time.Now(), boot.Firmware{Kind: boot.FirmwareUEFI, Arch: boot.ARM64}, boot.Firmware{Kind: boot.FirmwareRaspberryPi, Arch: boot.ARM64}
	x := loadOf(p, a)
	l.saw(x, now)
	cases := map[string]struct {
		reason string
		a      load
		at     time.Time
		want   bool
	}{
		"Now":    {reason: "it was there a moment ago", a: x, at: now, want: true},
		"Soon":   {reason: "for a moment that counts", a: x, at: now.Add(still - 1), want: true},
		"Later":  {reason: "not for longer", a: x, at: now.Add(still)},
		"Before": {reason: "a clock that's put back makes no file be there", a: x, at: now.Add(-time.Hour)},
		"Same":   {reason: "a plan of the same shape has the same files", a: loadOf(&same, a), at: now, want: true},
		"Other":  {reason: "another plan's are others", a: loadOf(changed, a), at: now},
		"Arch":   {reason: "so are those of another architecture", a: loadOf(p, boot.Firmware{Kind: boot.FirmwareUEFI, Arch: boot.AMD64}), at: now},
		"Pi":     {reason: "a Raspberry Pi loads more", a: loadOf(p, pi), at: now},
		"None":   {reason: "what boots no file waits for none", a: loadOf(p, boot.Firmware{}), at: now},
	}
	for name, tc := range cases {
		if got := l.there(tc.a, tc.at); got != tc.want {
			t.Errorf("%s: %s\nthere(...) = %t", name, tc.reason, got)
		}
	}
	for i := range 2 * maxLately {
		l.saw(load{pi: i%2 > 0, files: &boot.Artifacts{}}, now)
	}
	if len(l.at) > maxLately {
		t.Errorf("%d boots are remembered", len(l.at))
	}
}
