package netbox

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// A Version is NetBox's own, such as 4.7.0-beta1. Only the numbers are compared.
type Version struct {
	Major, Minor, Patch int
	// Full is the text as NetBox gives it, at most 32 characters of those that versions have.
	Full string
}

// AtLeast says whether v is major.minor.patch or later.
func (v Version) AtLeast(major, minor, patch int) bool {
	if v.Major != major {
		return v.Major > major
	}
	if v.Minor != minor {
		return v.Minor > minor
	}
	return v.Patch >= patch
}

// String returns the full text.
func (v Version) String() string { return v.Full }

// parseVersion takes 4.2.9, 4.7.0-beta1, 4.4.10-Docker-3.3.0.
func parseVersion(s string) (Version, error) {
	numbers, _, _ := strings.Cut(s, "-")
	parts := strings.Split(numbers, ".")
	if len(s) > 32 || len(parts) < 2 || len(parts) > 3 || strings.ContainsFunc(s, notVersion) {
		return Version{}, fmt.Errorf("version %.32q isn't of the form 4.6.8", s)
	}
	var n [3]int
	for i, p := range parts {
		v, err := strconv.Atoi(p)
		if err != nil || v < 0 {
			return Version{}, fmt.Errorf("version %.32q isn't of the form 4.6.8", s)
		}
		n[i] = v
	}
	return Version{Major: n[0], Minor: n[1], Patch: n[2], Full: s}, nil
}

func notVersion(r rune) bool {
	return r != '.' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
}

func statusCall() call {
	return call{op: "read the version of NetBox", method: http.MethodGet, path: "status/", want: http.StatusOK}
}

// Status reads NetBox's version, which needs a valid token and no rights.
func (c *Client) Status(ctx context.Context) (Version, error) {
	v, _, err := c.status(ctx)
	return v, err
}

// status also returns by how much NetBox's clock, or that of what stands in front of it, is ahead of ours, to the second; ok is false
// where it doesn't say.
func (c *Client) status(ctx context.Context) (Version, Skew, error) {
	k := statusCall()
	began := c.now()
	a, err := c.do(ctx, k)
	if err != nil {
		return Version{}, Skew{}, err
	}
	skew := skewOf(a.header, began, c.now())
	v, err := decodeStatus(a.body)
	if err != nil {
		return Version{}, skew, k.failed(KindUnexpected, "its status doesn't say which NetBox it is; check the URL", err)
	}
	return v, skew, nil
}

// A Skew is by how much NetBox's clock is ahead of ours; Known is false where it doesn't say what time it is.
type Skew struct {
	Ahead time.Duration
	Known bool
}

// skewOf compares an answer's date, which was written at some moment between two of ours, with these.
func skewOf(h http.Header, began, ended time.Time) Skew {
	there, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return Skew{}
	}
	switch {
	case there.Before(began.Truncate(time.Second)):
		return Skew{there.Sub(began).Truncate(time.Second), true}
	case there.After(ended):
		return Skew{there.Sub(ended).Truncate(time.Second), true}
	}
	return Skew{Known: true}
}

// decodeStatus prefers the full version: 4.7.0-beta1 calls itself 4.7.0 in the other one.
func decodeStatus(b []byte) (Version, error) {
	var w struct {
		Version text `json:"netbox-version"`
		Full    text `json:"netbox-full-version"`
	}
	if err := json.Unmarshal(b, &w); err != nil {
		return Version{}, fmt.Errorf("status isn't an object: %w", err)
	}
	if v, err := parseVersion(string(w.Full)); err == nil {
		return v, nil
	}
	return parseVersion(string(w.Version))
}
