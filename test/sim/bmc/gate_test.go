package bmc_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/gate"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

func target(s *bmc.Server, version string) gate.Target {
	return gate.Target{Config: settings(s), CredentialVersion: version, RequestsPerSecond: 1000}
}

// read is a harmless call.
func read(ctx context.Context, c *redfish.Client) error {
	_, err := c.System(ctx, redfish.Selector{})

	return err
}

func gates(t *testing.T) *gate.Gates {
	t.Helper()
	g := gate.New(redfish.Connect)
	t.Cleanup(func() { g.Close(context.WithoutCancel(t.Context())) })

	return g
}

func TestGateOneLoginWithWrongPassword(t *testing.T) {
	emu, _ := emulator(t, bmc.ModelInline, nil)
	g := gates(t)
	wrong := target(emu, "v1")
	wrong.Password = bmc.Secret + "-wrong"
	for range 20 {
		if err := g.Do(t.Context(), wrong, read); !redfish.IsUnauthorized(err) {
			t.Fatalf("Do(...): got %v, want unauthorized", err)
		}
	}
	if c := emu.Counters(); c.FailedLogins != 1 || c.Requests != 2 {
		t.Errorf("20 calls with a wrong password: %d failed logins in %d requests, want 1 in 2 (the root, the session)", c.FailedLogins, c.Requests)
	}
	right := target(emu, "v2")
	if err := g.Do(t.Context(), right, read); err != nil {
		t.Errorf("Do(...) with a new version of the Secret: %v", err)
	}
	if err := g.Do(t.Context(), wrong, read); !redfish.IsUnauthorized(err) {
		t.Errorf("Do(...) with the old version again: got %v, want the remembered refusal", err)
	}
	if c := emu.Counters(); c.FailedLogins != 1 {
		t.Errorf("%d failed logins, want 1", c.FailedLogins)
	}
}

func TestGateOneSession(t *testing.T) {
	emu, _ := emulator(t, bmc.ModelInline, nil)
	g := gates(t)
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			if err := g.Do(t.Context(), target(emu, "v1"), read); err != nil {
				t.Errorf("Do(...): %v", err)
			}
		})
	}
	all.Wait()
	if c := emu.Counters(); c.Logins != 1 || emu.Sessions() != 1 {
		t.Errorf("%d logins, %d sessions, want one of each", c.Logins, emu.Sessions())
	}
	g.Close(t.Context())
	if n := emu.Sessions(); n != 0 {
		t.Errorf("%d sessions left after Close", n)
	}
	if err := g.Do(t.Context(), target(emu, "v1"), read); err == nil {
		t.Error("Do(...) after Close: want an error")
	}
}

func TestGateSerial(t *testing.T) {
	emu, _ := emulator(t, bmc.ModelInline, nil)
	g := gates(t)
	busy := make(chan struct{})
	leave := make(chan struct{})
	go func() {
		_ = g.Do(t.Context(), target(emu, "v1"), func(context.Context, *redfish.Client) error {
			close(busy)
			<-leave

			return nil
		})
	}()
	<-busy
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := g.Do(ctx, target(emu, "v1"), read); err == nil {
		t.Error("Do(...) while another call is under way and the context ended: want an error")
	}
	close(leave)
	if err := g.Do(t.Context(), target(emu, "v1"), read); err != nil {
		t.Errorf("Do(...) afterwards: %v", err)
	}
}

func TestGateBreaker(t *testing.T) {
	emu, _ := emulator(t, bmc.ModelInline, nil)
	g := gates(t)
	emu.Inject(bmc.Fault{Status: http.StatusServiceUnavailable})
	for range 10 {
		if err := g.Do(t.Context(), target(emu, "v1"), read); !redfish.IsUnreachable(err) {
			t.Fatalf("Do(...): got %v, want unreachable", err)
		}
	}
	if n := emu.Counters().Requests; n != 3 {
		t.Errorf("%d requests for 10 calls to a BMC that doesn't answer, want 3: then it is left alone for a while", n)
	}
}

func TestGatePinIsTheSameSession(t *testing.T) {
	emu, _ := emulator(t, bmc.ModelInline, nil)
	g := gates(t)
	first := target(emu, "v1")
	first.TLS = redfish.TLS{Verify: redfish.VerifyTrustOnFirstUse}
	pin := ""
	if err := g.Do(t.Context(), first, func(_ context.Context, c *redfish.Client) error {
		pin = c.Pin()

		return nil
	}); err != nil {
		t.Fatal(err)
	}
	stored := first
	stored.TLS.Pins = []string{pin}
	if err := g.Do(t.Context(), stored, read); err != nil {
		t.Fatal(err)
	}
	if n := emu.Counters().Logins; n != 1 {
		t.Errorf("%d logins: a pin that was stored is the same session", n)
	}
	if err := emu.Renew(); err != nil {
		t.Fatal(err)
	}
	if err := g.Do(t.Context(), first, read); !redfish.IsUntrustedCertificate(err) {
		t.Errorf("Do(...) without the pin after another certificate: got %v, want untrusted: trust is given once", err)
	}
	if err := g.Forget(t.Context(), emu.Addr()); err != nil {
		t.Fatal(err)
	}
	if err := g.Do(t.Context(), first, read); !redfish.IsUntrustedCertificate(err) {
		t.Errorf("Do(...) after a host was deleted: got %v, want untrusted: another one may go by it", err)
	}
	g.Distrust("https://" + emu.Addr() + "/")
	g.Distrust("192.0.2.1") // Nobody was there.
	if err := g.Do(t.Context(), stored, read); !redfish.IsUntrustedCertificate(err) {
		t.Errorf("Do(...) of a host that has stored the first one: got %v, want untrusted", err)
	}
	if err := g.Do(t.Context(), first, read); err != nil {
		t.Errorf("Do(...) once no host is left: %v", err)
	}
}

// TestGatePinOfFailedLogin: a password that was sent to one certificate isn't sent to another one, though the log-in failed.
func TestGatePinOfFailedLogin(t *testing.T) {
	emu, _ := emulator(t, bmc.ModelInline, nil)
	g := gates(t)
	first := target(emu, "v1")
	first.TLS = redfish.TLS{Verify: redfish.VerifyTrustOnFirstUse}
	emu.Inject(bmc.Fault{Method: http.MethodPost, PathContains: "/Sessions", Status: http.StatusInternalServerError})
	if err := g.Do(t.Context(), first, read); err == nil {
		t.Fatal("Do(...) of a BMC that can't let us in: want an error")
	}
	emu.Heal()
	if err := emu.Renew(); err != nil {
		t.Fatal(err)
	}
	before := emu.Counters().Requests
	if err := g.Do(t.Context(), first, read); !redfish.IsUntrustedCertificate(err) || emu.Counters().Requests != before {
		t.Errorf("Do(...) after another certificate: got %v after %d requests, want untrusted after none", err, emu.Counters().Requests-before)
	}
	second := first
	second.TLS.Pins = []string{emu.CertificateSHA256()}
	if err := g.Do(t.Context(), second, read); err != nil {
		t.Errorf("Do(...) of a host whose certificate a person has pinned: %v", err)
	}
}

func TestGateForget(t *testing.T) {
	emu, _ := emulator(t, bmc.ModelInline, nil)
	g := gates(t)
	if err := g.Do(t.Context(), target(emu, "v1"), read); err != nil {
		t.Fatal(err)
	}
	if err := g.Forget(t.Context(), emu.Addr()); err != nil {
		t.Fatal(err)
	}
	if n := emu.Sessions(); n != 0 {
		t.Errorf("%d sessions left after Forget", n)
	}
	wrong := target(emu, "v2")
	wrong.Password = bmc.Secret + "-wrong"
	for range 3 {
		if err := g.Do(t.Context(), wrong, read); !redfish.IsUnauthorized(err) {
			t.Errorf("Do(...): got %v, want unauthorized", err)
		}
		if err := g.Forget(t.Context(), emu.Addr()); err != nil {
			t.Fatal(err)
		}
	}
	if n := emu.Counters().FailedLogins; n != 1 {
		t.Errorf("%d failed logins, want 1: a host made anew isn't another try", n)
	}
}

// TestGateIdle: a session that nobody uses is given back, since some hosts go without a word; the next call opens another one.
func TestGateIdle(t *testing.T) {
	const idle = 50 * time.Millisecond
	emu, _ := emulator(t, bmc.ModelInline, nil)
	g := gates(t)
	g.KeepIdle(idle)
	slow := func(ctx context.Context, c *redfish.Client) error {
		time.Sleep(3 * idle)

		return read(ctx, c)
	}
	for range 2 {
		for _, call := range []func(context.Context, *redfish.Client) error{read, slow} {
			if err := g.Do(t.Context(), target(emu, "v1"), call); err != nil {
				t.Fatalf("Do(...): %v", err)
			}
		}
		for deadline := time.Now().Add(10 * time.Second); emu.Sessions() > 0; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("a session that nobody uses is kept")
			}
		}
	}
	if c := emu.Counters(); c.FailedLogins != 0 || c.Logins < 2 {
		t.Errorf("%d logins, %d failed", c.Logins, c.FailedLogins)
	}
}
