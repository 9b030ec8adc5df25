package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// quarantined waits until a record is in quarantine, and returns until when.
func (n *netboxEnv) quarantined(g given) time.Time {
	n.t.Helper()
	var until time.Time
	n.until("a record in quarantine", func(context.Context) error {
		a, ok := n.record(g.record)
		if !ok || a.Status != "deprecated" {
			return fmt.Errorf("record %d: there %t, %q", g.record, ok, a.Status)
		}
		note, _ := a.CustomFields["crossplane_released"].(string)
		_, end, _ := strings.Cut(note, " ")
		var err error
		until, err = time.Parse(time.RFC3339, end)
		return err
	})
	return until
}

// testQuarantineOutlivesProvider holds that a quarantine which ends while there's no provider is ended by the next one, though no resource
// of its provider config is left; and that a record which somebody uses again stays, and is told of.
func testQuarantineOutlivesProvider(t *testing.T) {
	t.Helper()
	n := newNetBoxEnv(t)
	n.healsProvider()
	const release = "release: {policy: Quarantine, after: 40s}"
	over, used := n.asks("over", release), n.asks("used", release)
	ended, inUse := n.gets(over), n.gets(used)
	n.must(errors.Join(n.Delete(t.Context(), over), n.Delete(t.Context(), used)))
	n.gone(over)
	n.gone(used)
	until := n.quarantined(ended)
	if last := n.quarantined(inUse); last.After(until) {
		until = last
	}
	n.Provider.Kill()
	if !time.Now().Before(until) {
		n.must(errors.New("the quarantine was over before the provider was killed: the case shows nothing"))
	}
	if left := n.count("NetBoxIPAddress"); left > 0 {
		t.Errorf("%d addresses are left: the case shows nothing of provider configs that nobody uses", left)
	}
	n.nb.ChangeAddressAs("alice", inUse.record, func(a *netbox.Address) { a.Status = "active" })
	time.Sleep(time.Until(until) + time.Second) // Nothing is waited for but the time itself.
	if _, ok := n.record(ended.record); !ok {
		t.Error("the record is gone, and there was no provider: the case shows nothing")
	}

	n.providerReturns()
	n.until("the record to be deleted", func(context.Context) error {
		if _, ok := n.record(ended.record); ok {
			return errors.New("it's still there")
		}
		return nil
	})
	n.tells(n.config(), "QuarantineEnded", fmt.Sprintf("record %d ", ended.record))
	n.tells(n.config(), "QuarantineInUse", fmt.Sprintf("record %d ", inUse.record), "crossplane_released")
	if all := append(n.eventsOf(n.config(), "QuarantineEnded"), n.eventsOf(n.config(), "QuarantineInUse")...); len(all) != 2 {
		t.Errorf("want one event of each, got %q", all)
	}
	if a, ok := n.record(inUse.record); !ok || a.Status != "active" {
		t.Errorf("a record that somebody uses again: there %t, %q", ok, a.Status)
	}
}
