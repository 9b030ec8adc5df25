package httpboot

import (
	"errors"
	"net/http"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot/netconfig"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/gate"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/ipxe"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

// given serves one part of the data. Vendor data and a network config are what nobody has to say: cloud-init asks for both all the same,
// and asks ten times for what it's told isn't there. The network config says the place that was granted, whatever became of the network since.
func (s *Server) given(w http.ResponseWriter, r *http.Request, c gate.Caller, data map[string][]byte, name string) {
	b, ok := data[name]
	network, said := netconfig.Of(c.Plan, s.segment(c.Plan))
	switch {
	case said:
		b, ok = s.network(r, network, b, name), ok || !ofSecret(name)
	case name == networkConfig:
		f, wrong := boot.FillNetworkConfig(b, c.Plan.NetworkValues(), "the plan doesn't say it")
		if wrong != "" {
			s.refuse(w, c, errors.New("the network config can't be filled in: "+wrong))
			return
		}
		b = f
	}
	if !ok && name != vendorData && name != networkConfig {
		http.NotFound(w, r)
		return
	}
	plainConditions(r)
	serveBytes(w, r, b)
	if r.Method != http.MethodGet {
		return
	}
	s.about(c).Info("data is given", "what", name)
	if name == userData && r.Header.Get("Range") == "" && r.Context().Err() == nil && c.Plan.SilentInstaller {
		s.o.Sightings.Sight(c.Plan.Entry, session.Sighting{Kind: session.SawData, At: s.o.Now(), GrantID: c.Claims.GrantID, Silent: true})
	}
}

// plainConditions drops what a request makes its answer depend on: data has neither a tag nor a date, so that nobody has it already.
func plainConditions(r *http.Request) {
	for _, name := range []string{"If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range"} {
		r.Header.Del(name)
	}
}

// segment is a plan's, as far as it's served.
func (s *Server) segment(p *boot.Plan) boot.Segment {
	st := s.o.State()
	if st == nil {
		return boot.Segment{}
	}
	g, _ := st.Segment(p.Network.Name)
	return g
}

// network is one part of the data of a machine whose entry says what its system has the network on: b, or what is made of that.
func (s *Server) network(r *http.Request, n netconfig.Config, b []byte, name string) []byte {
	switch name {
	case networkConfig:
		return n.CloudInit()
	case nmstate:
		return n.NMState()
	case talosNetwork:
		return n.Talos()
	case userData:
		return n.Fill(b, s.installer(s.base(r))+ipxe.PathBoot+r.PathValue("token")+"/"+nmstate)
	}
	return b
}

// ofSecret says whether a part of the data is what a person has written, and not made of the plan.
func ofSecret(name string) bool {
	return name != networkConfig && name != nmstate && name != talosNetwork
}
