package specdir

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/snapshot"
)

// large is how many machines the benchmarks have.
const large = 100_000

// hall is a folder of so many machines, as a generator writes them: one file, one line each.
func hall(tb testing.TB, machines int) string {
	tb.Helper()
	dir := tb.TempDir()
	site := `apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: BootNetwork
metadata: {namespace: lab, name: rack}
spec: {subnets: [{cidr: 10.64.0.0/14, gateway: 10.64.0.2, dns: [10.64.0.3]}]}
---
` + liveYAML
	var b bytes.Buffer
	for i := range machines {
		b.WriteString(machineJSON(i))
	}
	for name, text := range map[string][]byte{"site.yaml": []byte(site), "all.json": b.Bytes()} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}

// machineJSON is the entry of a machine of a hall, by its number.
func machineJSON(i int) string {
	return fmt.Sprintf(`{"apiVersion":"baremetal.m.crossplane.io/v1alpha1","kind":"BootEntry","metadata":{"namespace":"lab","name":"m%d"},`+
		`"spec":{"forProvider":{"machine":{"macs":["52:54:00:%02x:%02x:%02x"]},"profileRef":{"name":"live"},"install":{"generation":0},`+
		`"networks":[{"name":"boot","networkRef":{"name":"rack"},"addresses":[{"address":"10.%d.%d.%d/14"}]}]}}}`+"\n",
		i, i>>16, i>>8&255, i&255, 65+i>>16, i>>8&255, i&255)
}

// serving is a source of a folder that has published its first state.
func serving(tb testing.TB, dir string, change ...func(*Options)) *Source {
	tb.Helper()
	state := tb.TempDir()
	o := Options{Dir: dir, StateDir: state, Fresh: true, Keys: oneKey("key"), Still: time.Nanosecond, Now: time.Now, Logger: slog.New(slog.DiscardHandler)}
	for _, c := range change {
		c(&o)
	}
	s, err := Open(o)
	if err != nil {
		tb.Fatal(err)
	}
	l, err := session.OpenLog(filepath.Join(state, "consumed.log"))
	if err != nil {
		tb.Fatal(err)
	}
	s.Use(session.New(session.Options{Store: s.Store(), Log: l, Name: "b", Now: o.Now, Logger: o.Logger}), nil)
	tb.Cleanup(func() {
		s.site.close()
		_ = l.Close()
	})
	s.resume(tb.Context())
	s.look()
	s.turn()
	s.folder.shed()
	return s
}

// BenchmarkStart is a start without a snapshot, until the first state is there. What's resident then, and once what it took is given back, are its figures, too.
func BenchmarkStart(b *testing.B) {
	dir := hall(b, large)
	var s *Source
	for b.Loop() {
		if s != nil {
			s.site.close() // It's of one bootd alone.
		}
		s = serving(b, dir)
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.HeapAlloc)/1e6, "MB-live")
	runtime.KeepAlive(s)
}

// BenchmarkResume is a start from a snapshot of a folder that hasn't changed, once the snapshot was read, until the folder's state is there.
func BenchmarkResume(b *testing.B) {
	dir, state := hall(b, large), snapshot.In(b.TempDir())
	text := ""
	s := serving(b, dir, func(o *Options) { o.Keep = func(_ *boot.State, t []byte) { text = string(t) } })
	s.keep(0)
	state.Offer(s.State(), nil)
	ctx, cancel := context.WithCancel(b.Context())
	cancel()
	if err := state.Run(ctx, slog.New(slog.DiscardHandler)); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		b.StopTimer()
		s.site.close()
		before, _, err := state.Load()
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		s = serving(b, dir, func(o *Options) { o.Before, o.Kept = before, func() (string, error) { return text, nil } })
		if s.State() != before {
			b.Fatal("it was read anew")
		}
	}
	b.ReportMetric(float64(len(text))/1e6, "MB-kept")
}

// BenchmarkAdd is how long one more machine takes, from when its file is there until it's served.
func BenchmarkAdd(b *testing.B) {
	dir := hall(b, large)
	s := serving(b, dir)
	i := large
	for b.Loop() {
		b.StopTimer()
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("m%d.json", i)), []byte(machineJSON(i)), 0o600); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		s.look()
		s.turn()
		if _, ok := s.State().ByMAC(boot.MAC(fmt.Sprintf("52:54:00:%02x:%02x:%02x", i>>16, i>>8&255, i&255))); !ok {
			b.Fatal("it isn't served")
		}
		i++
	}
}
