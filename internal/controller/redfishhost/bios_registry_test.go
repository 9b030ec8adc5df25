package redfishhost

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/bios"
)

// registryBMC counts how often its registry is read.
type registryBMC struct {
	BMC

	reads int
}

func (b *registryBMC) BIOSRegistry(context.Context, redfish.BIOS) (bios.Registry, error) {
	b.reads++

	return bios.Parse([]byte(`{"RegistryEntries":{"Attributes":[{"AttributeName":"Mode","Type":"String"}]}}`))
}

// TestRegistries: machines of one make share what may be a megabyte, within a namespace and for looks alone: a BMC says itself what it is.
func TestRegistries(t *testing.T) {
	k, bmc := &registries{}, &registryBMC{}
	get := func(who asker, b redfish.BIOS) int {
		before := bmc.reads
		if _, err := k.get(t.Context(), bmc, who, b, 0); err != nil {
			t.Fatal(err)
		}

		return bmc.reads - before
	}
	one := redfish.BIOS{Make: "a b 1"}
	for i := range 100 {
		get(asker{namespace: "infra", address: fmt.Sprint("10.0.0.", i)}, one)
	}
	if bmc.reads != 1 {
		t.Errorf("a hundred machines of one make: read %d times", bmc.reads)
	}
	cases := []struct {
		reason string
		who    asker
		bios   redfish.BIOS
		want   int
	}{
		{"Another firmware.", asker{namespace: "infra", address: "10.0.0.1"}, redfish.BIOS{Make: "a b 2"}, 1},
		{"Another registry.", asker{namespace: "infra", address: "10.0.0.1"}, redfish.BIOS{Make: "a b 1", RegistryID: "x"}, 1},
		{"One of no make.", asker{namespace: "infra", address: "10.0.0.1"}, redfish.BIOS{}, 1},
		{"The same again.", asker{namespace: "infra", address: "10.0.0.1"}, redfish.BIOS{}, 0},
		{"Another of no make.", asker{namespace: "infra", address: "10.0.0.2"}, redfish.BIOS{}, 1},
		{"A tenant's own box that calls itself the same.", asker{namespace: "team-a", address: "10.0.0.1"}, one, 1},
		{"What is written goes by the BMC's own.", asker{namespace: "infra", address: "10.0.0.1", own: true}, one, 1},
		{"Each time.", asker{namespace: "infra", address: "10.0.0.1", own: true}, one, 1},
		{"Which is then looked by.", asker{namespace: "infra", address: "10.0.0.1"}, one, 0},
	}
	for _, tc := range cases {
		if got := get(tc.who, tc.bios); got != tc.want {
			t.Errorf("%s\nread %d times, want %d", tc.reason, got, tc.want)
		}
	}
}

// TestOwnRegistryFirst: once a BMC's own was read, a neighbour's newer one isn't what it's looked at by.
func TestOwnRegistryFirst(t *testing.T) {
	k, one := &registries{}, redfish.BIOS{Make: "a b 1"}
	parse := func(attribute string) bios.Registry {
		r, err := bios.Parse([]byte(`{"RegistryEntries":{"Attributes":[{"AttributeName":"` + attribute + `","Type":"String"}]}}`))
		if err != nil {
			t.Fatal(err)
		}

		return r
	}
	own, others := parse("Own"), parse("Others")
	k.kept = []keptRegistry{{namespace: "infra", address: "a", of: one.Make, registry: own}, {namespace: "infra", address: "b", of: one.Make, registry: others}}
	for address, want := range map[string]bios.Registry{"a": own, "b": others, "c": others} {
		if got, ok := k.known(asker{namespace: "infra", address: address}, one, 0); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: another registry", address)
		}
	}
}

// stagingBMC has a registry of its own, and remembers what is staged.
type stagingBMC struct {
	BMC

	entries string
	staged  map[string]bios.Value
}

func (b *stagingBMC) BIOS(context.Context, redfish.System) (redfish.BIOS, error) {
	off := map[string]bios.Value{"SecureMode": {Kind: bios.Text, Text: "Idle"}}

	return redfish.BIOS{Make: "a b 1", Attributes: off, Writable: true}, nil
}

func (b *stagingBMC) BIOSRegistry(context.Context, redfish.BIOS) (bios.Registry, error) {
	return bios.Parse([]byte(`{"RegistryEntries":{"Attributes":[{"AttributeName":"SecureMode","Type":"Enumeration","Value":` + b.entries + `}]}}`))
}

func (b *stagingBMC) StageBIOS(_ context.Context, _ redfish.System, _ redfish.BIOS, values map[string]bios.Value) (redfish.Receipt, error) {
	b.staged = values

	return redfish.Receipt{}, nil
}

// TestStagedByItsOwnRegistry: what a neighbour of the same make says a word means isn't what is staged.
func TestStagedByItsOwnRegistry(t *testing.T) {
	liar := &stagingBMC{entries: `[{"ValueName":"Off","ValueDisplayName":"On"},{"ValueName":"Idle"}]`}
	honest := &stagingBMC{entries: `[{"ValueName":"On1","ValueDisplayName":"On"},{"ValueName":"Idle"}]`}
	c := NewConnector(Options{})
	at := func(address string) *external {
		e := &external{connector: c, namespace: "infra", inputs: inputs{address: address}}
		e.want.bios = &wantBIOS{digest: "d", declared: map[string]bios.Value{"SecureMode": {Kind: bios.Text, Text: "On"}}}

		return e
	}
	e := at("a")
	if _, _, err := e.readBIOS(t.Context(), liar, redfish.System{}, *e.want.bios, false); err != nil {
		t.Fatal(err)
	}
	if _, err := performBIOS(t.Context(), at("b"), honest, redfish.System{}, act{}); err != nil {
		t.Fatal(err)
	}
	if got := honest.staged["SecureMode"].Text; got != "On1" {
		t.Errorf("staged %q, want On1, as the BMC's own registry has it", got)
	}
}
