package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp6"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/gate"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/trace"
)

// Options of a Handler. All but View6, Script, Why, Stopping, Turn and Trace are required.
type Options struct {
	// Name of this bootd.
	Name string
	// View is what DHCP answers rest on now.
	View func() dhcp.View
	// View6 is what DHCPv6 answers rest on now; false: it isn't served. nil: it never is.
	View6 func() (dhcp6.View, bool)
	// Script foretells a script (httpboot's Foresee); nil where HTTP isn't served.
	Script func(ctx context.Context, token, base string, arch uint16) (gate.Answer, string, error)
	// Grub says the same of a grub's configuration; nil where TFTP isn't served.
	Grub func(ctx context.Context, token, base string, arch uint16) (gate.Answer, string, error)
	// Pi says the same of what a Raspberry Pi is told; nil where TFTP isn't served.
	Pi func(ctx context.Context, token, base string, arch uint16) (gate.Answer, string, error)
	// Why says what keeps installs from a machine, as far as its source knows more than the gate; "": nothing. nil: it never does.
	Why func(p *boot.Plan) string
	// Logged is what this bootd's own log knows as consumed of an entry.
	Logged func(entryUID, hostUID string) []boot.Consumption
	// File says how large a first stage is, and whether it's but a stand-in; false: there's none of the name.
	File func(name string) (size int, standIn, ok bool)
	// NotServed are the protocols that this bootd was started without.
	NotServed []string
	// Stopping says whether this bootd is about to end, and leaves a machine's boots to another one; nil: it never stops.
	Stopping func(boot.MAC) bool
	// Turn is how long an OFFER to a machine waits for those of other bootds; nil: none does.
	Turn func(boot.MAC) time.Duration
	// Interfaces of this node.
	Interfaces func() []Interface
	// Trace holds the machines' last packets; nil: none are kept.
	Trace *trace.Ring
	Now   func() time.Time
}

type handler struct{ o Options }

// Handler answers GET /explain and /trace, which name a machine by mac, ip or entry. What's wrong is answered by one sentence.
func Handler(o Options) http.Handler {
	h := &handler{o}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /explain", h.explained)
	mux.HandleFunc("GET /trace", h.traced)
	return mux
}

func queryOf(r *http.Request) Query {
	v := r.URL.Query()
	return Query{MAC: v.Get("mac"), IP: v.Get("ip"), Entry: v.Get("entry"), Firmware: v.Get("firmware")}
}

func (h *handler) explained(w http.ResponseWriter, r *http.Request) {
	q := queryOf(r)
	if _, ok := firmwares()[q.Firmware]; !ok && q.Firmware != "" {
		http.Error(w, fmt.Sprintf("firmware is %s, not %q", strings.Join(Firmwares(), ", "), q.Firmware), http.StatusBadRequest)
		return
	}
	p, mac, err := h.find(h.o.View().State, q)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	e, err := h.explain(r.Context(), p, mac, q.Firmware)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	b, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(b, '\n')) // Who asked may have gone.
}

// Firmwares are the names of what may be asked about.
func Firmwares() []string { return slices.Sorted(maps.Keys(firmwares())) }

// traced gives a machine's packets. Those of a MAC that nobody knows are there too, if it was one of the last few.
func (h *handler) traced(w http.ResponseWriter, r *http.Request) {
	q := queryOf(r)
	p, mac, err := h.find(h.o.View().State, q)
	macs := []boot.MAC{mac}
	if p != nil {
		macs = macsOf(h.o.View(), p)
	} else if m, merr := boot.ParseMAC(q.MAC); merr == nil {
		mac, macs = m, []boot.MAC{m}
	}
	packets := h.o.Trace.Of(macs...)
	switch {
	case h.o.Trace == nil:
		http.Error(w, "this bootd keeps no packets: it was started with --trace-bytes 0", http.StatusNotFound)
		return
	case err != nil && len(packets) == 0:
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	case len(packets) == 0:
		n, _ := h.o.Trace.Machines()
		http.Error(w, fmt.Sprintf("no packet of %s is kept: nothing was heard of it since bootd started, or of more others since than there is room for (%d machines; --trace-bytes)",
			p.Entry, n), http.StatusNotFound)
		return
	}
	var b bytes.Buffer
	if err := trace.WritePCAP(&b, mac, packets); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/vnd.tcpdump.pcap")
	_, _ = w.Write(b.Bytes()) // Who asked may have gone.
}
