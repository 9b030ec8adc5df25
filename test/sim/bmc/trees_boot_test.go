package bmc_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// found is the System of a tree with an id; of a capture without a list of
// Systems it's read by its URI.
func found(t *testing.T, c *redfish.Client, r *rig, id string) redfish.System {
	t.Helper()
	s, err := c.System(t.Context(), redfish.Selector{ID: id})
	if redfish.IsNotFound(err) {
		s, err = c.SystemAt(t.Context(), r.SystemURI(id))
	}
	if err != nil {
		t.Fatalf("System(%q): %v", id, err)
	}

	return s
}

// sources are boot sources that a machine may be told, with those that its own
// boot options make.
func sources(r *rig, id string) []redfish.BootSource {
	var out []redfish.BootSource
	for _, target := range []string{"Pxe", "UefiHttp", "Hdd", "Cd", "BiosSetup"} {
		out = append(out, redfish.BootSource{Target: target}, redfish.BootSource{Target: target, Lasting: true})
	}
	out = append(out, redfish.BootSource{Target: "UefiHttp", URI: "http://192.0.2.1/a.efi"}, redfish.BootSource{Target: redfish.TargetBootOption, Option: "Boot9999"})
	for i, o := range r.BootOptions(id) {
		if i < 3 {
			out = append(out, redfish.BootSource{Target: redfish.TargetBootOption, Option: o.Reference})
		}
		if i < 3 && o.DevicePath != "" {
			out = append(out, redfish.BootSource{Target: "UefiTarget", DevicePath: o.DevicePath})
		}
	}

	return out
}

// TestTreesBootSources tells the host of every tree every boot source: by whatever
// rung, it boots that; or it's refused without a write, with what there is instead.
func TestTreesBootSources(t *testing.T) {
	for name, dir := range captured(t) {
		for _, id := range systemsOf(t, dir) {
			t.Run(name+"/"+id, func(t *testing.T) {
				for _, want := range sources(serve(t, dir), id) {
					r := serve(t, dir)
					c := connect(t, settings(r.Server))
					via, err := c.SetBoot(t.Context(), found(t, c, r, id), want)
					wrote := r.FullWrites()
					for _, w := range wrote {
						if !strings.HasPrefix(strings.ToLower(w.Path), strings.ToLower(strings.TrimRight(r.SystemURI(id), "/"))) {
							t.Errorf("%+v: another System was written to: %v", want, wrote)
						}
					}
					if err != nil {
						refusedSource(t, c, r, id, want, err)

						continue
					}
					t.Logf("%+v: %s at %s, %d writes; %s", want, via.Rung, via.Resource, len(wrote), via.Why)
					if got := r.NextBoot(id); !boots(r, id, want, got) {
						t.Errorf("%+v by %s: boots %q; written %v", want, via.Rung, got, wrote)
					}
				}
			})
		}
	}
}

// boots says whether what a machine boots is what it was told.
func boots(r *rig, id string, want redfish.BootSource, got bmc.BootTarget) bool {
	switch want.Target {
	case "Cd":
		return got == bmc.BootCd || got == "CD/DVD"
	case redfish.TargetBootOption:
		return got == r.BootOf(id, want.Option) || got == "UefiTarget"
	case "UefiTarget":
		i := slices.IndexFunc(r.BootOptions(id), func(o bmc.BootOption) bool { return o.DevicePath == want.DevicePath })

		return got == "UefiTarget" || i >= 0 && got == r.BootOf(id, r.BootOptions(id)[i].Reference)
	default:
		return string(got) == want.Target
	}
}

// refusedSource holds what a refusal must be, and carries its fallback out.
func refusedSource(t *testing.T, c *redfish.Client, r *rig, id string, want redfish.BootSource, err error) {
	t.Helper()
	e := new(redfish.Error)
	if wrote := r.FullWrites(); !cmpAs(err, &e) || e.Kind != redfish.Unsupported || len(wrote) != 0 {
		t.Errorf("%+v: %v, having written %v", want, err, wrote)

		return
	}
	if len(e.Offers) == 0 && e.Field != "HttpBootUri" {
		t.Errorf("%+v: refused (%v) without saying what there is", want, err)
	}
	t.Logf("%+v: %v; it offers %v", want, err, e.Offers)
	if e.Fallback == nil {
		return
	}
	was := r.BootOrder(id)
	via, err := c.PutFirst(t.Context(), found(t, c, r, id), *e.Fallback)
	now := r.BootOrder(id)
	if err != nil || now[0] != e.Fallback.First || !samePlaces(was, now) {
		t.Errorf("%+v by %s: %v, order %v, was %v", want, via.Rung, err, now, was)
	}
	if first := r.BootOf(id, now[0]); want.Target != redfish.TargetBootOption && want.Target != "UefiTarget" && string(first) != want.Target {
		t.Errorf("%+v by %s: boots %q", want, via.Rung, first)
	}
	if err := c.PutBack(t.Context(), found(t, c, r, id), *e.Fallback); err != nil {
		t.Errorf("PutBack: %v", err)
	}
	if diff := cmp.Diff(was, r.BootOrder(id)); diff != "" {
		t.Errorf("%+v: the order, -before, +after:\n%s", want, diff)
	}
}

// samePlaces says whether two orders have the same entries.
func samePlaces(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)

	return slices.Equal(a, b)
}

// TestTreesOrder declares boot orders for the host of every tree: nothing is
// dropped, and what it doesn't have is refused without a write.
func TestTreesOrder(t *testing.T) {
	for name, dir := range captured(t) {
		for _, id := range systemsOf(t, dir) {
			t.Run(name+"/"+id, func(t *testing.T) {
				was := serve(t, dir).BootOrder(id)
				orders := [][]string{{"Hdd"}, {"Pxe", "Hdd"}, {"Boot9999"}}
				if len(was) > 0 {
					orders = append(orders, []string{was[len(was)-1]}, []string{strings.ToLower(was[len(was)/2]), was[0]})
				}
				for _, want := range orders {
					r := serve(t, dir)
					c := connect(t, settings(r.Server))
					via, err := c.SetBootOrder(t.Context(), found(t, c, r, id), want)
					now := r.BootOrder(id)
					switch {
					case !samePlaces(was, now):
						t.Errorf("%v: the order had %v, and has %v", want, was, now)
					case redfish.IsUnsupported(err) && len(r.FullWrites()) == 0:
						t.Logf("%v: %v", want, err)
					case err != nil:
						t.Errorf("%v: %v, having written %v", want, err, r.FullWrites())
					case !slices.Equal(now[:len(via.First)], via.First) || len(via.First) == 0:
						t.Errorf("%v: the order begins with %v, want %v", want, now, via.First)
					}
				}
			})
		}
	}
}
