package redfish

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// accountBMC has an account service, and takes one password at a time.
type accountBMC struct {
	accounts map[string]string // answers by path
	service  string            // answer of the account service; "" is a plain one
	first    string            // the message of a 403 until the password is changed; "" is none
	basic    bool              // no sessions

	password      string
	opened, ended int
	patches       []string // by path
	matches       []string // If-Match of each
}

const plainService = `{"Accounts":{"@odata.id":"/redfish/v1/AccountService/Accounts"},"MinPasswordLength":"12","MaxPasswordLength":19}`

func (b *accountBMC) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const service, sessions = "/redfish/v1/AccountService", "/redfish/v1/SessionService/Sessions"
	_, basic, _ := r.BasicAuth()
	switch account, ok := b.accounts[r.URL.Path]; {
	case r.URL.Path == pathRoot:
		_, _ = io.WriteString(w, `{"@odata.id":"/redfish/v1/","RedfishVersion":"1.1.0","Systems":{"@odata.id":"/redfish/v1/Systems"},"Links":{"Sessions":{"@odata.id":"/redfish/v1/SessionService/Sessions"}}}`)
	case r.Method == http.MethodPost && b.basic:
		w.WriteHeader(http.StatusNotFound)
	case r.Method == http.MethodPost:
		var p struct {
			Password string `json:"Password"`
		}
		_ = json.NewDecoder(r.Body).Decode(&p)
		if p.Password != b.password {
			w.WriteHeader(http.StatusUnauthorized)

			return
		}
		b.opened++
		w.Header().Set("X-Auth-Token", "t")
		w.Header().Set("Location", sessions+"/1")
		w.WriteHeader(http.StatusCreated)
	case r.Method == http.MethodDelete:
		b.ended++
	case b.basic && basic != b.password:
		w.WriteHeader(http.StatusUnauthorized)
	case b.first != "" && (!ok || r.Method != http.MethodPatch):
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, b.first)
	case ok && r.Method == http.MethodPatch:
		b.patches, b.matches = append(b.patches, r.URL.Path), append(b.matches, r.Header.Get("If-Match"))
		w.WriteHeader(http.StatusNoContent)
	case ok:
		_, _ = io.WriteString(w, account)
	case r.URL.Path == service && b.service != "":
		_, _ = io.WriteString(w, b.service)
	case r.URL.Path == service:
		_, _ = io.WriteString(w, plainService)
	case r.URL.Path == service+"/Accounts":
		var members []string
		for path := range b.accounts {
			members = append(members, `{"@odata.id":"`+path+`"}`)
		}
		_, _ = io.WriteString(w, `{"Members":[`+strings.Join(members, ",")+`]}`)
	case r.URL.Path == pathSystems:
		_, _ = io.WriteString(w, `{"Members":[]}`)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func TestAccount(t *testing.T) {
	const at = "/redfish/v1/AccountService/Accounts/"
	change := `{"error":{"@Message.ExtendedInfo":[{"MessageId":"Base.1.18.PasswordChangeRequired","MessageArgs":["` + at + `3"]}]}}`
	cases := map[string]struct {
		reason string
		bmc    accountBMC
		want   string // path; "" is none
		match  string
		kind   Kind
		least  int
		most   int
	}{
		"Slots": {
			reason: "Dell: slots without a user, and others'.", want: at + "3", match: `W/"1"`, least: 12, most: 19,
			bmc: accountBMC{accounts: map[string]string{
				at + "1": `{"UserName":"","Enabled":false}`, at + "2": `{"UserName":"root","Enabled":true}`, at + "3": `{"@odata.etag":"W/\"1\"","UserName":"u","Enabled":true}`,
			}},
		},
		"Disabled": {
			reason: "Of two of that name the one that is enabled.", want: at + "2", least: 12, most: 19,
			bmc: accountBMC{accounts: map[string]string{at + "1": `{"UserName":"u","Enabled":false}`, at + "2": `{"UserName":"u","Enabled":true}`}},
		},
		"OffAndLike": {
			reason: "One that isn't enabled isn't what we log in with.", want: at + "2", least: 12, most: 19,
			bmc: accountBMC{accounts: map[string]string{at + "1": `{"UserName":"u","Enabled":false}`, at + "2": `{"UserName":"U","Enabled":true}`}},
		},
		"Spelling": {
			reason: "The only one in another spelling.", want: at + "1", least: 12, most: 19,
			bmc: accountBMC{accounts: map[string]string{at + "1": `{"UserName":"U"}`, at + "2": `{"UserName":"v"}`}},
		},
		"Nobody": {
			reason: "Others' accounts are left alone.", kind: Unsupported,
			bmc: accountBMC{accounts: map[string]string{at + "1": `{"UserName":"root"}`}},
		},
		"Unsure": {
			reason: "So are two that may be ours.", kind: Unsupported,
			bmc: accountBMC{accounts: map[string]string{at + "1": `{"UserName":"U"}`, at + "2": `{"UserName":"U"}`}},
		},
		"NoService": {reason: "What has no accounts.", kind: Unsupported, bmc: accountBMC{service: `{"Accounts":null}`}},
		"Lengths": {
			reason: "Lengths that can't be are none.", want: at + "1",
			bmc: accountBMC{service: `{"Accounts":{"@odata.id":"/redfish/v1/AccountService/Accounts"},"MinPasswordLength":-1,"MaxPasswordLength":null}`, accounts: map[string]string{at + "1": `{"UserName":"u"}`}},
		},
		"First": {
			reason: "Where the password must be changed first, the BMC names the account, and shows none.", want: at + "3",
			bmc: accountBMC{first: change, accounts: map[string]string{at + "3": `{"UserName":"u"}`}},
		},
		"FirstUnnamed": {
			reason: "One that names none isn't guessed at.", kind: PasswordChangeRequired,
			bmc: accountBMC{first: strings.ReplaceAll(change, at+"3", "you"), accounts: map[string]string{at + "3": `{"UserName":"u"}`}},
		},
		"FirstElsewhere": {
			reason: "Nor is a link that leads elsewhere followed.", kind: PasswordChangeRequired,
			bmc: accountBMC{first: strings.ReplaceAll(change, at+"3", "/redfish/v1/Systems/1"), accounts: map[string]string{at + "3": `{"UserName":"u"}`}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.bmc.password = "p"
			c := connectTo(t, &tc.bmc)
			a, err := c.Account(t.Context())
			if KindOf(err) != tc.kind || a.MinLength != tc.least || a.MaxLength != tc.most {
				t.Fatalf("%s\nAccount(...): %d to %d characters, error %v; want %d to %d, kind %q", tc.reason, a.MinLength, a.MaxLength, err, tc.least, tc.most, tc.kind)
			}
			if err != nil {
				if len(tc.bmc.patches) > 0 {
					t.Errorf("%s\n%v was written", tc.reason, tc.bmc.patches)
				}

				return
			}
			if r, err := c.SetPassword(t.Context(), System{}, a, "next"); err != nil || r.Status != http.StatusNoContent {
				t.Errorf("%s\nSetPassword(...): %+v, %v", tc.reason, r, err)
			}
			if len(tc.bmc.patches) != 1 || tc.bmc.patches[0] != tc.want || tc.bmc.matches[0] != tc.match {
				t.Errorf("%s\nwritten: %v, If-Match %q; want %s, %q", tc.reason, tc.bmc.patches, tc.bmc.matches, tc.want, tc.match)
			}
		})
	}
}

// TestTryPassword: one log-in, which is ended again, and says nothing about the session in use.
func TestTryPassword(t *testing.T) {
	for _, basic := range []bool{false, true} {
		b := &accountBMC{password: "p", basic: basic}
		c := connectTo(t, b)
		c.cfg.Auth = AuthAuto
		before := b.opened - b.ended
		for password, want := range map[string]bool{"p": true, "wrong": false} {
			got, err := c.TryPassword(t.Context(), password)
			if err != nil || got != want {
				t.Errorf("basic %t, right %t: got %t, %v", basic, want, got, err)
			}
		}
		if b.opened-b.ended != before {
			t.Errorf("basic %t: %d sessions stay open, want %d", basic, b.opened-b.ended, before)
		}
		if _, err := c.get(t.Context(), pathSystems, nil); err != nil {
			t.Errorf("basic %t: the session in use is no good any more: %v", basic, err)
		}
	}
}

// TestTryPasswordUnhurried: a log-in that may be refused isn't broken off by the hurry of reads, nor do others have more time for it.
func TestTryPasswordUnhurried(t *testing.T) {
	c := connectTo(t, &accountBMC{basic: true, password: "p"})
	p := &Patience{Read: time.Nanosecond}
	for password, want := range map[string]bool{"p": true, "wrong": false} {
		if got, err := c.TryPassword(WithPatience(t.Context(), p), password); got != want || err != nil || p.Read != time.Nanosecond || p.Slowest != 0 {
			t.Errorf("TryPassword(...): %t, %v; patience %+v; want %t", got, err, p, want)
		}
	}
}
