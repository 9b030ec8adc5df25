package links

import (
	"bytes"
	"log/slog"
	"net"
	"strings"
	"testing"
)

// packets come one after another, and then the connection is closed.
type packets []string

func (p *packets) Receive(b []byte) (n int, from string, err error) {
	if len(*p) == 0 {
		return 0, "", net.ErrClosed
	}
	n = copy(b, (*p)[0])
	*p = (*p)[1:]
	return n, "eth1", nil
}

func (*packets) Close() error { return nil }

// TestServeGoesOn: a packet that a decoder can't bear costs itself alone, and the log says where it came in.
func TestServeGoesOn(t *testing.T) {
	var heard []string
	log := &bytes.Buffer{}
	c := &packets{"one", "bad", "two"}
	err := Serve(t.Context(), c, "questions", 16, slog.New(slog.NewTextHandler(log, nil)), func(b []byte, _ string) {
		if string(b) == "bad" {
			panic("index out of range")
		}
		heard = append(heard, string(b))
	})
	if got := strings.Join(heard, " "); err != nil || got != "one two" {
		t.Errorf("%q is heard, and %v", got, err)
	}
	if n := strings.Count(log.String(), "index out of range"); n != 1 || !strings.Contains(log.String(), "heard=questions from=eth1") {
		t.Errorf("the log says it %d times:\n%s", n, log.String())
	}
}
