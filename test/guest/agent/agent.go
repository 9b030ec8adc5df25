// Package agent is what runs inside a virtual machine of the tests, apart from its system calls: the installer that
// reports to bootd and writes the disk.
package agent

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/test/guest/cmdline"
)

// Disk is what an image is written to.
type Disk interface {
	io.WriterAt
	Sync() error
}

// Agent installs a machine.
type Agent struct {
	// HTTP talks to bootd.
	HTTP *http.Client
	// Log tells the serial console what happens.
	Log func(format string, args ...any)
	// Patience is how long it goes on trying while nobody answers; an answer of 4xx is never retried.
	Patience time.Duration
}

// RefusedError is an answer of bootd that trying again would not change.
type RefusedError struct {
	What   string
	Status int
}

// Error says what was refused; addresses are left out since they hold the token.
func (r RefusedError) Error() string { return fmt.Sprintf("%s: bootd answered %d", r.What, r.Status) }

// Install runs one installation: begin, user data, image, installed. It reports a failure of its own as `failed`.
func (a *Agent) Install(ctx context.Context, p cmdline.Parameters, open func() (Disk, error)) error {
	err := a.install(ctx, p, open)
	var refused RefusedError
	if err != nil && p.Callback != "" && !errors.As(err, &refused) {
		err = errors.Join(err, a.Call(ctx, p, "failed", err.Error(), 0))
	}
	return err
}

func (a *Agent) install(ctx context.Context, p cmdline.Parameters, open func() (Disk, error)) error {
	if p.Compression != "" && p.Compression != "None" {
		return fmt.Errorf("cannot unpack an image with compression %q", p.Compression)
	}
	disk, err := open() // before begin: a machine without a disk isn't worth a grant
	if err != nil {
		return err
	}
	if err := a.Call(ctx, p, "begin", "the installer runs", 0); err != nil {
		return err
	}
	if p.UserData != "" {
		digest, n, err := a.fetch(ctx, "user data", p.UserData, "sha256", io.Discard)
		if err != nil {
			return err
		}
		a.Log("user data: %d bytes, %s", n, digest)
	}
	if err := a.write(ctx, p, disk); err != nil {
		return err
	}
	return a.Call(ctx, p, "installed", "the disk holds "+p.ImageDigest, 0)
}

// write streams the image to the disk and compares digests while it does.
func (a *Agent) write(ctx context.Context, p cmdline.Parameters, disk Disk) error {
	algorithm, _, _ := strings.Cut(p.ImageDigest, ":")
	digest, n, err := a.fetch(ctx, "image", p.Image, algorithm, &offsetWriter{to: disk})
	if err != nil {
		return err
	}
	if digest != p.ImageDigest {
		return fmt.Errorf("the image is %s, the command line says %s", digest, p.ImageDigest)
	}
	if err := disk.Sync(); err != nil {
		return fmt.Errorf("cannot flush the disk: %w", err)
	}
	a.Log("image: %d bytes, %s", n, digest)
	return a.Call(ctx, p, "progress", "the image is on the disk", 100) //nolint:mnd // per cent
}

// fetch streams address into w, going on where a broken transfer stopped, and returns its digest and size.
func (a *Agent) fetch(ctx context.Context, what, address, algorithm string, w io.Writer) (digest string, n int64, err error) {
	h, err := hasher(algorithm)
	if err != nil {
		return "", 0, fmt.Errorf("%s: %w", what, err)
	}
	err = a.retry(ctx, func() error {
		m, err := a.get(ctx, what, address, n, io.MultiWriter(w, h))
		n += m
		return err
	})
	if err != nil {
		return "", n, err
	}
	return algorithm + ":" + hex.EncodeToString(h.Sum(nil)), n, nil
}

// get copies what follows the first offset bytes of address.
func (a *Agent) get(ctx context.Context, what, address string, offset int64, w io.Writer) (int64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	if offset > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", offset))
	}
	resp, err := a.HTTP.Do(req)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	defer func() { _ = resp.Body.Close() }()
	switch resp.StatusCode {
	case http.StatusPartialContent:
	case http.StatusOK:
		if _, err := io.CopyN(io.Discard, resp.Body, offset); err != nil {
			return 0, fmt.Errorf("%s: %w", what, err)
		}
	default:
		return 0, answered(what, resp.StatusCode)
	}
	n, err := io.Copy(w, resp.Body)
	if err != nil {
		return n, fmt.Errorf("%s: %w", what, err)
	}
	return n, nil
}

// Call makes one callback; percent 0 is left out.
func (a *Agent) Call(ctx context.Context, p cmdline.Parameters, verb, message string, percent int) error {
	body, err := json.Marshal(struct {
		Message string `json:"message"`
		Percent int    `json:"percent,omitempty"`
	}{message, percent})
	if err != nil {
		return fmt.Errorf("cannot encode %s: %w", verb, err)
	}
	err = a.retry(ctx, func() error { return a.post(ctx, p, verb, body) })
	if err == nil {
		a.Log("callback %s", verb)
	}
	return err
}

func (a *Agent) post(ctx context.Context, p cmdline.Parameters, verb string, body []byte) error {
	address := strings.TrimSuffix(p.Callback, "/") + "/" + verb
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("callback %s: %w", verb, err)
	}
	req.Header.Set("Content-Type", "application/json")
	if p.Token != "" {
		req.Header.Set("Authorization", "Bearer "+p.Token)
	}
	resp, err := a.HTTP.Do(req)
	if err != nil {
		return fmt.Errorf("callback %s: %w", verb, err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode >= http.StatusMultipleChoices {
		return answered("callback "+verb, resp.StatusCode)
	}
	return nil
}

// answered turns a status into an error; only one that is the request's fault is final.
func answered(what string, status int) error {
	if status >= http.StatusBadRequest && status < http.StatusInternalServerError && status != http.StatusTooManyRequests {
		return RefusedError{What: what, Status: status}
	}
	return fmt.Errorf("%s: bootd answered %d", what, status)
}

const (
	firstPause = 200 * time.Millisecond
	lastPause  = 3 * time.Second
)

// retry repeats step until it succeeds, is refused, or patience ends.
func (a *Agent) retry(ctx context.Context, step func() error) error {
	end := time.Now().Add(a.Patience)
	for pause := firstPause; ; pause = min(2*pause, lastPause) { //nolint:mnd // doubling
		err := step()
		var refused RefusedError
		if err == nil || errors.As(err, &refused) || time.Now().Add(pause).After(end) {
			return err
		}
		a.Log("again after: %v", err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

func hasher(algorithm string) (hash.Hash, error) {
	switch algorithm {
	case "sha256":
		return sha256.New(), nil
	case "sha512":
		return sha512.New(), nil
	default:
		return nil, fmt.Errorf("digest algorithm %q is neither sha256 nor sha512", algorithm)
	}
}

// offsetWriter writes one after the other what arrives.
type offsetWriter struct {
	to  io.WriterAt
	off int64
}

func (w *offsetWriter) Write(p []byte) (int, error) {
	n, err := w.to.WriteAt(p, w.off)
	w.off += int64(n)
	if err != nil {
		return n, fmt.Errorf("cannot write the disk at %d: %w", w.off, err)
	}
	return n, nil
}
