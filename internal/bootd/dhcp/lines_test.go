package dhcp

import (
	"log/slog"
	"testing"
	"time"
)

// TestLinesAreBounded: a hall that is powered on doesn't fill the disk, and what was left out is told.
func TestLinesAreBounded(t *testing.T) {
	l := newLines(slog.New(slog.DiscardHandler))
	for i := range linesPerSecond + 7 {
		if ok, left := l.room(testNow); ok != (i < linesPerSecond) || left != 0 {
			t.Fatalf("line %d: %v, %d left out", i+1, ok, left)
		}
	}
	if ok, left := l.room(testNow.Add(time.Second)); !ok || left != 7 {
		t.Errorf("%v, %d left out, want 7: the next line says so", ok, left)
	}
	if ok, left := l.room(testNow.Add(time.Second)); !ok || left != 0 {
		t.Errorf("%v, %d left out, which was said already", ok, left)
	}
}
