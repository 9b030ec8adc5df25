package boot

import (
	"net/netip"
	"time"
)

// noon is when everything in these tests happens.
var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

func plan(change ...func(*Plan)) *Plan {
	p := &Plan{
		Entry: Name{"team-a", "web-1"}, EntryUID: "entry", HostUID: "host", Bound: true, Since: noon,
		MACs: []MAC{"52:54:00:00:00:01"}, Serial: "ABC123",
		Network: Network{Name: Name{"infra", "rack-7"}, Address: netip.MustParsePrefix("10.77.0.11/24")},
		Mode:    ModeInstall, Method: MethodDiskImage,
		Artifacts: []Artifacts{{
			Arch: AMD64, Kernel: Artifact{URL: "http://x/k", Digest: "sha256:k"}, Initrds: []Artifact{{URL: "http://x/i", Digest: "sha256:i"}},
			Image: &Image{Artifact: Artifact{URL: "http://x/d", Digest: "sha256:d"}},
		}},
		InstallGeneration: 1, Otherwise: OtherwiseLocalDisk,
	}
	for _, c := range change {
		c(p)
	}
	return p
}

func prefixes(texts ...string) (out []netip.Prefix) {
	for _, s := range texts {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}

func session(change ...func(*Session)) *Session {
	s := &Session{
		UID: "session", EntryUID: "entry", Revision: "7",
		Grant: &Grant{ID: "00000000000000a1", HostUID: "host", EntryUID: "entry", Generation: 1, PlanDigest: plan().Digest(), Expires: noon.Add(time.Hour)},
	}
	for _, c := range change {
		c(s)
	}
	return s
}

func opened(nonces ...string) func(*Session) {
	return func(s *Session) {
		s.OpenedGrantID = "00000000000000a1"
		for _, n := range nonces {
			s.Opened = append(s.Opened, Opened{Nonce: n, At: noon, By: "bootd-1"})
		}
	}
}

func consumedBy(nonce string) func(*Session) {
	return func(s *Session) {
		s.Consumed = &Consumption{
			GrantID: "00000000000000a1", HostUID: "host", EntryUID: "entry", Generation: 1,
			PlanDigest: plan().Digest(), Nonce: nonce, At: noon, By: "bootd-1",
		}
	}
}

func installed(s *Session) {
	s.Installed = &Result{GrantID: "00000000000000a1", Generation: 1, PlanDigest: plan().Digest(), At: noon}
}

func claimsOf(nonce string) Claims {
	return Claims{Kind: TokenBoot, Entry: KeyOf("entry"), GrantID: "00000000000000a1", Nonce: nonce, Expires: noon.Add(time.Hour)}
}
