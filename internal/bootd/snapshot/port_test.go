package snapshot

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestPorts: a machine of a port is found by it after a restart, octet by octet, and of one without nothing is written of ports.
func TestPorts(t *testing.T) {
	at := boot.Port{Circuit: boot.PortID([]byte("\x00\x04\xff\xfe\x00\x11")), Remote: "leaf-1"}
	p := plan()
	p.EntryUID, p.MACs, p.Port = "port", nil, &at
	b, err := encoded(boot.NewState(nil, []boot.Plan{plan(), p}, nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	k, err := decode(b)
	if err != nil {
		t.Fatal(err)
	}
	got, ok := k.state.ByPort(rack(), at)
	if !ok {
		t.Fatal("it isn't found by its port")
	}
	if diff := cmp.Diff(&p, got, same...); diff != "" {
		t.Error(diff)
	}
	if b, err = encoded(boot.NewState(nil, []boot.Plan{plan()}, nil), nil); err != nil || strings.Contains(string(b), "Port") {
		t.Errorf("of no port it's written something: %v", err)
	}
}
