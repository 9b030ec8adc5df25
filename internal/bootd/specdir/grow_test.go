package specdir

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// view is what a world says, in an order.
func view(w world) world {
	w.plans, w.more = nil, nil // Compared as served.
	w.data = maps.Clone(w.data)
	maps.Copy(w.data, w.came)
	w.came, w.known, w.parts.entries, w.parts.made, w.parts.like = nil, nil, nil, nil, nil // The last is what plans share.
	return w
}

// plansOf are the plans of a world, in an order.
func plansOf(w *world) (all []*boot.Plan) {
	for _, p := range w.all() {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *boot.Plan) int { return strings.Compare(a.EntryUID, b.EntryUID) })
	return all
}

// text of plain data.
func text(x any) string {
	b, err := json.Marshal(x)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// differs says how a source that may have taken in what came alone differs from one that has resolved all of its folder.
func differs(s *Source) string {
	whole := s.folder.resolve(s.o.Node, s.before())
	opts := cmp.Options{
		cmp.AllowUnexported(world{}, parts{}), cmpopts.EquateEmpty(),
		cmp.Comparer(func(a, b boot.Plan) bool { return text(a) == text(b) }),
		cmp.Comparer(func(a, b boot.Segment) bool { return text(a) == text(b) }),
	}
	if diff := cmp.Diff(view(whole), view(s.world), opts); diff != "" {
		return diff
	}
	st := s.State()
	if diff := cmp.Diff(plansOf(&whole), plansOf(&s.world), opts); diff != "" {
		return diff
	}
	served := boot.PackedState(whole.segments, whole.plans, slices.Collect(maps.Values(st.Sessions)))
	whole.withhold(served)
	if st.Len() != served.Len() || len(st.Plans()) != st.Len() {
		return fmt.Sprintf("%d plans are served, %d should be", st.Len(), served.Len())
	}
	for _, p := range served.Plans() {
		q, ok := st.ByEntry(boot.KeyOf(p.EntryUID))
		if !ok || q.Entry != p.Entry {
			return "token of " + p.EntryUID
		}
		for _, m := range p.MACs {
			if q, ok := st.ByMAC(m); !ok || q.EntryUID != p.EntryUID {
				return "MAC " + string(m)
			}
		}
		if st.Reserved(p.Network.Address.Addr()) != served.Reserved(p.Network.Address.Addr()) {
			return "reservation of " + p.Network.Address.String()
		}
		if _, err := s.Data(context.Background(), p.UserDataSecret); (err == nil) != (p.UserDataSecret != "") {
			return fmt.Sprintf("data of %s: %v", p.Entry, err)
		}
	}
	return cmp.Diff(served.Refused, st.Refused, cmpopts.EquateEmpty())
}

// random gives documents of a file: few names, MACs and addresses, so that they're often another's, too.
func random(r *rand.Rand) string {
	const some = 200
	var docs []string
	for range 1 + r.IntN(4) {
		switch n := r.IntN(some); r.IntN(80) {
		case 0, 4, 5, 6, 7:
			docs = append(docs, strings.Replace(givenYAML, "name: m1", fmt.Sprintf("name: m%d", n), 1))
		case 1:
			docs = append(docs, networkYAML)
		case 2:
			docs = append(docs, profileYAML)
		case 3:
			docs = append(docs, entryYAML(fmt.Sprintf("m%d", n), mac1, "nowhere", 0))
		default:
			e := entryYAML(fmt.Sprintf("m%d", n), fmt.Sprintf("52:54:00:00:00:%02x", (n+r.IntN(30)/29)%some), fmt.Sprintf("10.77.0.%d", 10+n), r.IntN(2))
			switch r.IntN(12) {
			case 0:
				e = strings.Replace(e, "{name: m1, key", fmt.Sprintf("{name: m%d, key", r.IntN(some)), 1)
			case 1:
				e = strings.ReplaceAll(e, "profileRef: {name: debian}", "profileRef: {name: other}")
			}
			docs = append(docs, e)
		}
	}
	return strings.Join(docs, "---\n")
}

// TestGrowsAsResolved adds files to folders, by fixed seeds, and changes and removes some in between: what came alone is taken in as if all had been
// resolved anew.
func TestGrowsAsResolved(t *testing.T) {
	grown, whole := 0, 0
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 7)) //nolint:gosec // The same each time.
		x := newRig(t, strings.Join([]string{networkYAML, profileYAML, givenYAML}, "---\n"))
		if seed%3 == 0 {
			x.write("a.yaml", strings.Join([]string{strings.Replace(networkYAML, "gateway: 10.77.0.1", "gateway: 10.77.0.1, discoveryRanges: [{start: 10.77.0.20, end: 10.77.0.30}]", 1), profileYAML, givenYAML}, "---\n"))
		}
		x.start(func(o *Options) { o.Still = 1 << 50 })
		names := []string{}
		for step := range 25 {
			name := fmt.Sprintf("f%d.yaml", step)
			if len(names) > 0 && r.IntN(25) == 0 {
				name = names[r.IntN(len(names))]
			}
			x.write(name, random(r))
			names = append(names, name)
			version := x.src.version
			x.src.read()
			if x.src.stale {
				whole++
			} else if x.src.version != version {
				grown++
			}
			if !x.src.stale {
				if diff := differs(x.src); diff != "" {
					t.Fatalf("seed %d, step %d: %s", seed, step, diff)
				}
			}
			x.src.resolve()
			x.src.turn()
			x.src.folder.shed()
			if diff := differs(x.src); diff != "" {
				t.Fatalf("seed %d, step %d, after the turn: %s", seed, step, diff)
			}
		}
		x.stop()
	}
	if grown < 30 || whole < 10 {
		t.Errorf("%d were taken in alone, %d resolved: neither is tried", grown, whole)
	}
}

// TestWhatCameAlone says what is taken in without looking at all there is, and what isn't.
func TestWhatCameAlone(t *testing.T) {
	const mac9, at9 = "52:54:00:00:00:09", "10.77.0.19"
	cases := map[string]struct {
		reason, file, text string
		before             func(*rig)
		alone              bool
	}{
		"Entry":        {reason: "a new machine", text: entryYAML("m9", mac9, at9, 0), alone: true},
		"Install":      {reason: "it's granted once the folder has been still", text: entryYAML("m9", mac9, at9, 1), alone: true},
		"Secret":       {reason: "with what it's given", text: strings.ReplaceAll(givenYAML+"---\n"+entryYAML("m9", mac9, at9, 0), "name: m1", "name: m9"), alone: true},
		"Name":         {reason: "there already", text: entryYAML("m1", mac9, at9, 0)},
		"MAC":          {reason: "another's MAC holds the other, too", text: entryYAML("m9", mac1, at9, 0)},
		"Address":      {reason: "so does its address", text: entryYAML("m9", mac9, "10.77.0.11", 0)},
		"KnownSecret":  {reason: "what another rests on changes", text: strings.Replace(givenYAML, "cloud", "other", 1)},
		"Network":      {reason: "all rest on it", text: strings.Replace(networkYAML, "rack", "other", 1)},
		"Profile":      {reason: "all rest on it", text: strings.Replace(profileYAML, "debian", "other", 1)},
		"NoProfile":    {reason: "it isn't served, and what it wants is contested", text: strings.Replace(entryYAML("m9", mac9, at9, 0), "name: debian", "name: none", 1)},
		"Wrong":        {reason: "a file that was never right", text: "kind: BootEntry"},
		"WrongAndMore": {reason: "one of two is wrong", text: entryYAML("m9", mac9, at9, 0) + "---\nkind: BootEntry"},
		"Twice":        {reason: "one name twice", text: entryYAML("m9", mac9, at9, 0) + "---\n" + entryYAML("m9", mac9, at9, 1)},
		"TwoMACs":      {reason: "one MAC twice", text: entryYAML("m9", mac9, at9, 0) + "---\n" + entryYAML("m8", mac9, "10.77.0.18", 1)},
		"Claimed": {
			reason: "an entry that isn't served wants its MAC", text: entryYAML("m9", mac9, at9, 0),
			before: func(r *rig) {
				r.write("b.yaml", strings.Replace(entryYAML("m8", mac9, "10.77.0.18", 0), "name: debian", "name: none", 1))
			},
		},
		"Recorded": {
			reason: "its machine was installed by another entry", text: entryYAML("m9", mac1, "10.77.0.11", 1),
			before: func(r *rig) {
				r.granted()
				r.install(true)
				r.write("a.yaml", strings.Join([]string{networkYAML, profileYAML, givenYAML}, "---\n"))
			},
		},
		"Blind": {
			reason: "nothing is installed on any machine", text: entryYAML("m9", mac9, at9, 0),
			before: func(r *rig) { r.write("b.yaml", "kind: [") },
		},
		"Emptied": {
			reason: "by a shell, which makes it empty first, also soon after a start", file: "n.yaml", text: entryYAML("m9", mac9, at9, 0), alone: true,
			before: func(r *rig) {
				r.restart(nil, func(o *Options) { o.Still = time.Minute })
				r.write("n.yaml", "")
			},
		},
		"Longer":  {reason: "behind what stood in a file", file: "a.yaml", text: all(1) + "---\n" + entryYAML("m9", mac9, at9, 0), alone: true},
		"Changed": {reason: "what stood in it is another", file: "a.yaml", text: all(2) + "---\n" + entryYAML("m9", mac9, at9, 0)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, all(1))
			r.start()
			if tc.before != nil {
				tc.before(r)
				r.turn()
			}
			file := tc.file
			if file == "" {
				file = "z.yaml"
			}
			r.write(file, tc.text)
			r.src.read()
			if r.src.stale == tc.alone {
				t.Errorf("%s: taken in alone: %t, want %t", tc.reason, !r.src.stale, tc.alone)
			}
			if p, ok := r.src.State().ByMAC(mac9); tc.alone && (!ok || r.src.Synced(p)) {
				t.Errorf("%s: it's served at once, and installed later: %v", tc.reason, p)
			}
			if tc.alone {
				if diff := differs(r.src); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}
