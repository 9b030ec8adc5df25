package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	// patience with a bootd that's asked.
	patience = 30 * time.Second
	// mostAnswer is more than any answer has.
	mostAnswer = 16 << 20
)

// A Query names a machine, by one of its MAC, its IP address and its entry.
type Query struct {
	MAC, IP, Entry string
	// Firmware that is asked about, as Firmwares names it; "" for all that the machine may have.
	Firmware string
}

func (q Query) values() url.Values {
	v := url.Values{}
	for name, x := range map[string]string{"mac": q.MAC, "ip": q.IP, "entry": q.Entry, "firmware": q.Firmware} {
		if x != "" {
			v.Set(name, x)
		}
	}
	return v
}

// Explain asks the bootd that runs with a state folder what it would answer a machine.
func Explain(ctx context.Context, stateDir string, q Query) (Explanation, error) {
	e := Explanation{}
	b, err := get(ctx, stateDir, "/explain?"+q.values().Encode())
	if err != nil {
		return e, err
	}
	if err := json.Unmarshal(b, &e); err != nil {
		return e, fmt.Errorf("cannot understand bootd's answer; is it of another version? %w", err)
	}
	return e, nil
}

// Trace asks for a machine's last packets, as a pcap.
func Trace(ctx context.Context, stateDir string, q Query) ([]byte, error) {
	return get(ctx, stateDir, "/trace?"+q.values().Encode())
}

func get(ctx context.Context, stateDir, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx, stateDir) },
	}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://bootd"+path, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("cannot ask bootd: %w", err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, unreachable(stateDir, err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer))
	if err != nil {
		return nil, fmt.Errorf("cannot read bootd's answer: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, errors.New(strings.TrimSpace(string(b)))
	}
	return b, nil
}

func dial(ctx context.Context, stateDir string) (net.Conn, error) {
	at, done, err := reach(filepath.Join(stateDir, socketName))
	if err != nil {
		return nil, err
	}
	defer done()
	return (&net.Dialer{}).DialContext(ctx, "unix", at) //nolint:wrapcheck // unreachable says more.
}

// unreachable says in one sentence why nobody answers.
func unreachable(stateDir string, err error) error {
	switch {
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("the bootd of state folder %q answers root and its own user alone", stateDir)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("the bootd of state folder %q doesn't answer within %s", stateDir, patience)
	}
	return fmt.Errorf("no bootd runs with state folder %q: start one, or name its folder by --state-dir (%w)", stateDir, cause(err))
}

// cause is what lies below the words of net/http, which name a URL that nobody knows.
func cause(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}
