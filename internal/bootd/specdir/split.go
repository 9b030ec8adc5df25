package specdir

import (
	"bytes"
	"errors"
	"io"

	yaml3 "go.yaml.in/yaml/v3"
)

// A document of a file, and the line that it begins at, from 1.
type document struct {
	line int
	text []byte
}

// split gives the documents of a file. They are parted by "---"; where one begins with "{", each line that does is one of its own,
// which is JSON and quick to read.
func split(b []byte) (docs []document) {
	begin, line, rows := 0, 1, false
	start := 1
	bare := true // Since begin there are comments at most.
	if bytes.HasPrefix(b, []byte("\ufeff")) {
		b = b[len("\ufeff"):]
	}
	flush := func(end int) {
		if len(bytes.TrimSpace(b[begin:end])) > 0 {
			docs = append(docs, document{start, b[begin:end]})
		}
	}
	for at := 0; at < len(b); line++ {
		end := len(b)
		if i := bytes.IndexByte(b[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		row := bytes.TrimRight(b[at:end], "\r\n \t")
		switch {
		case begins(row, "---"), begins(row, "..."):
			flush(at)
			begin, start, rows, bare = end, line+1, false, true
			if rest := bytes.TrimSpace(row[3:]); len(rest) > 0 && rest[0] != '#' {
				begin, start, bare = at, line, false // Behind "..." YAML has nothing: that's said of it.
				if row[0] == '-' {
					begin += 3 // A document may begin on this line.
				}
			}
		case bytes.HasPrefix(row, []byte("{")) && (rows || bare):
			flush(at)
			begin, start, rows, bare = at, line, true, false
		case len(bytes.TrimSpace(row)) > 0 && row[0] != '#':
			bare = false
		}
		at = end
	}
	flush(len(b))
	return docs
}

// begins says whether a line is YAML's mark of a document's begin or end.
func begins(row []byte, mark string) bool {
	rest, ok := bytes.CutPrefix(row, []byte(mark))
	return ok && (len(rest) == 0 || rest[0] == ' ' || rest[0] == '\t')
}

// single says whether YAML sees one document as well. It knows of more ends of lines, and of UTF-16, where split sees one document, and of
// which it would read the first alone.
func (d document) single() bool {
	if !otherBreaks(d.text) && d.atMargin() {
		return true
	}
	var n yaml3.Node
	in := yaml3.NewDecoder(bytes.NewReader(d.text))
	return in.Decode(&n) != nil || errors.Is(in.Decode(&n), io.EOF)
}

// atMargin says whether a document is a map whose keys begin their lines: no line ends that, but for what parts documents and a directive. What begins
// otherwise may end where the file doesn't, and YAML would say nothing of the rest.
func (d document) atMargin() bool {
	for row := range bytes.Lines(d.text) {
		if t := bytes.TrimSpace(row); len(t) == 0 || t[0] == '#' {
			continue
		}
		return (row[0]|0x20 >= 'a' && row[0]|0x20 <= 'z') && !bytes.Contains(d.text, []byte("\n%"))
	}
	return true
}

// wide says whether a text is in UTF-16, by the mark at its begin.
func wide(b []byte) bool {
	return bytes.HasPrefix(b, []byte{0xff, 0xfe}) || bytes.HasPrefix(b, []byte{0xfe, 0xff})
}

func otherBreaks(b []byte) bool {
	for _, mark := range []string{"\u0085", "\u2028", "\u2029"} {
		if bytes.Contains(b, []byte(mark)) {
			return true
		}
	}
	return wide(b) || bytes.Count(b, []byte{'\r'}) != bytes.Count(b, []byte("\r\n"))
}
