package httpboot

import (
	"slices"
	"strings"
	"sync"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

const (
	// maxForms are remembered for texts that come, the last ones: there's one for each profile and network, about, and each firmware.
	maxForms = 32
	// maxCuts are how often a text may differ from its form, and maxOwn by how many bytes: a name, some addresses and a MAC.
	maxCuts = 8
	maxOwn  = 256
)

// A form is a text of a script that other machines' texts differ little from: of ten thousand machines each text would be in no cache, and the one is.
type form struct {
	text string
	// tokens are where the token is in it.
	tokens []uint16
}

// A cut is where a text has something of its own, so many bytes, in the place of its form's from one byte to another.
type cut struct{ from, to, own uint16 }

// forms are those that texts were given lately.
type forms struct {
	mu   sync.Mutex
	all  []*form
	next int
}

// of gives a text by a form that it differs little from, or else by itself, which is another form then. tokens are where its token is.
func (f *forms) of(x string, tokens []uint16) *text {
	f.mu.Lock()
	all := slices.Clone(f.all)
	f.mu.Unlock()
	t := &text{size: len(x)}
	for _, like := range all { // None is ever changed.
		if like.cut(t, x, tokens) {
			return t
		}
	}
	like := &form{strings.Clone(x), tokens}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.all) < maxForms {
		f.all = append(f.all, like)
	} else {
		f.all[f.next] = like
		f.next = (f.next + 1) % maxForms
	}
	t.form, t.many = like, 0
	return t
}

// cut makes t of a form and what differs from it; false: that's too often, or too much.
func (f *form) cut(t *text, x string, tokens []uint16) bool {
	if len(tokens) != len(f.tokens) {
		return false
	}
	t.form, t.many = f, 0
	own := make([]byte, 0, maxOwn)
	mine, its := 0, 0
	for i := 0; i <= len(tokens); i++ { // The token itself is in both.
		end, itsEnd := len(x), len(f.text)
		if i < len(tokens) {
			end, itsEnd = int(tokens[i]), int(f.tokens[i])
		}
		var ok bool
		if own, ok = t.words(own, x[mine:end], f.text[its:itsEnd], its); !ok {
			return false
		}
		mine, its = end+boot.TokenLength, itsEnd+boot.TokenLength
	}
	t.own = string(own)
	return true
}

// words cuts what lies between two tokens, word by word: at is where that begins in the form. It gives what is the text's own so far.
func (t *text) words(own []byte, x, form string, at int) ([]byte, bool) {
	for x != "" || form != "" {
		mine, its := word(x), word(form)
		x, form = x[len(mine):], form[len(its):]
		if mine == its {
			at += len(its)
			continue
		}
		if t.many == maxCuts || mine == "" || its == "" {
			return own, false
		}
		head, tail := alike(mine, its)
		t.cuts[t.many] = cut{uint16(at + head), uint16(at + len(its) - tail), uint16(len(mine) - head - tail)} //nolint:gosec // Less than maxKept.
		t.many++
		mine = mine[head : len(mine)-tail]
		if len(own)+len(mine) > maxOwn {
			return own, false
		}
		own, at = append(own, mine...), at+len(its)
	}
	return own, true
}

// word is the first one of a text, with the blank behind it.
func word(x string) string {
	if end := strings.IndexAny(x, " \n"); end >= 0 {
		return x[:end+1]
	}
	return x
}

// alike says how many bytes two words begin with alike, and with how many of the others they end.
func alike(a, b string) (head, tail int) {
	most := min(len(a), len(b))
	for head < most && a[head] == b[head] {
		head++
	}
	for tail < most-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return head, tail
}
