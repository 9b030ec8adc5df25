// Package netboxwebhook takes what NetBoxes tell of changes. A delivery is only a hint: the record that it names is read live, and the
// resource that it belongs to is woken.
package netboxwebhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"golang.org/x/sync/semaphore"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/hooks"
)

const (
	// maxBody of a delivery: NetBox's are of 2 kB, and hold every custom field twice or thrice.
	maxBody = 1 << 20
	// easyBody is what is read of each without asking for more: who says that he sends a large one, and doesn't, has nobody wait. Of maxConns
	// it's 1 MiB.
	easyBody = 16 << 10
	// bodies are the bytes that all longer deliveries may have which are read or answered just now, and bodyPatience how long one waits for its own.
	bodies       = 16 << 20
	bodyPatience = 5 * time.Second
	// maxConns that are open at once; NetBox opens one for each delivery.
	maxConns = 64
	// decodedAtOnce are the deliveries that are decoded at once: one of 2 kB takes no time, and one of the largest ten times its size of memory.
	decodedAtOnce = 2
)

// What became of a delivery, as a metric counts it.
const (
	resultTaken     = "Taken"     // The record is read.
	resultKnown     = "Known"     // It tells nothing new, or is about a record of somebody else.
	resultOther     = "Other"     // It isn't about an address.
	resultRepeated  = "Repeated"  // It came before.
	resultCrowded   = "Crowded"   // Too many wait already: the next look at all addresses shows it.
	resultUnsigned  = "Unsigned"  // Nobody we know has signed it.
	resultMalformed = "Malformed" // It is signed, and can't be read.
	resultLimited   = "Limited"   // Its sender sent too many that nobody we know has signed.
	resultFailed    = "Failed"    // The API server couldn't be asked, or there was no memory for it.
	resultPassed    = "Passed"    // The provider that leads was given it, and counts it as well.
	resultRefused   = "Refused"   // The provider that leads was given it, and doesn't take it: it knows another secret yet, or has taken too many in vain.
	resultUnled     = "Unled"     // None leads, or it couldn't be given it: the next look at all addresses shows it.
)

// A Connection is what a delivery is about; netbox.Client implements it.
type Connection interface {
	MarkerField() string
	News(h netbox.Hook) bool
	Reread(ctx context.Context, number int64) ([]netbox.IPAddress, error)
	Refresh(ctx context.Context, maxAge time.Duration) ([]netbox.IPAddress, error)
	Forget(numbers ...int64)
}

// Options of a Receiver. All must be set.
type Options struct {
	// Address to listen on, such as :9444.
	Address string
	// Hooked returns a provider config that takes deliveries, and what they are signed with; config.ErrNoHook of any other.
	Hooked func(ctx context.Context, ref config.Ref) (config.NetBox, []byte, error)
	// Connect returns the connection of a provider config.
	Connect func(n config.NetBox) (Connection, error)
	// Wake wakes the resource that a marker is of, if it is one of ours, and one that may use the provider config.
	Wake func(ctx context.Context, of config.Ref, marker string)
	// Freed is told of an address whose record was deleted, whoever's it was: somebody may wait for it. It isn't valid where the
	// delivery doesn't say which address it was.
	Freed func(of config.Identity, address netip.Addr)
	// Leads says whether this provider is the one that works. Leader returns where that one takes deliveries, as HOST:PORT; "" where nobody
	// leads, or nobody knows where. It's asked where this one doesn't.
	Leads  func() bool
	Leader func(ctx context.Context) (string, error)
	// Count counts deliveries by result.
	Count func(of config.Ref, known bool, result string)
	// Log of what went wrong.
	Log logging.Logger
}

// A Receiver takes deliveries. It's run by each manager: those that don't lead pass on what they're sent, to the one that has anybody to wake.
type Receiver struct {
	Options

	senders *senders
	lines   *lines
	relay   *hooks.Relay
	// decoding holds one for each delivery that is decoded.
	decoding chan struct{}
	// bodies are the bytes that may be read of long deliveries.
	bodies *semaphore.Weighted
}

// NeedLeaderElection says that it runs in each provider.
func (r *Receiver) NeedLeaderElection() bool { return false }

// New returns a receiver.
func New(o Options) *Receiver {
	return &Receiver{
		Options: o, senders: newSenders(time.Now), lines: newLines(o), relay: hooks.NewRelay(o.Leader), decoding: make(chan struct{}, decodedAtOnce),
		bodies: semaphore.NewWeighted(bodies),
	}
}

// Start listens until ctx ends.
func (r *Receiver) Start(ctx context.Context) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", r.Address)
	if err != nil {
		return fmt.Errorf("cannot listen on %q for webhooks of NetBox: %w", r.Address, err)
	}
	return r.serve(ctx, l)
}

func (r *Receiver) serve(ctx context.Context, l net.Listener) error {
	if err := hooks.Serve(ctx, l, maxConns, r.Handler(ctx)); err != nil {
		return fmt.Errorf("cannot serve webhooks of NetBox: %w", err)
	}
	return nil
}

// Handler takes deliveries; what they cause ends with ctx.
func (r *Receiver) Handler(ctx context.Context) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /netbox/webhook/{name}", func(w http.ResponseWriter, req *http.Request) {
		r.take(ctx, w, req, config.Ref{Kind: v1alpha1.ClusterProviderConfigKind, Name: req.PathValue("name")})
	})
	mux.HandleFunc("POST /netbox/webhook/{namespace}/{name}", func(w http.ResponseWriter, req *http.Request) {
		r.take(ctx, w, req, config.Ref{Kind: v1alpha1.ProviderConfigKind, Namespace: req.PathValue("namespace"), Name: req.PathValue("name")})
	})
	return mux
}

// take answers one delivery. Whoever isn't known learns nothing: neither which configs there are, nor which take webhooks.
func (r *Receiver) take(ctx context.Context, w http.ResponseWriter, req *http.Request, ref config.Ref) {
	spent := r.senders.spent(req.RemoteAddr)
	if spent && r.senders.crowded() {
		r.answer(w, http.StatusTooManyRequests, ref, false, resultLimited)
		return
	}
	unsigned := func(status int) {
		r.senders.vain(req.RemoteAddr)
		if spent {
			r.answer(w, http.StatusTooManyRequests, ref, false, resultLimited)
			return
		}
		r.answer(w, status, ref, false, resultUnsigned)
	}
	body, release, err := r.read(w, req)
	defer release()
	switch {
	case errors.Is(err, errNoRoom):
		r.answer(w, http.StatusServiceUnavailable, ref, false, resultFailed)
		return
	case err != nil:
		unsigned(http.StatusRequestEntityTooLarge)
		return
	}
	n, secret, err := r.Hooked(req.Context(), ref) //nolint:contextcheck // Only what a delivery causes outlives it.
	switch {
	case errors.Is(err, config.ErrNoHook) || err == nil && !netbox.Signed(body, secret, req.Header.Get(netbox.SignatureHeader)):
		unsigned(http.StatusForbidden)
		return
	case err != nil:
		r.Log.Debug("Cannot tell who signed a webhook of NetBox", "error", err)
		r.answer(w, http.StatusServiceUnavailable, ref, false, resultFailed)
		return
	}
	if !r.Leads() {
		status, result := r.pass(req, body)
		r.answer(w, status, ref, true, result)
		return
	}
	status, result := r.hint(ctx, n, body)
	r.answer(w, status, ref, true, result)
}

// errNoRoom says of a delivery that there's no memory for all of it.
var errNoRoom = errors.New("too many large deliveries at once")

// read a delivery's body: easyBody of it at once, and the rest as soon as there's memory for as much as its sender says that it has. Anybody may
// send one. What it took is given back by release.
func (r *Receiver) read(w http.ResponseWriter, req *http.Request) (body []byte, release func(), err error) {
	size := req.ContentLength
	if size < 0 || size > maxBody {
		size = maxBody
	}
	all := http.MaxBytesReader(w, req.Body, maxBody)
	b := bytes.NewBuffer(make([]byte, 0, min(size, easyBody)+bytes.MinRead))
	if _, err := b.ReadFrom(io.LimitReader(all, easyBody)); err != nil || size <= easyBody || b.Len() < easyBody {
		return b.Bytes(), func() {}, err
	}
	ctx, cancel := context.WithTimeout(req.Context(), bodyPatience)
	defer cancel()
	if r.bodies.Acquire(ctx, size) != nil {
		return nil, func() {}, errNoRoom
	}
	b.Grow(int(size) - easyBody + bytes.MinRead)
	_, err = b.ReadFrom(all)
	return b.Bytes(), func() { r.bodies.Release(size) }, err
}

// hint has the record of a delivery looked at that was signed.
func (r *Receiver) hint(ctx context.Context, n config.NetBox, body []byte) (status int, result string) {
	c, err := r.Connect(n)
	if err != nil {
		r.Log.Debug("Cannot use a NetBox that sent a webhook", "error", err)
		return http.StatusServiceUnavailable, resultFailed
	}
	h, err := r.decode(body, c.MarkerField())
	switch {
	case errors.Is(err, netbox.ErrOtherObject):
		return http.StatusNoContent, resultOther
	case err != nil:
		return http.StatusBadRequest, resultMalformed
	}
	if h.Event == deleted {
		r.Freed(n.Identity, h.Address)
	}
	if !c.News(h) {
		return http.StatusNoContent, resultKnown
	}
	return http.StatusNoContent, r.lines.put(ctx, n, c, h)
}

// decode reads a delivery; field is the marker's.
func (r *Receiver) decode(body []byte, field string) (netbox.Hook, error) {
	r.decoding <- struct{}{}
	defer func() { <-r.decoding }()
	return netbox.DecodeHook(body, field) //nolint:wrapcheck // Nobody is shown it.
}

func (r *Receiver) answer(w http.ResponseWriter, status int, ref config.Ref, known bool, result string) {
	r.Count(ref, known, result)
	w.WriteHeader(status)
}
