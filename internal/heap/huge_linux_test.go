package heap

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// advised sums up the memory that was asked to be in huge pages, and what is there of it, in kB.
func advised(t *testing.T) (size, there int) {
	t.Helper()
	b, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	number := func(mapping, of string) int {
		n, _ := strconv.Atoi(regexp.MustCompile(`(?m)^` + of + `: +([0-9]+) kB`).FindStringSubmatch(mapping)[1])
		return n
	}
	for _, mapping := range regexp.MustCompile(`(?s)Size: .*?VmFlags:[^\n]*`).FindAllString(string(b), -1) {
		if _, flags, _ := strings.Cut(mapping, "VmFlags:"); strings.Contains(flags, " hg") {
			size, there = size+number(mapping, "Size"), there+number(mapping, "Rss")
		}
	}
	return size, there
}

// TestHuge: what is made next lies where huge pages were asked for, and asking takes no memory.
func TestHuge(t *testing.T) {
	const size = 64 << 20
	Huge(size)
	asked, there := advised(t)
	if !usual() || !spacious() {
		return // This host has none, or others, or addresses cost something: it does nothing.
	}
	if asked < size>>10-4096 {
		t.Fatalf("huge pages were asked for of %d kB", asked)
	}
	if there > 4096 {
		t.Errorf("asking takes %d kB", there)
	}
	kept := make([]byte, size/2)
	for i := range kept {
		kept[i] = byte(i)
	}
	if _, now := advised(t); now-there < size>>12 {
		t.Errorf("of %d kB that are made then %d are there", len(kept)>>10, now-there)
	}
	if kept[257] != 1 {
		t.Error(kept[257])
	}
}
