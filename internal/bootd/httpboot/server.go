// Package httpboot is what machines ask by HTTP: their boot script, decided anew at each request, the
// files it names, the data of their install, and the callbacks by which they say how it went.
package httpboot

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/fastlane"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/gate"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/ipxe"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

// Sightings are told what machines were seen to do; in production a session.Manager.
type Sightings interface {
	Sight(n boot.Name, x session.Sighting)
	// Sent is told how many bytes of a kernel, an initrd or an image a machine was sent.
	Sent(n boot.Name, bytes int64)
}

// Artifacts are the files that scripts name; in production an artifacts.Cache.
type Artifacts interface {
	// Await returns nil when a file is there, its digest checked.
	Await(ctx context.Context, a boot.Artifact) error
	// Open gives a file, and what is to be called when it's sent.
	Open(a boot.Artifact) (f *os.File, sent func(), err error)
	// DigestOf is that of what Open gives.
	DigestOf(a boot.Artifact) string
}

// Options of a Server. All are required, but Reached and Took.
type Options struct {
	// State gives what is known now; nil: nothing yet.
	State func() *boot.State
	// Ready says whether everything was read once. Before that, what isn't known may be there all the same.
	Ready func() bool
	// Gate decides what machines may have.
	Gate      *gate.Gate
	Sightings Sightings
	Artifacts Artifacts
	// Data reads the Secret that holds what a machine is given.
	Data func(ctx context.Context, secret string) (map[string][]byte, error)
	// Firmware gives a first stage, for UEFI HTTP Boot.
	Firmware func(name string) ([]byte, bool)
	// Base URL of this bootd for a machine that reached us at an address.
	Base func(local netip.AddrPort) string
	// Secured is a base URL's by HTTPS, and Installer the one that what runs after a script is told. nil: there's no HTTPS, and the same one.
	Secured, Installer func(base string) string
	// Decided is told of each answer to a script request, Served of each request: its route and status.
	Decided func(boot.Decision)
	Served  func(route string, status int)
	// Reached is told where a machine's boot is, and Took of each request: how many bytes went out, and how long it took. nil: nobody is.
	Reached func(m session.Machine, s boot.Stage, at time.Time)
	Took    func(route string, bytes int64, took time.Duration)
	Now     func() time.Time
	Logger  *slog.Logger
}

// A Server answers machines.
type Server struct {
	o     Options
	bases bases
	// anyToken stands for tokens in texts that are kept.
	anyToken string
	forms    forms
	// lastMade is what the text before rests on.
	lastMade atomic.Pointer[made]
	// recorders are free for scripts: nobody keeps one of those.
	recorders sync.Pool
}

// New makes a server.
func New(o Options) *Server {
	return &Server{o: o, anyToken: anyToken(), recorders: sync.Pool{New: func() any { return &recorder{} }}}
}

const (
	headerTimeout = 10 * time.Second
	idleTimeout   = time.Minute
	maxHeader     = 16 << 10
	// maxConnections are those of a hall that is powered on at once, and some more.
	maxConnections = 16384
	// perClient is for a whole rack behind one address of a NAT, where places are few.
	perClient     = 256
	shutdownAfter = 3 * time.Second
)

// Parts of a machine's data. All but the first needn't be there.
const (
	userData      = "user-data"
	vendorData    = "vendor-data"
	networkConfig = "network-config"
	nmstate       = "nmstate"
	talosNetwork  = "talos-network"
)

// Handler serves everything under ipxe.PathBoot and ipxe.PathFirmware.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern string, h http.HandlerFunc) { mux.Handle(pattern, s.watched(pattern, h)) }
	handle(routeScript, func(w http.ResponseWriter, r *http.Request) { s.script(w, r, r.PathValue("token")) })
	for name, find := range map[string]func(http.ResponseWriter, *http.Request) *sending{"files/{digest}": s.file, "image": s.image, ipxe.ISOName: s.iso} {
		handle("GET "+ipxe.PathBoot+"{token}/"+name, func(w http.ResponseWriter, r *http.Request) { s.delivered(w, r, find) })
	}
	for _, name := range []string{userData, "meta-data", vendorData, networkConfig, nmstate, talosNetwork} {
		handle("GET "+ipxe.PathBoot+"{token}/"+name, func(w http.ResponseWriter, r *http.Request) { s.data(w, r, name) })
	}
	for verb, f := range s.callbacks() {
		handle("POST "+ipxe.PathBoot+"{token}/"+verb, func(w http.ResponseWriter, r *http.Request) { s.callback(w, r, f) })
	}
	handle("GET "+ipxe.PathFirmware+"{name}", s.firmware)
	unrouted := s.watched(routeNone, mux.ServeHTTP)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.scripted(w, r) {
			return
		}
		if _, pattern := mux.Handler(r); pattern == "" {
			unrouted.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r) // It's watched by its route.
	})
}

// scripted answers what asks for a script.
func (s *Server) scripted(w http.ResponseWriter, r *http.Request) bool {
	token, ok := scriptToken(r)
	if !ok {
		return false
	}
	rec, _ := s.recorders.Get().(*recorder)
	rec.ResponseWriter = w
	defer func() {
		*rec = recorder{}
		s.recorders.Put(rec)
	}()
	defer s.watch(rec, r, routeScript, time.Now())
	s.script(rec, r, token)
	return true
}

// Serve runs an HTTP server with deadlines until ctx ends. There is no deadline for the whole of an
// answer, since an image takes as long as it takes; the handlers bound bodies and each write instead.
func Serve(ctx context.Context, l net.Listener, h http.Handler, log *slog.Logger) error {
	return serveHTTP(ctx, l, h, nil, log)
}

// ServeTLS is Serve by HTTPS.
func ServeTLS(ctx context.Context, l net.Listener, h http.Handler, c *tls.Config, log *slog.Logger) error {
	return serveHTTP(ctx, l, h, c, log)
}

func serveHTTP(ctx context.Context, l net.Listener, h http.Handler, c *tls.Config, log *slog.Logger) error {
	h = framed(cleaned(bounded(h, bodyPatience)))
	srv := &http.Server{
		Handler: h, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog: errorLog(log), TLSConfig: c,
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){}, // HTTP/1.1 alone: its bounds are those of a connection.
	}
	l = boundClients(l, perClient, places())
	var scripts *fastlane.Listener
	if c == nil {
		takes := func(path string) bool { _, ok := tokenOfScript(path); return ok || isFile(path) }
		o := fastlane.Options{Handler: h, Takes: takes, First: headerTimeout, Idle: idleTimeout, Logger: log}
		scripts = fastlane.Listen(l, o) //nolint:contextcheck // Each request has a context of its own, as with net/http.
		l = scripts
	}
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownAfter)
		defer cancel()
		if srv.Shutdown(late) != nil {
			_ = srv.Close() // Machines go on by Range at another bootd.
		}
		if scripts != nil {
			scripts.Shutdown(late)
		}
	})
	serve := srv.Serve
	if c != nil {
		serve = func(l net.Listener) error { return srv.ServeTLS(l, "", "") }
	}
	err := serve(l)
	if stop() {
		return err
	}
	<-stopped
	return nil
}

// places is how many connections may be open: as many as leave descriptors for everything else. Without any the notes of an
// install can't be written either.
func places() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return maxConnections
	}
	return placesOf(limit.Cur)
}

// FewFiles says in the log that less than all of the connections fit into the files that may be open. Whoever serves says it, once: there may be several
// servers, each with as many.
func FewFiles(log *slog.Logger) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return
	}
	if n := placesOf(limit.Cur); n < maxConnections {
		log.Warn("few files may be open, so that fewer machines load at once: raise LimitNOFILE, or the limit of the container",
			"files", limit.Cur, "connections", n)
	}
}

// placesOf counts two descriptors for a connection, its own and that of the file that it gets.
func placesOf(files uint64) int {
	const others = 2048 // TFTP has 1,024.
	n := files / 4
	if files > others {
		n = max(n, (files-others)/2)
	}
	return int(min(max(n, 1), maxConnections)) //nolint:gosec // At most maxConnections.
}

// bounded gives each request's body and answer a deadline. net/http reads what a handler left of a body before it goes on, and
// without a deadline waits for it for ever: a client that announces one octet and never sends it would keep its place.
func bounded(h http.Handler, body time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// What an earlier answer on this connection left would cut off this one.
		until := time.Now().Add(answerPatience)
		if c, ok := w.(interface{ SetWriteDeadline(t time.Time) error }); ok {
			_ = c.SetWriteDeadline(until)
		} else {
			_ = http.NewResponseController(w).SetWriteDeadline(until)
		}
		if r.ContentLength != 0 { // Without a body, the deadline would cut off the answer.
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(body))
		}
		h.ServeHTTP(w, r)
	})
}

func (s *Server) firmware(w http.ResponseWriter, r *http.Request) {
	b, ok := s.o.Firmware(r.PathValue("name"))
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/efi")
	serveBytes(w, r, b)
}
