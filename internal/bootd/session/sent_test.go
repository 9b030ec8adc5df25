package session

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestBoot: a session says what its newest boot was sent, and by whom; that costs no write by itself.
func TestBoot(t *testing.T) {
	a := newAPI(granted())
	m := bootd(t, a, "bootd-1", t.TempDir())
	m.Sent(machine(), 7) // Of a boot before.
	m.Sight(machine(), Sighting{Kind: SawFirmwareDHCP, At: start(), Firmware: "UEFI", Arch: "amd64"})
	if err := m.Open(t.Context(), plan(), token(nonceA), fresh()); err != nil {
		t.Fatal(err)
	}
	writes := a.writes
	m.Sent(machine(), 1000)
	if a.writes != writes {
		t.Error("bytes alone were written")
	}
	a.before = func(Record) error { return ErrConflict }
	_ = m.Consume(t.Context(), plan(), token(nonceA))
	a.before = nil
	if err := m.Consume(t.Context(), plan(), token(nonceA)); err != nil {
		t.Fatal(err)
	}
	m.Sent(machine(), 24)
	if _, err := m.Report(t.Context(), plan(), token(nonceA), true, ""); err != nil {
		t.Fatal(err)
	}
	want := Boot{Firmware: "UEFI", Arch: "amd64", Server: "bootd-1", Bytes: 1024}
	if diff := cmp.Diff(want, a.record(machine()).Progress.Boot); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
