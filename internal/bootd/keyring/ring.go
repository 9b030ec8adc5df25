// Package keyring keeps the keys that tokens are made with where there's no cluster to make them: in a bootd's state folder, and a new one in time.
package keyring

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"time"
)

const (
	// size of a key is that of HMAC-SHA256's output: more adds nothing.
	size = 32
	// life is how long tokens are made with a key, as in a cluster. For as long again those that were made with it are good: the last of them ends
	// after 48 hours at most, 24 of a grant and 24 in which its boot may still report.
	life = 7 * 24 * time.Hour
	// sure is how long a bootd runs by a clock that is before its key's time until it's taken for the right one: a host that has no battery
	// begins in the past, and hears what time it is in a moment.
	sure = time.Hour
	// every is how often it's looked at whether a new key is due.
	every = 10 * time.Minute

	// current is the file of the key that tokens are made with, and the time that it was made is the file's own: so it's the file of one key that earlier
	// versions have had, and what they do with it doesn't change.
	current  = "token.key"
	previous = "token.previous.key"
)

// A Ring holds the key that tokens are made with, and the one before it.
type Ring struct {
	dir    string
	now    func() time.Time
	random io.Reader
	log    *slog.Logger

	keys atomic.Pointer[[][]byte]

	// What follows is Open's, and then Run's alone. since is when the current key was made, began when this Ring was, and trouble what was said last.
	since, began time.Time
	trouble      string
}

// Open reads the keys of a state folder, makes the first one, and a new one where that's due.
func Open(dir string, now func() time.Time, log *slog.Logger) (*Ring, error) {
	return open(dir, now, rand.Reader, log)
}

func open(dir string, now func() time.Time, random io.Reader, log *slog.Logger) (*Ring, error) {
	r := &Ring{dir: dir, now: now, random: random, log: log, began: now()}
	key, since, err := r.read(current)
	if err != nil {
		return nil, err
	}
	before, _, err := r.read(previous)
	if err != nil {
		return nil, err
	}
	if key == nil {
		since = r.began
		if key, err = r.fresh(since); err != nil {
			return nil, err
		}
	}
	r.since = since
	r.hold(key, before)
	r.turn()
	return r, nil
}

// Keys of tokens, the current one first. Nobody changes what was given.
func (r *Ring) Keys() [][]byte { return *r.keys.Load() }

// Run makes a new key whenever it's due, until ctx ends.
func (r *Ring) Run(ctx context.Context) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			r.turn()
		}
	}
}

// turn makes a new key if it's due. One that can't be written down isn't used: a restart would turn away machines in the middle of a boot.
func (r *Ring) turn() {
	err := r.advance(r.now())
	switch {
	case err == nil:
		r.trouble = ""
	case err.Error() != r.trouble:
		r.trouble = err.Error()
		r.log.Warn("there's no new token key, and tokens are made with the old one for longer", "since", r.since, "error", r.trouble)
	}
}

func (r *Ring) advance(now time.Time) error {
	switch {
	case r.since.After(now) && now.Sub(r.began) < sure:
		return nil
	case r.since.After(now): // Nobody knows how old it is, and it isn't to become immortal.
		if err := r.date(now); err != nil {
			return err
		}
		r.since = now
		return nil
	case now.Sub(r.since) < life:
		return nil
	}
	was := r.Keys()[0]
	// A crash in between leaves the same key in both places, and it's turned once more.
	if err := r.write(previous, was, r.since); err != nil {
		return err
	}
	key, err := r.fresh(now)
	if err != nil {
		return err
	}
	r.since = now
	r.hold(key, was)
	r.log.Info("tokens are made with a new key; those of the one before stay good", "for", life.String())
	return nil
}

// hold gives out a key, and the one before where that's another.
func (r *Ring) hold(key, before []byte) {
	keys := [][]byte{key}
	if before != nil && !bytes.Equal(key, before) {
		keys = append(keys, before)
	}
	r.keys.Store(&keys)
}

// fresh makes a key that is current from now on, if it could be written down.
func (r *Ring) fresh(now time.Time) ([]byte, error) {
	key := make([]byte, size)
	if _, err := io.ReadFull(r.random, key); err != nil {
		return nil, fmt.Errorf("cannot make a token key: %w", err)
	}
	return key, r.write(current, key, now)
}

// read reads the file of a key, and when that was made; nil where there's none. One of another size was cut short, or edited.
func (r *Ring) read(name string) ([]byte, time.Time, error) {
	b, at, err := readFile(filepath.Join(r.dir, name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, time.Time{}, nil
	case err != nil:
		return nil, time.Time{}, fmt.Errorf("cannot read the token key: %w", err)
	case len(b) != size:
		r.log.Warn("a token key is damaged, and counts no more; machines in the middle of a boot that have a token by it are refused", "file", filepath.Join(r.dir, name), "bytes", len(b))
		return nil, time.Time{}, nil
	}
	return b, at, nil
}

func (r *Ring) write(name string, key []byte, at time.Time) error {
	if err := replaceFile(filepath.Join(r.dir, name), key, at); err != nil {
		return fmt.Errorf("cannot keep the token key: %w", err)
	}
	return nil
}

// date notes when the current key was made.
func (r *Ring) date(at time.Time) error {
	if err := dateFile(filepath.Join(r.dir, current), at); err != nil {
		return fmt.Errorf("cannot date the token key: %w", err)
	}
	return nil
}
