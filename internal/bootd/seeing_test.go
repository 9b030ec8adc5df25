package bootd

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/admin"
)

// explained asks a bootd that runs, which has answered a machine, by its socket.
func explained(t *testing.T, c Config) {
	t.Helper()
	e, err := admin.Explain(t.Context(), c.StateDir, admin.Query{MAC: "52:54:00:00:00:01"})
	if err != nil {
		t.Fatal(err)
	}
	last := e.LastAsked
	if last == nil || last.As != "BIOS, iPXE" || last.Answer != "OFFER" || last.Via != "relay 127.0.0.1" || !strings.Contains(last.File, "SCRIPT-TOKEN") {
		t.Errorf("last asked: %+v", last)
	}
	if e.Machine.Entry != "lab/m1" || len(e.Scripts) == 0 || e.Scripts[0].Answer != "Live" || !strings.Contains(e.Scripts[0].Text, "BOOT-TOKEN") {
		t.Errorf("%+v", e)
	}
	pcap, err := admin.Trace(t.Context(), c.StateDir, admin.Query{IP: "127.0.0.11"})
	if err != nil {
		t.Fatal(err)
	}
	const requestAndOffer = 2
	if n := bytes.Count(pcap, []byte("\x63\x82\x53\x63")); n != requestAndOffer || !bytes.Contains(pcap, []byte("/v1/boot/******")) {
		t.Errorf("%d packets: %q", n, pcap)
	}
}

func TestInstalling(t *testing.T) {
	grant, used := &boot.Grant{ID: "g"}, &boot.Consumption{GrantID: "g", Nonce: "n"}
	done, before := &boot.Result{GrantID: "g", At: time.Now()}, &boot.Result{GrantID: "f"}
	cases := map[string]struct {
		reason string
		s      boot.Session
		want   bool
	}{
		"Nothing":   {"no grant", boot.Session{}, false},
		"Granted":   {"it didn't begin", boot.Session{Grant: grant}, false},
		"Begun":     {"it did", boot.Session{Grant: grant, Consumed: used}, true},
		"Again":     {"the second one", boot.Session{Grant: grant, Consumed: used, Installed: before}, true},
		"Installed": {"it's finished", boot.Session{Grant: grant, Consumed: used, Installed: done}, false},
		"Failed":    {"it's over", boot.Session{Grant: grant, Consumed: used, Failed: done}, false},
		"Revoked":   {"nothing of it counts any more", boot.Session{Grant: grant, Consumed: used, Revocation: "r"}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := installing(tc.s); got != tc.want {
				t.Errorf("%s: %v", tc.reason, got)
			}
		})
	}
}
