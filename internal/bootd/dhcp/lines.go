package dhcp

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// linesPerSecond is how many exchanges are written down; a rack that boots is far less, a whole hall isn't read line by line.
const linesPerSecond = 500

// ErrLeft is of an answer that isn't sent, since another server is to make it.
var ErrLeft = errors.New("left to another server")

// lines writes what was done. Nothing that a client wrote into its packet but its MAC gets here: some hold uninitialised
// memory. What relays that are named say of ports does.
type lines struct {
	log *slog.Logger

	mu      sync.Mutex
	second  int64
	written int
	left    int
}

func newLines(l *slog.Logger) *lines { return &lines{log: l} }

// room says whether another line may be written in this second, and how many were left out since the last one that was.
func (l *lines) room(now time.Time) (ok bool, left int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := now.Unix(); s != l.second {
		l.second, l.written = s, 0
	}
	if l.written >= linesPerSecond {
		l.left++
		return false, 0
	}
	l.written++
	left, l.left = l.left, 0
	return true, left
}

func (l *lines) write(ctx context.Context, a Answer, in Ingress, err error) {
	level := slog.LevelDebug
	switch {
	case errors.Is(err, ErrLeft):
	case err != nil || a.Reason == Declined || a.Reason == SilentOwn || a.Reason == SilentPortTaken || a.Reason == Acknowledged && a.Sight.Elsewhere != "":
		// Another has the machine's address, or its place, or it's in another.
		level = slog.LevelWarn
	case a.Reason == Acknowledged || a.Reason == Refused || a.Reason == Proxied || a.Reason == AcknowledgedTemporarily:
		level = slog.LevelInfo
	}
	if !l.log.Enabled(ctx, level) {
		return
	}
	ok, left := l.room(time.Now())
	if !ok {
		return
	}
	args := []any{
		"reason", string(a.Reason), "type", a.Facts.Type.String(), "mac", string(a.Facts.MAC),
		"client", string(a.Facts.Client), "from", in.From.String(), "interface", in.Interface,
	}
	if a.Plan != nil {
		args = append(args, "entry", a.Plan.Entry.String(), "address", a.Plan.Network.Address.String())
	}
	if a.Lent.IsValid() {
		args = append(args, "network", a.Network.String(), "address", a.Lent.String())
	}
	if a.To.IsValid() { // Silence goes to nobody.
		args = append(args, "to", a.To.String())
	}
	if a.Plan != nil && a.Facts.contradicts(a.Plan.UUID) {
		args = append(args, "uuid", "differs from the host's") // The NIC may have moved to another machine.
	}
	if a.Sight.Elsewhere != "" {
		args = append(args, "seen", a.Sight.Elsewhere, "port", a.Plan.Port.String())
	}
	if p := a.Sight.Plan; p != nil {
		args = append(args, "entry", p.Entry.String(), "port", p.Port.String(), "held_by", string(a.Sight.Holder))
	}
	if err != nil {
		args = append(args, "error", err.Error())
	}
	if left > 0 {
		args = append(args, "left_out", left)
	}
	l.log.Log(ctx, level, "DHCP", args...)
}
