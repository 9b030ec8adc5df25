package snapshot

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot/pieces"
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
	errSum    = errors.New("its checksum doesn't match")
)

// head is what there's little of.
type head struct {
	Segments []boot.Segment `json:"segments"`
	Keys     [][]byte       `json:"keys"`
	Sessions []boot.Session `json:"sessions"`
	// Unserved are the MACs and addresses of machines that have an entry and aren't served. Earlier programs wrote none, and skip them.
	Unserved *unserved `json:"unserved,omitempty"`
	// ID of this one, by which what lies beside it is known to be of it. Earlier programs wrote none, and skip it.
	ID string `json:"id,omitempty"`
}

// unserved is what State.Unserved gives.
type unserved struct {
	MACs      []boot.MAC   `json:"macs,omitempty"`
	Addresses []netip.Addr `json:"addresses,omitempty"`
}

func unservedOf(st *boot.State) *unserved {
	macs, addresses := st.Unserved()
	if len(macs)+len(addresses) == 0 {
		return nil
	}
	return &unserved{macs, addresses}
}

// leastRow is the least number of bytes that a row takes, or a shape.
const leastRow = 16

func table() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// encode writes a snapshot, row by row: in memory there's no second one. The checksum comes last, and stands in front.
func encode(to io.WriteSeeker, st *boot.State, keys [][]byte, id string) error {
	plans := st.Packed()
	numbers, shapes, err := shapesOf(plans)
	if err != nil {
		return err
	}
	dual := slices.ContainsFunc(plans.Shapes(), func(s *boot.Plan) bool { return s.Network.Six != nil })
	sessions := slices.Collect(maps.Values(st.Sessions))
	slices.SortFunc(sessions, func(a, b boot.Session) int { return cmp.Compare(a.EntryUID, b.EntryUID) })
	top, err := json.Marshal(head{st.Segments, keys, sessions, unservedOf(st), id}) //nolint:musttag // The domain's own names are the format.
	if err != nil {
		return err
	}
	first := format
	if dual {
		first = formatDual
	}
	if _, err := io.WriteString(to, first+strings.Repeat("\x00", sumSize)); err != nil {
		return err
	}
	sum := crc32.New(table())
	w := bufio.NewWriterSize(io.MultiWriter(to, sum), 1<<16)
	b := binary.AppendUvarint(pieces.AppendText(nil, string(top)), uint64(len(shapes)))
	for _, s := range shapes {
		b = pieces.AppendText(b, s)
	}
	_, err = w.Write(binary.AppendUvarint(b, uint64(plans.Len()))) //nolint:gosec // A length.
	for shape, row := range plans.Rows() {
		b = append(binary.AppendUvarint(b[:0], numbers[shape]), row...)
		if dual && plans.Shapes()[shape].Network.Six == nil {
			b = pieces.AppendText(b, "") // It has no second address.
		}
		if _, err = w.Write(b); err != nil {
			break // Once it has failed it writes nothing more.
		}
	}
	if err := errors.Join(err, w.Flush()); err != nil {
		return err
	}
	if _, err := to.Seek(int64(len(format)), io.SeekStart); err != nil {
		return err
	}
	_, err = to.Write(binary.LittleEndian.AppendUint32(nil, sum.Sum32()))
	return err
}

// shapesOf gives the texts of the shapes that plans have, and the number of each shape among them.
func shapesOf(plans *boot.Packed) (numbers []uint64, texts []string, err error) {
	numbers = make([]uint64, len(plans.Shapes()))
	known, seen := map[string]uint64{}, make([]bool, len(numbers))
	for shape := range plans.Rows() {
		if seen[shape] {
			continue
		}
		seen[shape] = true
		b, err := json.Marshal(plans.Shapes()[shape]) //nolint:musttag // The domain's own names are the format.
		if err != nil {
			return nil, nil, err
		}
		n, twice := known[string(b)]
		if !twice {
			n = uint64(len(texts))
			known[string(b)], texts = n, append(texts, string(b))
		}
		numbers[shape] = n
	}
	return numbers, texts, nil
}

// known is what a snapshot holds.
type known struct {
	state *boot.State
	keys  [][]byte
	id    string
}

func decode(b []byte) (known, error) {
	dual := len(b) >= len(formatDual) && string(b[:len(formatDual)]) == formatDual
	if !dual && (len(b) < len(format) || string(b[:len(format)]) != format) {
		if len(b) > len(formats) && string(b[:len(formats)]) == formats {
			return known{}, fmt.Errorf("%w: it says %q, and this program reads %q and before", errFormat, strings.TrimSpace(string(b[:min(len(b), len(format))])), strings.TrimSpace(formatDual))
		}
		return known{}, pieces.ErrShort
	}
	b = b[len(format):]
	if len(b) < sumSize {
		return known{}, pieces.ErrShort
	}
	if binary.LittleEndian.Uint32(b) != crc32.Checksum(b[sumSize:], table()) {
		return known{}, errSum
	}
	return unpack(b[sumSize:], dual)
}

// unpack reads what is behind the checksum; dual: of formatDual.
func unpack(b []byte, dual bool) (known, error) {
	r := pieces.Of(string(b))
	top := head{}
	if err := json.Unmarshal([]byte(r.Text()), &top); err != nil { //nolint:musttag // As above.
		r.Fail(fmt.Errorf("its head can't be read: %w", err))
	}
	shapes := make([]boot.Plan, r.Count(leastRow))
	for i := range shapes {
		text := r.Text()
		if r.Err() != nil {
			break
		}
		if err := json.Unmarshal([]byte(text), &shapes[i]); err != nil { //nolint:musttag // As above.
			r.Fail(fmt.Errorf("shape %d can't be read: %w", i, err))
		}
	}
	n := r.Count(leastRow)
	plans := boot.NewPacker(n, nil)
	for i := range shapes {
		plans.Shape(&shapes[i])
	}
	for i := range n {
		shape := r.Number()
		if r.Err() != nil || shape >= uint64(len(shapes)) {
			return known{}, errors.Join(r.Err(), fmt.Errorf("plan %d has no shape", i))
		}
		plans.Read(uint32(shape), &r, dual) //nolint:gosec // It's one of them.
	}
	if r.Rest() != "" {
		r.Fail(fmt.Errorf("%d bytes are too many", len(r.Rest())))
	}
	if r.Err() != nil {
		return known{}, r.Err()
	}
	st := boot.PackedState(top.Segments, plans.Packed(), top.Sessions)
	if u := top.Unserved; u != nil {
		st.Withhold(u.MACs, u.Addresses)
	}
	return known{st, top.Keys, top.ID}, nil
}

// file is format 1, which earlier programs wrote.
type file struct {
	Format   int            `json:"format"`
	Segments []boot.Segment `json:"segments"`
	Plans    []boot.Plan    `json:"plans"`
	Sessions []boot.Session `json:"sessions"`
	Keys     [][]byte       `json:"keys"`
}

func decodeJSON(b []byte) (known, error) {
	f := file{}
	if err := json.Unmarshal(b, &f); err != nil { //nolint:musttag // As above.
		return known{}, fmt.Errorf("cannot decode it: %w", err)
	}
	if f.Format != formatJSON {
		return known{}, fmt.Errorf("%w: it has format %d", errFormat, f.Format)
	}
	return known{boot.NewState(f.Segments, f.Plans, f.Sessions), f.Keys, ""}, nil
}
