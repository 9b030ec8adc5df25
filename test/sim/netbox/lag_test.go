package netbox_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// TestLag: a read that lags shows what was, a write sees what is, and what is too long ago isn't kept.
func TestLag(t *testing.T) {
	now := time.Now()
	s := netbox.New(netbox.Options{Now: func() time.Time { return now }})
	s.AddToken(netbox.Token{Name: "provider", Secret: secret})
	prefix := "/api/ipam/prefixes/1/available-ips/"
	s.AddCIDR("10.77.0.0/30")
	ask := func(method, path string) (int, string) {
		r := httptest.NewRequest(method, path, http.NoBody)
		r.Header.Set("Authorization", "Token "+secret)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	const list = "/api/ipam/ip-addresses/"
	listed := func(want ...string) {
		t.Helper()
		_, body := ask(http.MethodGet, list)
		for _, a := range []string{"10.77.0.1/30", "10.77.0.2/30"} {
			if there := strings.Contains(body, `"`+a+`"`); there != strings.Contains(strings.Join(want, " "), a) {
				t.Errorf("%s listed: %v, want %v", a, there, want)
			}
		}
	}
	first := s.AddAddress(netbox.Address{Address: netip.MustParsePrefix("10.77.0.1/30")})
	s.Lag(time.Second, 1)
	if code, body := ask(http.MethodPost, prefix); code != http.StatusCreated || !strings.Contains(body, "10.77.0.2/30") {
		t.Fatalf("a write doesn't see what there is: %d %s", code, body)
	}
	listed("10.77.0.1/30")
	now = now.Add(500 * time.Millisecond)
	s.RemoveAddress(first)
	listed("10.77.0.1/30")
	now = now.Add(600 * time.Millisecond)
	listed("10.77.0.1/30", "10.77.0.2/30")
	if code, _ := ask(http.MethodGet, list+"1/"); code != http.StatusOK {
		t.Errorf("what is deleted isn't shown by a read that lags: %d", code)
	}
	if code, _ := ask(http.MethodDelete, list+"1/"); code != http.StatusNotFound {
		t.Errorf("what is deleted is there for a write: %d", code)
	}
	now = now.Add(600 * time.Millisecond)
	listed("10.77.0.2/30")
	copied, behind := s.Lagged()
	if copied != 5 || behind != 4 {
		t.Errorf("%d reads were answered from a copy, %d of them from one that was behind", copied, behind)
	}
	s.Lag(time.Second, 2)
	s.AddAddress(netbox.Address{Address: netip.MustParsePrefix("10.77.0.1/30")})
	for range 2 {
		ask(http.MethodGet, list)
	}
	if more, _ := s.Lagged(); more != copied+1 {
		t.Errorf("%d of 2 reads lag, want every other", more-copied)
	}
	s.Lag(0, 1)
	listed("10.77.0.1/30", "10.77.0.2/30")
}

// laggingLab is one whose reads don't show anything that is written from now on, until it's said that they do.
func laggingLab(t *testing.T, version string) *lab {
	t.Helper()
	l := newLab(t, version)
	l.hidden = time.Minute
	l.restart()
	l.netbox.AddMarkerField(field)
	l.netbox.Lag(time.Hour, 1)
	return l
}

// TestMadeUnseen: an address that was just made isn't lost since no read shows it, and where its resource is deleted by then, its record goes with it.
func TestMadeUnseen(t *testing.T) {
	for _, v := range versions() {
		for _, remove := range []bool{false, true} {
			t.Run(v, func(t *testing.T) {
				l := laggingLab(t, v)
				l.apply("web-1")
				l.once("web-1")
				if remove {
					l.remove()
				}
				for range 3 {
					l.once("web-1")
				}
				mg := l.get("web-1")
				if mg == nil {
					t.Fatal("it's gone")
				}
				if mg.GetCondition(xpv2.TypeReady).Reason == v1alpha1.ReasonLost || !strings.Contains(mg.GetCondition(xpv2.TypeSynced).Message, "it is looked for until ") {
					t.Fatalf("it's %+v", mg.Status.Conditions)
				}
				l.only()
				if len(l.told) != 0 {
					t.Errorf("told %q", l.told)
				}
				l.netbox.Lag(0, 1)
				if !remove {
					l.settle("web-1", ready)
					l.only()
					return
				}
				l.settle("web-1", gone)
				if all := l.netbox.Addresses(); len(all) != 0 {
					t.Errorf("left behind: %+v", all)
				}
			})
		}
	}
}

// TestLostUnseen: somebody deletes the record of an address, which is given to the next one while reads still show it. That doesn't use it.
func TestLostUnseen(t *testing.T) {
	for _, v := range versions() {
		for _, all := range []bool{true, false} {
			t.Run(v, func(t *testing.T) {
				l := newLab(t, v)
				l.hidden = time.Minute
				l.restart()
				refer := func(mg *v1alpha1.NetBoxIPAddress) {
					if all { // Else only the log tells that it's of this NetBox.
						mg.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: l.config.Kind, Name: l.config.Name}
					}
				}
				l.apply("web-1", refer)
				mg := l.settle("web-1", ready)
				meta.SetExternalCreateSucceeded(mg, time.Now().Add(-time.Hour))
				if err := l.kube.Update(t.Context(), mg); err != nil {
					t.Fatal(err)
				}
				l.netbox.Lag(time.Hour, 1)
				l.netbox.RemoveAddress(l.only().ID)
				l.apply("web-2", refer)
				for range 3 {
					l.once("web-2")
				}
				if mg := l.get("web-2"); ready(mg) || mg.Status.AtProvider.Address != "" {
					t.Errorf("it's %+v", mg.Status)
				}
				l.netbox.Lag(0, 1)
				l.now = l.now.Add(time.Minute) // What NetBox refused, as a second record of one marker, is asked for again.
				l.settle("web-1", because(v1alpha1.ReasonLost))
				if mg := l.settle("web-2", ready); mg.Status.AtProvider.Address != "10.77.0.2/29" {
					t.Errorf("the next one's is %s", mg.Status.AtProvider.Address)
				}
			})
		}
	}
}
