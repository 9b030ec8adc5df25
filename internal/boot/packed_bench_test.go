package boot

import (
	"fmt"
	"net/netip"
	"testing"
	"time"
)

// hall is so many machines of one profile, as a folder of them is resolved.
func hall(n int) []*Plan {
	all := make([]*Plan, n)
	for i := range all {
		uid := fmt.Sprintf("37c8d804-b958-559a-91cd-%012d", i)
		all[i] = &Plan{
			Entry: Name{"lab", fmt.Sprintf("m%012d", i)}, EntryUID: uid, HostUID: fmt.Sprintf("macs-%032d", i),
			MACs: []MAC{MAC(fmt.Sprintf("52:54:00:%02x:%02x:%02x", i>>16&255, i>>8&255, i&255))}, Since: noon,
			Network: Network{
				Name: Name{"lab", "rack"}, Address: netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 8),
				DNS: []netip.Addr{netip.MustParseAddr("10.0.0.2")}, Lease: time.Hour,
			},
			Mode: ModeLive, Method: MethodKernel, ProfileDigest: "sha256:p", Artifacts: []Artifacts{{Arch: AMD64, Kernel: Artifact{URL: "http://x", Digest: "sha256:x"}}},
		}
	}
	return all
}

// BenchmarkByMAC is finding a machine among many, each time another one.
func BenchmarkByMAC(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			plans := hall(n)
			st := StateOf(nil, plans, nil)
			macs := make([]MAC, n)
			for i := range macs {
				macs[i] = plans[i*7919%n].MACs[0]
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if p, ok := st.ByMAC(macs[i%n]); !ok || p.Network.Name.Name != "rack" {
					b.Fatal("it isn't found")
				}
			}
		})
	}
}

// BenchmarkState is making a state of many machines that are packed.
func BenchmarkState(b *testing.B) {
	k := Pack(hall(100_000), nil)
	for b.Loop() {
		if PackedState(nil, k, nil).Len() != k.Len() {
			b.Fatal("some are refused")
		}
	}
}

// BenchmarkPack is packing them.
func BenchmarkPack(b *testing.B) {
	plans := hall(100_000)
	for b.Loop() {
		Pack(plans, nil)
	}
}
