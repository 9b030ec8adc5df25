package bmc_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

var update = flag.Bool("update", false, "write "+machinesPage+" anew, as far as this machine can")

const machinesPage = "../../../docs/redfish-machines.md"

// The tables of the page, by their headings.
const (
	tablePower    = "Power"
	tableOnce     = "One boot"
	tableLasting  = "Every boot"
	tableSettings = "Settings, images, the BMC itself"
	tableReading  = "Reading"
)

// headings of the page in their order, with what a reader must know of each.
var headings = []struct{ name, text string }{
	{tablePower, "The cells are the `ResetType`s that are sent. A reset is off and on; a restart in one is used where that isn't offered."},
	{tableOnce, "`boot.once`. The cells are the rungs that [Boot](redfish.md#boot) tells of; UefiTarget and BootOption name the machine's first boot option."},
	{tableLasting, "`boot.persistent`, and an entry of the machine's own boot order that `boot.order` moves from its end to its front."},
	{tableSettings, "BIOS attributes and Secure Boot are in force after the next boot."},
	{tableReading, "A look is what each poll costs. An inventory is read beside the polls, once an hour; what isn't sent again is answered by\n" +
		"\"not modified\" from the second time on."},
}

const machinesHead = `# Machines, and what a RedfishHost can tell them

Written by ` + "`go test ./test/sim/bmc -run TestMachinesPage -update`" + `, which has every machine do everything and looks whether it
came true. The machines are emulated: models of our own (ES-…), and trees recorded from real BMCs, which take writes as their vendors do
(` + "`-partial`" + `: only a part was recorded). The same test fails where this page isn't true.

A cell says how it works; what isn't offered, or that the machine has **no** such property, is refused by condition, before anything is
written. What BMCs do differently beyond that is in [Quirks](redfish.md#quirks).
`

// page is the rows of each table, by machine.
type page map[string]map[string]string

// TestMachinesPage has every machine do everything: each act works, or is refused
// for a reason and without a write, and the page says so. Without the recorded
// trees their rows stay as they are.
func TestMachinesPage(t *testing.T) {
	made, recorded := page{}, treesIn(t, captures)
	for _, model := range bmc.Models() {
		made.add(t, string(model), "1", func(t *testing.T) *rig { t.Helper(); return ownRig(t, model) })
	}
	for name, dir := range treesIn(t, append([]string{captures}, filepath.SplitList(os.Getenv("REDFISH_TREES"))...)...) {
		ids := systemsOf(t, dir)
		for _, id := range ids {
			machine := name
			if len(ids) > 1 {
				machine += "/" + id
			}
			made.add(t, machine, id, func(t *testing.T) *rig { t.Helper(); return serve(t, dir) })
		}
	}
	b, err := os.ReadFile(machinesPage)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	on := parsePage(string(b))
	want := made.over(on, func(machine string) bool {
		tree, _, _ := strings.Cut(machine, "/")
		_, ours := recorded[tree]

		return ours
	}, len(recorded) > 0)
	if *update && !t.Failed() {
		if err := os.WriteFile(machinesPage, []byte(want.String()), 0o600); err != nil {
			t.Fatal(err)
		}

		return
	}
	if diff := cmp.Diff(strings.Split(want.String(), "\n"), strings.Split(string(b), "\n")); diff != "" {
		t.Errorf("docs/redfish-machines.md isn't what machines do; write it anew by go test ./test/sim/bmc -run TestMachinesPage -update, and commit it: -want, +got:\n%s", diff)
	}
}

// treesIn are the recorded trees of some folders, by their names.
func treesIn(t *testing.T, dirs ...string) map[string]string {
	t.Helper()
	found, err := bmc.FindTrees(dirs...)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, d := range found {
		out[filepath.Base(d)] = d
	}

	return out
}

// ownRig serves a machine of a model of ours, which is on.
func ownRig(t *testing.T, model bmc.Model) *rig {
	t.Helper()
	r := &rig{now: time.Now()}
	emu, m := emulator(t, model, func(c *bmc.Config) { c.Now = func() time.Time { return r.now } })
	_ = m.On(bmc.BootNormal)
	r.Server, r.machines = emu, map[string]*bmc.Idle{"1": m}

	return r
}

// add tries everything on one machine, each time on one that is as it was.
func (p page) add(t *testing.T, machine, id string, serve func(t *testing.T) *rig) {
	t.Helper()
	t.Run(machine, func(t *testing.T) {
		for table, columns := range tables() {
			cells, offers := []string{machine}, ""
			for _, c := range columns {
				t.Run(table+"/"+c.column, func(t *testing.T) {
					r := serve(t)
					r.later()
					cell, err := c.try(&tried{rig: r, t: t, c: connect(t, settings(r.Server)), id: id})
					if err != nil {
						cell = refusalOf(t, r, err)
					}
					e := new(redfish.Error)
					if c.tells && cmpAs(err, &e) && offers == "" {
						offers = strings.Join(e.Offers, ", ")
					}
					cells = append(cells, cell)
				})
			}
			if slices.ContainsFunc(columns, func(c trial) bool { return c.tells }) {
				cells = append(cells, offers)
			}
			if p[table] == nil {
				p[table] = map[string]string{}
			}
			p[table][machine] = line(cells)
			if os.Getenv("REDFISH_TREES") != "" {
				t.Logf("%s: %s", table, line(cells))
			}
		}
	})
}

// refusalOf is what the page says of an act that isn't possible. It must be one
// that the BMC doesn't offer, told before anything was written.
func refusalOf(t *testing.T, r *rig, err error) string {
	t.Helper()
	e := new(redfish.Error)
	switch {
	case !cmpAs(err, &e):
		t.Errorf("neither done nor refused: %v; written %v", err, r.FullWrites())
	case len(r.FullWrites()) > 0:
		t.Errorf("refused (%v) after writing %v", err, r.FullWrites())
	case e.Kind == redfish.Unsupported && len(e.Offers) > 0:
		return "not offered"
	case e.Kind == redfish.Unsupported:
		field, _, _ := strings.Cut(e.Field, " as ")

		return "no " + field
	case e.Kind == redfish.NotFound || e.Kind == redfish.NoSystem:
		return "not found"
	default:
		t.Errorf("refused as %s: %v", e.Kind, err)
	}

	return "?"
}

func line(cells []string) string {
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(c, "|", `\|`)
	}

	return "| " + strings.Join(cells, " | ") + " |"
}

// over is the page with what was made in the place of what it says. What can't
// be made here stays; what could be and wasn't is gone. Others' trees have no
// place on it.
func (p page) over(on page, ours func(machine string) bool, all bool) page {
	out := page{}
	for _, h := range headings {
		rows := map[string]string{}
		for machine, row := range on[h.name] {
			if !all && !strings.HasPrefix(machine, ownPrefix) {
				rows[machine] = row
			}
		}
		for machine, row := range p[h.name] {
			if _, known := rows[machine]; known || ours(machine) || strings.HasPrefix(machine, ownPrefix) {
				rows[machine] = row
			}
		}
		out[h.name] = rows
	}

	return out
}

// ownPrefix is that of the names of our own models.
const ownPrefix = "ES-"

// parsePage reads the rows of a page.
func parsePage(s string) page {
	out, table := page{}, ""
	for l := range strings.Lines(s) {
		l = strings.TrimSuffix(l, "\n")
		if name, ok := strings.CutPrefix(l, "## "); ok {
			table = name
			out[table] = map[string]string{}
		}
		name, _, ok := strings.Cut(strings.TrimPrefix(l, "| "), " | ")
		if ok && strings.HasPrefix(l, "| ") && name != "machine" && table != "" {
			out[table][name] = l
		}
	}

	return out
}

// String is the page as it's written: our own models first.
func (p page) String() string {
	var b strings.Builder
	b.WriteString(machinesHead)
	for _, h := range headings {
		head := []string{"machine"}
		offers := false
		for _, c := range tables()[h.name] {
			head, offers = append(head, c.column), offers || c.tells
		}
		if offers {
			head = append(head, "where that isn't all, it offers")
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n%s\n|%s\n", h.name, h.text, line(head), strings.Repeat("---|", len(head)))
		machines := slices.SortedFunc(maps.Keys(p[h.name]), func(a, b string) int {
			own := func(s string) string {
				if strings.HasPrefix(s, ownPrefix) {
					return " " + s
				}

				return s
			}

			return strings.Compare(own(a), own(b))
		})
		for _, m := range machines {
			b.WriteString(p[h.name][m] + "\n")
		}
	}

	return b.String()
}

// TestPageWithoutTrees: where recorded trees are missing their rows stay, and
// where they aren't, a row of one that is gone goes.
func TestPageWithoutTrees(t *testing.T) {
	on := page{tablePower: {"ES-1": "| ES-1 | old |", "ES-0": "| ES-0 | gone |", "tree-a": "| tree-a | kept |"}}
	made := page{tablePower: {"ES-1": "| ES-1 | new |", "theirs": "| theirs | x |"}}
	none := func(string) bool { return false }
	got := parsePage(made.over(on, none, false).String())[tablePower]
	if diff := cmp.Diff(map[string]string{"ES-1": "| ES-1 | new |", "tree-a": "| tree-a | kept |"}, got); diff != "" {
		t.Errorf("without trees: -want, +got:\n%s", diff)
	}
	got = parsePage(made.over(on, none, true).String())[tablePower]
	if diff := cmp.Diff(map[string]string{"ES-1": "| ES-1 | new |"}, got); diff != "" {
		t.Errorf("with all trees but one: -want, +got:\n%s", diff)
	}
}
