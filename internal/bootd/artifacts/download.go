package artifacts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

var (
	errWrite = errors.New("bootd can't write its cache; is its disk full?")
	errAnew  = errors.New("its server has no such part of it")
)

// A wrongError says that what a URL serves has another digest. It's certain where the server had said where its answer ends: one that broke off may be taken
// for whole otherwise.
type wrongError struct{ certain bool }

// Error is one sentence.
func (*wrongError) Error() string {
	return "what its URL serves has another digest; correct the URL or the digest in the BootProfile"
}

// A download is one try to fetch a file.
type download struct {
	c    *Cache
	f    *flight
	a    boot.Artifact
	name string // Of the partial.
	// file is open for writing, and holds at bytes whose digest is in sum; from of them were there before.
	file     *os.File
	sum      hash.Hash
	at, from int64
	known    remnant
	// bounded says that the server says where its answer ends.
	bounded bool
	// again says that another try is of use.
	again bool
}

func (d *download) path(suffix string) string {
	return filepath.Join(d.c.o.Dir, strings.TrimSuffix(d.name, partial)+suffix)
}

// try fetches the file, or what is missing of it. What it leaves behind is either the file or a partial that the next try can go on with.
func (d *download) try(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	err := d.pickUp()
	defer func() { d.close() }()
	if err == nil && d.at > 0 && sumOf(d.sum, d.a.Digest) == d.a.Digest {
		return d.finish() // It was whole, and bootd ended before it was in its place.
	}
	if err != nil {
		return err
	}
	resp, err := d.begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	d.bounded = resp.ContentLength >= 0 || len(resp.TransferEncoding) > 0 || resp.ProtoMajor > 1
	err = d.copy(&patient{r: resp.Body, t: time.AfterFunc(stall, cancel)}, resp.ContentLength)
	switch {
	case err == nil:
		return d.finish()
	case errors.Is(err, errBroke) && d.known.resumable():
		d.again = d.at-d.from >= leastProgress
		d.leave()
	default:
		d.drop()
	}
	return err
}

// pickUp opens what an earlier try left, and hashes it. Nothing is left where that can't be gone on with.
func (d *download) pickUp() error {
	var err error
	if d.sum, err = hasher(d.a.Digest); err != nil {
		return err
	}
	if !d.reopen() {
		d.drop()
	}
	d.from = d.at
	return nil
}

func (d *download) reopen() bool {
	b, err := os.ReadFile(d.path(remnants))
	if err != nil || json.Unmarshal(b, &d.known) != nil || d.known.Source != sourceOf(d.a) || !d.known.resumable() {
		return false
	}
	if d.file, err = os.OpenFile(d.path(partial), os.O_RDWR, 0); err != nil {
		return false
	}
	d.at, err = io.Copy(d.sum, d.file)
	return err == nil
}

// begin asks for the file, or for what is missing of it.
func (d *download) begin(ctx context.Context) (*http.Response, error) {
	h := http.Header{}
	if d.at > 0 {
		h.Set("Range", fmt.Sprintf("bytes=%d-", d.at))
		if !d.known.Fixed {
			h.Set("If-Range", d.known.Validator)
		}
	}
	resp, fixed, err := d.c.get(ctx, d.a, h)
	if err != nil {
		return nil, err // What there is stays for when the server is back.
	}
	if err = d.accept(resp, fixed); err == nil && resp.ContentLength >= 0 {
		err = d.sized(d.at + resp.ContentLength)
	}
	if err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	return resp, nil
}

// sized looks at the size that a server told. A part of a file for which there's no room now waits for some.
func (d *download) sized(size int64) error {
	err := d.c.tooLarge(size)
	if err == nil {
		err = d.c.fits(d.f, d.name, size)
	}
	if err != nil && (d.at == 0 || !errors.Is(err, errBusy)) {
		d.drop()
	}
	return err
}

// accept looks at an answer, and makes the partial ready for what comes.
func (d *download) accept(resp *http.Response, fixed bool) error {
	switch {
	case resp.StatusCode == http.StatusPartialContent && d.at > 0 && d.known.goesOn(d.at, resp.Header):
		return nil
	case d.at > 0 && (resp.StatusCode == http.StatusPartialContent || resp.StatusCode == http.StatusRequestedRangeNotSatisfiable):
		d.drop()
		d.again = true
		return errAnew
	case resp.StatusCode != http.StatusOK:
		return answered("its server", resp)
	}
	d.drop() // The server gives all of it: it knows no parts, or has another file than before.
	d.known = remnant{Source: sourceOf(d.a), Validator: validator(resp.Header), Fixed: fixed}
	return d.create()
}

func (c *Cache) tooLarge(size int64) error {
	if size > c.o.MaxBytes {
		return fmt.Errorf("it's larger than %d bytes", c.o.MaxBytes)
	}
	return nil
}

// create makes an empty partial, and first the note by which it can be gone on with.
func (d *download) create() error {
	if d.known.resumable() {
		b, err := json.Marshal(d.known)
		if err == nil {
			err = os.WriteFile(d.path(remnants), b, 0o600)
		}
		if err != nil {
			_ = os.Remove(d.path(remnants))
			return errWrite
		}
	}
	var err error
	if d.file, err = os.OpenFile(d.path(partial), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err != nil {
		_ = os.Remove(d.path(remnants))
		return errWrite
	}
	return nil
}

// errBroke says that a server's answer ended too early.
var errBroke = errors.New("its download broke off")

// copy takes what a server sends. length of it is -1 where it isn't known.
func (d *download) copy(r *patient, length int64) error {
	defer r.t.Stop()
	if err := d.c.room(d.f, d.name, d.at); err != nil {
		return err
	}
	to := &sparing{Writer: d.file, c: d.c, f: d.f, name: d.name, at: d.at, looked: d.at}
	left := d.c.o.MaxBytes - d.at
	n, err := io.Copy(io.MultiWriter(to, d.sum), io.LimitReader(r, left+1))
	d.at += n
	var local *os.PathError
	switch {
	case n > left:
		return d.c.tooLarge(d.at)
	case errors.As(err, &local):
		return errWrite
	case to.err != nil:
		return to.err
	case err != nil || length >= 0 && n != length:
		return fmt.Errorf("%w after %d bytes", errBroke, d.at)
	}
	return nil
}

// finish puts a download into its place, where its digest is right.
func (d *download) finish() error {
	if sumOf(d.sum, d.a.Digest) != d.a.Digest {
		d.again = d.from > 0 // What was there before may have been of another file.
		certain := d.bounded && !d.again
		d.drop()
		return &wrongError{certain: certain}
	}
	err := d.file.Sync()
	if err == nil {
		err = os.Rename(d.path(partial), d.c.path(d.a.Digest))
	}
	if err != nil {
		d.drop()
		return errWrite
	}
	_ = os.Remove(d.path(remnants))
	m, err := settled(d.file)
	if err != nil {
		return errWrite
	}
	d.c.mu.Lock()
	defer d.c.mu.Unlock()
	d.c.forget(d.name)
	d.c.keep(fileOf(d.a.Digest), &kept{size: m.size, used: d.c.o.Now(), good: m})
	return nil
}

// leave keeps what there is for the next try.
func (d *download) leave() {
	if d.file.Sync() != nil { // Else a crash would leave what is longer than what is in it. Its digest would say so, at its end.
		d.drop()
		return
	}
	d.c.mu.Lock()
	defer d.c.mu.Unlock()
	d.c.keep(d.name, &kept{size: d.at, used: d.c.o.Now()})
}

// drop removes what there is.
func (d *download) drop() {
	d.close()
	_ = os.Remove(d.path(partial))
	_ = os.Remove(d.path(remnants))
	if d.sum != nil {
		d.sum.Reset()
	}
	d.at, d.from, d.known = 0, 0, remnant{}
	d.c.mu.Lock()
	defer d.c.mu.Unlock()
	d.c.forget(d.name)
}

func (d *download) close() {
	if d.file != nil {
		_ = d.file.Close()
		d.file = nil
	}
}
