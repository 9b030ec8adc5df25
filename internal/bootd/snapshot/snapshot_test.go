package snapshot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot/pieces"
)

// same is how states are compared.
var same = []cmp.Option{cmp.Exporter(func(t reflect.Type) bool {
	return strings.HasPrefix(t.PkgPath(), reflect.TypeFor[boot.State]().PkgPath())
}), cmpopts.IgnoreFields(boot.Packed{}, "lately"), cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{}), cmpopts.EquateEmpty()}

// memory is a file in memory.
type memory struct {
	b  []byte
	at int
}

func (m *memory) Write(b []byte) (int, error) {
	m.b = append(m.b[:m.at], append(bytes.Clone(b), m.b[min(len(m.b), m.at+len(b)):]...)...)
	m.at += len(b)
	return len(b), nil
}

func (m *memory) Seek(offset int64, _ int) (int64, error) {
	m.at = int(offset)
	return offset, nil
}

func encoded(st *boot.State, keys [][]byte) ([]byte, error) {
	m := &memory{}
	err := encode(m, st, keys, "")
	return m.b, err
}

func rack() boot.Name { return boot.Name{Namespace: "infra", Name: "rack"} }

func plan() boot.Plan {
	return boot.Plan{
		Entry: boot.Name{Namespace: "team", Name: "web"}, EntryUID: "entry", HostUID: "host", MACs: []boot.MAC{"52:54:00:00:00:01"},
		Network: boot.Network{Name: rack(), Address: netip.MustParsePrefix("10.77.0.11/24"), Lease: time.Hour}, Mode: boot.ModeInstall,
		Since: time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC), InstallTimeout: time.Minute,
		Artifacts: []boot.Artifacts{{Arch: boot.AMD64, Image: &boot.Image{Artifact: boot.Artifact{URL: "http://x", Digest: "sha256:x"}}}},
	}
}

func stateOf(plans ...boot.Plan) *boot.State {
	return boot.NewState(
		[]boot.Segment{{Name: rack(), Subnets: []netip.Prefix{netip.MustParsePrefix("10.77.0.0/24")}, Mode: boot.SegmentAuthoritative, Advertises: &boot.Advertisement{MTU: 1500}}},
		plans,
		[]boot.Session{{EntryUID: "entry", Consumed: &boot.Consumption{GrantID: "g", At: time.Date(2026, 8, 1, 10, 0, 0, 1000, time.UTC)}}},
	)
}

func state() *boot.State { return stateOf(plan()) }

func TestRoundTrip(t *testing.T) {
	s := In(t.TempDir())
	if st, keys, err := s.Load(); st != nil || keys != nil || err != nil {
		t.Fatalf("nothing was saved: %v %v %v", st, keys, err)
	}
	want := state()
	s.Offer(want, [][]byte{{1, 2}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // What was offered is written even so.
	if err := s.Run(ctx, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	got, keys, err := s.Load()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, same...); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff([][]byte{{1, 2}}, keys); diff != "" {
		t.Errorf("keys: %s", diff)
	}
	if i, err := os.Stat(filepath.Join(s.dir, fileName)); err != nil || i.Mode().Perm() != 0o600 {
		t.Errorf("it holds keys: %v %v", i.Mode(), err)
	}
	p, _ := want.ByMAC("52:54:00:00:00:01")
	q, _ := got.ByMAC("52:54:00:00:00:01")
	if p.Digest() != q.Digest() {
		t.Error("the plan's digest changed on the disk")
	}
}

// TestUnserved: while the API is away, and after a restart, too, a machine with an entry is no stranger, and its address is nobody else's.
func TestUnserved(t *testing.T) {
	at := netip.MustParseAddr
	g := boot.Segment{Name: rack(), Pools: []boot.Pool{{Start: at("10.77.0.1"), End: at("10.77.0.220")}}}
	want := boot.NewState([]boot.Segment{g}, []boot.Plan{plan()}, nil)
	want.Withhold([]boot.MAC{"52:54:00:00:00:99"}, []netip.Addr{at("10.77.0.203")})
	b, err := encoded(want, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if st := got.state; !st.Withheld("52:54:00:00:00:99") || !st.Reserved(at("10.77.0.203")) || st.Reserved(at("10.77.0.204")) || st.Withheld("52:54:00:00:00:01") {
		t.Error("what isn't served is forgotten, or what is served is withheld")
	}
}

// filled sets all fields of a value, each text and number to another one, so that nothing that a plan may hold is forgotten.
func filled(v reflect.Value, n *int) {
	*n++
	switch x := v.Addr().Interface().(type) {
	case *time.Time:
		*x = time.Date(2026, 8, 1, 10, 0, *n, 7, time.UTC)
		return
	case *netip.Addr:
		*x = netip.AddrFrom4([4]byte{10, 77, 0, byte(*n % 256)}) //nolint:gosec // As it says.
		return
	case *netip.Prefix:
		*x = netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 78, 0, byte(*n % 256)}), 16) //nolint:gosec // As it says.
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for _, f := range v.Fields() {
			filled(f, n)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			filled(v.Index(i), n)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		filled(v.Elem(), n)
	case reflect.String:
		v.SetString("v" + strconv.Itoa(*n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Map:
	default:
		if v.CanUint() {
			v.SetUint(uint64(*n % 128)) //nolint:gosec // Small.
		} else {
			v.SetInt(int64(*n))
		}
	}
}

// TestAllFields: whatever a plan holds is there again, of machines that differ in all of it.
func TestAllFields(t *testing.T) {
	n, plans := 0, make([]boot.Plan, 3)
	for i := range 2 {
		filled(reflect.ValueOf(&plans[i]).Elem(), &n)
	}
	want := boot.NewState(nil, plans, nil)
	b, err := encoded(want, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.state, same...); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestFormats: without a machine of two addresses a snapshot is what earlier programs read, octet by octet; with one it's of another format,
// and each machine has its own addresses again, also where all are of one shape.
func TestFormats(t *testing.T) {
	b, err := encoded(state(), nil)
	if err != nil || !bytes.HasPrefix(b, []byte(format)) {
		t.Fatalf("%.20q, %v", b, err)
	}
	plans := many(3)
	for i := range plans {
		if p := &plans[i]; i > 0 { // One has the one address.
			six := netip.AddrFrom16([16]byte{0: 0xfd, 15: p.Network.Address.Addr().As4()[3] + 1})
			p.Network.Six = &boot.Place{Address: netip.PrefixFrom(six, 64), Gateway: netip.MustParseAddr("fd00::ff"), DNS: []netip.Addr{netip.MustParseAddr("fd00::53")}}
		}
	}
	want := stateOf(plans...)
	if b, err = encoded(want, nil); err != nil || !bytes.HasPrefix(b, []byte(formatDual)) {
		t.Fatalf("%.20q, %v", b, err)
	}
	if n := bytes.Count(b, []byte("fd00::53")); n != 1 {
		t.Errorf("two machines of one shape have %d of them", n)
	}
	got, err := decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.state, same...); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestDamaged: nothing of a damaged snapshot counts, wherever it's damaged. It's set aside, and the next start has none.
func TestDamaged(t *testing.T) {
	good, err := encoded(state(), [][]byte{{1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	for n := range good {
		if k, err := decode(good[:n]); k.state != nil || err == nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
		bent := bytes.Clone(good)
		bent[n] ^= 0x10
		if k, err := decode(bent); k.state != nil || err == nil {
			t.Fatalf("bent at %d: %v", n, err)
		}
	}
	for name, f := range map[string]struct{ file, text string }{
		"Torn": {fileName, string(good[:len(good)/2])}, "Empty": {fileName, ""}, "Earlier": {earlierName, `{"format":1,"plans":[{`},
	} {
		t.Run(name, func(t *testing.T) {
			s := In(t.TempDir())
			path := filepath.Join(s.dir, f.file)
			if err := os.WriteFile(path, []byte(f.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if st, _, err := s.Load(); err == nil || st != nil || !strings.Contains(err.Error(), "set aside") {
				t.Errorf("%v %v", st, err)
			}
			if b, err := os.ReadFile(path + ".damaged"); err != nil || string(b) != f.text {
				t.Errorf("%q %v", b, err)
			}
			if st, _, err := s.Load(); err != nil || st != nil {
				t.Errorf("at the next start: %v %v", st, err)
			}
		})
	}
}

// TestOtherFormats: that of an earlier program is read, and goes with the first write of this one. That of a later one stays as it is.
func TestOtherFormats(t *testing.T) {
	s, want := In(t.TempDir()), state()
	b, err := json.Marshal(file{Format: formatJSON, Segments: want.Segments, Plans: []boot.Plan{plan()}, Keys: [][]byte{{1}}}) //nolint:musttag // As in the code.
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, earlierName), b, 0o600); err != nil {
		t.Fatal(err)
	}
	if st, keys, err := s.Load(); err != nil || len(st.Plans()) != 1 || len(keys) != 1 {
		t.Errorf("%v %v %v", st, keys, err)
	}
	if err := s.save(want, nil); err != nil {
		t.Fatal(err)
	}
	if list, err := os.ReadDir(s.dir); err != nil || len(list) != 1 {
		t.Errorf("%v %v", list, err)
	}
	later := "bootd snapshot 4\nand more"
	if err := os.WriteFile(filepath.Join(s.dir, fileName), []byte(later), 0o600); err != nil {
		t.Fatal(err)
	}
	if st, _, err := s.Load(); !errors.Is(err, errFormat) || st != nil {
		t.Errorf("%v %v", st, err)
	}
	if b, err := os.ReadFile(filepath.Join(s.dir, fileName)); err != nil || string(b) != later {
		t.Errorf("%q %v", b, err)
	}
}

func FuzzDecode(f *testing.F) {
	good, err := encoded(state(), [][]byte{{1}})
	if err != nil {
		f.Fatal(err)
	}
	two := plan()
	two.Network.Six = &boot.Place{Address: netip.MustParsePrefix("fd00::11/64")}
	dual, err := encoded(stateOf(two), nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(dual)
	f.Add(dual[len(format)+sumSize:])
	f.Add(good)
	f.Add(good[len(format)+sumSize:])
	f.Add([]byte(`{"format":1,"segments":[{}],"plans":[{"MACs":["x"]}],"sessions":[{}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		for name, decode := range map[string]func([]byte) (known, error){"whole": decode, "unpacked": func(b []byte) (known, error) { return unpack(b, false) },
			"dual": func(b []byte) (known, error) { return unpack(b, true) }, "JSON": decodeJSON} {
			if k, err := decode(b); (k.state == nil) == (err == nil) {
				t.Errorf("%s: %v %v", name, k.state, err)
			}
		}
	})
}

// many machines, as a site has them.
func many(n int) []boot.Plan {
	plans := make([]boot.Plan, n)
	for i := range plans {
		p := plan()
		p.Entry.Name, p.EntryUID, p.HostUID = fmt.Sprintf("node-%06d", i), fmt.Sprintf("37c8d804-b958-559a-91cd-%012d", i), fmt.Sprintf("macs-%032d", i)
		p.MACs = []boot.MAC{boot.MAC(fmt.Sprintf("52:54:00:%02x:%02x:%02x", i>>16, i>>8&255, i&255))}
		p.Network.Address = netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 8)
		p.Hostname, p.UserDataSecret = p.Entry.Name, "entry-"+p.EntryUID
		plans[i] = p
	}
	return plans
}

// BenchmarkLoad100k is what a start from the snapshot of a hundred thousand machines takes.
func BenchmarkLoad100k(b *testing.B) {
	s := In(b.TempDir())
	if err := s.save(stateOf(many(100_000)...), nil); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if st, _, err := s.Load(); err != nil || st.Len() != 100_000 {
			b.Fatal(err)
		}
	}
}

// BenchmarkSave100k is what each write of it takes.
func BenchmarkSave100k(b *testing.B) {
	s, st := In(b.TempDir()), stateOf(many(100_000)...)
	for b.Loop() {
		if err := s.save(st, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// TestEarlier reads what programs before wrote that kept whole plans in memory, and writes its plans again, octet by octet.
func TestEarlier(t *testing.T) {
	for name, dual := range map[string]bool{"earlier-2": false, "earlier-3": true} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		plans := many(3)
		plans[1].CommandLine = []string{"console=ttyS0"}
		for i := range plans[1:] {
			if dual {
				plans[i+1].Network.Six = &boot.Place{Address: netip.PrefixFrom(netip.AddrFrom16([16]byte{0: 0xfd, 15: byte(i)}), 64), Gateway: netip.MustParseAddr("fd00::ff")}
			}
		}
		want := boot.NewState(state().Segments, plans, nil)
		k, err := decode(b)
		if err != nil || len(k.keys) != 1 {
			t.Fatalf("%s: %v, %v", name, k.keys, err)
		}
		if diff := cmp.Diff(want, k.state, same...); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
		again, err := encoded(k.state, k.keys)
		if err != nil || behindHead(again) != behindHead(b) {
			t.Errorf("%s: it's written in another way: %v", name, err)
		}
	}
}

// behindHead are the shapes and rows of a snapshot.
func behindHead(b []byte) string {
	r := pieces.Of(string(b[len(format)+sumSize:]))
	r.Text()
	return r.Rest()
}
