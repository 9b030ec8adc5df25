package redfishhost

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

const (
	// PathEvents is under which the provider takes what BMCs send: ID/SECRET follows.
	PathEvents = "/redfish/events/"
	// pushWord is what the Context of a subscription of ours begins with.
	pushWord = "provider-baremetal/"
	// pushSecret are the bytes of a secret, and pushMark the digits of its digest that
	// a Context has.
	pushSecret, pushMark = 16, 12
	// pushRest is how long a BMC is left alone that took no subscription, or lost it at
	// once: it doubles, to pushRestMost.
	pushRest, pushRestMost = time.Minute, time.Hour
	// pushURI bounds what of a BMC's link is kept.
	pushURI = 256
	// pushUnseen are the subscriptions that a BMC may take and not show.
	pushUnseen = 2
)

// pushRecord is the journal's line about the subscription by which a BMC sends its
// events to us.
type pushRecord struct {
	// ID is by what all subscriptions of this host's are known: the UID that it had
	// when it made the first. "" where there's none, nor may be.
	ID string `json:"id,omitempty"`
	// Digest of the secret that the BMC was told, which nobody else has.
	Digest string `json:"digest,omitempty"`
	// To is the receiver's URL that it was told with it.
	To string `json:"to,omitempty"`
	// URI of the subscription, "" where the BMC didn't say.
	URI string `json:"uri,omitempty"`
	// Tried is when it was told last, Tries how often since one lasted, and Asked the
	// look that was asked for last by then.
	Tried time.Time `json:"tried,omitzero"`
	Tries int       `json:"tries,omitempty"`
	Asked string    `json:"asked,omitempty"`
	// Unseen are those that it took since it showed one.
	Unseen int `json:"unseen,omitempty"`
	// Reason why there's none, in a word, and Message in a sentence.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// word is the Context of the subscription.
func (r pushRecord) word() string {
	return pushWord + r.ID + "/" + r.Digest[:min(len(r.Digest), pushMark)]
}

// ours says whether a subscription is of this host's making. Some BMCs show no
// Context, some no Destination.
func (r pushRecord) ours(s redfish.Subscription) bool {
	return r.ID != "" && (strings.HasPrefix(s.Context, pushWord+r.ID+"/") || strings.Contains(s.Destination, PathEvents+r.ID+"/"))
}

// is says whether a subscription is the one that this is about.
func (r pushRecord) is(s redfish.Subscription) bool {
	_, secret, sent := strings.Cut(s.Destination, PathEvents+r.ID+"/")

	return r.ours(s) && r.Digest != "" && (s.Context == r.word() || sent && secretDigest(secret) == r.Digest)
}

// rest is how long the BMC is left alone.
func (r pushRecord) rest() time.Duration {
	return min(pushRest<<min(max(r.Tries-1, 0), 10), pushRestMost)
}

// newPushSecret is what only the BMC is told.
func newPushSecret() string {
	b := make([]byte, pushSecret)
	_, _ = rand.Read(b) // It never fails.

	return hex.EncodeToString(b)
}

// secretDigest is what is kept of a secret.
func secretDigest(secret string) string {
	sum := sha256.Sum256([]byte(secret))

	return hex.EncodeToString(sum[:])
}

// pushes are the hosts whose BMCs send their events here, by the id in their path. It
// is safe for concurrent use.
type pushes struct {
	mu sync.Mutex
	of map[string]pushed
	// ids of hosts.
	ids map[types.UID]string
}

// pushed is one host, and the digest of its secret.
type pushed struct {
	host   types.UID
	name   types.NamespacedName
	digest string
}

func newPushes() *pushes { return &pushes{of: map[string]pushed{}, ids: map[types.UID]string{}} }

// expect what a host's BMC sends. An id that another host has stays that one's, but
// for the host whose UID it is: a journal is an annotation, which people may copy.
func (p *pushes) expect(host types.UID, name types.NamespacedName, r pushRecord) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if other, ok := p.of[r.ID]; ok && other.host != host && string(host) != r.ID {
		return
	}
	if was := p.ids[host]; was != r.ID && p.of[was].host == host {
		delete(p.of, was)
	}
	p.ids[host], p.of[r.ID] = r.ID, pushed{host: host, name: name, digest: r.Digest}
}

// forget a host, and say whether it was known.
func (p *pushes) forget(host types.UID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	id, ok := p.ids[host]
	if ok && p.of[id].host == host {
		delete(p.of, id)
	}
	delete(p.ids, host)

	return ok
}

// by whom something is sent; false: nobody we know.
func (p *pushes) by(id, secret string) (pushed, bool) {
	sent := secretDigest(secret)
	p.mu.Lock()
	defer p.mu.Unlock()
	from, ok := p.of[id]
	same := subtle.ConstantTimeCompare([]byte(sent), []byte(from.digest)) == 1

	return from, ok && same
}

// Known says whether there's a host that is known by this id and secret.
func (c *Connector) Known(id, secret string) bool {
	_, known := c.pushes.by(id, secret)

	return known
}

// Sent has a host looked at whose BMC sends an event, and says whether there's one
// that is known by this id and secret. What the event says isn't asked for.
func (c *Connector) Sent(id, secret string) bool {
	from, known := c.pushes.by(id, secret)
	if known {
		c.streams.hints.note(from.host, from.name)
	}

	return known
}
