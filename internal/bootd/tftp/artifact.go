package tftp

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// Artifacts are files whose digests were checked; in production an artifacts.Cache.
type Artifacts interface {
	// Await returns nil when a file is there, its digest checked.
	Await(ctx context.Context, a boot.Artifact) error
	// Open gives a file, and what is to be called when it's sent.
	Open(a boot.Artifact) (f *os.File, sent func(), err error)
}

// maxSent is how long a file may be: some clients count its length in 32 bits, with a sign.
const maxSent = 1<<31 - 1

var errTooLong = errors.New("the file is too long for TFTP")

// OpenArtifact gives a file as a machine's own, under a name for logs. What isn't there yet may come (ErrLater).
func OpenArtifact(ctx context.Context, from Artifacts, a boot.Artifact, name string) (Content, error) {
	if err := from.Await(ctx, a); err != nil {
		return Content{Name: name}, fmt.Errorf("%w: %w", ErrLater, err)
	}
	f, sent, err := from.Open(a)
	if err != nil {
		return Content{Name: name}, fmt.Errorf("%w: %w", ErrLater, err)
	}
	info, err := f.Stat()
	if err == nil && info.Size() > maxSent {
		err = errTooLong
	}
	if err != nil {
		_ = f.Close()
		sent()
		return Content{Name: name}, err
	}
	return Content{Name: name, File: f, Size: int(info.Size()), Written: info.ModTime(), Done: sent}, nil
}

// Close gives back what is open of it, where it isn't served after all.
func (c Content) Close() { c.close() }
