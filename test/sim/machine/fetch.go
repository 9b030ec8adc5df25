package machine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

const (
	agentUEFI      = "UefiHttpBoot/1.0"
	agentIPXE      = "iPXE/1.0.0+git-20190125.36a4c85-5.1"
	agentInstaller = "sim-installer"
	maxText        = 1 << 20 // of a script or of user data
	firstRetry     = 50 * time.Millisecond
	lastRetry      = 2 * time.Second
)

// refused is an answer that trying again would not change.
type refused struct {
	url    string
	status int
}

func (r refused) Error() string { return fmt.Sprintf("%s answered %d", r.url, r.status) }

// final tells whether asking again is pointless: the server answered, and the fault is the request's.
func final(err error) bool {
	var r refused
	return errors.As(err, &r) && r.status >= http.StatusBadRequest && r.status < http.StatusInternalServerError &&
		r.status != http.StatusTooManyRequests && r.status != http.StatusRequestTimeout
}

// get opens url; bytes before offset are skipped by Range, and by reading where the server ignores it.
func (m *Machine) get(ctx context.Context, agent, url string, offset int64) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("cannot ask for %q: %w", url, err)
	}
	req.Header.Set("User-Agent", agent)
	if offset > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", offset))
	}
	resp, err := m.http.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusPartialContent {
		_ = resp.Body.Close()
		return nil, refused{url: url, status: resp.StatusCode}
	}
	if resp.StatusCode == http.StatusOK && offset > 0 {
		if _, err := io.CopyN(io.Discard, resp.Body, offset); err != nil {
			_ = resp.Body.Close()
			return nil, fmt.Errorf("cannot skip %d bytes of %q: %w", offset, url, err)
		}
	}
	return resp.Body, nil
}

// text fetches a small file whole.
func (m *Machine) text(ctx context.Context, agent, url string) (string, error) {
	body, err := m.get(ctx, agent, url, 0)
	if err != nil {
		return "", err
	}
	defer func() { _ = body.Close() }()
	b, err := io.ReadAll(io.LimitReader(body, maxText))
	if err != nil {
		return "", fmt.Errorf("cannot read %q: %w", url, err)
	}
	m.update(func(s *Status) { s.NetworkLoad += int64(len(b)) })
	return string(b), nil
}

// load fetches a file to its end without keeping it, and returns its digest.
func (m *Machine) load(ctx context.Context, agent, url string) (string, error) {
	body, err := m.get(ctx, agent, url, 0)
	if err != nil {
		return "", err
	}
	defer func() { _ = body.Close() }()
	h := sha256.New()
	n, err := io.Copy(h, body)
	if err != nil {
		return "", fmt.Errorf("%q broke off after %d bytes: %w", url, n, err)
	}
	m.update(func(s *Status) { s.NetworkLoad += n })
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}

// loadHTTPBoot is UEFI HTTP Boot: HEAD for the size, then GET.
func (m *Machine) loadHTTPBoot(ctx context.Context, l Lease) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, l.BootFile, http.NoBody)
	if err != nil {
		return "", fmt.Errorf("cannot ask for %q: %w", l.BootFile, err)
	}
	req.Header.Set("User-Agent", agentUEFI)
	resp, err := m.http.Do(req)
	if err != nil {
		return "", err
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", refused{url: l.BootFile, status: resp.StatusCode}
	}
	if resp.ContentLength <= 0 {
		return "", fmt.Errorf("HEAD %q has no Content-Length: firmware gives up here", l.BootFile)
	}
	return m.load(ctx, agentUEFI, l.BootFile)
}

// report is the body of a callback.
type report struct {
	Message string `json:"message,omitempty"`
	Percent int    `json:"percent,omitempty"`
}

// call makes one callback and goes on trying while nobody answers.
func (m *Machine) call(ctx context.Context, base, token, verb string, r report) error {
	body, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("cannot encode %s: %w", verb, err)
	}
	err = m.retry(ctx, func() error { return m.post(ctx, strings.TrimSuffix(base, "/")+"/"+verb, token, body) })
	if err != nil {
		return fmt.Errorf("callback %s: %w", verb, err)
	}
	m.update(func(s *Status) { s.Callbacks[verb]++ })
	return nil
}

func (m *Machine) post(ctx context.Context, url, token string, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("cannot call %q: %w", url, err)
	}
	req.Header.Set("User-Agent", agentInstaller)
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := m.http.Do(req)
	if err != nil {
		return err
	}
	_ = resp.Body.Close()
	if resp.StatusCode >= http.StatusMultipleChoices {
		return refused{url: url, status: resp.StatusCode}
	}
	return nil
}

// retry repeats step with growing pauses until it succeeds, its error is final, or CallRetry has passed.
func (m *Machine) retry(ctx context.Context, step func() error) error {
	deadline := time.Now().Add(m.cfg.CallRetry)
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) { //nolint:mnd // doubling
		err := step()
		if err == nil || final(err) || steers(err) || ctx.Err() != nil || time.Now().After(deadline) {
			return err
		}
		m.note(m.Status().Stage, "again after: "+err.Error())
		if err := m.pause(ctx, wait); err != nil {
			return err
		}
	}
}
