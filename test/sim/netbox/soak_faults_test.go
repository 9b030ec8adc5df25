package netbox_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// soakTimeout is the provider's for one request. An answer that comes later is lost, though what was asked for is done.
const soakTimeout = 150 * time.Millisecond

// A mishap is one row of the soak's table: what NetBox does wrong, and to which requests.
type mishap struct {
	words   string
	kind    netbox.FaultKind
	methods []string
}

func mishaps() []mishap {
	get, post, patch, del := http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete
	any4, writes := []string{get, post, patch, del}, []string{post, patch, del}
	return []mishap{
		{"timeout before the effect", netbox.FaultHang, any4}, {"timeout after the effect", netbox.FaultHangAfter, writes},
		{"effect after the timeout", netbox.FaultDelay, writes}, {"effect after the timeout", netbox.FaultDelay, []string{post}},
		{"connection closed before the effect", netbox.FaultDisconnect, any4}, {"connection closed after the effect", netbox.FaultEOFAfter, writes},
		{"500 in JSON", netbox.FaultServerErrorJSON, any4}, {"500 in HTML", netbox.FaultServerErrorHTML, any4},
		{"500 after the commit", netbox.FaultErrorAfter, writes}, {"502 of a proxy", netbox.FaultBadGateway, any4},
		{"409 to a write", netbox.FaultConflict, writes}, {"409 full, which it is not", netbox.FaultFull, []string{post}},
		{"half of the JSON", netbox.FaultHalfJSON, any4[:3]}, {"answer cut off", netbox.FaultCutOff, any4[:3]},
		{"429 with Retry-After", netbox.FaultBusy, any4}, {"unknown choices and keys", netbox.FaultStrangeChoice, any4[:3]},
		{"200 with an HTML page", netbox.FaultPage, any4}, {"byte order mark", netbox.FaultBOM, any4[:3]},
		{"redirect to another host", netbox.FaultRedirect, any4}, {"400 marker taken, which it is not", netbox.FaultMarkerTaken, []string{post}},
	}
}

// A chaos decides what goes wrong, by a fixed seed.
type chaos struct {
	mu       sync.Mutex
	dice     *rand.Rand
	calm     bool
	injected map[string]int
	met      map[string]int
}

func newChaos(seed uint64) *chaos {
	return &chaos{dice: rand.New(rand.NewPCG(seed, seed)), injected: map[string]int{}, met: map[string]int{}} //nolint:gosec // No secret is made.
}

// chance says yes with a probability, and never while it's calm.
func (c *chaos) chance(p float64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.calm && c.dice.Float64() < p
}

// pick returns a number below n.
func (c *chaos) pick(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dice.IntN(n)
}

// happens counts what is injected and met at once, such as a kill.
func (c *chaos) happens(words string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.injected[words]++
	c.met[words]++
}

// calmDown ends all mishaps.
func (c *chaos) calmDown() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calm = true
}

// inject lets something go wrong with one of the next requests.
func (c *chaos) inject(s *netbox.Server, elsewhere string) (remove func()) {
	all := mishaps()
	m := all[c.pick(len(all))]
	c.mu.Lock()
	c.injected[m.words]++
	c.mu.Unlock()
	return s.Inject(netbox.Fault{
		Kind: m.kind, Method: m.methods[c.pick(len(m.methods))], Times: 1, Delay: 2 * soakTimeout, Location: elsewhere,
	})
}

// counts are how often each mishap was met.
func (c *chaos) counts(s *netbox.Server) map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	met := s.FaultsMet()
	for _, m := range mishaps() {
		c.met[m.words] = met[m.kind]
	}
	c.injected[lagged], c.met[lagged] = s.Lagged()
	return maps.Clone(c.met)
}

// table says how often each mishap was injected and met.
func (c *chaos) table(s *netbox.Server) string {
	met := c.counts(s)
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	for _, words := range slices.Sorted(maps.Keys(c.injected)) {
		b.WriteString(faultRow("NetBox soak: "+words, c.injected[words], met[words]))
	}
	return b.String()
}

// faultRow is a row of the table that "make test" shows at its end: what went wrong, how often it was made to, and how often it was met.
func faultRow(words string, injected, met int) string {
	return fmt.Sprintf("\n| %s | %d | %d |", words, injected, met)
}
