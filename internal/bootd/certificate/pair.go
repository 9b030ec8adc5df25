// Package certificate keeps a TLS certificate with its key as their files have them, which others renew.
package certificate

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"
)

const (
	// often is how soon the files are looked at again.
	often = time.Second
	// soon is how long before its end a certificate is told of.
	soon = 7 * 24 * time.Hour
	// daily is how often that's said.
	daily = 24 * time.Hour
	// maxTold hosts are remembered.
	maxTold = 64
)

// A Pair is a certificate and its key. They're read again when their files change: a volume of a Secret, an ACME client and a person all
// write new ones in their place.
type Pair struct {
	cert, key string
	now       func() time.Time
	log       *slog.Logger

	mu      sync.Mutex
	present *tls.Certificate
	read    [2]mark   // of the files that were read last, whether they were good or not
	looked  time.Time // when
	looking chan look // brings what is found by whoever looks now; nil: nobody does
	slow    bool      // the last look wasn't back at once
	waited  time.Time // when one was waited for last
	// reads gives what a file holds.
	reads  func(path string) ([]byte, error)
	warned time.Time
	told   map[string]bool // hosts that were compared with it
	// aside is a pair that isn't taken since it's valid no more, or not yet, and the one before is; nil: none is.
	aside *tls.Certificate
	// firmware says that firmware comes, too.
	firmware bool
}

// mark tells a file from what it was before.
type mark struct {
	size    int64
	changed time.Time
	number  uint64 // Of the file's inode: who makes all files of one time changes that alone.
}

// Read reads a pair. An error says which file is wrong, and how.
func Read(cert, key string, now func() time.Time, log *slog.Logger) (*Pair, error) {
	p := &Pair{cert: cert, key: key, now: now, log: log, told: map[string]bool{}, reads: readFile}
	marks := p.marks() // Of what is replaced while it's read, they are of what was before, so that it's read again.
	c, err := p.load(os.ReadFile)
	if err != nil {
		return nil, err
	}
	p.present, p.read, p.looked = c, marks, now()
	p.warn()
	return p, nil
}

// Config serves with the pair, as it is at each handshake. Firmware is said to come, too: then it takes what firmware offers beside what Go takes.
func (p *Pair) Config(firmware bool) *tls.Config {
	c := &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return p.get(), nil },
	}
	if firmware {
		c.CipherSuites = append(suites(), ofFirmware()...)
		p.mu.Lock()
		p.firmware = true
		p.fits()
		p.mu.Unlock()
	}
	return c
}

// suites of TLS 1.2 that Go takes by itself, and prefers.
func suites() (ids []uint16) {
	for _, s := range tls.CipherSuites() {
		ids = append(ids, s.ID)
	}
	return ids
}

// ofFirmware are those that exchange keys by RSA, without forward secrecy. UEFI offers these and such as Go doesn't have (DHE): EDK2 until 2025 at
// least, in OVMF as Debian 12 and 13 have it; so do iPXEs of before 2022, without GCM. They take a certificate with an RSA key.
func ofFirmware() []uint16 {
	return []uint16{tls.TLS_RSA_WITH_AES_256_GCM_SHA384, tls.TLS_RSA_WITH_AES_128_GCM_SHA256, tls.TLS_RSA_WITH_AES_256_CBC_SHA, tls.TLS_RSA_WITH_AES_128_CBC_SHA}
}

// get gives the pair. Where its files have become wrong it's the last good one: a machine that boots is worth more than a certificate that
// is new.
func (p *Pair) get() *tls.Certificate {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.newest()
}

// Told hears of each host that machines are told to come to. Of one that the certificate doesn't name the log says so, once for each certificate.
func (p *Pair) Told(host string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.newest()
	if p.told[host] || len(p.told) >= maxTold {
		return
	}
	p.told[host] = true
	if c.Leaf.VerifyHostname(host) != nil {
		p.log.Warn("machines are told a host that the TLS certificate doesn't name, and refuse it there: renew it with that name, or say another by --tls-host", "file", p.cert, "host", host)
	}
}

// newest looks at the files again where that's due, and doesn't wait for a mount that doesn't answer: each handshake and each packet that names a URL asks.
func (p *Pair) newest() *tls.Certificate {
	now := p.now()
	p.back(now, 0)
	if since := now.Sub(p.looked); p.looking == nil && (since < 0 || since >= often) {
		p.looked, p.looking = now, make(chan look, 1)
		go p.look(p.read, p.looking)
		p.back(now, p.patience(now))
	}
	if c := p.aside; c != nil && (invalid(c, now) == "" || invalid(p.present, now) != "") { // It has begun, a clock was wrong, or the other is of no more use.
		p.aside = nil
		p.take(c)
	}
	p.warn()
	return p.present
}

// patience is how long a look is waited for: where the one before took longer than it should, that's once a minute, so that a rack which boots seldom has
// what the files say now, and not what they said when the last one booted.
func (p *Pair) patience(now time.Time) time.Duration {
	if since := now.Sub(p.waited); p.slow && since >= 0 && since < seldom {
		return hardly
	}
	p.waited = now
	return atOnce
}

// back takes what a look brings, if it does so within some time.
func (p *Pair) back(now time.Time, patience time.Duration) {
	if p.looking == nil {
		return
	}
	l, ok := within(p.looking, patience)
	if !ok {
		if !p.slow {
			p.log.Warn("the TLS certificate or its key isn't read at once, as where they lie on a mount that doesn't answer; the one before is served meanwhile", "file", p.cert, "key", p.key)
		}
		p.slow = true
		return
	}
	p.looking = nil
	if patience > 0 {
		p.slow = false
	}
	p.found(l, now)
}

// found takes what was read, where the files have changed.
func (p *Pair) found(l look, now time.Time) {
	if l.marks == p.read {
		return
	}
	p.read, p.aside = l.marks, nil // What's wrong is said once.
	c, err := l.pair, l.err
	if why := invalid(c, now); err == nil && why != "" && invalid(p.present, now) == "" {
		p.aside, err = c, fmt.Errorf("TLS certificate %q %s", p.cert, why) //nolint:err113 // For the log.
	}
	if err != nil {
		p.log.Warn("the TLS certificate isn't read anew; the one before is served", "error", err.Error())
		return
	}
	p.take(c)
}

// invalid says why machines refuse a pair at a time; "": they don't.
func invalid(c *tls.Certificate, at time.Time) string {
	switch {
	case c == nil:
	case at.Before(c.Leaf.NotBefore):
		return "isn't valid before " + c.Leaf.NotBefore.UTC().Format(time.RFC3339)
	case at.After(c.Leaf.NotAfter):
		return "has ended: " + c.Leaf.NotAfter.UTC().Format(time.RFC3339)
	}
	return ""
}

// take has a pair served from now on. One whose files alone are others is the same one, of which all is said.
func (p *Pair) take(c *tls.Certificate) {
	same := slices.EqualFunc(c.Certificate, p.present.Certificate, bytes.Equal)
	p.present = c
	if same {
		return
	}
	p.warned, p.told = time.Time{}, map[string]bool{}
	p.log.Info("the TLS certificate was read anew", "until", c.Leaf.NotAfter.UTC().Format(time.RFC3339))
	p.fits()
}

// fits says that a key, or its issuer's, isn't one that firmware takes.
func (p *Pair) fits() {
	if !p.firmware {
		return
	}
	if c := p.present.Leaf; c.PublicKeyAlgorithm != x509.RSA || !signedByRSA(c.SignatureAlgorithm) {
		p.log.Warn("the TLS certificate's key, or its issuer's, is no RSA key: UEFI of before 2025 and iPXE of before 2022 know no other, and boot nothing by it", "file", p.cert)
	}
}

func signedByRSA(a x509.SignatureAlgorithm) bool {
	return slices.Contains([]x509.SignatureAlgorithm{
		x509.SHA1WithRSA, x509.SHA256WithRSA, x509.SHA384WithRSA, x509.SHA512WithRSA, x509.SHA256WithRSAPSS, x509.SHA384WithRSAPSS, x509.SHA512WithRSAPSS,
	}, a)
}

// warn says that a certificate ends, or hasn't begun.
func (p *Pair) warn() {
	now := p.now()
	since := now.Sub(p.warned)
	due := p.warned.IsZero() || since < 0 || since >= daily // A clock that was ahead keeps nothing quiet.
	if begins := p.present.Leaf.NotBefore; now.Before(begins) {
		if due {
			p.warned = now
			p.log.Warn("the TLS certificate isn't valid yet, and machines refuse it: wait, or set this host's clock", "file", p.cert, "from", begins.UTC().Format(time.RFC3339))
		}
		return
	}
	left := p.present.Leaf.NotAfter.Sub(now)
	ends := left < 0 && p.warned.Before(p.present.Leaf.NotAfter) // Since it was last told of.
	if left > soon || !ends && !due {
		return
	}
	p.warned = now
	log := p.log.With("file", p.cert, "until", p.present.Leaf.NotAfter.UTC().Format(time.RFC3339))
	if left < 0 {
		log.Warn("the TLS certificate has ended, and machines refuse it: renew it")
		return
	}
	log.Warn("the TLS certificate ends, and machines refuse it then: renew it")
}
