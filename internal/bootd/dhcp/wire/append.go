package wire

// Append writes the reply behind b, no longer than most octets where that can be had: what is needed least is left out first.
func (r *Reply) Append(b []byte, most int) []byte {
	size := r.size()
	for size > most && !r.spills(size-most) {
		i := r.least()
		if i < 0 {
			break
		}
		size -= encoded(r.options[i].value)
		copy(r.options[i:], r.options[i+1:r.n])
		r.n--
	}
	from := len(b)
	b = append(b, r.header[:]...)
	left := uint64(0)
	if size > most {
		left = r.spill(b[from:])
	}
	for i := range r.options[:r.n] {
		if left&(1<<i) == 0 {
			b = appendOption(b, r.options[i].code, r.options[i].value)
		}
	}
	if left != 0 {
		b = append(b, OptionOverload, 1, 2)
	}
	if r.relayed {
		b = appendOption(b, OptionRelayAgent, r.relay)
	}
	b = append(b, OptionEnd)
	for len(b)-from < leastSize {
		b = append(b, OptionPad)
	}
	return b
}

func (r *Reply) size() int {
	n := atOptions + 1
	for _, o := range r.options[:r.n] {
		n += encoded(o.value)
	}
	if r.relayed {
		n += encoded(r.relay)
	}
	return n
}

// encoded is how long an option is on the wire: one longer than 255 octets is written in pieces (RFC 3396 §5).
func encoded(v []byte) int { return len(v) + 2*max(1, (len(v)+maxValue-1)/maxValue) }

func appendOption(b []byte, code byte, v []byte) []byte {
	for len(v) > maxValue {
		b = append(append(b, code, maxValue), v[:maxValue]...)
		v = v[maxValue:]
	}
	return append(append(b, code, byte(len(v))), v...) //nolint:gosec // At most 255 are left.
}

// least is the option that can be left out first, of several the longest, so that few are; -1: all are needed.
func (r *Reply) least() int {
	found := -1
	for i, o := range r.options[:r.n] {
		if o.rank == Needed {
			continue
		}
		if least := &r.options[max(0, found)]; found < 0 || o.rank < least.rank || o.rank == least.rank && len(o.value) > len(least.value) {
			found = i
		}
	}
	return found
}

const overloadSize = 3

// spills says whether so many octets too many can lie in the server's name field.
func (r *Reply) spills(over int) bool {
	if !r.Overload {
		return false
	}
	moved := 0
	r.each(func(_ int, n int) { moved += n })
	return moved-overloadSize >= over
}

// spill writes options into the server's name field, and gives a bit for each of them.
func (r *Reply) spill(b []byte) (bits uint64) {
	if !r.Overload {
		return 0
	}
	at := atSname
	r.each(func(i, n int) {
		bits |= 1 << i
		copy(b[at:], appendOption(nil, r.options[i].code, r.options[i].value))
		at += n
	})
	if bits != 0 {
		b[at] = OptionEnd
	}
	return bits
}

// each names the options that fit into the server's name field, the first that could be left out first, since a client that
// can't read the field loses least by them.
func (r *Reply) each(f func(i, n int)) {
	room := snameSize - 1
	for rank := uint8(1); rank < maxRank; rank++ {
		for i, o := range r.options[:r.n] {
			if n := encoded(o.value); o.rank == rank && n <= room {
				f(i, n)
				room -= n
			}
		}
	}
}
