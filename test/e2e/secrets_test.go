package e2e

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/machine"
)

// An account that appears nowhere else, so that it can be looked for.
const (
	secretUser     = "oob-operator-5e7d" //nolint:gosec // Of an emulator.
	secretPassword = "bmc-password-a83c"
)

// withData makes a claim whose machine is given user data of its own, which holds a secret of the tenant's.
func (e *env) withData(name, secret string, h *lab.Host) lab.Ref {
	e.t.Helper()
	e.apply("{apiVersion: v1, kind: Secret, metadata: {namespace: «tenant», name: «name»}, stringData: {userData: «secret»}}",
		"name", name, "secret", secret)
	e.apply(nodeManifest+"  userDataSecretRef: {name: «name», key: userData}\n", "name", name, "host", h.Name)
	return e.node(name)
}

// fetch asks a bootd as a stranger on the segment would, who says that he is somebody else.
func (e *env) fetch(url, pretended string) (status int, body string) {
	e.t.Helper()
	req, err := http.NewRequestWithContext(e.t.Context(), http.MethodGet, url, http.NoBody)
	e.must(err)
	for _, header := range []string{"X-Forwarded-For", "X-Real-IP", "Forwarded"} {
		req.Header.Set(header, pretended)
	}
	res, err := http.DefaultClient.Do(req)
	e.must(err)
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	e.must(err)
	return res.StatusCode, string(b)
}

// bootToken of the last boot that installed a machine: the last element of its callback's URL.
func bootToken(h *lab.Host) string {
	callback := h.Machine.Status().Disk.Callback
	return callback[strings.LastIndex(callback, "/")+1:]
}

// bootURLs are the base of a token's URLs at each bootd: where the machine booted, and the other ones.
func (e *env) bootURLs(h *lab.Host, token string) []string {
	e.t.Helper()
	callback := h.Machine.Status().Disk.Callback
	scheme, rest, ok := strings.Cut(callback, "://")
	authority, path, _ := strings.Cut(rest, "/")
	_, port, err := net.SplitHostPort(authority)
	if !ok || err != nil {
		e.t.Fatalf("machine %s was told no callback: %q", h.Name, callback)
	}
	own := bootToken(h)
	var out []string
	for _, b := range e.Bootds {
		base := scheme + "://" + net.JoinHostPort(b.Address.String(), port) + "/" + path
		out = append(out, strings.Replace(base, own, token, 1))
	}
	return out
}

// refused fails the case unless every bootd answers a token 403 for what is one machine's alone, and says nothing in it.
func (e *env) refused(why string, h *lab.Host, token string, secrets map[string]string) {
	e.t.Helper()
	for _, base := range e.bootURLs(h, token) {
		for _, what := range []string{"user-data", "meta-data", "image"} {
			status, body := e.fetch(base+"/"+what, h.Machine.Status().Lease.Address.String())
			if status != http.StatusForbidden {
				e.t.Errorf("%s: want %s refused with 403, got %d", why, what, status)
			}
			e.silentAbout(map[string]string{what + " " + why: body}, secrets)
		}
	}
}

// TestUserDataIsTheBootsOwn holds that a machine's data is given to the holder of its boot's token alone: not to one without, not
// for a forged one, not for an earlier boot's, not after its install was reported or the machine was given back, and never another machine's.
func TestUserDataIsTheBootsOwn(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	h, other := e.newHost(), e.newHost()
	secrets := map[string]string{"the first machine's data": "data-one-d41d", "the second machine's data": "data-two-98f0"}
	written := make(chan struct{})
	for _, x := range []*lab.Host{h, other} {
		x.Machine.Inject(machine.Fault{Stage: machine.StageWritten, Action: machine.Hang, Until: written, Times: 1})
	}
	one, two := e.withData("one", "data-one-d41d", h), e.withData("two", "data-two-98f0", other)
	e.machineAt(h, machine.StageWritten)
	e.machineAt(other, machine.StageWritten)
	first, second := bootToken(h), bootToken(other)
	if first == "" || second == "" || first == second {
		t.Fatalf("want a token for each boot, got %q and %q", first, second)
	}

	for _, own := range []struct{ token, data, others string }{{first, "data-one-d41d", "data-two-98f0"}, {second, "data-two-98f0", "data-one-d41d"}} {
		for _, base := range e.bootURLs(h, own.token) {
			// The first machine's address is pretended for both: it must not matter.
			status, body := e.fetch(base+"/user-data", h.Machine.Status().Lease.Address.String())
			if status != http.StatusOK || !strings.Contains(body, own.data) || strings.Contains(body, own.others) {
				t.Errorf("want a token to give its own machine's data alone, got %d %q", status, body)
			}
		}
	}
	close(written)
	e.ready(one)
	e.ready(two)
	e.refused("with the token of a boot that has said installed", h, first, secrets)
	e.refused("with that of another one", other, second, secrets)
	flipped := []byte(first)
	flipped[20] ^= 1 // Stays base64url: letters and digits whose last bit is flipped are letters or digits, or nearly.
	e.refused("with a forged token", h, string(flipped), secrets)
	e.refused("with half of each token", h, first[:33]+second[33:], secrets)
	e.refused("with a word as token", h, "anything", secrets)
	for _, base := range e.bootURLs(h, "") {
		if status, body := e.fetch(strings.TrimSuffix(base, "/")+"/user-data", "10.77.0.9"); status == http.StatusOK {
			t.Errorf("without a token: got %d %q", status, body)
		}
	}

	e.patch(one, `{"spec":{"installGeneration":2}}`)
	e.until("the second install", func(context.Context) error {
		if s := h.Machine.Status(); s.Installs != 2 || bootToken(h) == first {
			return fmt.Errorf("%d installs", s.Installs)
		}
		return nil
	})
	e.refused("with the token of an earlier boot", h, first, secrets)
	e.deleted(two)
	e.gone(lab.Kind("BootEntry", e.Tenant, two.Name)) // That, not its claim, waits for bootd to have revoked it.
	e.refused("with the token of a machine that was given back", other, second, secrets)
	e.silentAbout(e.logs(), map[string]string{
		"a boot's token": first, "another boot's token": second, "user data": "data-one-d41d", "the other's user data": "data-two-98f0",
	})
}

// TestNothingSecretIsTold holds that neither the claim nor its events nor any log tell the BMC's address, user or password, or a
// token, whatever goes wrong with that BMC.
func TestNothingSecretIsTold(t *testing.T) {
	t.Parallel()
	o := newOwnEnv(t)
	h, err := o.AddHost(lab.HostSpec{Name: o.id})
	o.must(err)
	m, err := bmc.NewServer(bmc.Config{Username: secretUser, Password: secretPassword, Systems: []bmc.SystemConfig{{
		Model: bmc.ModelInline, Serial: h.Serial, MACs: []net.HardwareAddr{h.MAC}, Machine: h.Machine,
	}}})
	o.must(err)
	t.Cleanup(func() { _ = m.Close() })
	o.account(secretUser, secretPassword, "127.0.0.0/8")
	host := o.register(o.id, o.id, m.Addr())
	node := o.withData("discreet", "data-three-77aa", h)
	tenants := map[string]string{
		"the BMC's address": m.Addr(), "the BMC's user": secretUser, "the BMC's password": secretPassword,
		"the provider config's Secret or name": `"` + o.id + `-`, "NetBox's URL": o.NetBox.URL(), "NetBox's token": lab.NetBoxToken,
		"user data": "data-three-77aa", "the boot's token": "",
	}
	o.ready(node)
	tenants["the boot's token"] = bootToken(h)
	o.silentAbout(o.tenantReads(node), tenants)

	for _, trouble := range []struct {
		reason string
		begin  func()
	}{
		{"Unreachable", func() { o.must(m.SetDead(true)) }},
		{"Unauthorized", func() {
			m.SetPassword(secretPassword + "-changed")
			o.must(m.SetDead(false))
		}},
	} {
		trouble.begin()
		o.patch(host, fmt.Sprintf(`{"metadata":{"labels":{"nudge":%q}}}`, trouble.reason))
		o.await(node, "telling that its BMC is "+trouble.reason, lab.Because("Reachable", trouble.reason))
		o.silentAbout(o.tenantReads(node), tenants)
	}
	o.mend(secretPassword + "-changed")
	o.await(node, "reachable again", lab.Is("Reachable", "True"))
	o.deleted(node)
	delete(tenants, "the BMC's address") // The operator's own business, in the operator's own log.
	delete(tenants, "the BMC's user")
	delete(tenants, "NetBox's URL")
	o.silentAbout(o.logs(), tenants)
}
