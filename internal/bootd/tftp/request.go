package tftp

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"strings"
)

// Opcodes (RFC 1350 §5, RFC 2347).
const (
	opRRQ   = 1
	opWRQ   = 2
	opDATA  = 3
	opACK   = 4
	opERROR = 5
	opOACK  = 6
)

// Codes of ERROR (RFC 1350, appendix).
const (
	codeUndefined = 0
	codeNotFound  = 1
	codeAccess    = 2
	codeIllegal   = 4
)

const (
	defaultBlock = 512
	maxBlock     = 65464 // RFC 2348 §1.
	// maxWindow is what's sent without an answer. More than OVMF's 4 or a loader's 16 gains nothing that a switch's buffer
	// wouldn't lose again.
	maxWindow = 64
	// leastTimeout and mostTimeout are seconds that a client may ask for (RFC 2349): a slow one's place isn't kept for ever.
	leastTimeout, mostTimeout = 1, 10
	maxOptions                = 16
)

// A request to read a file.
type request struct {
	name  string
	ascii bool
	// block is the size of a block, 0 where the client doesn't say; window and timeout the same; size: it wants to be told.
	block, window, timeout int
	size                   bool
}

// parse reads a read request; false: it's none. An option that can't be kept is left out, as if it hadn't been sent (RFC 2347).
func parse(b []byte) (request, bool) {
	r := request{}
	name, b, ok := field(b[2:])
	if !ok {
		return r, false
	}
	mode, b, ok := field(b)
	if !ok {
		return r, false
	}
	r.name = name
	switch strings.ToLower(mode) {
	case "octet":
	case "netascii":
		r.ascii = true
	default:
		return r, false
	}
	for range maxOptions {
		var key, value string
		if key, b, ok = field(b); !ok {
			break
		}
		if value, b, ok = field(b); !ok {
			break
		}
		r.option(strings.ToLower(key), value)
	}
	return r, true
}

func (r *request) option(key, value string) {
	number := func(least, most int) int {
		n, err := strconv.ParseUint(value, 10, 16)
		if err != nil || int(n) < least {
			return 0
		}
		return min(int(n), most)
	}
	switch key {
	case "blksize":
		if r.block = number(defaultBlock, 1<<16); r.block > maxBlock { // Blocks of 8 would take 130,000 packets.
			r.block = 0
		}
	case "windowsize":
		r.window = number(1, maxWindow)
	case "timeout":
		if r.timeout = number(leastTimeout, 1<<16); r.timeout > mostTimeout {
			r.timeout = 0 // It's taken as it is or not at all (RFC 2349).
		}
	case "tsize":
		r.size = true
	}
}

// field takes what stands before the next NUL.
func field(b []byte) (s string, rest []byte, ok bool) {
	before, rest, ok := bytes.Cut(b, []byte{0})
	return string(before), rest, ok
}

// oack answers the options that are kept; nil where there are none.
func (r *request) oack(size int) []byte {
	b := binary.BigEndian.AppendUint16(nil, opOACK)
	add := func(key string, n int) {
		b = append(append(b, key...), 0)
		b = append(strconv.AppendInt(b, int64(n), 10), 0)
	}
	if r.size {
		add("tsize", size)
	}
	if r.block > 0 {
		add("blksize", r.block)
	}
	if r.timeout > 0 {
		add("timeout", r.timeout)
	}
	if r.window > 0 {
		add("windowsize", r.window)
	}
	if len(b) == 2 { // The opcode alone.
		return nil
	}
	return b
}

// failure is an ERROR packet.
func failure(code uint16, message string) []byte {
	b := binary.BigEndian.AppendUint16(nil, opERROR)
	b = binary.BigEndian.AppendUint16(b, code)
	return append(append(b, message...), 0)
}

// ascii is a file as netascii has it (RFC 764): lines end with CR LF, and a CR by itself is CR NUL.
func ascii(data []byte) []byte {
	out := make([]byte, 0, len(data)+len(data)/16)
	for _, c := range data {
		switch c {
		case '\n':
			out = append(out, '\r', '\n')
		case '\r':
			out = append(out, '\r', 0)
		default:
			out = append(out, c)
		}
	}
	return out
}
