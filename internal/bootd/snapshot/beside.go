package snapshot

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot/pieces"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/durable"
)

// What a source knows of a state that isn't in it lies beside the snapshot, in a file of its own: earlier programs read the snapshot all the
// same. It begins with a line that names its format and a checksum (SHA-256) of all behind it, and then says of which snapshot it is, by its ID. A crash
// between the two, a damaged one or one that was restored alone leaves a snapshot with nothing beside it, and never one with another's.

const (
	besideName   = "snapshot.source"
	besideFormat = "bootd snapshot source 1\n"
)

// companion is what lies beside a state.
type companion struct {
	state *boot.State
	text  []byte
}

// newID of a snapshot.
func newID() (string, error) {
	b := make([]byte, 16)
	if _, err := rand.Read(b); err != nil {
		return "", fmt.Errorf("cannot make an ID: %w", err)
	}
	return hex.EncodeToString(b), nil
}

// OfferBeside hands over what is to lie beside a state that was offered, or loaded. Run writes it once that is the state of the file. It never blocks.
func (s *Snapshot) OfferBeside(st *boot.State, text []byte) {
	s.beside.Store(&companion{st, text})
	s.poke()
}

// Beside gives what lies beside the snapshot that Load has read; "" where nothing does, or what does is another one's. An error says that it's damaged.
func (s *Snapshot) Beside() (string, error) {
	b, err := os.ReadFile(filepath.Join(s.dir, besideName))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("cannot read what lies beside the snapshot: %w", err)
	}
	b, ok := bytes.CutPrefix(b, []byte(besideFormat))
	if !ok {
		return "", nil // Another program's.
	}
	if len(b) < sha256.Size {
		return "", fmt.Errorf("what lies beside the snapshot is damaged: %w", pieces.ErrShort)
	}
	sum, b := [sha256.Size]byte(b), b[sha256.Size:]
	if sha256.Sum256(b) != sum {
		return "", fmt.Errorf("what lies beside the snapshot is damaged: %w", errSum)
	}
	r := pieces.Of(string(b))
	if id := r.Text(); id == "" || id != s.loaded {
		return "", nil
	}
	return r.Rest(), nil
}

// saveBeside puts what is to lie beside the snapshot in the place of what lay there.
func (s *Snapshot) saveBeside(text []byte) error {
	id := pieces.AppendText(nil, s.last.id)
	sum := sha256.New()
	sum.Write(id)
	sum.Write(text)
	head := append(sum.Sum([]byte(besideFormat)), id...)
	return durable.Replace(filepath.Join(s.dir, besideName), func(f *os.File) error {
		_, err := f.Write(head)
		if err == nil {
			_, err = f.Write(text)
		}
		return err
	})
}
