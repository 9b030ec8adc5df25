package redfishhost

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// begunByOEM is a journal in which a boot for once by the vendor's own way was begun.
func begunByOEM(attempts int) *journal {
	a := bootAct(view{}, actSetBootOnce, v1alpha1.BootSource{Target: v1alpha1.BootTargetPxe}, 1)
	a.State, a.Time, a.Power, a.LastReset, a.Attempts = begun, t0, redfish.PowerOn, t0.Add(-time.Hour), attempts
	a.Rung, a.Option = string(redfish.RungOEM), "/own\nNormal\nDisabled"

	return &journal{Act: &a}
}

// TestOwnSettingThatMayBeThere: what may have been set by the vendor's own way is put back, whatever became of the act, and though an order is
// declared; an override that is seen meanwhile isn't it.
func TestOwnSettingThatMayBeThere(t *testing.T) {
	want := moved{Was: []string{"Normal", "Disabled"}, First: "Pxe", Resource: "/own", Power: redfish.PowerOn, LastReset: t0.Add(-time.Hour)}
	w, s := wishBoot(1, false), sight(redfish.PowerOn)
	off := w
	off.power = v1alpha1.PoweredOff
	st := next(off, begunByOEM(1), s, t1)
	if st.do != actGracefulOff || st.journal.Boot.Moved == nil {
		t.Fatalf("off is wanted meanwhile: got %+v", short(st))
	}
	if diff := cmp.Diff(want, *st.journal.Boot.Moved); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if st := next(w, begunByOEM(1), shownAs(redfish.PowerOn, "Pxe", redfish.EnabledOnce), t1); st.journal != nil && st.journal.BootOnce == 1 {
		t.Errorf("an override of somebody else's is taken for it: %+v", short(st))
	}
	st = next(w, begunByOEM(3), s, t4)
	if st.journal == nil || st.journal.Boot.Moved == nil {
		t.Fatalf("given up: got %+v", short(st))
	}
	back := next(w, st.journal, s, t4)
	if back.do != actPutBack {
		t.Fatalf("it isn't put back: got %+v", short(back))
	}
	if a := back.journal.Act; !a.byOEM() || a.Target != "Pxe" || !cmp.Equal(a.oem(), redfish.OEMPlan{Resource: "/own", Was: want.Was}) {
		t.Errorf("it's put back by %+v", a)
	}
	declared := wishBoot(0, false, "Hdd")
	if st := following(view{
		want: declared, j: &journal{Boot: boots{Moved: &want, Order: &ordered{Wish: digest("Hdd"), First: []string{"a"}}}},
		seen: shownAs(redfish.PowerOn, "", "", "a", "b"), now: t1, lap: func(act) lap { return lap{ours: true} },
	}); st.do != actPutBack {
		t.Errorf("with a declared order it isn't put back: %+v", short(st))
	}
}
