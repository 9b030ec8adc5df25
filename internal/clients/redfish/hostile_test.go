package redfish

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stmcginnis/gofish/schemas"
)

// bmcOf answers GETs with fixed bodies and knows sessions by one path.
type bmcOf map[string]string

func (b bmcOf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, ok := b[strings.TrimRight(r.URL.Path, "/")]
	if !ok {
		w.WriteHeader(http.StatusNotFound)

		return
	}
	_, _ = io.WriteString(w, body)
}

const emptyRoot = `{"Systems":{"@odata.id":"/redfish/v1/Systems"},"Links":{"Sessions":{"@odata.id":"/redfish/v1/SessionService/Sessions"}}}`

func TestHostileAnswers(t *testing.T) {
	var stolen atomic.Int32
	thief := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { stolen.Add(1) }))
	t.Cleanup(thief.Close)
	host := strings.TrimPrefix(thief.URL, "https://")
	cases := map[string]struct {
		reason string
		bmc    bmcOf
		want   Kind
	}{
		"TooLong":       {reason: "An answer without end.", bmc: bmcOf{"/redfish/v1": emptyRoot, "/redfish/v1/Systems": strings.Repeat(" ", maxAnswer+1)}, want: Protocol},
		"OtherHost":     {reason: "A link to somebody else.", bmc: bmcOf{"/redfish/v1": `{"Systems":{"@odata.id":"` + thief.URL + `/x"}}`}, want: Protocol},
		"UserInfo":      {reason: "A link that would turn our BMC into a user name.", bmc: bmcOf{"/redfish/v1": `{"Systems":{"@odata.id":"@` + host + `/x"}}`}, want: Protocol},
		"SchemeLess":    {reason: "A link without scheme.", bmc: bmcOf{"/redfish/v1": `{"Systems":{"@odata.id":"//` + host + `/x"}}`}, want: Protocol},
		"Suffix":        {reason: "A link that would lengthen our BMC's name.", bmc: bmcOf{"/redfish/v1": `{"Systems":{"@odata.id":".evil.example/x"}}`}, want: Protocol},
		"Pages":         {reason: "Pages without end: so many and no more.", bmc: bmcOf{"/redfish/v1": emptyRoot, "/redfish/v1/Systems": `{"Members":[],"Members@odata.nextLink":"/redfish/v1/Systems"}`}, want: NoSystem},
		"MembersNull":   {reason: "BlueField says null.", bmc: bmcOf{"/redfish/v1": emptyRoot, "/redfish/v1/Systems": `{"Members":null}`}, want: NoSystem},
		"DanglingLinks": {reason: "Members that aren't there.", bmc: bmcOf{"/redfish/v1": emptyRoot, "/redfish/v1/Systems": `{"Members":[{"@odata.id":"/gone"}]}`}, want: NoSystem},
		"NotJSON":       {reason: "A page.", bmc: bmcOf{"/redfish/v1": emptyRoot, "/redfish/v1/Systems": "<html>"}, want: Protocol},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := connectTo(t, tc.bmc).System(t.Context(), Selector{})
			if got := KindOf(err); got != tc.want {
				t.Errorf("\n%s\nSystem(...): got %v, want kind %q", tc.reason, err, tc.want)
			}
			if stolen.Load() != 0 {
				t.Errorf("\n%s\na request, with its credentials, reached another host", tc.reason)
			}
		})
	}
}

func TestFollowsPages(t *testing.T) {
	bmc := bmcOf{
		"/redfish/v1":         emptyRoot,
		"/redfish/v1/Systems": `{"Members":[{"@odata.id":"/a"}],"Members@odata.nextLink":"/redfish/v1/Systems2"}`,
		// The same again, spelt otherwise, and a new one.
		"/redfish/v1/Systems2": `{"Members":[{"@odata.id":"/A/"},{"@odata.id":"/b"}]}`,
		"/a":                   `{"Id":"a"}`, "/b": `{"Id":"b","Actions":{"#ComputerSystem.Reset":{"target":"/r"}}}`,
	}
	s, err := connectTo(t, bmc).System(t.Context(), Selector{})
	if err != nil || s.ID != "b" {
		t.Errorf("System(...): got %q, %v; want the one that can be reset, on the second page", s.ID, err)
	}
}

func TestDeadline(t *testing.T) {
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Drips: each byte in time, all of them never.
		for {
			if _, err := io.WriteString(w, " "); err != nil {
				return
			}
			w.(http.Flusher).Flush()
			select {
			case <-r.Context().Done():
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}))
	t.Cleanup(srv.Close)
	_, err := Connect(t.Context(), Config{Address: srv.URL, TLS: TLS{Verify: VerifyNone}, Guard: loopback(), RequestTimeout: 50 * time.Millisecond})
	if err == nil {
		t.Fatal("Connect(...): want an error")
	}
}

func TestClassify(t *testing.T) {
	answer := func(status int, id string) error {
		return &schemas.Error{HTTPReturnedStatusCode: status, Code: id, Message: "secret page"}
	}
	cases := map[string]struct {
		reason string
		err    error
		kind   Kind
		id     string
	}{
		"Nil":          {reason: "No error."},
		"Unauthorized": {reason: "401.", err: answer(401, ""), kind: Unauthorized},
		"Forbidden":    {reason: "403 with the BMC's word.", err: answer(403, "Base.1.8.InsufficientPrivilege"), kind: Forbidden, id: "Base.1.8.InsufficientPrivilege"},
		"NewPassword":  {reason: "403 until the password is changed.", err: answer(403, "Base.1.8.PasswordChangeRequired"), kind: PasswordChangeRequired, id: "Base.1.8.PasswordChangeRequired"},
		"Supermicro":   {reason: "A version with underscores.", err: answer(400, "SMC.v1_0_0.OemBiosSettingFileAlreadyExists"), kind: Refused, id: "SMC.v1_0_0.OemBiosSettingFileAlreadyExists"},
		"BadWord":      {reason: "Only a well-formed MessageId is passed on.", err: answer(400, "Base.1.8.X <script>"), kind: Refused},
		"Gone":         {reason: "410.", err: answer(410, ""), kind: NotFound},
		"Busy":         {reason: "503.", err: answer(503, ""), kind: Unreachable},
		"Internal":     {reason: "500.", err: answer(500, ""), kind: Refused},
		"TooMany":      {reason: "429.", err: answer(429, ""), kind: Unreachable},
		"Redirect":     {reason: "302.", err: answer(302, ""), kind: Protocol},
		"Ours":         {reason: "Errors of ours stay.", err: failf(NotAllowed, "no"), kind: NotAllowed},
		"Decoder":      {reason: "gofish couldn't read it.", err: errors.New("json: cannot unmarshal"), kind: Protocol},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := classify("cannot do it", tc.err)
			var e *Error
			errors.As(err, &e)
			if KindOf(err) != tc.kind || (e != nil && e.MessageID != tc.id) {
				t.Errorf("\n%s\nclassify(...): got %v, want kind %q, message %q", tc.reason, err, tc.kind, tc.id)
			}
			if err != nil && (strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "script")) {
				t.Errorf("\n%s\nwhat the server wrote is passed on: %v", tc.reason, err)
			}
		})
	}
}

// TestCut: a connection that ends without an answer is told from one that nobody takes.
func TestCut(t *testing.T) {
	srv := httptest.NewServer(machine(""))
	t.Cleanup(srv.Close)
	c, err := Connect(t.Context(), Config{Address: srv.URL, TLS: TLS{Verify: VerifyNone}, Guard: loopback()})
	if err != nil {
		t.Fatal(err)
	}
	how := (*net.TCPConn).Close
	srv.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if tcp, ok := conn.(*net.TCPConn); err == nil && ok {
			_ = how(tcp)
		}
	})
	for name, by := range map[string]func(*net.TCPConn) error{
		"Closed": (*net.TCPConn).Close,
		"Reset":  func(c *net.TCPConn) error { return errors.Join(c.SetLinger(0), c.Close()) },
	} {
		how = by
		if _, err := c.System(t.Context(), Selector{}); !IsCut(err) {
			t.Errorf("%s: %v isn't one that was cut", name, err)
		}
	}
	srv.Close()
	if _, err := c.System(t.Context(), Selector{}); IsCut(err) || !IsUnreachable(err) {
		t.Errorf("with nobody there: %v", err)
	}
}
