package guest

import "testing"

// TestISOProgram holds that the program's data lies where its code looks for it.
func TestISOProgram(t *testing.T) {
	if isoProgram[0x54] != isoFirst || isoProgram[0x5c] != isoReads || isoProgram[0x60:0x68] != "ISO read" || isoProgram[0x6d:0x76] != "ISO wrong" {
		t.Errorf("%q", isoProgram[0x4b:])
	}
	if b := ISO(); string(b[isoPrimary*isoSector+1:][:5]) != "CD001" || len(b) != (isoFirst+isoReads)*isoSector {
		t.Errorf("%d bytes", len(b))
	}
}
