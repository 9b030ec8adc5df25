package redfishhost

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/gate"
)

// TestReadAsTheHostIsNow: each turn of a walk is with the credential and pins of the newest good look, at its address, and none is in trouble.
func TestReadAsTheHostIsNow(t *testing.T) {
	at := func(address, version string) gate.Target {
		return gate.Target{Config: redfish.Config{Address: address}, CredentialVersion: version}
	}
	h := &v1alpha1.RedfishHost{ObjectMeta: metav1.ObjectMeta{Namespace: "infra", Name: "a", UID: "a"}}
	cases := map[string]struct {
		reason string
		change func(s *shelf)
		turns  []string // versions of the credential
		read   bool
	}{
		"Nothing": {reason: "All is as it was.", change: func(*shelf) {}, turns: []string{"1", "1"}, read: true},
		"Rotated": {reason: "The Secret has another password by now.", change: func(s *shelf) { s.refresh(h, systemOf("a"), at("10.0.0.1", "2"), time.Hour, false) }, turns: []string{"1", "2"}, read: true},
		"Spelt":   {reason: "One address in another spelling.", change: func(s *shelf) { s.refresh(h, systemOf("a"), at("https://10.0.0.1/", "1"), time.Hour, false) }, turns: []string{"1", "1"}, read: true},
		"Moved":   {reason: "The address was wrong.", change: func(s *shelf) { s.refresh(h, systemOf("a"), at("10.0.0.2", "1"), time.Hour, true) }, turns: []string{"1", "1"}, read: true},
		"Trouble": {reason: "The BMC refuses the password, or isn't allowed any more.", change: func(s *shelf) { s.halt("a") }, turns: []string{"1"}},
		"Over":    {reason: "It was well again soon.", change: func(s *shelf) { s.halt("a"); s.refresh(h, systemOf("a"), at("10.0.0.1", "1"), time.Hour, false) }, turns: []string{"1", "1"}, read: true},
		"Paused":  {reason: "The host is paused: the turn ends, and no other is taken.", change: func(s *shelf) { s.bar("a", true); s.halt("a") }, turns: []string{"1"}},
		"Looked": {reason: "Though a look was under way.", change: func(s *shelf) {
			s.bar("a", true)
			s.halt("a")
			s.refresh(h, systemOf("a"), at("10.0.0.1", "1"), time.Hour, false)
		}, turns: []string{"1"}},
		"Unpaused": {reason: "Once it isn't any more it goes on.", change: func(s *shelf) {
			s.bar("a", true)
			s.halt("a")
			s.bar("a", false)
			s.refresh(h, systemOf("a"), at("10.0.0.1", "1"), time.Hour, false)
		}, turns: []string{"1", "1"}, read: true},
		"Another": {reason: "It was another machine in between.", change: func(s *shelf) { s.forget("a"); s.refresh(h, systemOf("a"), at("10.0.0.1", "1"), time.Hour, false) }, turns: []string{"1"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newShelf()
			var walks atomic.Int32
			s.gates.walk = func() (bool, error) {
				if walks.Add(1) == 1 {
					tc.change(s)

					return false, nil
				}

				return true, nil
			}
			close(s.gates.open)
			s.refresh(h, systemOf("a"), at("10.0.0.1", "1"), time.Hour, false)
			s.settle()
			if read := s.known("a", systemOf("a")).read; !slices.Equal(s.gates.as, tc.turns) || read != tc.read {
				t.Errorf("%s\nturns %v, read %t; want %v, %t", tc.reason, s.gates.as, read, tc.turns, tc.read)
			}
		})
	}
}

// TestUrgentReaders: whoever nobody waits for doesn't keep others from being read.
func TestUrgentReaders(t *testing.T) {
	s := newShelf()
	for i := range 2 * readersAtOnce {
		s.look(fmt.Sprintf("h%d", i), fmt.Sprintf("10.0.0.%d", i+1))
	}
	for i := range 2 * urgentReaders {
		s.look(fmt.Sprintf("u%d", i), fmt.Sprintf("10.0.1.%d", i+1), claimed)
	}
	if n := len(s.line()); n != readersAtOnce+urgentReaders {
		t.Errorf("%d in line, want %d", n, readersAtOnce+urgentReaders)
	}
	close(s.gates.open)
	if n := s.settle(); n != 2*(readersAtOnce+urgentReaders) {
		t.Errorf("%d read, want all", n)
	}
}

// TestReadingEnds: an inventory for which others leave no time ends with its own, or with the process.
func TestReadingEnds(t *testing.T) {
	s := newShelf()
	s.gates.walk = func() (bool, error) {
		s.stop()

		return false, nil
	}
	close(s.gates.open)
	s.look("a", "10.0.0.1")
	if n := s.settle(); n != 1 || s.known("a", systemOf("a")).read {
		t.Errorf("%d jobs ended, read %t", n, s.known("a", systemOf("a")).read)
	}
}

// TestPausedInventory: nothing is read of a host that is paused, whatever looks were under way, and all of it once it isn't any more.
func TestPausedInventory(t *testing.T) {
	c := NewConnector(Options{Gates: newReaders(), Now: func() time.Time { return t0 }})
	t.Cleanup(c.Stop)
	gates, ok := c.Gates.(*readers)
	if !ok {
		t.Fatal("not our gates")
	}
	close(gates.open)
	h := hostAt("a", "10.0.0.1")
	look := func() { c.inventories.refresh(h, systemOf("a"), targetAt("10.0.0.1", "1"), time.Hour, false) }
	c.Paused(h, true)
	look()
	if n := c.Settle(); n != 0 || gates.turns != 0 {
		t.Errorf("%d inventories, %d turns at the BMC of a host that is paused", n, gates.turns)
	}
	c.Paused(h, false)
	look()
	if n := c.Settle(); n != 1 || !c.inventories.known("a", systemOf("a")).read {
		t.Errorf("it isn't paused any more: %d inventories", n)
	}
}
