package session

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestRepeats: what waits, after a machine asked several times while nothing could be written.
func TestRepeats(t *testing.T) {
	script := func(second int, reason string) Sighting {
		return Sighting{Kind: SawScript, At: start().Add(time.Duration(second) * time.Second), Reason: reason}
	}
	silent := func(second int) Sighting {
		x := script(second, "Live")
		x.Silent = true
		return x
	}
	kernel := Sighting{Kind: SawKernel, At: start()}
	cases := map[string]struct {
		reason    string
		saw, want []Sighting
	}{
		"Same":    {reason: "the same answer again adds nothing", saw: []Sighting{script(1, "Live"), script(2, "Live"), script(3, "Live")}, want: []Sighting{script(1, "Live")}},
		"Other":   {reason: "another answer does", saw: []Sighting{script(1, "NotSynced"), script(2, "Live")}, want: []Sighting{script(1, "NotSynced"), script(2, "Live")}},
		"Between": {reason: "so does the same one after something else", saw: []Sighting{script(1, "Live"), kernel, script(3, "Live")}, want: []Sighting{script(1, "Live"), kernel, script(3, "Live")}},
		"Kernel":  {reason: "other signs all count", saw: []Sighting{kernel, kernel}, want: []Sighting{kernel, kernel}},
		"Silent":  {reason: "an install is told by its signs, and when each was", saw: []Sighting{silent(1), silent(2)}, want: []Sighting{silent(1), silent(2)}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := bootd(t, newAPI(granted()), "bootd", t.TempDir())
			for _, x := range tc.saw {
				m.Sight(machine(), x)
			}
			if diff := cmp.Diff(tc.want, m.waiting(machine())); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestNoSession: a machine that has none is looked up once, until there may be one.
func TestNoSession(t *testing.T) {
	nobody := boot.Name{Namespace: "team", Name: "nobody"}
	m := bootd(t, newAPI(granted()), "bootd", t.TempDir())
	now := start()
	m.o.Now = func() time.Time { return now }
	script := func(after time.Duration) Sighting { return Sighting{Kind: SawScript, At: start().Add(after)} }
	look := func() int { due, _ := m.due(now); return len(due) }
	m.Sight(nobody, script(0))
	if look() != 1 {
		t.Fatal("the first is looked up")
	}
	m.write(t.Context(), nobody)
	m.Sight(nobody, script(time.Second))
	if look() != 0 {
		t.Error("the next aren't")
	}
	m.Sight(nobody, Sighting{Kind: SawFirmwareDHCP, At: start().Add(time.Second)})
	if look() != 0 || !m.NewBoot(nobody, start()) {
		t.Error("nor is its firmware's DHCP, and when it began is known all the same")
	}
	m.Sight(nobody, Sighting{Kind: SawSystemDHCP, At: start().Add(time.Second)})
	if look() != 1 {
		t.Error("other signs are")
	}
	m.write(t.Context(), nobody)
	m.Sight(nobody, script(-time.Hour))
	if look() != 1 {
		t.Error("a clock that's put back hides nobody")
	}
	m.write(t.Context(), nobody)
	m.Sight(nobody, script(missing+time.Second))
	if look() != 1 {
		t.Error("after a while it's looked up again")
	}
	m.write(t.Context(), nobody)
	if err := m.Seen(Record{Name: nobody}); err != nil {
		t.Fatal(err)
	}
	m.Sight(nobody, script(time.Second))
	if look() != 1 {
		t.Error("a session that the watch tells of is written to at once")
	}
}

// TestNobodysSession: where all sessions are at hand a machine that has none leaves nothing behind, and one that has just come counts.
func TestNobodysSession(t *testing.T) {
	f := openFiles(t, t.TempDir(), nil)
	m := bootd(t, newAPI(), "bootd", t.TempDir())
	m.o.Store = f
	for _, k := range []Kind{SawFirmwareDHCP, SawScript, SawReport} {
		m.Sight(web, Sighting{Kind: k, At: start()})
	}
	if len(m.sighted)+len(m.unwritten)+len(m.started) > 0 {
		t.Errorf("%d, %d and %d are kept of nobody", len(m.sighted), len(m.unwritten), len(m.started))
	}
	r, err := f.Create(web, "entry", "uid")
	if err != nil {
		t.Fatal(err)
	}
	m.Sight(web, Sighting{Kind: SawFirmwareDHCP, At: start().Add(time.Second)})
	m.write(t.Context(), web)
	if now, _ := f.Find(web); now.Session.Revision == r.Session.Revision || !m.NewBoot(web, start()) {
		t.Errorf("its boot isn't noted: %+v", now)
	}
}
