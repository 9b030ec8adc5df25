package tftp

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestTrace: of a machine that's known its requests are told, and what answers them but for the file itself; of others nothing is.
func TestTrace(t *testing.T) {
	packets, sent := make(chan Packet, 64), make(chan int, 8)
	to := served(t, func(c *Config) {
		state := at("127.0.0.1")
		c.State = func() *boot.State { return state }
		c.Trace = func(p *boot.Plan, x Packet) {
			if p.EntryUID != "a" {
				t.Errorf("it's of %s", p.EntryUID)
			}
			x.Data = bytes.Clone(x.Data)
			packets <- x
		}
		c.Sent = func(n int, took time.Duration) {
			if took < 0 {
				t.Errorf("it took %s", took)
			}
			sent <- n
		}
	})
	if got, _, err := fetch(to, BIOS, 1468); err != nil || !bytes.Equal(got, content()) {
		t.Fatal(err)
	}
	if n := <-sent; n != len(content()) {
		t.Errorf("%d bytes were sent", n)
	}
	if _, _, err := fetch(to, "nothing.efi", 512); err == nil {
		t.Error("there's no such file")
	}
	var told []string
	for len(told) < 4 {
		p := <-packets
		if p.Client.Addr() != addr("127.0.0.1") || p.Client.Port() == 0 || p.Ours.Port() != port || p.At.IsZero() || len(p.Data) > 200 {
			t.Errorf("%+v", p)
		}
		who := "asks"
		if p.Sent {
			who = "answers"
		}
		told = append(told, who+" "+string(rune('0'+p.Data[1])))
	}
	if want := []string{"asks 1", "answers 6", "asks 1", "answers 5"}; !slices.Equal(told, want) {
		t.Errorf("%s, want %s", strings.Join(told, ", "), strings.Join(want, ", "))
	}
}

func TestStrangersLeaveNoTrace(t *testing.T) {
	to := served(t, func(c *Config) {
		state := at("10.9.9.9")
		c.State = func() *boot.State { return state }
		c.Trace = func(_ *boot.Plan, x Packet) { t.Errorf("%+v", x) }
	})
	if _, _, err := fetch(to, BIOS, 1468); err != nil {
		t.Fatal(err)
	}
}

func TestRunning(t *testing.T) {
	s := New(Config{Total: 3})
	s.limits.acquire(addr("10.0.0.1"))
	if n := s.Running(); n != 1 {
		t.Errorf("%d run", n)
	}
}
