package httpboot

import (
	"log"
	"log/slog"
	"net"
	"strings"
	"sync"
)

// maxUnmet bounds how many clients are remembered whose handshake failed.
const maxUnmet = 64

// handshakes tells of clients that couldn't agree with bootd on TLS, once of each: firmware shows no more than that a file can't be had, whether it
// doesn't trust the certificate or knows no exchange of keys that bootd does. What else an HTTP server has to say is for who debugs.
type handshakes struct {
	log *slog.Logger

	mu   sync.Mutex
	told map[string]bool
}

func errorLog(to *slog.Logger) *log.Logger {
	return log.New(&handshakes{log: to, told: map[string]bool{}}, "", 0)
}

// Write takes one line of an http.Server.
func (h *handshakes) Write(line []byte) (int, error) {
	text := strings.TrimSuffix(string(line), "\n")
	client, why := unmet(text)
	if client == "" || !h.first(client) {
		h.log.Debug("an HTTP server's own words", "words", text)
		return len(line), nil
	}
	h.log.Warn("a client doesn't agree with bootd on HTTPS: it may not trust the certificate, or know too little of TLS", "client", client, "error", why)
	return len(line), nil
}

// unmet reads who didn't agree, and why; "" where that's not what is said. UEFI that no authority was enrolled in opens a connection and says nothing.
func unmet(text string) (client, why string) {
	rest, failed := strings.CutPrefix(text, "http: TLS handshake error from ")
	from, why, _ := strings.Cut(rest, ": ")
	if !failed {
		return "", ""
	}
	client, _, _ = net.SplitHostPort(from)
	return client, why
}

func (h *handshakes) first(host string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.told[host] || len(h.told) == maxUnmet {
		return false
	}
	h.told[host] = true
	return true
}
