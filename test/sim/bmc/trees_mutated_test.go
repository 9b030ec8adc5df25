package bmc_test

import (
	"errors"
	"flag"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// mutations are how many machines are made of each captured one that say one
// thing in another way: nobody has captures of all that are out there.
var mutations = flag.Int("mutations", 12, "machines to make of each captured one")

// mutate changes one property somewhere in a body, and says what it did.
func mutate(r *rand.Rand, body map[string]any) string {
	at, path := body, ""
	for {
		names := slices.Sorted(maps.Keys(at))
		if len(names) == 0 {
			return "nothing"
		}
		name := names[r.IntN(len(names))]
		path += "/" + name
		if inner, ok := at[name].(map[string]any); ok && len(inner) > 0 && r.IntN(4) > 0 {
			at = inner

			continue
		}

		return path + " " + twist(r, at, name)
	}
}

// twist is one of the ways in which real BMCs differ from the schema.
func twist(r *rand.Rand, o map[string]any, name string) string {
	v := o[name]
	ways := map[string]func(){
		"missing":    func() { delete(o, name) },
		"null":       func() { o[name] = nil },
		"in a list":  func() { o[name] = []any{v} },
		"a number":   func() { o[name] = 17 },
		"a word":     func() { o[name] = "Not Available" },
		"empty":      func() { o[name] = "" },
		"long":       func() { o[name] = strings.Repeat("x", 100_000) },
		"an object":  func() { o[name] = map[string]any{"Value": v} },
		"lower case": func() { delete(o, name); o[strings.ToLower(name)] = v },
		"padded": func() {
			if s, ok := v.(string); ok {
				o[name] = " " + s + " "
			}
		},
		"unlisted": func() {
			if list, ok := v.([]any); ok && len(list) > 0 {
				o[name] = list[0]
			}
		},
		"with null in it": func() {
			if list, ok := v.([]any); ok {
				o[name] = append([]any{nil}, list...)
			}
		},
	}
	way := slices.Sorted(maps.Keys(ways))[r.IntN(len(ways))]
	ways[way]()

	return way
}

// TestTreesMutated tells machines that say one thing in another way what every
// machine is told. Whatever they are, the client refuses in its own words or
// what it was told comes true, on the right machine.
func TestTreesMutated(t *testing.T) {
	for name, dir := range captured(t) {
		t.Run(name, func(t *testing.T) {
			tree := load(t, dir)
			seed := fnv.New64()
			_, _ = seed.Write([]byte(name))
			r := rand.New(rand.NewPCG(seed.Sum64(), 1)) //nolint:gosec // The same machines each time.
			for n := range *mutations {
				uri := hot(r, tree)
				what := ""
				odd := tree.With(uri, func(body map[string]any) { what = mutate(r, body) })
				t.Run(strconv.Itoa(n), func(t *testing.T) {
					defer func() {
						if t.Failed() {
							t.Logf("%s: %s", uri, what)
						}
					}()
					obeyOddly(t, odd, n%4 == 0)
				})
			}
		})
	}
}

// hot is a resource of a tree; mostly one that every act reads.
func hot(r *rand.Rand, tree *bmc.Tree) string {
	all := tree.Paths()
	if r.IntN(3) > 0 {
		all = slices.DeleteFunc(all, func(uri string) bool {
			return strings.Count(uri, "/") > 4 && !strings.HasSuffix(uri, "/Settings") && !strings.HasSuffix(uri, "ActionInfo") ||
				!strings.Contains(uri, "/Systems") && strings.Count(uri, "/") > 2
		})
	}

	return all[r.IntN(len(all))]
}

// obeyOddly tells the host of a tree to boot from the network and to be off.
func obeyOddly(t *testing.T, tree *bmc.Tree, inventory bool) {
	t.Helper()
	r := serveTree(t, tree)
	c, err := redfish.Connect(t.Context(), settings(r.Server))
	if redfish.IsUnauthorized(err) && r.Counters().FailedLogins == 0 {
		// A root that doesn't say where sessions are, and a guess that was wrong.
		return
	}
	isTyped(t, "Connect", err)
	if err != nil {
		return
	}
	t.Cleanup(func() { _ = c.Close(t.Context()) })
	s, err := c.System(t.Context(), redfish.Selector{})
	isTyped(t, "System", err)
	if err != nil {
		return
	}
	id := ""
	for _, known := range r.Systems() {
		if strings.EqualFold(strings.TrimRight(r.SystemURI(known), "/"), s.URI) {
			id = known
		}
	}
	if inventory {
		inv, err := c.Inventory(t.Context(), s)
		isTyped(t, "Inventory", err)
		for _, m := range inv.MACs {
			if _, ok := redfish.ParseMAC(m.Address); !ok {
				t.Errorf("MAC %q", m.Address)
			}
		}
	}
	if w := r.FullWrites(); len(w) != 0 {
		t.Errorf("looking wrote %v", w)
	}
	err = c.SetBootOnce(t.Context(), s, string(bmc.BootPxe))
	isTyped(t, "SetBootOnce", err)
	if target, enabled := r.Override(id); err == nil && (target != string(bmc.BootPxe) && target != "UefiBootNext" || enabled != "Once") {
		t.Errorf("SetBootOnce: accepted, and the override is %s %s; written %v", target, enabled, r.FullWrites())
	}
	_, err = c.Reset(t.Context(), s, redfish.ActForceOff)
	isTyped(t, "Reset", err)
	if err == nil && (id == "" || r.machines[id].Powered()) && s.Power != redfish.PowerOff {
		t.Errorf("Reset: accepted, and the machine is on; written %v", r.FullWrites())
	}
}

// isTyped wants an error to be one that a sentence can be made of.
func isTyped(t *testing.T, what string, err error) {
	t.Helper()
	var e *redfish.Error
	if err == nil {
		return
	}
	if !errors.As(err, &e) || slices.Contains([]redfish.Kind{"", redfish.Unauthorized, redfish.Unreachable, redfish.UntrustedCertificate, redfish.NotAllowed}, e.Kind) {
		t.Errorf("%s: %v, want a refusal of a fitting kind", what, err)
	}
	if len(err.Error()) > 1000 {
		t.Errorf("%s: an error of %d bytes", what, len(err.Error()))
	}
}
