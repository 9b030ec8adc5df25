package bmc_test

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// refusing makes an emulated BMC answer wrong passwords with a status.
func refusing(status int) func(*bmc.Config) {
	return func(c *bmc.Config) { c.Behaviour = &bmc.Behaviour{LoginRefusal: status} }
}

// TestWrongPasswordInOtherWords: a wrong password is tried once per version of
// the Secret, over looks and restarts. What another word than a 401 means isn't
// sure: it's tried once in a while, less and less often.
func TestWrongPasswordInOtherWords(t *testing.T) {
	const starts = 3
	for status, tries := range map[int][]int{http.StatusBadRequest: {1, 2, 2, 3}, http.StatusUnauthorized: {1, 1, 1, 1}, http.StatusForbidden: {1, 2, 2, 3}} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			emu, m := emulator(t, bmc.ModelInline, refusing(status))
			l := newLabOf(t, emu, m)
			l.password = bmc.Secret + "-wrong"
			for _, want := range tries {
				for range starts {
					l.start()
					l.settle()
					l.settle()
				}
				if n := emu.Counters().FailedLogins; n != want {
					t.Errorf("%d failed logins, want %d", n, want)
				}
				l.now = l.now.Add(20 * time.Minute)
			}
			if got := condition(l.get(), v1alpha1.ConditionReachable); got != [2]string{"False", "Unauthorized"} {
				t.Errorf("Reachable: %v", got)
			}
			l.password, l.version = bmc.DefaultPassword, "2"
			if h := l.settle(); strings.Contains(h.GetAnnotations()[v1alpha1.Group+"/refused-credential"], "@") {
				t.Error("a doubt is kept though the BMC lets us in")
			}
		})
	}
}

// TestPasswordChangedInAWalk: a walk whose session ended logs in once, and what
// is said of that is no resource's fault.
func TestPasswordChangedInAWalk(t *testing.T) {
	for _, status := range []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			emu, _ := emulator(t, bmc.ModelInline, refusing(status))
			g := gates(t)
			var w *redfish.Walk
			walk := func(ctx context.Context, c *redfish.Client) error {
				if w == nil {
					w = redfish.NewWalk(system(t, c), nil)
				}
				_, err := c.Walk(ctx, w, 2)

				return err
			}
			if err := g.Do(t.Context(), target(emu, "v1"), walk); err != nil {
				t.Fatal(err)
			}
			emu.SetPassword(bmc.Secret + "-another")
			for range 5 {
				if err := g.Do(t.Context(), target(emu, "v1"), walk); !redfish.IsUnauthorized(err) || !w.Stuck(err) {
					t.Errorf("Do(...): got %v, want unauthorized, and an end of the walk", err)
				}
			}
			if n := emu.Counters().FailedLogins; n != 1 {
				t.Errorf("%d failed logins, want 1", n)
			}
		})
	}
}

// TestOneLoginATurn: a log-in that fails in other ways is not tried again for each resource of a turn.
func TestOneLoginATurn(t *testing.T) {
	calls := map[string]func(redfish.System) func(context.Context, *redfish.Client) error{
		"Walk": func(s redfish.System) func(context.Context, *redfish.Client) error {
			return func(ctx context.Context, c *redfish.Client) error {
				_, err := c.Walk(ctx, redfish.NewWalk(s, nil), 8)

				return err
			}
		},
		"Look": func(s redfish.System) func(context.Context, *redfish.Client) error {
			return func(ctx context.Context, c *redfish.Client) error {
				_, err := c.Find(ctx, redfish.Selector{}, s.URI)

				return err
			}
		},
	}
	for name, call := range calls {
		for _, status := range []int{http.StatusInternalServerError, http.StatusNotFound} {
			t.Run(name+"/"+strconv.Itoa(status), func(t *testing.T) {
				emu, _ := emulator(t, bmc.ModelInline, nil)
				g := gates(t)
				to := target(emu, "v1")
				to.Auth = redfish.AuthSession
				var s redfish.System
				if err := g.Do(t.Context(), to, func(_ context.Context, c *redfish.Client) error {
					s = system(t, c)

					return nil
				}); err != nil {
					t.Fatal(err)
				}
				emu.ExpireSessions()
				before := posts(emu)
				emu.Inject(bmc.Fault{Method: http.MethodPost, PathContains: "/Sessions", Status: status})
				if err := g.Do(t.Context(), to, call(s)); err == nil {
					t.Error("Do(...): want an error")
				}
				if n := posts(emu) - before; n != 1 {
					t.Errorf("%d logins in one turn, want 1", n)
				}
				emu.Heal()
				if err := g.Do(t.Context(), to, call(s)); err != nil {
					t.Errorf("Do(...) once it lets us in: %v", err)
				}
			})
		}
	}
}

func posts(emu *bmc.Server) int {
	n := 0
	for _, r := range emu.Requests() {
		if r.Method == http.MethodPost {
			n++
		}
	}

	return n
}
