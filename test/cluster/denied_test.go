package cluster_test

import (
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
	"github.com/crossplane-contrib/provider-baremetal/test/cluster/stage"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
)

// A replacement is when a provider was replaced by another version's: from when that was asked for until the other one worked.
type replacement struct {
	user     string
	from, to time.Time
}

// replace notes the provider that is replaced from now until the function that it returns is called.
func (u *update) replace(t *testing.T, s *stage.Stage) func() {
	t.Helper()
	account, err := s.Account(t.Context(), stage.Components()[0])
	must(t, err)
	from := time.Now()
	return func() { u.replaced = append(u.replaced, replacement{stage.User(account), from, time.Now()}) }
}

// atItsEdges are what a provider may be forbidden at its start and at its end, and why.
func atItsEdges() map[string]string {
	return map[string]string{
		"get configmaps": "Crossplane starts a provider before it has bound its rights: the provider ends, and is started again",
		"create events":  "Crossplane takes a replaced provider's rights away before it ends it: that it gave its lease back is no event",
	}
}

// tolerated says why something may have been forbidden to a provider; nothing where it may not.
func (u *update) tolerated(user string, d stage.Denial) string {
	for _, r := range u.replaced {
		if r.user == user && d.At.After(r.from) && d.At.Before(r.to) && d.Resource != "leases" {
			return "Crossplane takes a replaced provider's rights away before it ends it; the next one does what this one couldn't"
		}
	}
	return atItsEdges()[d.Verb+" "+d.Resource]
}

// denied holds that none of ours was forbidden what it asked for, of any version, from the first install until it was uninstalled: then
// rights are taken away on purpose.
func (u *update) denied(t *testing.T, s *stage.Stage, _ string) {
	t.Helper()
	need(t, u.lacks)
	time.Sleep(time.Until(u.removed.Add(stage.AuditDelay)))
	account := func(namespace, name string) string {
		return stage.User(client.ObjectKey{Namespace: namespace, Name: name})
	}
	provider := account(local.CrossplaneNamespace, stage.Installed(stage.ProviderPackage)+"-")
	function := account(local.CrossplaneNamespace, stage.Installed(stage.FunctionPackage)+"-")
	bootd := account(lab.BootNamespace, "bootd")
	denials, err := s.Denials(func(user string) bool {
		return strings.HasPrefix(user, provider) || strings.HasPrefix(user, function) || user == bootd
	})
	must(t, err)
	providers := 0
	for user, all := range denials {
		if strings.HasPrefix(user, provider) {
			providers++
		}
		for _, d := range all {
			why := ""
			if strings.HasPrefix(user, provider) {
				why = u.tolerated(user, d)
			}
			switch {
			case d.At.After(u.removed):
			case why != "":
				t.Logf("%s was forbidden to %s %s: %s", user, d.Verb, d.Resource, why)
			default:
				t.Errorf("%s was forbidden what it asked for: %+v", user, d)
			}
		}
	}
	if _, ok := denials[bootd]; !ok || providers < 2 {
		t.Errorf("the audit log has bootd: %t, and %d providers, which are to be of two versions", ok, providers)
	}
}
