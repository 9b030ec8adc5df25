package e2e

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

const (
	// rarely is the provider's poll interval, so that what is seen sooner was told.
	rarely = 10 * time.Minute
	// unasked is less than such a provider waits between two looks at all addresses, which are two minutes apart.
	unasked = time.Minute
)

// A toldEnv is a netboxEnv whose NetBox tells the provider of changes.
type toldEnv struct {
	*netboxEnv

	// at is where, and args are how the provider is started for it.
	at   string
	args []string
	copy *httptest.Server
	sent letters
}

func newToldEnv(t *testing.T) *toldEnv {
	t.Helper()
	n := &toldEnv{netboxEnv: newNetBoxEnv(t)}
	n.copy = httptest.NewServer(&n.sent)
	t.Cleanup(n.copy.Close)
	n.healsProvider()
	port, err := n.Port()
	n.must(err)
	address := "127.0.0.1:" + strconv.Itoa(port)
	n.at = "http://" + address + "/netbox/webhook/" + n.id
	n.args = []string{"--netbox-webhook-address=" + address, "--poll=" + rarely.String()}
	n.signs(firstHook)
	n.starts()
	return n
}

// starts the provider, also where it runs, and waits until it takes deliveries.
func (n *toldEnv) starts() {
	n.t.Helper()
	n.must(n.ProviderWith(n.t.Context(), n.args, nil))
	n.answers(nil, "nobody", http.StatusForbidden)
}

// signs has NetBox sign with a secret from now on.
func (n *toldEnv) signs(secret string) {
	n.nb.RemoveWebhooks()
	for _, url := range []string{n.at, n.copy.URL} {
		n.nb.AddWebhook(netbox.Webhook{URL: url, Secret: secret})
	}
}

// deliver sends a body as whoever signs with a secret, and returns the answer's status.
func (n *toldEnv) deliver(ctx context.Context, body []byte, secret string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, n.at, bytes.NewReader(body))
	if err != nil {
		return 0, fmt.Errorf("cannot deliver to %q: %w", n.at, err)
	}
	m := hmac.New(sha512.New, []byte(secret))
	_, _ = m.Write(body)
	req.Header.Set("X-Hook-Signature", hex.EncodeToString(m.Sum(nil)))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, fmt.Errorf("no answer: %w", err)
	}
	return res.StatusCode, res.Body.Close()
}

// answers waits until a delivery is answered with a status.
func (n *toldEnv) answers(body []byte, secret string, status int) {
	n.t.Helper()
	n.until("the provider to answer a delivery with "+strconv.Itoa(status), func(ctx context.Context) error {
		got, err := n.deliver(ctx, body, secret)
		if err != nil || got != status {
			return fmt.Errorf("it answers %d: %w", got, err)
		}
		return nil
	})
}

// letterOf waits for what NetBox sent first of an event of a record.
func (n *toldEnv) letterOf(event string, g given) []byte {
	n.t.Helper()
	var body []byte
	n.until("NetBox to tell that it's "+event, func(context.Context) error {
		n.sent.mu.Lock()
		defer n.sent.mu.Unlock()
		for _, l := range n.sent.all {
			if l.Event == event && l.Data.ID == g.record {
				body = l.body
				return nil
			}
		}
		return fmt.Errorf("%d deliveries so far", len(n.sent.all))
	})
	return body
}

// took prints how long something took, and fails the case where the provider may have looked by itself meanwhile.
func (n *toldEnv) took(what string, began time.Time) {
	n.t.Helper()
	took := time.Since(began)
	fmt.Fprintf(n.t.Output(), "| %-64s | %6.2f s |\n", what, took.Seconds())
	if took >= unasked {
		n.t.Errorf("%s: after %s, when the provider may have looked by itself", what, took)
	}
}

// looked waits until the provider that runs now has looked at a resource.
func (n *toldEnv) looked(r lab.Ref) {
	n.t.Helper()
	token := "look-" + strconv.FormatInt(numbers.Add(1), 10)
	n.patch(r, `{"metadata":{"annotations":{"crossplane.io/reconcile-requested-at":"`+token+`"}}}`)
	n.await(r, "looked at", lab.Field(token, "status", "lastHandledReconcileAt"))
}

// made is how many addresses NetBox was asked for.
func (n *toldEnv) made() int {
	made := 0
	for _, r := range n.nb.Requests() {
		if r.Method == http.MethodPost && strings.HasSuffix(r.Path, "/available-ips/") && r.Status == http.StatusCreated {
			made++
		}
	}
	return made
}

// testNetBoxTells holds that what somebody changes in NetBox is seen as soon as NetBox tells it; that a delivery leads to nothing when it
// comes again, also after a restart; and that a token and a webhook's secret are rotated without one.
func testNetBoxTells(t *testing.T) {
	t.Helper()
	n := newToldEnv(t)
	fmt.Fprintf(t.Output(), "| %-64s | %8s |\n| %s | %s: |\n", "told by NetBox, poll interval "+rarely.String(), "after", strings.Repeat("-", 64), strings.Repeat("-", 7))
	refs := []lab.Ref{n.asks("kept", ""), n.asks("noted", "drift: Report"), n.asks("taken", ""), n.asks("other", "")}
	kept, noted, taken, other := n.gets(refs[0]), n.gets(refs[1]), n.gets(refs[2]), n.gets(refs[3])
	for _, r := range refs { // What was just made is looked at again by itself: an edit could be seen by that.
		n.looked(r)
	}

	n.edits(kept, noted)
	n.loses(taken)
	edit, deletion := n.letterOf("updated", kept), n.letterOf("deleted", taken)
	n.replays("in the same process", firstHook, other, map[int64][]byte{kept.record: edit, taken.record: deletion})
	n.rotatesHook(edit, other)
	refs = append(refs, n.rotatesToken(other))

	n.starts()
	for _, r := range refs {
		n.looked(r)
	}
	n.replays("after a restart", secondHook, other, map[int64][]byte{kept.record: edit, taken.record: deletion})
	n.await(taken.Ref, "lost as before", lab.Because("Ready", "Lost"))
	// The last one was given the address that was lost, which was set aside for the one that lost it; and then its own.
	if made := n.made(); made != len(refs)+1 {
		t.Errorf("want one address made for each of %d resources, and one set aside, got %d", len(refs), made)
	}
	for _, r := range refs {
		n.drops(r)
	}
	n.silentAbout(n.logs(), map[string]string{
		"the first token": firstToken, "the second token": secondToken, "the first webhook secret": firstHook, "the second one": secondHook,
	})
}

// edits has a person edit two records: of a resource that undoes it, and of one that only says so.
func (n *toldEnv) edits(kept, noted given) {
	n.t.Helper()
	began := time.Now()
	n.edited("alice", kept)
	n.undone(kept)
	n.took("an edit is undone in NetBox", began)
	n.tells(kept.Ref, "DriftCorrected", "description", `by "alice"`)

	began = time.Now()
	n.edited("alice", noted)
	n.await(noted.Ref, "saying that somebody changed it", func(u *unstructured.Unstructured) bool {
		drift, _, err := unstructured.NestedSlice(u.Object, "status", "atProvider", "drift")
		if err != nil || len(drift) != 1 {
			return false
		}
		d, _ := drift[0].(map[string]any)
		by, _ := d["by"].(string)
		return d["field"] == "description" && strings.HasPrefix(by, `"alice"`)
	})
	n.took("an edit that stays stands in status", began)
	n.tells(noted.Ref, "Drifted", "description", `by "alice"`)
}

// loses has a person delete a record.
func (n *toldEnv) loses(g given) {
	n.t.Helper()
	began := time.Now()
	n.nb.RemoveAddress(g.record)
	n.await(g.Ref, "lost", lab.All(lab.Is("Ready", "False"), lab.Because("Ready", "Lost")))
	n.took("a deletion makes its resource Lost", began)
	n.tells(g.Ref, "Lost", strconv.FormatInt(g.record, 10))
}

// replays sends deliveries again, by the records that they are about, and fails the case where more comes of one than a look at its record by
// who took the delivery, and one by its resource: a restarted provider doesn't know any more that a record is lost.
// Another address is edited after it: when that is undone, what came before it has been looked at.
func (n *toldEnv) replays(when, secret string, other given, again map[int64][]byte) {
	n.t.Helper()
	before := len(n.nb.Requests())
	for _, body := range again {
		n.answers(body, secret, http.StatusNoContent)
	}
	n.edited("bob", other)
	n.undone(other)
	for id := range again {
		path, reads := fmt.Sprintf("/api/ipam/ip-addresses/%d/", id), 0
		for _, r := range n.nb.Requests()[before:] {
			if r.Path != path {
				continue
			}
			reads++
			if r.Writes() {
				n.t.Errorf("%s: a delivery that came again leads to %s %s", when, r.Method, r.Path)
			}
		}
		if reads > 2 {
			n.t.Errorf("%s: want two looks at record %d at most for a delivery that came again, got %d", when, id, reads)
		}
	}
	writes := 0
	for _, r := range n.nb.Requests()[before:] {
		if r.Writes() {
			writes++
		}
	}
	if writes != 1 {
		n.t.Errorf("%s: want one write, which undoes bob's edit, got %d", when, writes)
	}
}

// rotatesHook changes what webhooks are signed with, while the provider runs.
func (n *toldEnv) rotatesHook(body []byte, other given) {
	n.t.Helper()
	began := time.Now()
	n.secret("hook", secondHook)
	n.answers(body, secondHook, http.StatusNoContent)
	n.took("a webhook's new secret is taken", began)
	n.answers(body, firstHook, http.StatusForbidden)
	n.signs(secondHook)
	began = time.Now()
	n.edited("alice", other)
	n.undone(other)
	n.took("an edit that is told with it is undone", began)
}

// rotatesToken replaces the token, in NetBox and then in the Secret, while the provider runs, and returns a resource that waited for it.
func (n *toldEnv) rotatesToken(other given) lab.Ref {
	n.t.Helper()
	pid := n.Provider.PID()
	n.nb.RemoveToken(firstToken)
	n.nb.AddToken(netbox.Token{Name: "second", Secret: secondToken})
	late := n.asks("late", "")
	began := time.Now()
	n.await(late, "refused", lab.Because("Ready", "Unauthorized"))
	n.await(n.config(), "refused, too", lab.Because("Ready", "Unauthorized"))
	n.took("a token that was withdrawn is said by its provider config", began)
	began = time.Now()
	n.secret("token", secondToken)
	n.gets(late)
	n.took("an address is Ready by a token that was put into the Secret", began)

	before := len(n.nb.Requests())
	n.edited("alice", other)
	n.undone(other)
	for _, r := range n.nb.Requests()[before:] {
		if r.Token != "second" {
			n.t.Errorf("%s %s with another token than the new one: answered with %d", r.Method, r.Path, r.Status)
		}
	}
	if now := n.Provider.PID(); now != pid {
		n.t.Errorf("the provider was started anew: %d, and it was %d", now, pid)
	}
	return late
}
