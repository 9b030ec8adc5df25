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

// A text of a script as it was last rendered for a machine, with anyToken in its token's place.
type text struct {
	of   *made
	text string
	// tokens are where in it the token is, as many as there are.
	tokens [maxTokens]uint16
	many   uint16
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
	t, ok := s.kept(x.text.text)
	if !ok {
		return script{text: &text{text: strings.ReplaceAll(x.text.text, s.anyToken, token)}}, nil
	}
	t.of = s.shared(of)
	c.Memo.Text.Store(t)
	return script{t, token}, nil
}

// near looks at each cache line (64 octets) of a machine's text, all at once: otherwise each is waited for when it's sent.
//
//go:noinline
func near(c gate.Caller) (sum byte) {
	t, ok := c.Memo.Text.Load().(*text)
	if !ok || c.Memo.Entry == "" {
		return 0
	}
	sum = c.Memo.Entry[0]
	for i := 0; i < len(t.text); i += 64 {
		sum ^= t.text[i]
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

// kept finds the tokens in a text; false: it's too long to be kept, or has too many.
func (s *Server) kept(x string) (*text, bool) {
	if len(x) > maxKept {
		return nil, false
	}
	t := &text{text: strings.Clone(x)}
	for at := 0; ; at += boot.TokenLength {
		next := strings.Index(x[at:], s.anyToken)
		if next < 0 {
			return t, true
		}
		if t.many == maxTokens {
			return nil, false
		}
		at += next
		t.tokens[t.many] = uint16(at) //nolint:gosec // Less than maxKept.
		t.many++
	}
}

// A script is a text on its way to a machine. Of one that's kept only the token is its own: it isn't put together before it's sent.
type script struct {
	text  *text
	token string
}

// rendered makes one anew.
func rendered(in ipxe.Input) (script, error) {
	t, err := ipxe.Render(in)
	return script{text: &text{text: t}}, err //nolint:wrapcheck // It says what is wrong, and of which entry.
}

// Len is how many bytes it has: a token is as long as what stands for one.
func (x script) Len() int { return len(x.text.text) }

// send writes it.
func (x script) send(w io.Writer) {
	from := 0
	for _, at := range x.text.tokens[:x.text.many] {
		at := int(at)
		_, _ = io.WriteString(w, x.text.text[from:at])
		_, _ = io.WriteString(w, x.token)
		from = at + boot.TokenLength
	}
	_, _ = io.WriteString(w, x.text.text[from:])
}

// String is it in one piece.
func (x script) String() string {
	var b strings.Builder
	x.send(&b)
	return b.String()
}
