package redfish

import (
	"cmp"
	"context"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/lenient"
)

// Bounds of an excerpt of a BMC's log.
const (
	excerptLines = 3
	excerptBytes = 160
)

// logNames are the logs in which hardware speaks, the best first, as BMCs name
// them. Audit and security logs hold what people did, and aren't read.
var logNames = []string{"sel", "iml", "log1", "activelog", "faultlist", "eventlog", "event"} //nolint:gochecknoglobals // A table.

type logEntry struct {
	URI      text `json:"@odata.id"`
	Created  text
	Severity text
	Message  text
	ID       text `json:"MessageId"`
}

// LogExcerpt returns the newest lines of the machine's hardware log, 3 at most,
// in 8 requests at most, for people who look for why something failed. Lines
// that name one of hide (the user of the session) are left out. What can't be
// read is no line: nobody depends on it.
func (c *Client) LogExcerpt(ctx context.Context, s System, hide ...string) []string {
	uri := c.hardwareLog(ctx, s)
	if uri == "" {
		return nil
	}
	var service struct{ Entries ref }
	if _, err := c.get(ctx, uri, &service); err != nil || service.Entries == "" {
		return nil
	}
	var entries struct{ Members []logEntry }
	if _, err := c.get(ctx, string(service.Entries), &entries); err != nil {
		return nil
	}
	found := entries.Members
	if len(found) > 0 && found[0].Message == "" {
		found = c.newestEntries(ctx, found)
	}

	return excerpt(found, hide)
}

// hardwareLog chooses among the log services of the System and its managers.
func (c *Client) hardwareLog(ctx context.Context, s System) string {
	collections := []string{s.logs}
	if len(s.managers) > 0 {
		var b struct {
			Logs ref `json:"LogServices"`
		}
		if _, err := c.get(ctx, s.managers[0], &b); err == nil {
			collections = append(collections, string(b.Logs))
		}
	}
	best, rank := "", len(logNames)
	for _, uri := range collections {
		if uri == "" {
			continue
		}
		services, err := c.members(ctx, uri)
		if err != nil {
			continue
		}
		for _, service := range services {
			name := strings.ToLower(path.Base(strings.TrimRight(service, "/")))
			if at := slices.Index(logNames, name); at >= 0 && at < rank {
				best, rank = service, at
			}
		}
	}

	return best
}

// newestEntries reads the newest entries of a collection that only links them: the
// last ones, or, as of iDRACs, the first.
func (c *Client) newestEntries(ctx context.Context, links []logEntry) []logEntry {
	if len(links) <= excerptLines {
		return c.entries(ctx, links)
	}
	n := len(links)
	ends := c.entries(ctx, []logEntry{links[0], links[n-1]})
	switch {
	case len(ends) < 2:
		return ends
	case lenient.Time(ends[0].Created).After(lenient.Time(ends[1].Created)):
		return append(c.entries(ctx, links[1:2]), ends[0])
	default:
		return append(c.entries(ctx, links[n-2:n-1]), ends[1])
	}
}

func (c *Client) entries(ctx context.Context, links []logEntry) []logEntry {
	var out []logEntry
	for _, l := range links {
		var e logEntry
		if l.URI == "" {
			continue
		}
		if _, err := c.get(ctx, string(l.URI), &e); err == nil {
			out = append(out, e)
		}
	}

	return out
}

// excerpt is the newest of some entries, the oldest of them first. It is pure.
func excerpt(entries []logEntry, hide []string) []string {
	type line struct {
		at   time.Time
		text string
	}
	var lines []line
	for _, e := range entries {
		text := printable(string(e.Message))
		names := func(secret string) bool { return mentions(text, secret) }
		if text == "" || private.MatchString(text) || slices.ContainsFunc(hide, names) {
			continue
		}
		if e.Severity != "" && !strings.EqualFold(string(e.Severity), "OK") {
			text = printable(string(e.Severity)) + ": " + text
		}
		lines = append(lines, line{lenient.Time(e.Created), text})
	}
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(a.at.UnixNano(), b.at.UnixNano()) })
	var out []string
	for _, l := range lines[max(0, len(lines)-excerptLines):] {
		if !l.at.IsZero() {
			l.text = l.at.Format(time.RFC3339) + " " + l.text
		}
		out = append(out, l.text[:min(len(l.text), excerptBytes)])
	}

	return out
}

// private are lines that nobody needs to see what broke: a URL may hold a token, and
// who is told about passwords isn't told by an event.
var private = regexp.MustCompile(`(?i)://|passw|token|secret|credential|x-auth|community`)

// mentions says whether a text has a word in it, as a whole and in any case.
func mentions(text, word string) bool {
	if word == "" {
		return false
	}
	whole, err := regexp.Compile(`(?i)(^|[^a-z0-9])` + regexp.QuoteMeta(word) + `($|[^a-z0-9])`)

	return err != nil || whole.MatchString(text)
}

// printable leaves what can be shown anywhere: what a BMC writes is nobody's
// markup, and no control sequence.
func printable(s string) string {
	return strings.TrimSpace(strings.Map(func(c rune) rune {
		switch {
		case c == '\n' || c == '\t' || c == '\r':
			return ' '
		case c < ' ' || c > '~':
			return -1
		}

		return c
	}, s))
}
