package dhcp6

import (
	"encoding/binary"
	"path/filepath"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

func numbered(n int) []byte { return binary.BigEndian.AppendUint32([]byte{0, 2}, uint32(n)) } //nolint:gosec // A small number.

// clocked is an empty table with a clock.
func clocked(t *testing.T) (*Learnt, *time.Time) {
	t.Helper()
	l, err := OpenLearnt(filepath.Join(t.TempDir(), "duids.json"))
	if err != nil {
		t.Fatal(err)
	}
	now := testNow
	l.now = func() time.Time { return now }
	return l, &now
}

// TestLearntOfOne: a machine that says ever new DUIDs forgets its own alone.
func TestLearntOfOne(t *testing.T) {
	l, now := clocked(t)
	one, other := &boot.Plan{MACs: []boot.MAC{testMAC, "52:54:00:99:00:14"}}, &boot.Plan{MACs: []boot.MAC{otherMAC}}
	l.Learn(numbered(7777), otherMAC, other)
	for n := range 1000 {
		*now = now.Add(time.Second)
		l.Learn(numbered(n), one.MACs[n%2], one)
	}
	if len(l.macs) != maxOfOne+1 {
		t.Errorf("%d DUIDs are known of two machines", len(l.macs))
	}
	if _, ok := l.MAC(numbered(999)); !ok {
		t.Error("the newest isn't known")
	}
	if _, ok := l.MAC(numbered(991)); ok {
		t.Error("the oldest is")
	}
	if mac, ok := l.MAC(numbered(7777)); !ok || mac != otherMAC {
		t.Errorf("another machine's: %q", mac)
	}
}

// TestLearntAges: what nobody says any more is forgotten, also that it was said by two; a system's renewals keep its own.
func TestLearntAges(t *testing.T) {
	l, now := clocked(t)
	one, other := &boot.Plan{MACs: []boot.MAC{testMAC}}, &boot.Plan{MACs: []boot.MAC{otherMAC}}
	l.Learn(numbered(1), testMAC, one)
	l.Learn(numbered(2), testMAC, one)
	l.Learn(numbered(3), testMAC, one)
	l.Learn(numbered(3), otherMAC, other)
	*now = now.Add(maxUnseen - 48*time.Hour)
	if _, ok := l.MAC(numbered(1)); !ok {
		t.Fatal("it's forgotten too early")
	}
	if err := l.keep(); err != nil {
		t.Fatal(err)
	}
	again, err := OpenLearnt(l.path)
	if err != nil {
		t.Fatal(err)
	}
	again.now = l.now
	*now = now.Add(72 * time.Hour)
	again.forget()
	for n, want := range map[int]bool{1: true, 2: false, 3: false} {
		if _, ok := again.macs[string(numbered(n))]; ok != want {
			t.Errorf("%d: known is %t", n, ok)
		}
	}
}

// TestLearntFull: a full table makes room, first of what says nothing.
func TestLearntFull(t *testing.T) {
	l, _ := clocked(t)
	for n := range maxLearnt - 1 {
		l.macs[string(numbered(n))] = known{mac: twice, seen: testNow}
	}
	one := &boot.Plan{MACs: []boot.MAC{testMAC}}
	l.Learn(numbered(maxLearnt), testMAC, one)
	l.Learn(numbered(maxLearnt+1), testMAC, one)
	if len(l.macs) > maxLearnt {
		t.Errorf("%d are known", len(l.macs))
	}
	for _, n := range []int{maxLearnt, maxLearnt + 1} {
		if _, ok := l.MAC(numbered(n)); !ok {
			t.Errorf("%d isn't known", n-maxLearnt)
		}
	}
}
