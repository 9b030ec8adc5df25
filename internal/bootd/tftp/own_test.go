package tftp

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// own makes an Own of one name.
func own(name string, open func(context.Context) (Content, error)) Own {
	return func(asked string, _, _ netip.Addr) (OwnFile, bool) {
		return OwnFile{Open: open}, asked == name
	}
}

func TestOwn(t *testing.T) {
	dir := t.TempDir()
	large := bytes.Repeat([]byte("0123456789abcdef"), 100_000) // More than 1,000 blocks.
	path := filepath.Join(dir, "file")
	if err := os.WriteFile(path, large, 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		single bool
		size   int
		window int
		file   bool
		want   []byte
	}{
		"Memory":     {"what is made", false, 1024, 1, false, content()},
		"Disk":       {"what lies on a disk, as grub asks for it", false, 1024, 1, true, large},
		"Windows":    {"the same, many blocks at once", false, 1468, 16, true, large},
		"SinglePort": {"from the port that was asked, block by block", true, 1024, 1, true, large},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var done atomic.Int32
			to := served(t, func(c *Config) {
				c.SinglePort, c.Timeout = tc.single, 10*time.Second
				c.Own = own("token/x", func(context.Context) (Content, error) {
					if !tc.file {
						return Content{Name: "x", Data: tc.want}, nil
					}
					f, err := os.Open(path)
					return Content{Name: "x", File: f, Size: len(large), Done: func() { done.Add(1) }}, err
				})
			})
			c := client(t)
			oack, tid := exchange(t, c, to, fmt.Sprintf("\x00\x01/token/x\x00octet\x00tsize\x000\x00blksize\x00%d\x00windowsize\x00%d\x00", tc.size, tc.window))
			if !strings.Contains(string(oack), fmt.Sprintf("tsize\x00%d\x00", len(tc.want))) {
				t.Fatalf("%s: OACK %q", tc.reason, oack)
			}
			if got := receive(t, c, tid, tc.size, tc.window); !bytes.Equal(got, tc.want) {
				t.Errorf("%s: %d bytes came, want %d", tc.reason, len(got), len(tc.want))
			}
			for end := time.Now().Add(5 * time.Second); tc.file && done.Load() == 0; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal("its file is still held")
				}
			}
		})
	}
}

// TestOwnFails: what can't be had now makes its client ask again, whatever else is refused at once.
func TestOwnFails(t *testing.T) {
	cases := map[string]struct {
		reason string
		name   string
		open   func(context.Context) (Content, error)
		silent bool
		want   Outcome
	}{
		"Later":    {"an API that doesn't answer", "token/x", func(context.Context) (Content, error) { return Content{}, fmt.Errorf("%w: no", ErrLater) }, true, Later},
		"Refused":  {"a grant that is used", "token/x", func(context.Context) (Content, error) { return Content{}, errors.New("no") }, false, NotFound},
		"Panic":    {"a fault of ours costs one file", "token/x", func(context.Context) (Content, error) { panic("boom") }, true, Later},
		"Stranger": {"a name that was never given to anybody", "other/x", nil, false, NotFound},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			outcomes := make(chan Outcome, 8)
			to := served(t, func(c *Config) {
				c.Own, c.Observe = own("token/x", tc.open), func(o Outcome) { outcomes <- o }
			})
			c := client(t)
			if _, err := c.WriteToUDP([]byte("\x00\x01"+tc.name+"\x00octet\x00"), to); err != nil {
				t.Fatal(err)
			}
			if o := <-outcomes; o != tc.want {
				t.Errorf("%s: %s, want %s", tc.reason, o, tc.want)
			}
			_ = c.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
			b := make([]byte, 600)
			n, _, err := c.ReadFromUDP(b)
			switch {
			case tc.silent && err == nil:
				t.Errorf("%s: answered %q, want silence: it asks again", tc.reason, b[:n])
			case !tc.silent && (err != nil || binary.BigEndian.Uint16(b) != opERROR || strings.Contains(string(b[:n]), "no\x00")):
				t.Errorf("%s: answered %q, %v, want a refusal that says nothing", tc.reason, b[:n], err)
			}
			if got, _, err := fetch(to, BIOS, 1468); err != nil || !bytes.Equal(got, content()) {
				t.Errorf("it doesn't serve any more: %v", err)
			}
		})
	}
}

// TestOwnOnce: grub asks again every 400 ms while nothing comes, from the same port; nobody else waits meanwhile.
func TestOwnOnce(t *testing.T) {
	var opens atomic.Int32
	proceed := make(chan struct{})
	to := served(t, func(c *Config) {
		c.Timeout = 10 * time.Second
		c.Own = own("token/grub.cfg", func(context.Context) (Content, error) {
			opens.Add(1)
			<-proceed
			return Content{Name: "grub.cfg", Data: []byte("echo")}, nil
		})
	})
	c := client(t)
	const ask = "\x00\x01token/grub.cfg\x00octet\x00blksize\x001024\x00tsize\x000\x00"
	for range 5 {
		if _, err := c.WriteToUDP([]byte(ask), to); err != nil {
			t.Fatal(err)
		}
	}
	if got, _, err := fetch(to, BIOS, 1468); err != nil || !bytes.Equal(got, content()) {
		t.Errorf("another machine waits: %v", err)
	}
	close(proceed)
	oack, tid := exchange(t, c, to, ask)
	if got := receive(t, c, tid, 1024, 1); binary.BigEndian.Uint16(oack) != opOACK || string(got) != "echo" {
		t.Errorf("%q, then %q", oack, got)
	}
	if n := opens.Load(); n != 1 {
		t.Errorf("it was opened %d times", n)
	}
}

// TestOwnEnds: a server that stops waits for what it has begun to open, and lets go of it.
func TestOwnEnds(t *testing.T) {
	var done atomic.Int32
	t.Run("Serve", func(t *testing.T) {
		begun := make(chan struct{})
		to := served(t, func(c *Config) {
			c.Own = own("token/x", func(ctx context.Context) (Content, error) {
				close(begun)
				<-ctx.Done()
				f, err := os.Open(os.DevNull)
				return Content{File: f, Done: func() { done.Add(1) }}, err
			})
		})
		if _, err := client(t).WriteToUDP([]byte("\x00\x01token/x\x00octet\x00"), to); err != nil {
			t.Fatal(err)
		}
		<-begun
	})
	if done.Load() != 1 {
		t.Error("what was opened for nobody is still held")
	}
}

// TestOwnSights: a machine's first stage is a sight of it, and what it loads after that isn't another one.
func TestOwnSights(t *testing.T) {
	for _, first := range []bool{true, false} {
		sights := make(seen, 4)
		to := served(t, func(c *Config) {
			c.Sightings = sights
			c.State = func() *boot.State { return at("127.0.0.1") }
			c.Own = own("token/x", func(context.Context) (Content, error) {
				return Content{Name: "x", Data: []byte("x"), First: first}, nil
			})
		})
		if _, _, err := fetch(to, "token/x", 512); err != nil {
			t.Fatal(err)
		}
		if _, _, err := fetch(to, BIOS, 1468); err != nil { // By then all sights of the first are there.
			t.Fatal(err)
		}
		want := 1
		if first {
			want = 2
		}
		for range want {
			<-sights
		}
		if len(sights) > 0 {
			t.Errorf("first %t: %d sights too many", first, len(sights))
		}
	}
}

// TestOwnEnded: a kernel that has gone out is followed by its initrd; a grub.cfg, which a machine that is held asks for again and again, by nothing.
func TestOwnEnded(t *testing.T) {
	kernel := filepath.Join(t.TempDir(), "kernel")
	if err := os.WriteFile(kernel, []byte("kernel"), 0o600); err != nil {
		t.Fatal(err)
	}
	var artifact atomic.Bool
	ended, sent := make(chan struct{}, 4), make(chan struct{}, 4)
	to := served(t, func(c *Config) {
		c.Ended = func() { ended <- struct{}{} }
		c.Sent = func(int, time.Duration) { sent <- struct{}{} }
		c.Own = own("token/x", func(context.Context) (Content, error) {
			if !artifact.Load() {
				return Content{Name: "x", Data: []byte("x"), Again: true}, nil
			}
			f, err := os.Open(kernel)
			return Content{Name: "x", File: f, Size: len("kernel")}, err
		})
	})
	for _, is := range []bool{false, true} {
		artifact.Store(is)
		if _, _, err := fetch(to, "token/x", 512); err != nil {
			t.Fatal(err)
		}
		<-sent
		if got := len(ended) > 0; got != is {
			t.Errorf("artifact %t: it's told that it ended: %t", is, got)
		}
	}
}

// TestLogNamesNoToken: names of a machine's own files hold its token.
func TestLogNamesNoToken(t *testing.T) {
	token, err := boot.Mint([]byte("key"), boot.Claims{Kind: boot.TokenScript})
	if err != nil {
		t.Fatal(err)
	}
	if len(token) != boot.TokenLength {
		t.Fatalf("a token has %d characters", len(token))
	}
	for name, want := range map[string]string{
		"/" + token + "/x64/revocations_sku.efi": "…/revocations_sku.efi", `\` + token + `\x64\y`: `…\y`, "/boot/grub.cfg": "/boot/grub.cfg", "undionly.kpxe": "undionly.kpxe",
	} {
		if got := last(name); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestWithSigned(t *testing.T) {
	const shim, grub = "shim/shimx64.efi.signed", "grub/x86_64-efi-signed/grubnetx64.efi.signed"
	cases := map[string]struct {
		reason           string
		files            []string
		served, problems bool
	}{
		"Both":     {"Debian's packages", []string{shim, grub}, true, false},
		"None":     {"a site without Secure Boot needs none, and isn't told of it", nil, false, false},
		"NoGrub":   {"the shim alone leads nowhere", []string{shim}, false, true},
		"NoShim":   {"firmware doesn't load grub", []string{grub}, false, true},
		"ARM64too": {"another architecture's", []string{shim, grub, "shim/shimaa64.efi.signed"}, true, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, f := range tc.files {
				path := filepath.Join(dir, f)
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(f), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			f, problems := Load(t.TempDir()).WithSigned(dir, "source")
			config, ok := f.Find("/" + GrubConfig)
			if len(problems) > 0 != tc.problems || ok != tc.served || ok && string(config.Data) != "source" {
				t.Errorf("%s: problems %v, served %t", tc.reason, problems, ok)
			}
			for name, want := range map[string]string{"shimx64.efi": shim, "grubx64.efi": grub, "grubx64-alone.efi": grub} {
				if size, ok := f.HasSigned(name); ok != tc.served || ok && size != len(want) {
					t.Errorf("%s: %s has %d bytes", tc.reason, name, size)
				}
				if data, err := f.Signed[boot.AMD64].Read(name); tc.served && (err != nil || string(data) != want) {
					t.Errorf("%s: %s is %q, %v", tc.reason, name, data, err)
				}
			}
			if _, ok := f.HasSigned(""); ok {
				t.Error("there's a loader without a name")
			}
		})
	}
}

// TestSignedOnce: the pair is read as it is when the first machine asks for one of the two, stays so unless it was in writing, and one that can't be read then may
// be later.
func TestSignedOnce(t *testing.T) {
	dir := t.TempDir()
	shim, grub := filepath.Join(dir, "shim", "shimx64.efi.signed"), filepath.Join(dir, "grub", "x86_64-efi-signed", "grubnetx64.efi.signed")
	write := func(text string, age time.Duration) {
		for _, path := range []string{shim, grub} {
			at := time.Now().Add(-age)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600), os.Chtimes(path, at, at)); err != nil {
				t.Fatal(err)
			}
		}
	}
	write("old", time.Hour)
	f, _ := Load(t.TempDir()).WithSigned(dir, "")
	s := f.Signed[boot.AMD64]
	if err := os.Remove(grub); err != nil {
		t.Fatal(err)
	}
	if data, err := s.Read("shimx64.efi"); err == nil {
		t.Errorf("a shim whose grub is gone is given: %q", data)
	}
	write("half", 0)
	if data, err := s.Read("grubx64-alone.efi"); err != nil || string(data) != "half" {
		t.Errorf("once both are there again: %q, %v", data, err)
	}
	write("newer", time.Hour)
	if data, err := s.Read("grubx64-alone.efi"); err != nil || string(data) != "newer" {
		t.Errorf("what was read while it may have been in writing is kept: %q, %v", data, err)
	}
	write("newest", time.Hour)
	if data, err := s.Read("shimx64.efi"); err != nil || string(data) != "newer" {
		t.Errorf("it changed under its grub: %q, %v", data, err)
	}
	if _, err := s.Read("grub.cfg"); !errors.Is(err, ErrNotFound) {
		t.Errorf("another file: %v", err)
	}
}

// TestOwnNetascii: no loader asks so, and a length that isn't the file's would only mislead.
func TestOwnNetascii(t *testing.T) {
	to := served(t, func(c *Config) {
		c.Own = own("token/x", func(context.Context) (Content, error) { return Content{Data: []byte("x")}, nil })
	})
	got, _ := exchange(t, client(t), to, "\x00\x01token/x\x00netascii\x00")
	if binary.BigEndian.Uint16(got) != opERROR {
		t.Errorf("%q", got)
	}
}
