package gate

import (
	"strings"
	"sync"
	"sync/atomic"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

// liveDigits of a plan's digest stand in the token of a live boot where the grant's id is otherwise.
const liveDigits = 16

// LiveID ties the token of a live boot to the plan that it was made for.
func LiveID(p *boot.Plan) string { return strings.TrimPrefix(p.Digest(), "sha256:")[:liveDigits] }

// maxMemos machines are remembered.
const maxMemos = 16384

// A Memo is what was made from a plan, and takes longer to make than all else of a request: its LiveID, and what a renderer puts there. It
// holds nothing that a decision rests on.
type Memo struct {
	of   boot.Ref
	live string
	// turn is the last state in which its machine asked.
	turn atomic.Uint32

	// Entry and MAC are the plan's own, for logs. They lie in one piece of memory, with what else a script takes of its machine: of ten thousand
	// machines nothing is in a cache.
	Entry, MAC string
	// Machine is its number.
	Machine session.Machine

	// Text is the renderer's own.
	Text atomic.Value
}

// memos remembers, by machine, for as long as its plan is the same. Those of machines that haven't asked since the state before the last are
// forgotten, but for what is noted beside plans: that goes with them.
type memos struct {
	// turn counts states.
	turn atomic.Uint32

	mu          sync.Mutex
	now, before map[boot.EntryKey]*Memo
}

// beside gives that of a plan that's served: it's noted beside that, where a machine that asks again finds it without a search.
func (l *memos) beside(k boot.EntryKey, p boot.Noted) *Memo {
	if p.Note == nil {
		return l.of(k, p.Ref(), p.Plan)
	}
	if x, ok := p.Note.Load().(*Memo); ok {
		if turn := l.turn.Load(); x.turn.Load() != turn { // Plans may be those of the state before.
			x.turn.Store(turn)
			l.mu.Lock()
			l.keep(k, x)
			l.mu.Unlock()
		}
		return x
	}
	x := l.of(k, p.Ref(), p.Plan)
	p.Note.Store(x)
	return x
}

// of is beside without a note.
func (l *memos) of(k boot.EntryKey, r boot.Ref, p *boot.Plan) *Memo {
	l.mu.Lock()
	x := l.now[k]
	if x == nil {
		if x = l.before[k]; x != nil && x.of == r {
			l.keep(k, x)
		}
	}
	l.mu.Unlock()
	if x != nil && x.of == r {
		return x
	}
	x = newMemo(r, p)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keep(k, x)
	return x
}

func newMemo(r boot.Ref, p *boot.Plan) *Memo {
	live := ""
	if p.Mode == boot.ModeLive {
		live = LiveID(p)
	}
	entry, mac := p.Entry.String(), string(Caller{Plan: p}.MAC())
	text := live + entry + mac
	return &Memo{of: r, live: text[:len(live)], Entry: text[len(live) : len(text)-len(mac)], MAC: text[len(text)-len(mac):], Machine: session.MachineOf(p.Entry)}
}

func (l *memos) keep(k boot.EntryKey, x *Memo) {
	if len(l.now) >= maxMemos {
		clear(l.now)
	}
	l.now[k] = x
}

// Renewed says that there is another state.
func (g *Gate) Renewed() {
	g.memos.mu.Lock()
	defer g.memos.mu.Unlock()
	g.memos.turn.Add(1)
	g.memos.before, g.memos.now = g.memos.now, make(map[boot.EntryKey]*Memo, len(g.memos.now))
}
