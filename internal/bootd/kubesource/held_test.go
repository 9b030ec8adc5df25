package kubesource

import (
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestWhy: who waits for another bootd is told for which; who waits for nothing isn't.
func TestWhy(t *testing.T) {
	asks := func(generation, installed int64) *boot.Plan {
		p := *plan()
		p.Mode, p.InstallGeneration, p.InstalledGeneration = boot.ModeInstall, generation, installed
		return &p
	}
	for name, tc := range map[string]struct {
		reason, seen string
		plan         *boot.Plan
		want         string
	}{
		"Behind":    {"the other one hasn't seen the grant", "99", asks(1, 0), "bootd b hasn't compared its grant with its log"},
		"Synced":    {"it has", "100", asks(1, 0), ""},
		"Installed": {"nothing is to be installed", "99", asks(1, 1), ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSource(t, &log{}, &clock{now: t0()})
			listed(t, s, "100", []any{bootSession("100", "g")}, []any{bootServer("b", t0(), tc.seen)})
			beats(s)
			if got := s.Why(tc.plan); !strings.HasPrefix(got, tc.want) || tc.want == "" && got != "" {
				t.Errorf("%s: %q", tc.reason, got)
			}
		})
	}
}

// TestHeld: a grant stands while its machine's entry can't be planned anew, and nothing is installed by it. Who never had one isn't held by that.
func TestHeld(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, grant, used string
		mode                boot.Mode
		generation          int64
		want                bool
	}{
		"Kept":    {"its profile is gone since", "g", "", boot.ModeInstall, 0, true},
		"Began":   {"what has begun goes on", "g", "g", boot.ModeInstall, 0, false},
		"Planned": {"it's granted", "g", "", boot.ModeInstall, 1, false},
		"Never":   {"its entry asks for no install", "", "", boot.ModeInstall, 0, false},
		"Live":    {"it installs nothing", "g", "", boot.ModeLive, 0, false},
		"Anew":    {"its entry was made anew, and the session is of the old one", "g", "other", boot.ModeInstall, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSource(t, &log{}, &clock{now: t0()})
			b := bootSession("100", tc.grant)
			switch tc.used {
			case "other":
				b.Spec.EntryUID = tc.used
			case "g":
				b.Status.Consumed = &v1alpha1.Consumption{GrantID: tc.used}
			}
			listed(t, s, "100", []any{b}, nil)
			p := *plan()
			p.Mode, p.InstallGeneration = tc.mode, tc.generation
			if got := s.Held(&p); got != tc.want {
				t.Errorf("%s: %t", tc.reason, got)
			}
			if why := s.Why(&p); (why != "") != tc.want {
				t.Errorf("%s: who asks is told %q", tc.reason, why)
			}
		})
	}
}

// TestStands: what the watch has shown by the moment in which a use is written down counts, and not what it had shown when its machine asked.
func TestStands(t *testing.T) {
	asked := func(change func(p *boot.Plan)) boot.Plan {
		p := *plan()
		p.Mode, p.InstallGeneration, p.MACs = boot.ModeInstall, 1, []boot.MAC{"52:54:00:00:00:01"}
		if change != nil {
			change(&p)
		}
		return p
	}
	for name, tc := range map[string]struct {
		reason string
		now    []boot.Plan // nil: nothing is known yet.
		less   int64       // Of its plan's generation than 1.
		want   bool
	}{
		"Unknown":  {"the watch hasn't shown anything, and the API says", nil, 0, true},
		"Same":     {"it's as it was", []boot.Plan{asked(nil)}, 0, true},
		"Gone":     {"its entry is gone", []boot.Plan{}, 0, false},
		"Held":     {"its profile is", []boot.Plan{asked(func(p *boot.Plan) { p.InstallGeneration = 0 })}, 0, false},
		"Kept":     {"it was, when the machine asked already", []boot.Plan{asked(func(p *boot.Plan) { p.InstallGeneration = 0 })}, 1, false},
		"Raised":   {"another install is asked for", []boot.Plan{asked(func(p *boot.Plan) { p.InstallGeneration = 2 })}, 0, false},
		"Altered":  {"another system is", []boot.Plan{asked(func(p *boot.Plan) { p.CommandLine = []string{"x"} })}, 0, false},
		"Disabled": {"what it boots without one is", []boot.Plan{asked(func(p *boot.Plan) { p.Otherwise = boot.OtherwiseHold })}, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSource(t, &log{}, &clock{now: t0()})
			listed(t, s, "100", []any{bootSession("100", "g")}, nil)
			if tc.now != nil {
				s.state.Store(boot.NewState(nil, tc.now, nil))
			}
			p := asked(func(p *boot.Plan) { p.InstallGeneration -= tc.less })
			if got := s.Stands(&p); got != tc.want {
				t.Errorf("%s: %t", tc.reason, got)
			}
		})
	}
}
