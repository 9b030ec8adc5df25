package tftp

import "time"

const (
	// retries is how often what isn't answered is sent again; unproven how often to a client that hasn't shown that it hears us: that may be
	// somebody else's address, which is to be spared. Whoever hears us is waited for over half a minute: clients ask again for as long, and a
	// switch's link that comes back takes it.
	retries  = 7
	unproven = 3
	// even is how many times what isn't answered is sent at even pauses; each one after that is twice as long, up to longest.
	even    = 4
	longest = 16 * time.Second
)

// A transfer is the state of one file on its way (RFC 1350, and RFC 7440 where a window is agreed on). It knows neither
// sockets nor clocks: it's told what came and says what to send. Blocks are counted from 1 and never wrap here; on the wire
// their number is the lowest 16 bits, which many a large file makes begin anew at 0.
type transfer struct {
	size, block, window int
	// opening: the options were answered, and the client has yet to agree by an ACK of block 0.
	opening bool
	// acked is the last block that the client has, with all before it; sent the last that was sent.
	acked, sent int
	// answered: the client has acknowledged something. Where each transfer has a port of its own that proves that it hears us: only who got
	// our packet knows where to answer. guessable: all transfers share one, and whoever asked in another's name can acknowledge in it, too.
	answered, guessable bool
	tries               int
}

// guess is told that all transfers share one port. A forged ACK is answered by one block then, and by no window.
func (t *transfer) guess() { t.guessable, t.window = true, 1 }

// proven says that the client has shown that it hears us.
func (t *transfer) proven() bool { return t.answered && !t.guessable }

// A burst is what to send: the OACK, or the blocks from one to another; none where the second is less.
type burst struct {
	oack     bool
	from, to int
}

// newTransfer begins a transfer. Without an OACK the first block is sent at once, and alone: no window was agreed on.
func newTransfer(size, block, window int, oack bool) *transfer {
	return &transfer{size: size, block: block, window: window, opening: oack}
}

// last is the number of the last block. It's shorter than the others, and empty where the file is a multiple of their size.
func (t *transfer) last() int { return t.size/t.block + 1 }

// begin is what answers the request.
func (t *transfer) begin() burst {
	if t.opening {
		return burst{oack: true}
	}
	return t.next()
}

// next sends the window behind what the client has.
func (t *transfer) next() burst {
	b := burst{from: t.acked + 1, to: min(t.acked+t.window, t.last())}
	t.sent = b.to
	return b
}

// ack takes an ACK; ended: the client has the whole file.
//
// An ACK of what was acknowledged before is never answered: if both ends did so, one packet that the network doubles would have
// everything sent twice to the end (RFC 1123 §4.2.3.1, the Sorcerer's Apprentice). What is really lost is sent again when time
// is up. An ACK in the middle of a window says that what follows was lost: the window begins anew there (RFC 7440 §4).
func (t *transfer) ack(number uint16) (b burst, ended bool) {
	ahead := int(number - uint16(t.acked&0xffff)) // Modulo 65,536: a window is far shorter.
	if t.opening {
		if number != 0 {
			return burst{}, false
		}
		t.opening, t.answered, t.tries = false, true, 0
		return t.next(), false
	}
	if ahead == 0 || ahead > t.sent-t.acked {
		return burst{}, false
	}
	t.acked += ahead
	t.answered, t.tries = true, 0
	if t.acked == t.last() {
		return burst{}, true
	}
	return t.next(), false
}

// expire is told that time is up; ended: the client is given up.
func (t *transfer) expire() (b burst, ended bool) {
	t.tries++
	if t.tries > retries || !t.proven() && t.tries > unproven {
		return burst{}, true
	}
	if t.opening {
		return burst{oack: true}, false
	}
	return t.next(), false
}

// patience is how long an answer is waited for, where the client said, or the default is, so much. Those who aren't proven are sent little, and none
// of it late.
func (t *transfer) patience(timeout time.Duration) time.Duration {
	if t.tries < even || !t.proven() {
		return timeout
	}
	return max(timeout, min(timeout<<(t.tries-even+1), longest))
}

// dawdles says whether a client has taken so little since it began that it only keeps a place from others: beyond ten minutes, fewer than
// ten blocks a second.
func (t *transfer) dawdles(since time.Duration) bool {
	const first, block = 10 * time.Minute, 100 * time.Millisecond
	return since > first+time.Duration(t.acked)*block
}

// again is what a repeated request gets: the first answer once more, as long as it wasn't answered itself.
func (t *transfer) again() (b burst, ok bool) {
	if t.answered || t.tries >= unproven {
		return burst{}, false
	}
	t.tries++
	return t.begin(), true
}

// data is the part of a file that a block holds.
func (t *transfer) data(file []byte, block int) []byte {
	return file[(block-1)*t.block : min(block*t.block, len(file))]
}
