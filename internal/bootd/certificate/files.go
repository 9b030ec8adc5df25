package certificate

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/regular"
)

const (
	// atOnce is how long a look at the files is waited for: a disk takes less than a millisecond.
	atOnce = 100 * time.Millisecond
	// hardly is how long it is where the one before took longer.
	hardly = time.Millisecond
	// seldom is how often it's waited for all the same.
	seldom = time.Minute
	// most is how large a file may be, in bytes; a chain with its key has some 10 KiB.
	most = 1 << 20
)

// A look is what the files were found to be: their marks, and the pair, or what's wrong with it, where these are other ones than before.
type look struct {
	marks [2]mark
	pair  *tls.Certificate
	err   error
}

// look reads the files where their marks aren't those. It may take for ever.
func (p *Pair) look(before [2]mark, to chan<- look) {
	l := look{marks: p.marks()}
	if l.marks != before {
		l.pair, l.err = p.load(p.reads)
	}
	to <- l
}

// within gives what a look brings, if it does so within some time.
func within(from <-chan look, patience time.Duration) (look, bool) {
	if patience == 0 {
		select {
		case l := <-from:
			return l, true
		default:
			return look{}, false
		}
	}
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case l := <-from:
		return l, true
	case <-t.C:
		return look{}, false
	}
}

func (p *Pair) marks() (m [2]mark) {
	for i, path := range []string{p.cert, p.key} {
		if info, err := os.Stat(path); err == nil {
			m[i] = mark{size: info.Size(), changed: info.ModTime()}
			if s, ok := info.Sys().(*syscall.Stat_t); ok {
				m[i].number = s.Ino
			}
		}
	}
	return m
}

var (
	errEmpty = errors.New("it holds no certificate")
	errLarge = errors.New("it's larger than 1 MiB")
)

// readFile reads a file of the pair, and no pipe, to which nobody may ever write, nor a device without an end.
func readFile(path string) ([]byte, error) {
	b, err := regular.Read(path, most)
	switch {
	case errors.Is(err, regular.ErrIrregular):
		err = fmt.Errorf("%s: %w", path, err)
	case errors.Is(err, regular.ErrLarge):
		err = fmt.Errorf("%s: %w", path, errLarge)
	}
	return b, err
}

// load reads the pair.
func (p *Pair) load(read func(string) ([]byte, error)) (*tls.Certificate, error) {
	cert, err := read(p.cert)
	if err != nil {
		return nil, fmt.Errorf("cannot read the TLS certificate: %w", err)
	}
	key, err := read(p.key)
	if err != nil {
		return nil, fmt.Errorf("cannot read the TLS key: %w", err)
	}
	c, err := tls.X509KeyPair(cert, key)
	if err == nil && len(c.Certificate) == 0 {
		err = errEmpty
	}
	if err != nil {
		return nil, fmt.Errorf("cannot use TLS certificate %q with key %q: %w", p.cert, p.key, err)
	}
	if c.Leaf == nil {
		if c.Leaf, err = x509.ParseCertificate(c.Certificate[0]); err != nil {
			return nil, fmt.Errorf("cannot read TLS certificate %q: %w", p.cert, err)
		}
	}
	return &c, nil
}
