package httpboot

import (
	"crypto/rand"
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
	of   made
	text string
	// tokens are where in it the token is.
	tokens []int
}

// made is all that a text rests on beside its plan.
type made struct {
	decision        boot.Decision
	firmware        boot.Firmware
	base, installer string
	six, noAddress  bool
	wait            time.Duration
}

// maxKept is how long a text may be that's kept: there may be as many as the gate remembers machines.
const maxKept = 2 << 10

// render gives a script's text. That of a machine that netboots each time, or boots its disk, is rendered once for its plan: it differs by its
// token alone. Whatever is granted, waits, or is a profile's own is rendered anew.
func (s *Server) render(c gate.Caller, in ipxe.Input) (string, error) {
	if in.Plan != c.Plan || in.Plan.Method == boot.MethodScript || in.Decision.Answer != boot.AnswerLive && in.Decision.Answer != boot.AnswerLocalDisk ||
		in.Token != "" && len(in.Token) != boot.TokenLength {
		return ipxe.Render(in)
	}
	of := made{in.Decision, in.Firmware, in.Base, in.Installer, in.Six, in.NoAddress, in.Wait}
	if t, ok := c.Memo.Text.Load().(*text); ok && t.of == of {
		return t.with(in.Token), nil
	}
	token := in.Token
	in.Token = s.anyToken
	rendered, err := ipxe.Render(in)
	if err != nil {
		return "", err
	}
	t := &text{of: of, text: strings.Clone(rendered)}
	for at := 0; ; at += boot.TokenLength {
		next := strings.Index(rendered[at:], s.anyToken)
		if next < 0 {
			break
		}
		at += next
		t.tokens = append(t.tokens, at)
	}
	if len(rendered) <= maxKept {
		c.Memo.Text.Store(t)
	}
	return t.with(token), nil
}

// with a token.
func (t *text) with(token string) string {
	if len(t.tokens) == 0 {
		return t.text
	}
	var b strings.Builder
	b.Grow(len(t.text))
	from := 0
	for _, at := range t.tokens {
		b.WriteString(t.text[from:at])
		b.WriteString(token)
		from = at + boot.TokenLength
	}
	b.WriteString(t.text[from:])
	return b.String()
}
