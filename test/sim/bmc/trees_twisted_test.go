package bmc_test

import (
	"flag"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// everyTwist has each property twisted in each way; otherwise one of so many is.
var everyTwist = flag.Int("every-twist", 1999, "of the twisted machines one of so many is looked at")

// TestTreesTwisted twists each property, in turn, of the machine, of what leads to it, and of one resource of each other type; and has each of the
// latter answered in other ways. A machine that can be read is, whatever something else shows, and each error is about what was asked for.
func TestTreesTwisted(t *testing.T) {
	for name, dir := range captured(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree := load(t, dir)
			emu := bmc.New(bmc.Config{Tree: tree})
			w := &twister{tree: tree, next: emu}
			srv := httptest.NewServer(w)
			t.Cleanup(srv.Close)
			c, s := w.connected(t, srv.URL, emu)
			n := 0
			next := func() bool { n++; return n%*everyTwist == 0 }
			for _, uri := range w.oneOfEach(s.URI) {
				root := strings.EqualFold(strings.Trim(uri, "/"), "redfish/v1") || strings.EqualFold(strings.Trim(uri, "/"), "redfish")
				core := strings.EqualFold(strings.TrimRight(uri, "/"), strings.TrimRight(s.URI, "/")) || strings.EqualFold(strings.TrimRight(uri, "/"), "/redfish/v1/Systems")
				look := func(what string) {
					began := time.Now()
					if root {
						w.root(t, srv.URL, what)
					} else {
						w.looks(t, c, s, core, uri+" "+what)
					}
					if took := time.Since(began); took > time.Minute {
						t.Errorf("%s %s: took %s", uri, what, took)
					}
				}
				paths(w.as(uri), 4, nil, func(path []string) {
					for _, way := range slices.Sorted(maps.Keys(twists)) {
						if body := w.as(uri); next() && twisted(body, path, twists[way]) {
							w.shows(uri, body)
							look(strings.Join(path, "/") + " " + way)
						}
					}
				})
				for _, a := range []struct {
					status int
					body   string
				}{{500, ""}, {403, "{}"}, {405, ""}, {404, "<html>"}, {410, ""}, {200, "<html>"}, {200, ""}, {200, "[]"}, {200, "null"}, {200, "{}"}, {200, "7"}, {204, ""}, {400, `{"error":"x"}`}, {501, "null"}} {
					if !root && !core && next() {
						w.answers(uri, a.status, a.body)
						look(jsonOf(a.status) + " " + a.body)
					}
				}
			}
			logIn := func(w bmc.Write) bool { return strings.Contains(w.Body, `"UserName"`) } // To wherever a root says that one does.
			if left := slices.DeleteFunc(emu.FullWrites(), logIn); len(left) != 0 {
				t.Errorf("looking wrote %v", left)
			}
		})
	}
}

// root looks at a BMC whose service root is twisted: it has the machine, or says in its own words what it lacks.
func (w *twister) root(t *testing.T, url, what string) {
	t.Helper()
	c, err := w.connect(t.Context(), url)
	if err == nil {
		defer func() { _ = c.Close(t.Context()) }()
		_, err = c.System(t.Context(), redfish.Selector{})
	}
	if redfish.IsUnauthorized(err) && strings.Contains(what, "Session") {
		return // It leads to where nobody logs in.
	}
	w.saw(t, what, err)
}

// saw is what was seen of the machine.
func (w *twister) saw(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil && slices.Contains([]redfish.Kind{"", redfish.Unauthorized, redfish.Unreachable, redfish.Invalid}, redfish.KindOf(err)) {
		t.Errorf("%s: %v", what, err)
	}
	if err != nil && !redfish.IsAmbiguous(err) {
		t.Logf("not seen: %s: %v", what, err)
	}
}

// looks goes through all that a host may want of a machine.
func (w *twister) looks(t *testing.T, c *redfish.Client, s redfish.System, core bool, what string) {
	t.Helper()
	_, err := c.System(t.Context(), redfish.Selector{})
	w.saw(t, what, err)
	now, again := c.SystemAt(t.Context(), s.URI)
	if again != nil || err != nil && !core && !redfish.IsAmbiguous(err) {
		t.Errorf("%s: %v, %v", what, err, again)

		return
	}
	c.LogExcerpt(t.Context(), now)
	for of, look := range map[string]func() error{
		"inventory": func() error {
			_, err := c.Inventory(t.Context(), now)

			return err
		},
		"BIOS": func() error {
			b, err := c.BIOS(t.Context(), now)
			if err == nil && strings.Contains(strings.ToLower(what), "bios") { // It's large.
				_, err = c.BIOSRegistry(t.Context(), b)
			}

			return err
		},
		"Secure Boot": func() error {
			_, err := c.SecureBoot(t.Context(), now)

			return err
		},
		"media": func() error {
			_, err := c.Media(t.Context(), now)

			return err
		},
		"subscriptions": func() error {
			_, err := c.Subscriptions(t.Context(), func(redfish.Subscription) bool { return true })

			return err
		},
		"traces": func() error {
			_, err := c.Trace(t.Context(), now, redfish.Traces{Chassis: true, BMC: true})

			return err
		},
		"account": func() error {
			_, err := c.Account(t.Context())

			return err
		},
	} {
		err := look()
		if err == nil || redfish.IsUnsupported(err) {
			continue
		}
		if of == "inventory" || of == "traces" || !redfish.IsOfOneResource(err) {
			t.Errorf("%s of %s: %v", of, what, err)
		}
	}
}
