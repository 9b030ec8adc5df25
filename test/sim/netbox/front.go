package netbox

import (
	"crypto/tls"
	"crypto/x509/pkix"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local/keys"
)

// A Front stands before a NetBox that is reached in one way alone: by a forward proxy, which it is itself as an http.Handler; through a
// tunnel to a name that nobody else knows; by TLS with a certificate of an authority of its own; below a path.
type Front struct {
	// CA is the authority's certificate, in PEM.
	CA string

	host    string
	server  *http.Server
	tunnels *tunnels

	mu            sync.Mutex
	made, refused int
}

// NewFront stands before s, which is at https://HOST/PATH/ then, until Close.
func NewFront(s http.Handler, host, path string) (*Front, error) {
	now := time.Now()
	ca, err := keys.New("authority of "+host, now)
	if err != nil {
		return nil, fmt.Errorf("cannot stand before a NetBox: %w", err)
	}
	c, err := ca.Issue(pkix.Name{CommonName: host}, []string{host}, now)
	if err != nil {
		return nil, fmt.Errorf("cannot stand before a NetBox: %w", err)
	}
	pair, err := tls.X509KeyPair(c.Cert, c.Key)
	if err != nil {
		return nil, fmt.Errorf("cannot stand before a NetBox: %w", err)
	}
	f := &Front{CA: string(ca.PEM), host: host, tunnels: &tunnels{ends: make(chan net.Conn), over: make(chan struct{})}}
	f.server = &http.Server{
		Handler: http.StripPrefix("/"+strings.Trim(path, "/"), s), ReadHeaderTimeout: 10 * time.Second,
		TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}},
	}
	go func() { _ = f.server.ServeTLS(f.tunnels, "", "") }() // Ends with Close.
	return f, nil
}

// ServeHTTP makes a tunnel to the NetBox, and nothing else.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	known := r.Method == http.MethodConnect && r.Host == f.host+":443"
	f.count(known)
	if !known {
		http.Error(w, "this proxy makes tunnels to one host alone", http.StatusForbidden)
		return
	}
	w.WriteHeader(http.StatusOK)
	line, ahead, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if ahead.Reader.Buffered() > 0 { // Nobody may speak before the tunnel is there.
		_ = line.Close()
		return
	}
	f.tunnels.take(line)
}

func (f *Front) count(known bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if known {
		f.made++
	} else {
		f.refused++
	}
}

// Passed counts the tunnels that were made, and the requests for anything else.
func (f *Front) Passed() (made, refused int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.made, f.refused
}

// Close ends all tunnels.
func (f *Front) Close() error {
	if err := f.server.Close(); err != nil {
		return fmt.Errorf("cannot end what stands before a NetBox: %w", err)
	}
	return nil
}

// tunnels is a net.Listener of what comes out of tunnels.
type tunnels struct {
	ends chan net.Conn
	over chan struct{}
	once sync.Once
}

// take lets one more come out.
func (t *tunnels) take(end net.Conn) {
	select {
	case t.ends <- end:
	case <-t.over:
		_ = end.Close()
	}
}

// Accept implements net.Listener.
func (t *tunnels) Accept() (net.Conn, error) {
	select {
	case c := <-t.ends:
		return c, nil
	case <-t.over:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (t *tunnels) Close() error {
	t.once.Do(func() { close(t.over) })
	return nil
}

// Addr implements net.Listener.
func (*tunnels) Addr() net.Addr { return &net.TCPAddr{} }
