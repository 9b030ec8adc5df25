package snapshot

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// A snapshot is one line of text that names its format, a checksum (CRC-32C) of all behind it, a head, the shapes of plans, and a row for
// each plan: its shape, and what is its own. Most machines of a site differ in little but names and addresses, so that a hundred thousand
// are read in a fraction of a second. Head and shapes are JSON: a field that a later program adds to a plan is part of its shape. Rows of
// formatDual have a second address; it's written where a machine has one, so that a site without any can go back to an earlier program.

const (
	// format of the file, or formatDual; another one is ignored.
	format     = "bootd snapshot 2\n"
	formatDual = "bootd snapshot 3\n"
	// formats is what the first line of any format begins with.
	formats    = "bootd snapshot "
	sumSize    = 4
	formatJSON = 1
)

var (
	errFormat = errors.New("another program wrote the snapshot")
	errShort  = errors.New("it ends too early")
	errSum    = errors.New("its checksum doesn't match")
)

// head is what there's little of.
type head struct {
	Segments []boot.Segment `json:"segments"`
	Keys     [][]byte       `json:"keys"`
	Sessions []boot.Session `json:"sessions"`
}

func table() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

func encode(st *boot.State, keys [][]byte) ([]byte, error) {
	sessions := slices.Collect(maps.Values(st.Sessions))
	slices.SortFunc(sessions, func(a, b boot.Session) int { return cmp.Compare(a.EntryUID, b.EntryUID) })
	top, err := json.Marshal(head{st.Segments, keys, sessions}) //nolint:musttag // The domain's own names are the format.
	if err != nil {
		return nil, err
	}
	plans := st.Plans()
	slices.SortFunc(plans, func(a, b *boot.Plan) int { // As boot.NewState wants them.
		if a.Bound != b.Bound {
			if a.Bound {
				return -1
			}
			return 1
		}
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.EntryUID, b.EntryUID))
	})
	known, rows := newShapes(), []byte(nil)
	dual := slices.ContainsFunc(plans, func(p *boot.Plan) bool { return p.Network.Six != nil })
	for _, p := range plans {
		number, err := known.number(shapeOf(p))
		if err != nil {
			return nil, err
		}
		rows = row(binary.AppendUvarint(rows, number), p, dual)
	}
	b := make([]byte, len(format)+sumSize, len(format)+sumSize+len(top)+len(rows)+1024)
	copy(b, format)
	if dual {
		copy(b, formatDual)
	}
	b = appendText(b, string(top))
	b = binary.AppendUvarint(b, uint64(len(known.texts)))
	for _, s := range known.texts {
		b = appendText(b, s)
	}
	b = append(binary.AppendUvarint(b, uint64(len(plans))), rows...)
	binary.LittleEndian.PutUint32(b[len(format):], crc32.Checksum(b[len(format)+sumSize:], table()))
	return b, nil
}

func decode(b []byte) (*boot.State, [][]byte, error) {
	dual := len(b) >= len(formatDual) && string(b[:len(formatDual)]) == formatDual
	if !dual && (len(b) < len(format) || string(b[:len(format)]) != format) {
		if len(b) > len(formats) && string(b[:len(formats)]) == formats {
			return nil, nil, fmt.Errorf("%w: it says %q, and this program reads %q", errFormat, b[:min(len(b), len(format))], formatDual)
		}
		return nil, nil, errShort
	}
	b = b[len(format):]
	if len(b) < sumSize {
		return nil, nil, errShort
	}
	if binary.LittleEndian.Uint32(b) != crc32.Checksum(b[sumSize:], table()) {
		return nil, nil, errSum
	}
	return unpack(b[sumSize:], dual)
}

// unpack reads what is behind the checksum; dual: of formatDual.
func unpack(b []byte, dual bool) (*boot.State, [][]byte, error) {
	r := reader{rest: string(b)} // All texts are parts of it.
	top := head{}
	if err := json.Unmarshal([]byte(r.text()), &top); err != nil && r.err == nil { //nolint:musttag // As above.
		r.err = fmt.Errorf("its head can't be read: %w", err)
	}
	shapes := make([]boot.Plan, r.count(leastRow))
	for i := range shapes {
		text := r.text()
		if r.err != nil {
			break
		}
		if err := json.Unmarshal([]byte(text), &shapes[i]); err != nil { //nolint:musttag // As above.
			r.err = fmt.Errorf("shape %d can't be read: %w", i, err)
		}
	}
	plans := make([]boot.Plan, r.count(leastRow))
	all := make([]*boot.Plan, len(plans))
	for i := range plans {
		all[i] = &plans[i]
		shape := r.number()
		if r.err != nil || shape >= uint64(len(shapes)) {
			return nil, nil, errors.Join(r.err, fmt.Errorf("plan %d has no shape", i))
		}
		plans[i] = shapes[shape]
		r.row(&plans[i], dual)
	}
	if r.err == nil && r.rest != "" {
		r.err = fmt.Errorf("%d bytes are too many", len(r.rest))
	}
	if r.err != nil {
		return nil, nil, r.err
	}
	return boot.StateOf(top.Segments, all, top.Sessions), top.Keys, nil
}

// file is format 1, which earlier programs wrote.
type file struct {
	Format   int            `json:"format"`
	Segments []boot.Segment `json:"segments"`
	Plans    []boot.Plan    `json:"plans"`
	Sessions []boot.Session `json:"sessions"`
	Keys     [][]byte       `json:"keys"`
}

func decodeJSON(b []byte) (*boot.State, [][]byte, error) {
	f := file{}
	if err := json.Unmarshal(b, &f); err != nil { //nolint:musttag // As above.
		return nil, nil, fmt.Errorf("cannot decode it: %w", err)
	}
	if f.Format != formatJSON {
		return nil, nil, fmt.Errorf("%w: it has format %d", errFormat, f.Format)
	}
	return boot.NewState(f.Segments, f.Plans, f.Sessions), f.Keys, nil
}
