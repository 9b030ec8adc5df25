package httpboot

import (
	"crypto/rand"
	"io"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/gate"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/ipxe"
)

// anyToken stands for a token in a text that's kept. Nobody knows it, so that it stands nowhere else.
func anyToken() string { return strings.Repeat(rand.Text(), 3)[:boot.TokenLength] }

// A text of a script as it was last rendered for a machine, with anyToken in its token's place: its form, with what is its own.
type text struct {
	of   *made
	form *form
	// own is what stands where it's cut, one behind the other, and cuts are so many.
	own  string
	size int
	many int
	cuts [maxCuts]cut
}

// made is all that a text rests on beside its plan.
type made struct {
	decision        boot.Decision
	firmware        boot.Firmware
	base, installer string
	six, noAddress  bool
	wait            time.Duration
}

const (
	// maxKept is how long a text may be that's kept: there may be as many as the gate remembers machines.
	maxKept = 2 << 10
	// maxTokens are how often the token may be in it: some three times, and once for each initrd.
	maxTokens = 15
)

// render gives a script's text. That of a machine that netboots each time, or boots its disk, is rendered once for its plan: it differs by its
// token alone. Whatever is granted, waits, or is a profile's own is rendered anew.
func (s *Server) render(c gate.Caller, in ipxe.Input) (script, error) {
	if in.Plan != c.Plan || in.Plan.Method == boot.MethodScript || in.Decision.Answer != boot.AnswerLive && in.Decision.Answer != boot.AnswerLocalDisk ||
		in.Token != "" && len(in.Token) != boot.TokenLength {
		return rendered(in)
	}
	of := made{in.Decision, in.Firmware, in.Base, in.Installer, in.Six, in.NoAddress, in.Wait}
	if t, ok := c.Memo.Text.Load().(*text); ok && *t.of == of {
		return script{t, in.Token}, nil
	}
	token := in.Token
	in.Token = s.anyToken
	x, err := rendered(in)
	if err != nil {
		return x, err
	}
	t, ok := s.kept(x.text.form.text)
	if !ok {
		return plain(strings.ReplaceAll(x.text.form.text, s.anyToken, token)), nil
	}
	t.of = s.shared(of)
	c.Memo.Text.Store(t)
	return script{t, token}, nil
}

// near looks at what is a machine's own of its text, all at once: otherwise each piece is waited for when it's sent.
//
//go:noinline
func near(c gate.Caller) (sum byte) {
	t, ok := c.Memo.Text.Load().(*text)
	if !ok || c.Memo.Entry == "" {
		return 0
	}
	sum = c.Memo.Entry[0] ^ byte(t.cuts[maxCuts-1].own&0xff) // They end in another cache line.
	for i := 0; i < len(t.own); i += 64 {
		sum ^= t.own[i]
	}
	return sum
}

// shared gives what machines' texts rest on in one piece of memory for many of them.
func (s *Server) shared(of made) *made {
	if last := s.lastMade.Load(); last != nil && *last == of {
		return last
	}
	x := of
	s.lastMade.Store(&x)
	return &x
}

// kept finds the tokens in a text, and its form; false: it's too long to be kept, or has too many.
func (s *Server) kept(x string) (*text, bool) {
	if len(x) > maxKept {
		return nil, false
	}
	var tokens []uint16
	for at := 0; ; at += boot.TokenLength {
		next := strings.Index(x[at:], s.anyToken)
		if next < 0 {
			break
		}
		if len(tokens) == maxTokens {
			return nil, false
		}
		at += next
		tokens = append(tokens, uint16(at)) //nolint:gosec // Less than maxKept.
	}
	t := s.forms.of(x, tokens)
	return t, script{t, s.anyToken}.String() == x // A machine that was told another's address would be worse than one that waits for its own.
}

// A script is a text on its way to a machine. Of one that's kept only the token is its own: it isn't put together before it's sent.
type script struct {
	text  *text
	token string
}

// plain is a text that nobody keeps, with its token.
func plain(x string) script { return script{text: &text{form: &form{text: x}, size: len(x)}} }

// rendered makes one anew.
func rendered(in ipxe.Input) (script, error) {
	t, err := ipxe.Render(in)
	return plain(t), err //nolint:wrapcheck // It says what is wrong, and of which entry.
}

// Len is how many bytes it has: a token is as long as what stands for one.
func (x script) Len() int { return x.text.size }

// send writes it.
func (x script) send(w io.Writer) {
	form, own := x.text.form, x.text.own
	from, tokens := 0, form.tokens
	upTo := func(end int) {
		for len(tokens) > 0 && int(tokens[0]) < end {
			_, _ = io.WriteString(w, form.text[from:tokens[0]])
			_, _ = io.WriteString(w, x.token)
			from, tokens = int(tokens[0])+boot.TokenLength, tokens[1:]
		}
		_, _ = io.WriteString(w, form.text[from:end])
	}
	for _, c := range x.text.cuts[:x.text.many] {
		upTo(int(c.from))
		_, _ = io.WriteString(w, own[:c.own])
		from, own = int(c.to), own[c.own:]
	}
	upTo(len(form.text))
}

// String is it in one piece.
func (x script) String() string {
	var b strings.Builder
	x.send(&b)
	return b.String()
}
