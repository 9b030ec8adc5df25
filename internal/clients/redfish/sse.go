package redfish

import (
	"bytes"
	"errors"
	"time"
)

// Why listening to a BMC's events ends, beside an Error.
var (
	// ErrStreamClosed: the BMC ended the connection.
	ErrStreamClosed = errors.New("the BMC ended the stream of its events")
	// ErrStreamSilent: nothing came for so long that there may be nobody any more.
	ErrStreamSilent = errors.New("nothing came from the BMC's stream of events for long")
	// ErrStreamFlooded: more came than anybody can follow.
	ErrStreamFlooded = errors.New("the BMC's stream of events has more than 1000 events, or 2 MiB, in a minute")
	// ErrStreamGarbage: what came isn't a stream of events.
	ErrStreamGarbage = errors.New("the BMC's stream of events has a line of more than 1 MiB")
)

const (
	// maxLine bounds a line of a stream. None is kept: one that is longer isn't an
	// event's.
	maxLine = 1 << 20
	// maxEvents and maxStreamed, in bytes, are what a stream may have in a flood's
	// time: some BMCs send all that their sensors read.
	maxEvents   = 1000
	maxStreamed = 2 << 20
	floodTime   = time.Minute
)

// decoder finds where events end in a stream (WHATWG HTML, 9.2.6). It keeps
// nothing of them: that there was one is all that's taken from it.
type decoder struct {
	// line is how many bytes the line has so far, and head how it begins, behind a
	// byte order mark as well.
	line int
	head [len(byteOrderMark) + len(fieldData) + 1]byte
	// data says that the event has some so far.
	data bool
	// later says that it's not the first line any more.
	later bool
	// cr says that the last byte was a \r: a \n behind it ends no other line.
	cr bool
}

const (
	byteOrderMark = "\xef\xbb\xbf"
	fieldData     = "data"
)

// write takes what came and returns how many events have ended in it. Its error
// is ErrStreamGarbage.
func (d *decoder) write(p []byte) (events int, err error) {
	for _, b := range p {
		switch {
		case b == '\n' && d.cr:
			d.cr = false
		case b == '\n', b == '\r':
			d.cr = b == '\r'
			if d.endLine() {
				events++
			}
		default:
			d.cr = false
			if d.line < len(d.head) {
				d.head[d.line] = b
			}
			d.line++
			if d.line > maxLine {
				return events, ErrStreamGarbage
			}
		}
	}

	return events, nil
}

// endLine says whether the line that ended was an event's last one: an empty one
// behind data. One that begins with a colon is a comment; all other fields tell
// nothing.
func (d *decoder) endLine() bool {
	line := d.head[:min(d.line, len(d.head))]
	if !d.later {
		line = bytes.TrimPrefix(line, []byte(byteOrderMark))
	}
	empty := len(line) == 0
	name, _, _ := bytes.Cut(line, []byte(":"))
	ended := empty && d.data
	d.data = !empty && (d.data || string(name) == fieldData)
	d.line, d.later = 0, true

	return ended
}

// flood counts what a stream has in a while.
type flood struct {
	since         time.Time
	events, bytes int
}

// over says whether that is more than anybody can follow.
func (f *flood) over(now time.Time, events, streamed int) bool {
	if now.Sub(f.since) >= floodTime {
		*f = flood{since: now}
	}
	f.events += events
	f.bytes += streamed

	return f.events > maxEvents || f.bytes > maxStreamed
}
