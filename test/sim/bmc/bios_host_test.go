package bmc_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/redfishhost"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// biosLab is a controller and a machine with a BIOS of our own.
func biosLab(t *testing.T, full bool) treeLab {
	t.Helper()
	r := serveTree(t, withBIOS(t, full))
	l := treeLab{newLabOf(t, r.Server, r.machines["1"]), r}
	l.settle()

	return l
}

func declare(apply v1alpha1.BIOSApply, values ...string) *v1alpha1.HostBIOS {
	out := &v1alpha1.HostBIOS{Attributes: map[string]apiextv1.JSON{}, Apply: apply}
	for _, v := range values {
		name, raw, _ := strings.Cut(v, "=")
		out.Attributes[name] = apiextv1.JSON{Raw: []byte(raw)}
	}

	return out
}

func (l treeLab) declare(b *v1alpha1.HostBIOS) {
	l.t.Helper()
	l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.BIOS = b })
}

func (l treeLab) power(p v1alpha1.PowerState) {
	l.t.Helper()
	l.edit(func(h *v1alpha1.RedfishHost) {
		h.Spec.ForProvider.Power, h.Spec.ForProvider.PowerOff = p, &v1alpha1.PowerOff{Then: "Force"}
	})
	l.later(2 * time.Minute)
}

func (l treeLab) bios() [2]string { return condition(l.get(), v1alpha1.ConditionBIOSApplied) }

func (l treeLab) resetCount() int {
	n := 0
	for _, r := range l.resets() {
		n += r
	}

	return n
}

// staged is how often the BMC took attributes.
func (l treeLab) staged() int {
	n := 0
	for _, w := range l.emu.FullWrites() {
		if w.Method == http.MethodPatch && strings.Contains(strings.ToLower(w.Path), "/bios/") {
			n++
		}
	}

	return n
}

// TestBIOSNextReset stages a declared map at once, all in one write, resets
// nothing for it, and finds it in force after somebody else's reset.
func TestBIOSNextReset(t *testing.T) {
	for name, full := range map[string]bool{"Sparse": false, "Copy": true} {
		t.Run(name, func(t *testing.T) {
			l := biosLab(t, full)
			start := l.emu.Counters().Requests
			l.later(30 * time.Minute)
			idle := l.emu.Counters().Requests - start
			l.declare(declare("", `Mode="b"`, `Size="8"`))
			h := l.later(time.Minute)
			if diff := cmp.Diff([2]string{"False", "WaitingForReset"}, l.bios()); diff != "" {
				t.Errorf("BIOSApplied: -want, +got:\n%s", diff)
			}
			want := []v1alpha1.BIOSDifference{{Name: "Mode", Current: "A", Wanted: "B"}, {Name: "Size", Current: "4", Wanted: "8"}}
			if diff := cmp.Diff(want, h.Status.AtProvider.BIOS.Pending); diff != "" {
				t.Errorf("pending: -want, +got:\n%s", diff)
			}
			l.later(time.Hour)
			if l.resetCount() != 0 || l.staged() != 1 {
				t.Errorf("%d resets, %d writes; want 0, 1", l.resetCount(), l.staged())
			}
			l.power(v1alpha1.PoweredOff)
			if diff := cmp.Diff([2]string{"False", "WaitingForPowerOn"}, l.bios()); diff != "" {
				t.Errorf("BIOSApplied while it's off: -want, +got:\n%s", diff)
			}
			l.power(v1alpha1.PoweredOn)
			h = l.later(time.Minute)
			if diff := cmp.Diff([2]string{"True", "Applied"}, l.bios()); diff != "" {
				t.Errorf("BIOSApplied after a boot: -want, +got:\n%s", diff)
			}
			if got := h.Status.AtProvider.BIOS; got.AppliedDigest == "" || len(got.Pending) != 0 || got.Attributes["Mode"] != "B" {
				t.Errorf("status: %+v", got)
			}
			before := l.emu.Counters().Requests
			l.later(30 * time.Minute)
			if n := l.emu.Counters().Requests - before; n > idle+16 {
				t.Errorf("%d requests in half an hour of nothing to do, %d without a BIOS", n, idle)
			}
		})
	}
}

func TestBIOSPolicies(t *testing.T) {
	cases := map[string]struct {
		reason   string
		bios     *v1alpha1.HostBIOS
		before   func(l treeLab)
		want     [2]string
		message  string
		writes   int
		resets   int
		attempts string
	}{
		"Unknown": {
			reason: "A name that nobody has: nothing of the map is staged.", bios: declare("", `Mod="B"`, `Size=8`),
			want: [2]string{"False", "Invalid"}, message: `"Mod" isn't an attribute of this machine, nearest are "Mode"`,
		},
		"ReadOnly": {
			reason: "Read-only.", bios: declare("", `Serial="y"`),
			want: [2]string{"False", "Invalid"}, message: `"Serial" is read-only and has "x", not "y"`,
		},
		"Range": {
			reason: "Out of range.", bios: declare("", `Size=9`),
			want: [2]string{"False", "Invalid"}, message: `"Size" takes a whole number from 1 to 8, not 9`,
		},
		"Foreign": {
			reason: "Somebody else's change is staged.", bios: declare("", `Mode="B"`),
			before: func(l treeLab) {
				_ = l.emu.StageAttributes("1", map[string]any{"Size": 5})
			},
			want: [2]string{"False", "Conflict"}, message: `"Size"`,
		},
		"PowerOn": {
			reason: "Not while it's on.", bios: declare(v1alpha1.BIOSApplyNextPowerOn, `Mode="B"`),
			want: [2]string{"False", "WaitingForPowerOff"},
		},
		"NoMaintenance": {
			reason: "Not without maintenance.", bios: declare(v1alpha1.BIOSApplyMaintenance, `Mode="B"`),
			want: [2]string{"False", "WaitingForMaintenance"},
		},
		"Maintenance": {
			reason: "Staged, and reset once for it.", bios: declare(v1alpha1.BIOSApplyMaintenance, `Mode="B"`),
			before: func(l treeLab) {
				l.edit(func(h *v1alpha1.RedfishHost) {
					h.Spec.ForProvider.Maintenance = &v1alpha1.HostMaintenance{Reason: "BIOS"}
				})
			},
			want: [2]string{"True", "Applied"}, writes: 1, resets: 2,
		},
		"Reverts": {
			reason: "Firmware that knows better isn't reset again and again.", bios: declare(v1alpha1.BIOSApplyMaintenance, `Mode="B"`),
			before: func(l treeLab) {
				l.emu.KeepAttributes("Mode")
				l.edit(func(h *v1alpha1.RedfishHost) {
					h.Spec.ForProvider.Maintenance = &v1alpha1.HostMaintenance{Reason: "BIOS"}
				})
			},
			want: [2]string{"False", "GaveUp"}, message: `didn't take "Mode"`, writes: 1, resets: 2,
		},
		"Refused": {
			reason: "A BMC that refuses is asked three times.", bios: declare("", `Mode="B"`),
			before: func(l treeLab) {
				l.emu.Inject(bmc.Fault{Method: http.MethodPatch, PathContains: "Settings", Times: 100, Status: http.StatusConflict})
			},
			want: [2]string{"False", "Refused"}, message: "refused the BIOS settings 3 times", attempts: "3",
		},
		"AsItIs": {reason: "Nothing differs.", bios: declare("", `Mode="a"`, `Size=4.0`), want: [2]string{"True", "Applied"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := biosLab(t, false)
			if tc.before != nil {
				tc.before(l)
			}
			l.declare(tc.bios)
			for range 140 { // 70 minutes: longer than anything is waited for
				l.now = l.now.Add(30 * time.Second)
				_, _ = l.reconcile()
			}
			if diff := cmp.Diff(tc.want, l.bios()); diff != "" {
				t.Errorf("\n%s\nBIOSApplied: -want, +got:\n%s", tc.reason, diff)
			}
			if m := l.get().Status.GetCondition(v1alpha1.ConditionBIOSApplied).Message; !strings.Contains(m, tc.message) {
				t.Errorf("\n%s\nmessage %q, want %q in it", tc.reason, m, tc.message)
			}
			patches := 0
			for _, r := range l.emu.Requests() {
				if r.Method == http.MethodPatch {
					patches++
				}
			}
			if want := max(tc.writes, atoi(tc.attempts)); patches != want || l.resetCount() != tc.resets {
				t.Errorf("\n%s\n%d PATCHes, %d resets; want %d, %d", tc.reason, patches, l.resetCount(), want, tc.resets)
			}
			if c := l.get().Status.GetCondition(xpv2.TypeReady); c.Status != "True" {
				t.Errorf("\n%s\nReady: %v", tc.reason, c)
			}
		})
	}
}

func atoi(s string) int {
	n, _ := strconv.Atoi(s)

	return n
}

// TestBIOSCrash kills the provider at each point around each call of a
// maintenance: the map is in force at the end, and the machine was reset once.
func TestBIOSCrash(t *testing.T) {
	for _, point := range []string{redfishhost.FailpointBeforeCall, redfishhost.FailpointAfterCall} {
		for nth := 1; nth <= 3; nth++ {
			t.Run(point+"/"+strconv.Itoa(nth), func(t *testing.T) {
				l := biosLab(t, true)
				l.edit(func(h *v1alpha1.RedfishHost) {
					h.Spec.ForProvider.BIOS = declare(v1alpha1.BIOSApplyMaintenance, `Mode="B"`)
					h.Spec.ForProvider.Maintenance = &v1alpha1.HostMaintenance{Reason: "BIOS"}
				})
				seen := 0
				l.failpoint = func(at string) {
					if at == point {
						seen++
						if seen == nth {
							panic(crash{at})
						}
					}
				}
				for range 6 {
					l.now = l.now.Add(30 * time.Second)
					l.untilCrash()
				}
				l.failpoint = nil
				l.start()
				l.later(20 * time.Minute)
				if diff := cmp.Diff([2]string{"True", "Applied"}, l.bios()); diff != "" {
					t.Errorf("BIOSApplied: -want, +got:\n%s", diff)
				}
				if diff := cmp.Diff(map[string]int{"ForceOff": 1, "On": 1}, l.resets()); diff != "" {
					t.Errorf("resets: -want, +got:\n%s", diff)
				}
				if boots := len(l.m.Boots()); boots != 2 {
					t.Errorf("%d boots, want the first and one more", boots)
				}
				if seen >= nth {
					survived(t, "the provider is killed around a call of a BIOS maintenance")
				}
			})
		}
	}
}
