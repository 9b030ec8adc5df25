package kubesource

import (
	"net/netip"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/foreign"
)

// maxAddresses and maxForeign of a heartbeat; the schema's own limits.
const (
	maxAddresses = 64
	maxForeign   = 16
)

// A Report is what a heartbeat says of a segment beside that it's served.
type Report struct {
	// Reason, one word, and Message, a sentence, say why it isn't served as it's written; "": it is.
	Reason, Message string
	// Addresses of this node on it.
	Addresses []string
	// Foreign servers that were heard on it.
	Foreign []foreign.Sight
}

func (r Report) into(n *v1alpha1.BootServerNetwork, st *v1alpha1.BootServerStatus) {
	n.Reason, n.Message = r.Reason, r.Message
	for _, s := range r.Foreign[:min(len(r.Foreign), maxForeign)] {
		since, last := metav1.NewTime(s.Since), metav1.NewTime(s.Last)
		n.ForeignServers = append(n.ForeignServers, v1alpha1.ForeignServer{
			Address: s.Server.String(), MAC: s.MAC, Interface: s.Interface, Since: &since, LastSeen: &last,
		})
	}
	for _, a := range r.Addresses {
		if len(st.Addresses) < maxAddresses && !slices.Contains(st.Addresses, a) {
			st.Addresses = append(st.Addresses, a)
		}
	}
}

// Peer says whether a server is another bootd of this cluster, live or not. Before they're known anybody may be one.
func (s *Source) Peer(a netip.Addr) bool {
	t := s.t.Load()
	if t == nil || !t.listed() {
		return true
	}
	return t.serves(a)
}

// Knows says whether a server is known to be another bootd of this cluster, live or not.
func (s *Source) Knows(a netip.Addr) bool {
	t := s.t.Load()
	return t != nil && t.listed() && t.serves(a)
}

func (t *tables) serves(a netip.Addr) bool {
	return slices.ContainsFunc(t.servers.all(), func(x server) bool { return slices.Contains(x.addresses, a.String()) })
}
