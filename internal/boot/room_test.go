package boot

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRoom: of more plans than are kept as they were made, each in a room is what it is elsewhere, and what was in it before is gone.
func TestRoom(t *testing.T) {
	plans := hall(maxLately + 1)
	six := Place{Address: plans[0].Network.Address}
	plans[1].Network.Six = &six
	plans[2].MACs = append(plans[2].MACs, "52:54:00:ff:ff:ff")
	st := StateOf(nil, plans, nil)
	var in Room
	var kept []*Plan
	var macs [][]MAC
	for i := range 4 {
		p, ok := st.ByMACIn(plans[i].MACs[0], &in)
		if !ok || p != &in.plan || words(p) != words(plans[i]) {
			t.Fatalf("%d: %v %s, want %s", i, ok, words(p), words(plans[i]))
		}
		kept, macs = append(kept, p.Kept()), append(macs, p.MACs)
	}
	for _, m := range macs {
		_ = append(m, "52:54:00:00:00:ff") // Nor has who appends the next one's.
	}
	in.Clear()
	if !reflect.DeepEqual(in.plan, Plan{}) || in.six.Address.IsValid() {
		t.Errorf("it's empty once it's cleared: %s", words(&in.plan))
	}
	for i := range macs {
		if diff := cmp.Diff(plans[i].MACs, macs[i]); diff != "" {
			t.Errorf("%d: MACs that somebody kept (-want +got):\n%s", i, diff)
		}
	}
	for i, p := range kept {
		if words(p) != words(plans[i]) {
			t.Errorf("%d: what was kept is %s, want %s", i, words(p), words(plans[i]))
		}
	}
	made, _ := st.ByMAC(plans[0].MACs[0])
	if p, _ := st.ByMACIn(plans[0].MACs[0], &in); p != made {
		t.Error("one that was made lately is there already")
	}
	few := StateOf(nil, plans[:8], nil)
	if p, _ := few.ByMACIn(plans[0].MACs[0], &in); p == &in.plan {
		t.Error("where all are kept as they were made, this one is")
	}
}

// TestRoomMakesLittle: whatever number of MACs plans have, they're made many at a time.
func TestRoomMakesLittle(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5, 7, 60, roomMACs + 1} {
		plans := hall(1)
		for i := 1; i < n; i++ {
			plans[0].MACs = append(plans[0].MACs, MAC(fmt.Sprintf("52:54:01:00:%02x:%02x", i>>8, i&255)))
		}
		k := Pack(plans, nil)
		var in Room
		for range 100 {
			if p := in.make(k.Ref(0)); !slices.Equal(p.MACs, plans[0].MACs) {
				t.Fatalf("%d: %v", n, p.MACs)
			}
		}
		if got := testing.AllocsPerRun(1000, func() { in.make(k.Ref(0)) }); n < 8 && got >= 1 {
			t.Errorf("%d MACs are made by %v pieces a plan", n, got)
		}
	}
}
