package tftp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pin/tftp/v3"
)

// fetched is a client that does as little as one can.
func fetched(c *net.UDPConn, to *net.UDPAddr, window int) (int, error) {
	ask := "\x00\x01undionly.kpxe\x00octet\x00blksize\x001468\x00"
	if window > 1 {
		ask += fmt.Sprintf("windowsize\x00%d\x00", window)
	}
	if _, err := c.WriteToUDPAddrPort([]byte(ask), to.AddrPort()); err != nil {
		return 0, err
	}
	b, ack, sum, had := make([]byte, 2000), []byte{0, opACK, 0, 0}, 0, 0
	for {
		_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
		n, from, err := c.ReadFromUDPAddrPort(b)
		if err != nil {
			return sum, err
		}
		end := false
		if binary.BigEndian.Uint16(b) == opDATA {
			if binary.BigEndian.Uint16(b[2:]) != uint16(had+1) {
				continue
			}
			had, sum, end = had+1, sum+n-headerSize, n-headerSize < 1468
			if had%window != 0 && !end {
				continue
			}
		}
		binary.BigEndian.PutUint16(ack[2:], uint16(had))
		if _, err := c.WriteToUDPAddrPort(ack, from); err != nil {
			return sum, err
		}
		if end {
			return sum, nil
		}
	}
}

const mebibyte = 1 << 20

// load has some clients fetch a file of 1 MiB again and again, and says how many files a second came.
func load(b *testing.B, to *net.UDPAddr, clients, window int) {
	b.Helper()
	var all sync.WaitGroup
	files := make(chan struct{})
	for range clients {
		all.Go(func() {
			for range files {
				c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
				if err != nil {
					b.Error(err)
					continue
				}
				if n, err := fetched(c, to, window); err != nil || n != mebibyte {
					b.Errorf("%d bytes, %v", n, err)
				}
				_ = c.Close()
			}
		})
	}
	b.ResetTimer()
	for range b.N {
		files <- struct{}{}
	}
	close(files)
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "files/s")
}

// TestMain makes this program a server of its own where a benchmark asks for one: a server shares no scheduler with its clients.
func TestMain(m *testing.M) {
	which := os.Getenv(serves)
	if which == "" {
		os.Exit(m.Run())
	}
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		panic(err)
	}
	_, _ = fmt.Fprintln(os.Stdout, conn.LocalAddr())
	data := make([]byte, mebibyte)
	if which == "ours" {
		_ = New(Config{Files: Files{byName: map[string]File{BIOS: {Name: BIOS, Data: data}}}}).Serve(context.Background(), conn)
		return
	}
	srv := tftp.NewServer(func(_ string, rf io.ReaderFrom) error {
		_, err := rf.ReadFrom(bytes.NewReader(data))
		return err
	}, nil)
	srv.SetBlockSize(1468)
	_ = srv.Serve(conn)
}

const serves = "BENCHMARK_SERVES"

// another starts a server in a process of its own, on one processor.
func another(b *testing.B, which string) *net.UDPAddr {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), os.Args[0]) //nolint:gosec // It's this program.
	cmd.Env = append(os.Environ(), serves+"="+which, "GOMAXPROCS=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	to, err := net.ResolveUDPAddr("udp4", strings.TrimSpace(line))
	if err != nil {
		b.Fatal(err)
	}
	return to
}

// BenchmarkOurs is this package's own data phase, by clients and window.
func BenchmarkOurs(b *testing.B) {
	to := another(b, "ours")
	for _, clients := range []int{1, 16, 64} {
		for _, window := range []int{1, 16} {
			b.Run(fmt.Sprintf("%d/%d", clients, window), func(b *testing.B) { load(b, to, clients, window) })
		}
	}
}

// BenchmarkPin is github.com/pin/tftp, as it served before.
func BenchmarkPin(b *testing.B) {
	to := another(b, "pin")
	for _, clients := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("%d/1", clients), func(b *testing.B) { load(b, to, clients, 1) })
	}
}
