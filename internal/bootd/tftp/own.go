package tftp

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// ErrNotFound says that there's no such file, for this client.
var ErrNotFound = errors.New("file not found")

// ErrLater says that a file can't be had now. Its client hears nothing, and asks again.
var ErrLater = errors.New("not now")

// Own gives the files that are a machine's alone: by a token in their names, or a Raspberry Pi's. It's asked for each name that isn't in Files, between two
// packets: it mustn't wait. client is who asks, ours the address that was asked; invalid where it isn't known. false: there's no such file, and never was.
type Own func(name string, client, ours netip.Addr) (f OwnFile, ok bool)

// OwnFile is a file of a machine's own that can be opened.
type OwnFile struct {
	// Machine that it's of, whichever of its tokens it was named by.
	Machine boot.EntryKey
	// Open opens it, and may wait until its context ends.
	Open func(context.Context) (Content, error)
}

// Content is a file of a machine's own.
type Content struct {
	// Name for logs, without the token.
	Name string
	// Data of the file, where it's in memory; else File, which is closed when it was sent, and Size of it. Where it's known when that was
	// written to last, nobody has the end of one that is written to meanwhile: loaders look at no digest.
	Data    []byte
	File    *os.File
	Size    int
	Written time.Time
	// Done is called once it was sent or given up; may be nil.
	Done func()
	// Arrived is called once its client has all of it; may be nil. Firmware that breaks one off to know its size, and asks again, has it once.
	Arrived func(bytes int64)
	// First says that it's the first thing that firmware loads: then whole, it's a sight of the machine.
	First bool
	// Again says that a machine that is held asks for it again and again: that it went out says nothing of what comes.
	Again bool
}

func (c Content) close() {
	if c.File != nil {
		_ = c.File.Close()
	}
	if c.Done != nil {
		c.Done()
	}
}

func (c Content) size() int {
	if c.File != nil {
		return c.Size
	}
	return len(c.Data)
}

const (
	// openPatience is how long opening one may take. Clients ask again all the time meanwhile.
	openPatience = 20 * time.Second
	// openAtOnce is how many files of one machine are being opened at one time. A loader asks for one after the other; whoever has the token
	// of one machine can ask in the name of any address, and mustn't keep all others from booting.
	openAtOnce = 4
	// openSurely is how long one may take even where there's no place left.
	openSurely = time.Second
)

// openings are the files that are being opened, beside the loop: who opens one may have to ask others first.
type openings struct {
	of      map[netip.AddrPort]*opening
	each    map[boot.EntryKey]int // how many there are of one machine
	ready   chan opened
	group   sync.WaitGroup
	context context.Context //nolint:containedctx // It's the loop's own, and ends with it.
	cancel  context.CancelFunc
}

// An opening is a file that is being opened.
type opening struct {
	machine boot.EntryKey
	began   time.Time
	cancel  context.CancelFunc
	givenUp bool
}

// opened is a file, or why there's none.
type opened struct {
	Content

	asked  string
	req    request
	client netip.AddrPort
	ours   netip.Addr
	err    error
}

func newOpenings(places int) openings {
	ctx, cancel := context.WithCancel(context.Background())
	// Each has a place of its client's transfer, so that none ever waits.
	return openings{of: map[netip.AddrPort]*opening{}, each: map[boot.EntryKey]int{}, ready: make(chan opened, places), context: ctx, cancel: cancel}
}

// begin takes note of one.
func (o *openings) begin(client netip.AddrPort, machine boot.EntryKey, now time.Time) context.Context {
	ctx, cancel := context.WithCancel(o.context)
	o.of[client] = &opening{machine: machine, began: now, cancel: cancel}
	o.each[machine]++
	return ctx
}

// ended forgets one.
func (o *openings) ended(client netip.AddrPort) {
	x := o.of[client]
	x.cancel()
	delete(o.of, client)
	o.each[x.machine]--
	if o.each[x.machine] == 0 {
		delete(o.each, x.machine)
	}
}

// giveUpOldest has the one end that has waited longest. Its place is free once it has ended; who wants one asks again till then, and so
// does its client.
func (o *openings) giveUpOldest(now time.Time) {
	var oldest *opening
	for _, x := range o.of {
		if !x.givenUp && now.Sub(x.began) >= openSurely && (oldest == nil || x.began.Before(oldest.began)) {
			oldest = x
		}
	}
	if oldest != nil {
		oldest.givenUp = true
		oldest.cancel()
	}
}

// close waits for those that are under way.
func (o *openings) close() {
	o.cancel()
	o.group.Wait()
	close(o.ready)
	for x := range o.ready {
		x.close()
	}
}

// openOwn has a machine's own file opened; false: it's none. A request that comes again meanwhile is the same one.
func (l *loop) openOwn(b []byte, req request, client netip.AddrPort, ours netip.Addr) bool {
	if l.s.cfg.Own == nil || req.ascii {
		return false
	}
	if _, fixed := l.s.cfg.Files.Find(req.name); fixed {
		return false
	}
	f, ok := l.s.cfg.Own(cleanName(req.name), client.Addr(), ours)
	if !ok {
		return false
	}
	if l.openings.of[client] != nil {
		return true
	}
	if l.openings.each[f.Machine] >= openAtOnce || !l.s.limits.acquire(client.Addr()) && (!l.makeRoom() || !l.s.limits.acquire(client.Addr())) {
		l.s.done(Busy, client.Addr(), "", nil)
		return true
	}
	ctx := l.openings.begin(client, f.Machine, l.now)
	x := opened{asked: string(b), req: req, client: client, ours: ours}
	l.openings.group.Go(func() {
		x.Content, x.err = surely(ctx, f.Open)
		l.openings.ready <- x
		_, _ = unix.Write(l.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	})
	return true
}

// surely opens a file, and comes back.
func surely(ctx context.Context, open func(context.Context) (Content, error)) (c Content, err error) {
	defer func() {
		if p := recover(); p != nil { // It costs one machine its file, and nobody else's.
			err = fmt.Errorf("%w: opening it caused a panic: %v", ErrLater, p)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, openPatience)
	defer cancel()
	return open(ctx)
}

// wakened begins the transfers of what was opened.
func (l *loop) wakened() {
	_, _ = unix.Read(l.wake, l.in[:8])
	for {
		select {
		case x := <-l.openings.ready:
			l.openings.ended(x.client)
			l.openedOwn(x)
		default:
			return
		}
	}
}

func (l *loop) openedOwn(x opened) {
	if x.err != nil || l.byClient[x.client] != nil {
		l.s.limits.release(x.client.Addr())
		l.s.done(outcome(x.err), x.client.Addr(), x.Name, x.err)
		if x.err != nil && !errors.Is(x.err, ErrLater) {
			l.refuse(x.client, x.ours, codeNotFound, ErrNotFound.Error())
		}
		x.close()
		return
	}
	r := l.s.transferOf(x.req, x.client, x.Name, x.Data, x.size())
	r.content = x.Content
	r.own = true
	l.start(x.asked, r, x.client, x.ours)
}

func outcome(err error) Outcome {
	if errors.Is(err, ErrLater) {
		return Later
	}
	return NotFound
}

// cleanName is a name as firmware means it: with slashes, none in front, and without what its buffer held behind: NUL or 0xFF.
func cleanName(asked string) string {
	end := len(asked)
	for end > 0 && (asked[end-1] == 0 || asked[end-1] == 0xff || asked[end-1] == ' ') {
		end--
	}
	name := strings.ReplaceAll(asked[:end], `\`, "/")
	return strings.TrimPrefix(strings.TrimLeft(name, "/"), "./")
}

// last is the last element of a name: what stands before it may be a token.
func last(name string) string {
	if at := strings.LastIndexAny(name, `/\`); at >= 0 && len(name) > boot.TokenLength {
		return "…" + name[at:]
	}
	return name
}

var errWritten = errors.New("the file was written to while it was sent")

// asOpened says that nobody has written to a file since it was opened.
func (c Content) asOpened() bool {
	if c.Written.IsZero() {
		return true
	}
	i, err := c.File.Stat()
	return err == nil && i.ModTime().Equal(c.Written)
}

// fill appends one block of a transfer's file.
func (r *running) fill(out []byte, n int) ([]byte, error) {
	if r.content.File == nil {
		return append(out, r.data(r.file, n)...), nil
	}
	from := (n - 1) * r.block
	size := max(min(r.block, r.size-from), 0)
	at := len(out)
	out = append(out, make([]byte, size)...)
	if from+r.block >= r.size && !r.content.asOpened() { // The end.
		return out, errWritten
	}
	if size == 0 {
		return out, nil
	}
	if _, err := r.content.File.ReadAt(out[at:], int64(from)); err != nil {
		return out, fmt.Errorf("cannot read the file: %w", err)
	}
	return out, nil
}
