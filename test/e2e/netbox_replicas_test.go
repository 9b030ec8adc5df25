package e2e

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// testNetBoxTellsReplicas holds that of two providers with one lease the one that leads is told of what somebody changes in NetBox, though NetBox
// tells the other one; and that this one is when it leads itself.
func testNetBoxTellsReplicas(t *testing.T) {
	t.Helper()
	n := newToldEnv(t)
	n.args = append(n.args, "--leader-election")
	n.starts()
	kept := n.gets(n.asks("kept", "")) // So it leads.
	port, err := n.Port()
	n.must(err)
	address := "127.0.0.1:" + strconv.Itoa(port)
	other, err := n.OtherProvider(t.Context(), "--leader-election", "--netbox-webhook-address="+address, "--poll="+rarely.String())
	if other != nil {
		t.Cleanup(other.Kill)
	}
	n.must(err)
	n.at = "http://" + address + "/netbox/webhook/" + n.id
	n.answers(nil, "nobody", http.StatusForbidden)
	n.signs(firstHook)
	fmt.Fprintf(t.Output(), "| %-64s | %8s |\n| %s | %s: |\n", "told by NetBox through another replica", "after", strings.Repeat("-", 64), strings.Repeat("-", 7))
	n.looked(kept.Ref)
	began := time.Now()
	n.edited("alice", kept)
	n.undone(kept)
	n.took("an edit is undone in NetBox by the one that leads", began)

	n.Provider.Stop()
	n.looked(kept.Ref)
	began = time.Now()
	n.edited("alice", kept)
	n.undone(kept)
	n.took("and by the other one, once it leads", began)
	n.drops(kept.Ref)
}
