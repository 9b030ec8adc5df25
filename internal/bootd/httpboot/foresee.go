package httpboot

import (
	"context"
	"net/netip"
	"net/url"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/gate"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/ipxe"
)

// The words that stand in a foretold script for what is a boot's secret.
const (
	shownScriptToken = "SCRIPT-TOKEN"
	shownBootToken   = "BOOT-TOKEN"
)

// Foresee says what a script request would be answered now, by the code that answers it, with words in the place of tokens. base is where
// the machine would reach this bootd, arch its option 93. No grant is opened or used, nothing is noted or counted; but files that the boot
// needs and that aren't here are begun to be fetched, as by the request itself.
func (s *Server) Foresee(ctx context.Context, token, base string, arch uint16) (gate.Answer, string, error) {
	c, ok := s.o.Gate.Caller(token, boot.TokenScript)
	if !ok {
		return gate.Hold(gate.ReasonToken), "", nil
	}
	at, err := url.Parse(ipxe.ScriptURL(base, token, arch))
	if err != nil {
		return gate.Answer{}, "", err
	}
	ours, _ := netip.ParseAddr(at.Hostname()) // By a name it may be either: then it's that of IPv4.
	a, x, err := s.decide(ctx, c, ipxe.FirmwareOf(at.Query()), base, ours.Is6(), at, false)
	text := ""
	switch {
	case unfound(c.Plan, a):
		text = ipxe.NotFoundText
	case err == nil:
		text = x.String()
	}
	if a.Token != "" {
		text = strings.ReplaceAll(text, a.Token, shownBootToken)
		a.Token = shownBootToken
	}
	return a, strings.ReplaceAll(text, token, shownScriptToken), err
}
