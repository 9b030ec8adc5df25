package bmc_test

import (
	"context"
	"runtime"
	"sync"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// TestStreamsAreSmall: what is listened to takes a bounded part of memory each, the emulated BMC's own end included: two thousand are two hundred
// megabytes at most, of both.
func TestStreamsAreSmall(t *testing.T) {
	const streams, most = 200, 100 << 10
	emu, _ := emulator(t, bmc.ModelInline, nil)
	c := connect(t, settings(emu))
	used := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)

		return m.HeapAlloc + m.StackInuse
	}
	before := used()
	ctx, stop := context.WithCancel(t.Context())
	var all, open sync.WaitGroup
	open.Add(streams)
	for range streams {
		s, err := c.Stream(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() { _ = s.Listen(ctx, open.Done, func(int) {}) })
	}
	open.Wait()
	for range 50 {
		emu.Tell(uriSystem)
	}
	each := (max(used(), before) - before) / streams
	t.Logf("figure redfish_stream_memory %d bytes", each)
	if each > most {
		t.Errorf("%d bytes a stream, want %d at most", each, most)
	}
	stop()
	all.Wait()
}
