// Package logging writes bootd's log: JSON lines as log/slog's, many of them with one call of the kernel, since there is one for each
// decision, and thousands of machines ask at once.
package logging

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"
)

const (
	// soon is how long a line may wait for others. A process that is killed loses what waits; warnings and errors never do.
	soon = 50 * time.Millisecond
	// most of what waits, in bytes.
	most = 64 << 10
)

// New makes a handler of lines from a level on. Flush must be called before the process ends.
func New(out io.Writer, level slog.Level) *Handler {
	l := &lines{out: out}
	return &Handler{Handler: slog.NewJSONHandler(l, &slog.HandlerOptions{Level: level}), lines: l, bare: true}
}

// A Handler is slog's, which gathers lines.
type Handler struct {
	slog.Handler

	lines *lines
	// bare says that neither attributes nor a group stand before those of a record.
	bare bool
}

// Handle writes a line. One that's more than information is written before it returns, with all that waited.
func (h *Handler) Handle(ctx context.Context, r slog.Record) error {
	if h.bare && h.lines.plain(&r) {
		if r.Level >= slog.LevelWarn {
			h.Flush()
		}
		return nil
	}
	err := h.Handler.Handle(ctx, r)
	if r.Level >= slog.LevelWarn {
		h.Flush()
	}
	return err //nolint:wrapcheck // The handler's own words.
}

// WithAttrs is slog's.
func (h *Handler) WithAttrs(as []slog.Attr) slog.Handler {
	return &Handler{Handler: h.Handler.WithAttrs(as), lines: h.lines}
}

// WithGroup is slog's.
func (h *Handler) WithGroup(name string) slog.Handler {
	return &Handler{Handler: h.Handler.WithGroup(name), lines: h.lines}
}

// Flush writes what waits.
func (h *Handler) Flush() {
	h.lines.mu.Lock()
	defer h.lines.mu.Unlock()
	h.lines.flush()
}

// lines wait to be written together.
type lines struct {
	out io.Writer

	mu    sync.Mutex
	wait  []byte
	timer *time.Timer
}

// Write takes one in.
func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wait = append(l.wait, line...)
	l.later()
	return len(line), nil
}

// later has what waits written soon, or now where it's much.
func (l *lines) later() {
	switch {
	case len(l.wait) >= most:
		l.flush()
	case l.timer == nil:
		l.timer = time.AfterFunc(soon, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.timer = nil
			l.flush()
		})
	}
}

// flush writes. What can't be written is lost, as it is without a buffer: there's nowhere to say so.
func (l *lines) flush() {
	if len(l.wait) == 0 {
		return
	}
	_, _ = l.out.Write(l.wait)
	l.wait = l.wait[:0]
	if cap(l.wait) > 2*most {
		l.wait = nil
	}
}

// plain writes a record of short, printable texts, as those of a decision are, by the same bytes as slog.JSONHandler and in a quarter of
// its time; false: it's another one.
func (l *lines) plain(r *slog.Record) bool {
	if r.Level != slog.LevelInfo || r.Time.IsZero() || !printable(r.Message) {
		return false
	}
	simple := true
	r.Attrs(func(a slog.Attr) bool {
		simple = a.Value.Kind() == slog.KindString && a.Key != "" && printable(a.Key) && printable(a.Value.String())
		return simple
	})
	if !simple {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.wait
	b = append(b, `{"time":"`...)
	b = r.Time.AppendFormat(b, time.RFC3339Nano)
	b = append(b, `","level":"INFO","msg":"`...)
	b = append(b, r.Message...)
	r.Attrs(func(a slog.Attr) bool {
		b = append(b, `","`...)
		b = append(b, a.Key...)
		b = append(b, `":"`...)
		b = append(b, a.Value.String()...)
		return true
	})
	b = append(b, "\"}\n"...)
	l.wait = b
	l.later()
	return true
}

// printable says that JSON takes a text as it stands.
func printable(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ', c > '~', c == '"', c == '\\':
			return false
		}
	}
	return true
}
