package specdir

import (
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// indented is a text that stands deeper in another.
func indented(s string) string { return strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n  ") }

// utf16LE is a text as some editors and shells write it: in UTF-16, behind its mark.
func utf16LE(text string) string {
	b := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(text)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return string(b)
}

// TestRests: a turn that took long rests for long, and one that stood still doesn't: an edit that stops an install waits for it.
func TestRests(t *testing.T) {
	for took, want := range map[time.Duration]time.Duration{0: 0, 50 * time.Millisecond: 200 * time.Millisecond, time.Minute: longest} {
		if got := rests(took); got != want {
			t.Errorf("after %s: %s, want %s", took, got, want)
		}
	}
}

func TestParse(t *testing.T) {
	entry := entryYAML("m1", mac1, "10.77.0.11", 1)
	cases := map[string]struct {
		reason, text string
		objects      int
		faults       []string
	}{
		"All":       {reason: "several to a file", text: all(1), objects: 4},
		"Empty":     {reason: "nothing", text: "---\n# nothing\n---\n"},
		"List":      {reason: "as kubectl prints them", text: "apiVersion: v1\nkind: List\nitems:\n- " + indented(networkYAML) + "\n- " + indented(entry) + "\n", objects: 2},
		"Rows":      {reason: "one to a line, as JSON", text: row(t, networkYAML) + row(t, profileYAML) + row(t, entry), objects: 3},
		"RowsAfter": {reason: "JSON after YAML", text: networkYAML + "---\n" + row(t, profileYAML) + row(t, entry), objects: 3},
		"Tab":       {reason: "what parts documents may have a blank behind it", text: networkYAML + "---\t# next\n" + profileYAML, objects: 2},
		"Dots":      {reason: "a document's end parts them, too", text: networkYAML + "...\n" + profileYAML + "...\n", objects: 2},
		"Behind":    {reason: "a document may begin on that line", text: networkYAML + "--- " + row(t, profileYAML) + "--- " + row(t, entry), objects: 3},
		"UTF16":     {reason: "one document in UTF-16 is one", text: utf16LE(networkYAML), objects: 1},
		"UTF16s":    {reason: "of several YAML would read the first alone", text: utf16LE(networkYAML + "---\n" + entry), faults: []string{"f.yaml:1: there are several documents, or something stands behind one, and YAML would read the first alone"}},
		"CR":        {reason: "as of those whose lines end by CR alone", text: strings.ReplaceAll(networkYAML+"---\n"+entry, "\n", "\r"), faults: []string{"f.yaml:1: there are several documents"}},
		"NEL":       {reason: "or by what YAML takes for an end, too", text: networkYAML + "\u0085---\n" + entry, faults: []string{"f.yaml:1: there are several documents"}},
		"LS":        {reason: "which may stand in a text", text: strings.Replace(networkYAML, "name: rack", "name: rack, annotations: {a: \"x\u2028y\"}", 1), objects: 1},
		"RowsNamed": {reason: "JSON behind a comment", text: "# rack 7\n" + row(t, networkYAML) + row(t, entry), objects: 2},
		"RowsBOM":   {reason: "JSON behind UTF-8's mark", text: "\ufeff" + row(t, networkYAML) + row(t, entry), objects: 2},
		"RowsNext":  {reason: "JSON behind a comment in a document of its own", text: networkYAML + "---\n# m1\n" + row(t, profileYAML) + row(t, entry), objects: 3},
		"DotsRest":  {reason: "YAML drops what stands behind a document's end", text: row(t, networkYAML) + "... " + row(t, entry), objects: 1, faults: []string{"f.yaml:2: "}},
		"Dedented":  {reason: "and what stands further left than the first", text: "  " + indented(networkYAML) + "\n" + entry, faults: []string{"f.yaml:1: "}},
		"OtherList": {reason: "another program's list is another kind", text: "apiVersion: traefik.io/v1\nkind: AllowList\nspec: {}\n", faults: []string{"f.yaml:1: items: a list holds"}},
		"NoItems":   {reason: "a list's only word may be misspelt", text: "apiVersion: v1\nkind: List\nitem:\n- " + indented(networkYAML) + "\n", faults: []string{"f.yaml:1: items: a list holds its objects in items"}},
		"NullItems": {reason: "or have lost what it holds", text: "apiVersion: v1\nkind: List\nitems:\n", faults: []string{"items: a list holds its objects in items; where it's to hold none, say items: []"}},
		"NoneInIt":  {reason: "who says that there's none means it", text: "apiVersion: v1\nkind: List\nitems: []\n"},
		"Kind":      {reason: "a typo isn't passed over", text: "\nkind: BootNetwrk\n", faults: []string{`f.yaml:2: kind: kind "BootNetwrk" is none of`}},
		"InList":    {reason: "nor in a list", text: "kind: List\nitems:\n- kind: Pod\n", faults: []string{`f.yaml:3: items[0].kind: kind "Pod"`}},
		"Version":   {reason: "nor an apiVersion", text: "apiVersion: v2\nkind: Secret\n", faults: []string{`f.yaml:1: apiVersion: apiVersion of a Secret is v1, not "v2"`}},
		"YAML":      {reason: "no YAML", text: networkYAML + "---\na: b\n c: d\n", objects: 1, faults: []string{"f.yaml:8: it isn't YAML"}},
		"Twice":     {reason: "a field that is there twice", text: strings.Replace(networkYAML, "spec:", "spec: {}\nspec:", 1), faults: []string{"f.yaml:6: it isn't YAML"}},
		"Unknown":   {reason: "a field that nobody knows", text: networkYAML + "  gatway: x\n", faults: []string{"f.yaml:6: spec.gatway: unknown field"}},
		"Type":      {reason: "a wrong type", text: strings.Replace(entry, "generation: 1", "generation: one", 1), faults: []string{"f.yaml:10: spec.forProvider.install.generation: a text isn't what is wanted there: a whole number"}},
		"BareOff":   {reason: "YAML's Off is false", text: networkYAML + "  dhcp: {mode: Off}\n", faults: []string{`f.yaml:6: spec.dhcp.mode: a text is wanted there, and YAML takes a bare Off`}},
		"Duration":  {reason: "Go knows no days", text: networkYAML + "  dhcp: {leaseDuration: 1d}\n", faults: []string{"f.yaml:6: spec.dhcp.leaseDuration: it must be a duration in hours, minutes and seconds, such as 12h or 30m"}},
		"Map":       {reason: "in YAML's words", text: networkYAML + "  serveOn: {nodes: {}}\n", faults: []string{"f.yaml:6: spec.serveOn: a map isn't what is wanted there: a list"}},
		"Lease":     {reason: "as the API server has it", text: networkYAML + "  dhcp: {leaseDuration: 999999h}\n", faults: []string{"of a minute at least and a year at most"}},
		"MAC":       {reason: "a field, by its line", text: networkYAML + "---\n" + strings.Replace(entry, mac1, "01:00:5e:00:00:01", 1), objects: 1, faults: []string{"f.yaml:12: spec.forProvider.machine.macs[0]: macs must not be multicast"}},
		"Claim":     {reason: "there are no claims", text: strings.Replace(entry, `macs: ["`+mac1+`"]`, "hostClaimRef: {name: x}", 1), faults: []string{"f.yaml:6: spec.forProvider.machine.hostClaimRef: there are no HostClaims without a cluster"}},
		"Ref":       {reason: "nor addresses of NetBox", text: strings.Replace(entry, "address: 10.77.0.11/24", "ref: {name: x}", 1), faults: []string{"addresses[0].ref: there are no NetBoxIPAddresses without a cluster"}},
		"RootDevice": {
			reason: "a disk that would be chosen by nobody is not taken", text: strings.Replace(entry, "    install:", "    rootDevice: {serial: x}\n    install:", 1),
			faults: []string{"f.yaml:10: spec.forProvider.rootDevice: rootDevice is not supported yet"},
		},
		"Base64": {
			reason: "which value of which Secret, and what to do", text: networkYAML + "---\n" + strings.Replace(givenYAML, "stringData: {userData: \"#cloud-config\\n\"}", "data:\n  a: YQ==\n  userData: \"#cloud\"", 1), objects: 1,
			faults: []string{"f.yaml:12: data.userData: it isn't base64, which the data of Secret lab/m1 has to be; encode it, or write it as it is below stringData"},
		},
		"Base64InList": {
			reason: "in a list, too", text: "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Secret\n  metadata: {name: m1}\n  data: {userData: \"#\"}\n",
			faults: []string{"f.yaml:7: items[0].data.userData: it isn't base64, which the data of Secret default/m1 has to be"},
		},
		"Path": {reason: "a name isn't a path", text: strings.Replace(entry, "name: m1}\n", "name: ../m1}\n", 1), faults: []string{"f.yaml:3: metadata.name: name \"../m1\" must be"}},
		"OneOfTwo": {
			reason: "what is right beside what is wrong is taken", text: strings.Replace(networkYAML, "10.77.0.0/24", "10.77.0.1/24", 1) + "---\n" + profileYAML, objects: 1,
			faults: []string{"f.yaml:5: spec.subnets[0].cidr: cidr must be a network"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			objects, faults := parse("f.yaml", []byte(tc.text))
			if len(objects) != tc.objects || len(faults) != len(tc.faults) {
				t.Fatalf("%s: %d objects, faults %v", tc.reason, len(objects), faults)
			}
			for i, want := range tc.faults {
				if got := faults[i].String(); !strings.Contains(got, want) {
					t.Errorf("%s: %q, want %q", tc.reason, got, want)
				}
			}
		})
	}
}

// row is an object as one line of JSON.
func row(t *testing.T, text string) string {
	t.Helper()
	b, err := yaml.YAMLToJSON([]byte(text))
	if err != nil || !json.Valid(b) {
		t.Fatal(err)
	}
	return string(b) + "\n"
}

func TestUID(t *testing.T) {
	objects, _ := parse("f", []byte(entryYAML("m1", mac1, "10.77.0.11", 1)))
	// The uid is in every record and in every plan's digest: another one would install nothing, and ask about each machine.
	if got := UIDOf(objects[0].entry); got != "37c8d804-b958-559a-91cd-8b73ffbe19d6" {
		t.Errorf("UID %s", got)
	}
	objects[0].entry.UID = "copied"
	if got := UIDOf(objects[0].entry); got != "37c8d804-b958-559a-91cd-8b73ffbe19d6" {
		t.Errorf("two entries may be given one metadata.uid, by copying: UID %s", got)
	}
}

// TestWrongFile: what is right goes on being served, and what has become wrong as it was before.
func TestWrongFile(t *testing.T) {
	r := newRig(t, "")
	r.write("net.yaml", networkYAML+"---\n"+profileYAML+"---\n"+givenYAML)
	r.write("m.yaml", entryYAML("m1", mac1, "10.77.0.11", 0)+"---\n"+entryYAML("m2", mac2, "10.77.0.12", 0))
	r.start()
	machines := func() (names []string) {
		for _, m := range []boot.MAC{mac1, mac2} {
			if p, ok := r.src.State().ByMAC(m); ok {
				names = append(names, p.Entry.Name)
			}
		}
		return names
	}
	both := []string{"m1", "m2"}
	steps := []struct {
		reason string
		do     func()
		want   []string
		says   string
	}{
		{"as it is", func() {}, both, ""},
		{"one of two is wrong", func() {
			r.write("m.yaml", entryYAML("m1", mac1, "10.77.0.11", 0)+"---\n"+entryYAML("m2", "x", "10.77.0.12", 0))
		}, both, `m.yaml:17: spec.forProvider.machine.macs[0]: macs must look like`},
		{"the whole file is", func() { r.write("m.yaml", "a: b\n c: d\n") }, both, "m.yaml:2: it isn't YAML"},
		{"the profile is gone, which no boot from disk needs", func() { r.write("net.yaml", networkYAML+"---\n"+givenYAML) }, both, "m.yaml:1: BootEntry lab/m1: NotFound: BootProfile"},
		{"one is taken out, and nothing is wrong", func() { r.write("m.yaml", entryYAML("m1", mac1, "10.77.0.11", 0)) }, []string{"m1"}, "it's right again"},
		{"a file is suddenly empty, as one that is being written", func() { r.write("m.yaml", "") }, []string{"m1"}, "m.yaml is suddenly empty"},
		{"it's written", func() { r.write("m.yaml", entryYAML("m1", mac1, "10.77.0.11", 0)) }, []string{"m1"}, "it's right again"},
		{"everything is gone, as on a disk that isn't mounted", func() {
			remove(t, filepath.Join(r.dir, "m.yaml"))
			remove(t, filepath.Join(r.dir, "net.yaml"))
		}, []string{"m1"}, "is suddenly empty"},
		{"the folder itself is", func() { remove(t, r.dir) }, []string{"m1"}, "can't be listed"},
	}
	for _, s := range steps {
		s.do()
		r.turn()
		if diff := cmp.Diff(s.want, machines()); diff != "" {
			t.Errorf("%s: -want served, +got:\n%s", s.reason, diff)
		}
		if !strings.Contains(r.said.String(), s.says) {
			t.Errorf("%s: %q isn't said:\n%s", s.reason, s.says, r.said.String())
		}
	}
}

// TestKeptPlanInstallsNothing: a machine whose profile is gone is served as before, and what was granted isn't opened.
func TestKeptPlanInstallsNothing(t *testing.T) {
	r := newRig(t, "")
	r.write("net.yaml", networkYAML+"---\n"+profileYAML+"---\n"+givenYAML)
	r.write("m.yaml", entryYAML("m1", mac1, "10.77.0.11", 1))
	r.start()
	if r.grant() == nil {
		t.Fatal("nothing is granted")
	}
	r.write("net.yaml", networkYAML+"---\n"+givenYAML)
	r.turn()
	if p := r.plan(); p == nil || p.InstallGeneration != 0 || p.Otherwise != "Hold" || r.grant() != nil {
		t.Errorf("%+v", p)
	}
	r.write("net.yaml", networkYAML+"---\n"+profileYAML+"---\n"+givenYAML)
	r.turn()
	if r.grant() == nil {
		t.Error("once it's back, all is as before")
	}
}

// TestConflicts: who was there first has its MAC and its address.
func TestConflicts(t *testing.T) {
	r := newRig(t, "")
	r.write("net.yaml", networkYAML+"---\n"+profileYAML+"---\n"+givenYAML)
	r.write("m.yaml", entryYAML("m1", mac1, "10.77.0.11", 1))
	r.start()
	r.write("a.yaml", entryYAML("a-first", mac1, "10.77.0.12", 1)+"---\n"+entryYAML("b-second", mac2, "10.77.0.11", 1))
	r.turn()
	if p := r.plan(); p == nil || p.Entry.Name != "m1" {
		t.Errorf("%+v", p)
	}
	r.says("a.yaml:1: BootEntry lab/a-first: Conflict: MAC 52:54:00:00:00:01 is already BootEntry lab/m1's",
		"a.yaml:12: BootEntry lab/b-second: Conflict: address 10.77.0.11 is already BootEntry lab/m1's")
	r.stop()
	r.start()
	if p := r.plan(); p == nil || p.Entry.Name != "m1" {
		t.Errorf("after a restart: %+v", p)
	}
	if list := r.src.State().Plans(); len(list) != 1 {
		t.Errorf("%d are served", len(list))
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(all(1)))
	f.Add([]byte("kind: List\nitems: [{kind: List, items: []}]"))
	f.Add([]byte("{\"kind\":\"Secret\"}\n{"))
	f.Fuzz(func(_ *testing.T, b []byte) { _, _ = parse("f", b) })
}

// TestSecretsAreNotSaid: what is wrong in a file with a Secret is told without it.
func TestSecretsAreNotSaid(t *testing.T) {
	r := newRig(t, "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: hunter2, b: [hunter2]}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: t}\ndata: {a: hunter2}\n")
	r.start()
	if strings.Contains(r.said.String(), "hunter2") || !strings.Contains(r.said.String(), "a.yaml:4: stringData") {
		t.Error(r.said.String())
	}
	if _, err := os.Stat(filepath.Join(r.dir, RecordFolder)); err != nil {
		t.Error(err)
	}
}
