package bmc

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	pathAccountService = "/redfish/v1/AccountService"
	pathAccounts       = pathAccountService + "/Accounts"
	propPassword       = "Password"
)

// Passwords is what a BMC does with a new password for the account that clients
// log in with. How long one may be is in the tree. The zero value takes it at
// once, and ends the account's sessions.
type Passwords struct {
	// Refusal is the name of the message with which each is refused; "" is none.
	Refusal string
	// RefusalStatus goes with it; 0 is 400.
	RefusalStatus int
	// History refuses the one that the account has already.
	History bool
	// KeepsSessions leaves the sessions open that were.
	KeepsSessions bool
	// Takes is after how long it counts, and Async how that is answered.
	Takes time.Duration
	Async Async
	// Forgets takes it, says so, and goes on with the old one.
	Forgets bool
}

// accounts adds an account service with slots, the second of which has the user.
func (t *Tree) accounts(user string) {
	t.put(pathAccountService, object{
		"@odata.type": "#AccountService.v1_15_0.AccountService", "Id": "AccountService", "Name": "Account Service",
		"MinPasswordLength": 8, "MaxPasswordLength": 20, "Accounts": link(pathAccounts),
	})
	users := []string{"", user, "auditor", ""}
	ids := make([]string, 0, len(users))
	for i, name := range users {
		id := strconv.Itoa(i + 1)
		ids = append(ids, id)
		t.put(pathAccounts+"/"+id, object{
			"@odata.type": "#ManagerAccount.v1_12_0.ManagerAccount", "@odata.etag": firstETag, "Id": id, "Name": "Account " + id,
			"UserName": name, propPassword: nil, "Enabled": name != "", "RoleId": "Administrator",
		})
	}
	t.collect(pathAccounts, ids)
}

// isAccount says whether a path is an account's.
func (b *BMC) isAccount(path string) bool {
	return strings.Contains(treeKey(path), "/accountservice/accounts/")
}

// accountTarget is what an account takes: a password. Called with the lock held.
func (b *BMC) accountTarget(uri string) *writeTarget {
	body := b.store.body(uri)
	if !b.isAccount(uri) || body == nil {
		return nil
	}
	t := &writeTarget{behaviour: b.behaviour, uri: uri, body: body, rules: map[string]valueRule{propPassword: b.passwordRule()}}
	t.after = func(o object) {
		password := textAt(o, propPassword)
		o[propPassword] = nil
		if textAt(o, "UserName") == b.cfg.Username {
			t.promised = b.takePassword(password)
		}
	}

	return t
}

// passwordRule is what is wrong with a password.
func (b *BMC) passwordRule() valueRule {
	service := b.store.body(linkAt(b.store.body(pathRoot), "AccountService"))
	least, most := numberAt(service, "MinPasswordLength"), numberAt(service, "MaxPasswordLength")
	rule := b.behaviour.Password

	return func(v any) problem {
		s, ok := v.(string)
		switch {
		case !ok:
			return problem{message: msgType}
		case rule.Refusal != "":
			return problem{message: rule.Refusal, status: rule.RefusalStatus}
		case len(s) < least, most > 0 && len(s) > most:
			return problem{message: "PropertyValueFormatError"}
		case rule.History && s == b.cfg.Password:
			return problem{message: "PropertyValueConflict"}
		default:
			return problem{}
		}
	}
}

// takePassword makes a password the account's, at once or after a while. Called
// with the lock held.
func (b *BMC) takePassword(password string) *task {
	rule := b.behaviour.Password
	take := func() {
		if rule.Forgets {
			return
		}
		b.cfg.Password, b.first = password, false
		if !rule.KeepsSessions {
			b.endSessions()
		}
	}
	if rule.Takes == 0 && rule.Async == AsyncNever {
		take()

		return nil
	}
	t := b.note(rule.Takes, func() (int, problem) {
		b.mu.Lock()
		defer b.mu.Unlock()
		take()

		return http.StatusNoContent, problem{}
	})
	if rule.Async == AsyncNever {
		return nil
	}

	return t
}

// Password is the account's.
func (b *BMC) Password() string {
	b.mu.Lock()
	defer b.mu.Unlock()

	return b.cfg.Password
}

// Locked says whether the account is.
func (b *BMC) Locked() bool {
	b.mu.Lock()
	defer b.mu.Unlock()

	return b.failed >= b.cfg.LockoutAfter
}

// firstPassword says, in the standard's words, that the password must be changed,
// and of which account (DSP0266, "Password change required handling").
func (b *BMC) firstPassword() (problem, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.first {
		return problem{}, false
	}
	p := problem{message: "PasswordChangeRequired"}
	service := linkAt(b.store.body(pathRoot), "AccountService")
	for _, uri := range linksAt(b.store.body(linkAt(b.store.body(service), "Accounts")), "Members") {
		if textAt(b.store.body(uri), "UserName") == b.cfg.Username {
			p.value = uri
		}
	}

	return p, true
}

// wantsPassword answers everything but what changes the password, or ends a
// session, with 403 as long as it must be changed.
func (b *BMC) wantsPassword(w http.ResponseWriter, r *http.Request, path string) bool {
	p, first := b.firstPassword()
	if !first || r.Method == http.MethodDelete || treeKey(path) == treeKey(p.value) {
		return false
	}
	b.fail(w, http.StatusForbidden, p)

	return true
}
