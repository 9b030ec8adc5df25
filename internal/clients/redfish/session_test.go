package redfish

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// loginBMC answers a login with one status, and everything else by whether the
// right kind of authentication came along.
type loginBMC struct {
	status   int    // of POST Sessions
	token    string // with it
	location string
	message  string // MessageId of its body
	body     string // in its place
	forgets  bool   // every session, once
	refuse   string // a path that answers 401 whatever comes
	root     string // in place of one that lists nothing

	tries, logouts int
}

func (b *loginBMC) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == pathRoot && b.root != "":
		_, _ = io.WriteString(w, b.root)
	case r.URL.Path == pathRoot:
		_, _ = io.WriteString(w, emptyRoot)
	case r.Method == http.MethodPost:
		b.tries++
		w.Header().Set("X-Auth-Token", b.token)
		w.Header().Set("Location", b.location)
		w.WriteHeader(b.status)
		if b.message != "" {
			b.body = `{"error":{"code":"` + b.message + `","message":"m"}}`
		}
		_, _ = io.WriteString(w, b.body)
	case r.Method == http.MethodDelete:
		b.logouts++
	case b.forgets:
		b.forgets = false
		w.WriteHeader(http.StatusUnauthorized)
	case r.URL.Path == b.refuse, r.Header.Get("X-Auth-Token") == "" && r.Header.Get("Authorization") == "":
		w.WriteHeader(http.StatusUnauthorized)
	default:
		_, _ = io.WriteString(w, `{"Id":"1","Members":[{"@odata.id":"/s"}]}`)
	}
}

func TestLogin(t *testing.T) {
	const full = "Base.1.18.SessionLimitExceeded"
	cases := map[string]struct {
		reason string
		bmc    loginBMC
		auth   Auth
		want   Kind // of Connect, then of reading
		tries  int
		out    int // logouts
	}{
		"Session":         {reason: "As it should be.", bmc: loginBMC{status: 201, token: "t", location: "/redfish/v1/SessionService/Sessions/1"}, tries: 1, out: 1},
		"FullLocation":    {reason: "Some vendors give a whole URL.", bmc: loginBMC{status: 201, token: "t", location: "https://elsewhere/redfish/v1/SessionService/Sessions/1"}, tries: 1, out: 1},
		"Unauthorized":    {reason: "A refused login isn't tried as basic authentication.", bmc: loginBMC{status: 401}, want: Unauthorized, tries: 1},
		"Forbidden":       {reason: "Nor one that is forbidden.", bmc: loginBMC{status: 403}, want: Unauthorized, tries: 1},
		"BadRequest":      {reason: "Nor one that is a bad request: some vendors mean the password.", bmc: loginBMC{status: 400}, want: Unauthorized, tries: 1},
		"BusyRefuses":     {reason: "A BMC that says that it's busy has refused no password.", bmc: loginBMC{status: 403, message: "Base.1.18.ServiceTemporarilyUnavailable"}, want: Forbidden, tries: 1},
		"Busy":            {reason: "Nor one of a BMC that is busy.", bmc: loginBMC{status: 503}, want: Unreachable, tries: 1},
		"Full":            {reason: "Where others hold all sessions, none is needed.", bmc: loginBMC{status: 503, message: full}, tries: 1},
		"FullSessionOnly": {reason: "Unless it must be one.", bmc: loginBMC{status: 503, message: full}, auth: AuthSession, want: SessionsFull, tries: 1},
		"FullRefused":     {reason: "Only when the BMC doesn't refuse: a 401 is a refusal, whatever stands beside it.", bmc: loginBMC{status: 401, message: full}, want: Unauthorized, tries: 1},
		"FullByLimit":     {reason: "The same in the standard's other word.", bmc: loginBMC{status: 400, message: "Base.1.8.CreateLimitReachedForResource"}, tries: 1},
		"FullIDRAC":       {reason: "iDRAC's word, second in a list.", bmc: loginBMC{status: 503, body: `{"error":{"@Message.ExtendedInfo":[{"MessageId":"Base.1.12.GeneralError"},{"MessageId":"IDRAC.2.8.RAC0218","Severity":5}]}}`}, tries: 1},
		"FullOneMessage":  {reason: "One message where a list belongs.", bmc: loginBMC{status: 403, body: `{"error":{"@Message.ExtendedInfo":{"MessageId":"Base.1.18.SessionLimitExceeded"}}}`}, tries: 1},
		"FullNoError":     {reason: "Messages without the error around them.", bmc: loginBMC{status: 503, body: `{"@Message.ExtendedInfo":[{"MessageId":"Base.1.18.SessionLimitExceeded"}]}`}, tries: 1},
		"TooMany":         {reason: "A BMC that limits requests is busy.", bmc: loginBMC{status: 429}, want: Unreachable, tries: 1},
		"NoLocation":      {reason: "A session whose link is in the body alone is ended, too.", bmc: loginBMC{status: 201, token: "t", body: `{"@odata.id":"/redfish/v1/SessionService/Sessions/1"}`}, tries: 1, out: 1},
		"NoLink":          {reason: "One without any link is still a session: forgotten, it is opened again, and no wrong password.", bmc: loginBMC{status: 201, token: "t", forgets: true}, tries: 2},
		"NoSessions":      {reason: "A BMC without sessions gets basic authentication.", bmc: loginBMC{status: 404}, tries: 1},
		"NotAllowed":      {reason: "The same.", bmc: loginBMC{status: 405}, tries: 1},
		"Unlisted":        {reason: "Of one that lists none, too, though a password file before it answers 401 to everything without a password.", bmc: loginBMC{status: 401, root: `{"Systems":{"@odata.id":"/s"}}`}},
		"UnlistedRefused": {reason: "Which is a refusal, and not tried in another way.", bmc: loginBMC{status: 201, token: "t", root: `{"Systems":{"@odata.id":"/s"}}`, refuse: "/s"}, want: Unauthorized},
		"UnlistedSession": {reason: "Unless it must be a session: the list may be short.", bmc: loginBMC{status: 201, token: "t", root: `{"Systems":{"@odata.id":"/s"}}`}, auth: AuthSession, tries: 1},
		"ListedService":   {reason: "The service alone will do.", bmc: loginBMC{status: 201, token: "t", root: `{"Systems":{"@odata.id":"/s"},"SessionService":{"@odata.id":"/redfish/v1/SessionService"}}`}, tries: 1},
		"NoToken":         {reason: "A session without a token is none.", bmc: loginBMC{status: 201}, tries: 1},
		"NoTokenOpened":   {reason: "One that was opened all the same isn't left behind.", bmc: loginBMC{status: 201, location: "/redfish/v1/SessionService/Sessions/1"}, tries: 1, out: 1},
		"SessionOnly":     {reason: "Session means session.", bmc: loginBMC{status: 404}, auth: AuthSession, want: NotFound, tries: 1},
		"Basic":           {reason: "Basic means basic.", bmc: loginBMC{status: 201, token: "t"}, auth: AuthBasic},
		"OneResource":     {reason: "A good login that one resource refuses isn't a wrong password, and leaves no session behind.", bmc: loginBMC{status: 201, token: "t", location: "/x", refuse: "/s"}, want: Forbidden, tries: 2, out: 2},
		"BasicIsRefused":  {reason: "With basic authentication nobody knows better.", bmc: loginBMC{refuse: "/s"}, auth: AuthBasic, want: Unauthorized},
		"HostileLocation": {reason: "A session link that leads elsewhere isn't followed at logout.", bmc: loginBMC{status: 201, token: "t", location: "@evil.example/x"}, tries: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewTLSServer(&tc.bmc)
			t.Cleanup(srv.Close)
			c, err := Connect(t.Context(), Config{Address: srv.URL, Username: "u", Password: "p", Auth: tc.auth, TLS: TLS{Verify: VerifyNone}, Guard: loopback()})
			if err == nil {
				_, err = c.System(t.Context(), Selector{})
				_ = c.Close(t.Context())
			}
			if KindOf(err) != tc.want || tc.bmc.tries != tc.tries || tc.bmc.logouts != tc.out {
				t.Errorf("\n%s\ngot %v, %d logins, %d logouts; want kind %q, %d, %d", tc.reason, err, tc.bmc.tries, tc.bmc.logouts, tc.want, tc.tries, tc.out)
			}
		})
	}
}

// TestRestartedBMC holds that a BMC which has forgotten its sessions and opens none yet has refused no password: when it does, the next
// look logs in.
func TestRestartedBMC(t *testing.T) {
	b := &loginBMC{status: http.StatusCreated, token: "t", location: "/redfish/v1/SessionService/Sessions/1"}
	srv := httptest.NewTLSServer(b)
	t.Cleanup(srv.Close)
	c, err := Connect(t.Context(), Config{Address: srv.URL, Username: "u", Password: "p", Auth: AuthSession, TLS: TLS{Verify: VerifyNone}, Guard: loopback()})
	if err != nil {
		t.Fatal(err)
	}
	b.forgets, b.status = true, http.StatusServiceUnavailable
	for range 2 {
		if _, err := c.System(t.Context(), Selector{}); KindOf(err) != Unreachable {
			t.Errorf("while it starts: got %v", err)
		}
	}
	b.status = http.StatusCreated
	if _, err := c.System(t.Context(), Selector{}); err != nil || b.tries != 4 {
		t.Errorf("once it's up: got %v after %d logins, want none after 4", err, b.tries)
	}
}

// TestGuardedRoot holds that a service root which asks for credentials has refused none.
func TestGuardedRoot(t *testing.T) {
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	t.Cleanup(srv.Close)
	_, err := Connect(t.Context(), Config{Address: srv.URL, Username: "u", Password: "p", Auth: AuthSession, TLS: TLS{Verify: VerifyNone}, Guard: loopback()})
	if KindOf(err) != Protocol || !IsGuardedRoot(err) || PinOf(err) != "" {
		t.Errorf("got %v of kind %q", err, KindOf(err))
	}
}

// TestGuardedRootByBasic: one that wants the password for its service root as well gets it where auth is Basic, and a wrong one is told as that.
func TestGuardedRootByBasic(t *testing.T) {
	m := machine("")
	for name, tc := range map[string]struct {
		password string
		bmc      http.Handler
		want     Kind
		asked    int
	}{
		"Right": {password: "p", bmc: m, asked: 2},
		"Wrong": {password: "q", bmc: m, want: Unauthorized, asked: 2},
		"NoBMC": {password: "p", bmc: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }), want: Protocol, asked: 2},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked++
				if _, password, _ := r.BasicAuth(); password != "p" {
					w.WriteHeader(http.StatusUnauthorized)

					return
				}
				tc.bmc.ServeHTTP(w, r)
			}))
			t.Cleanup(srv.Close)
			c, err := Connect(t.Context(), Config{Address: srv.URL, Username: "u", Password: tc.password, Auth: AuthBasic, TLS: TLS{Verify: VerifyNone}, Guard: loopback()})
			if KindOf(err) != tc.want || asked != tc.asked || err != nil && PinOf(err) == "" {
				t.Fatalf("got %v of kind %q after %d requests, want %q after %d", err, KindOf(err), asked, tc.want, tc.asked)
			}
			if err != nil {
				return
			}
			if _, err := c.System(t.Context(), Selector{}); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestPasswordChangeRequired: a BMC that lets its user do nothing but change the password isn't one that forbids something, and isn't asked
// to log in again.
func TestPasswordChangeRequired(t *testing.T) {
	const says = `{"@Message.ExtendedInfo":[{"MessageId":"Base.1.18.Success"},{"MessageId":"Base.1.18.PasswordChangeRequired"}]}`
	const error403 = `{"error":{"@Message.ExtendedInfo":[{"MessageId":"Base.1.18.PasswordChangeRequired"}]}}`
	cases := map[string]struct {
		reason    string
		login     int
		loginSays string
		says      string // beside the 403 of everything else
		location  string
		want      Kind
	}{
		"Message":   {reason: "The standard's message.", login: 201, says: error403, want: PasswordChangeRequired},
		"Login":     {reason: "It was said at the login, and the 403 is bare.", login: 201, loginSays: says, want: PasswordChangeRequired},
		"Location":  {reason: "The 403 says where to change it.", login: 201, location: "/redfish/v1/AccountService/Accounts/1", want: PasswordChangeRequired},
		"Elsewhere": {reason: "A Location that is no account's.", login: 201, location: "/redfish/v1/AccountService", want: Forbidden},
		"Forbidden": {reason: "The user may not do this.", login: 201, want: Forbidden},
		"Refused":   {reason: "It doesn't let him in at all.", login: 401, loginSays: error403, want: PasswordChangeRequired},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			logins := 0
			srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.URL.Path == pathRoot:
					_, _ = io.WriteString(w, emptyRoot)
				case r.Method == http.MethodPost:
					logins++
					w.Header().Set("X-Auth-Token", "t")
					w.WriteHeader(tc.login)
					_, _ = io.WriteString(w, tc.loginSays)
				default:
					w.Header().Set("Location", tc.location)
					w.WriteHeader(http.StatusForbidden)
					_, _ = io.WriteString(w, tc.says)
				}
			}))
			t.Cleanup(srv.Close)
			c, err := Connect(t.Context(), Config{Address: srv.URL, Username: "u", Password: "p", TLS: TLS{Verify: VerifyNone}, Guard: loopback()})
			for range 3 {
				if err == nil {
					_, err = c.SystemAt(t.Context(), "/redfish/v1/Systems/1")
				}
				if KindOf(err) != tc.want {
					t.Errorf("\n%s\ngot %v of kind %q, want %q", tc.reason, err, KindOf(err), tc.want)
				}
				if c == nil {
					break
				}
				err = nil
			}
			if logins != 1 {
				t.Errorf("\n%s\n%d logins, want one", tc.reason, logins)
			}
		})
	}
}
