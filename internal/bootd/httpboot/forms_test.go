package httpboot

import (
	"fmt"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/gate"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/ipxe"
)

// TestForms: texts that differ in little lie in one form, and each is what it was, with its own token.
func TestForms(t *testing.T) {
	s := &Server{anyToken: anyToken()}
	token := s.anyToken
	first := "#!ipxe\necho lab/a: live\nkernel http://b/" + token + "/k ip=10.0.0.1 mac=52:54:00:00:00:01 || goto failed\ninitrd " + token + "\n"
	cases := map[string]struct {
		reason string
		text   string
		// cuts is how often it differs; -1: it's a form of its own.
		cuts int
	}{
		"Same":      {"two machines may be told the same", first, 0},
		"Machine":   {"names and addresses differ", strings.NewReplacer("lab/a", "lab/another", "10.0.0.1", "10.0.0.213", ":01", ":d5").Replace(first), 3},
		"Shorter":   {"they may be shorter", strings.NewReplacer("lab/a", "x", "10.0.0.1", "1.1.1.1").Replace(first), 2},
		"Repeated":  {"what begins and ends alike is cut once", strings.Replace(first, "10.0.0.1 ", "10.0.0.1.0.0.1 ", 1), 1},
		"Shortened": {"what they begin and end with alike may be the same bytes", strings.Replace(first, "52:54:00:00:00:01", "52:54:00:00:01", 1), 1},
		"Before":    {"a token's neighbours differ", strings.NewReplacer("http://b/", "http://bb/", "/k ", "/kk ").Replace(first), 2},
		"Fewer":     {"another profile says less", strings.Replace(first, " || goto failed", "", 1), -1},
		"More":      {"or more", first + "boot\n", -1},
		"Tokens":    {"or the token once more", first + token, -1},
		"Token":     {"or elsewhere", strings.Replace(first, "echo lab/a", "echo "+token, 1), -1},
		"Often":     {"it differs too often", strings.NewReplacer("#", "!", "echo", "show", "lab", "LAB", "live", "LIVE", "kernel", "KERNEL", "ip=", "IP=", "mac=", "MAC=", "goto", "GOTO", "failed", "FAILED").Replace(first), -1},
		"Much":      {"it differs by too much", strings.Replace(first, "lab/a", strings.Repeat("b", maxOwn+1), 1), -1},
		"Empty":     {"nothing is something, too", "", -1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s.forms = forms{}
			if _, ok := s.kept(first); !ok {
				t.Fatal("the first isn't kept")
			}
			got, ok := s.kept(tc.text)
			if !ok {
				t.Fatalf("%s: it isn't kept", tc.reason)
			}
			want := strings.ReplaceAll(tc.text, token, strings.Repeat("t", boot.TokenLength))
			x := script{got, strings.Repeat("t", boot.TokenLength)}
			if x.String() != want || x.Len() != len(want) {
				t.Errorf("%s: %d bytes:\n%s\nwant %d:\n%s", tc.reason, x.Len(), x.String(), len(want), want)
			}
			if other := got.form != s.forms.all[0]; other != (tc.cuts < 0) || !other && got.many != tc.cuts {
				t.Errorf("%s: a form of its own %t, %d cuts", tc.reason, other, got.many)
			}
		})
	}
}

// TestFormsAreFew: however many texts there are that nothing else is like, some are remembered, and all are told.
func TestFormsAreFew(t *testing.T) {
	s := &Server{anyToken: anyToken()}
	var texts []*text
	for i := range 3 * maxForms {
		x, ok := s.kept(strings.Repeat(fmt.Sprintf("w%d ", i), i+1))
		if !ok {
			t.Fatal(i)
		}
		texts = append(texts, x)
	}
	if len(s.forms.all) != maxForms {
		t.Errorf("%d forms", len(s.forms.all))
	}
	for i := 2 * maxForms; i < 3*maxForms; i++ {
		if x, _ := s.kept(script{text: texts[i]}.String()); x.form != texts[i].form {
			t.Errorf("the form of text %d is forgotten, and it's one of the last", i)
		}
	}
	for i, x := range texts {
		if got, want := (script{text: x}).String(), strings.Repeat(fmt.Sprintf("w%d ", i), i+1); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestOneFormForAHall: machines of one profile are told by one form.
func TestOneFormForAHall(t *testing.T) {
	r := newRig(t, func(r *rig) { r.plan.Mode, r.plan.Method = boot.ModeLive, boot.MethodKernel })
	s := &Server{anyToken: anyToken()}
	for i := range 200 {
		p := r.plan
		p.Hostname, p.Entry.Name = fmt.Sprintf("host-%d", i), fmt.Sprintf("host-%d", i)
		p.MACs = []boot.MAC{boot.MAC(fmt.Sprintf("52:54:00:00:00:%02x", i))}
		c := gate.Caller{Plan: &p, Memo: &gate.Memo{}}
		in := ipxe.Input{
			Plan: &p, Decision: boot.Decision{Answer: boot.AnswerLive, Reason: boot.DecidedLive}, Firmware: boot.Firmware{Kind: boot.FirmwareBIOS, Arch: boot.AMD64},
			Base: "http://10.0.0.1:80", Token: strings.Repeat("t", boot.TokenLength),
		}
		want, err := ipxe.Render(in)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got, err := s.render(c, in); err != nil || got.String() != want {
				t.Fatalf("machine %d: %v\n%s\nwant\n%s", i, err, got.String(), want)
			}
		}
	}
	if len(s.forms.all) != 1 {
		t.Errorf("%d forms", len(s.forms.all))
	}
}

// FuzzForms: whatever two texts are, the second comes out as it went in.
func FuzzForms(f *testing.F) {
	f.Add("a b c\n", "a bb c\n")
	f.Add("TOKEN a TOKEN", "TOKEN bTOKEN")
	f.Add("", " ")
	f.Add("x\n \n", "xx\n \n")
	f.Fuzz(func(t *testing.T, a, b string) {
		s := &Server{anyToken: anyToken()}
		with := func(x string) string { return strings.ReplaceAll(x, "TOKEN", s.anyToken) }
		if _, ok := s.kept(with(a)); !ok {
			return
		}
		got, ok := s.kept(with(b))
		if !ok {
			if len(with(b)) <= maxKept && strings.Count(with(b), s.anyToken) <= maxTokens {
				t.Errorf("%q isn't kept beside %q", b, a)
			}
			return
		}
		if x := (script{got, s.anyToken}); x.String() != with(b) || x.Len() != len(with(b)) {
			t.Errorf("%q comes out as %q", with(b), x.String())
		}
	})
}
