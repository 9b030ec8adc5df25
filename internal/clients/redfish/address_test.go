package redfish

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestEndpoint(t *testing.T) {
	cases := map[string]struct {
		reason  string
		address string
		want    string // "" is an error
	}{
		"Host":       {reason: "A name.", address: "BMC.example", want: "bmc.example:443"},
		"HostPort":   {reason: "A name with a port.", address: "bmc.example:8443", want: "bmc.example:8443"},
		"IPv4":       {reason: "An address.", address: "10.0.7.12", want: "10.0.7.12:443"},
		"IPv6":       {reason: "A bare IPv6 address has no port.", address: "2001:DB8::1", want: "[2001:db8::1]:443"},
		"Brackets":   {reason: "One in brackets.", address: "[2001:db8::1]", want: "[2001:db8::1]:443"},
		"IPv6Port":   {reason: "With a port.", address: "[2001:db8::1]:8443", want: "[2001:db8::1]:8443"},
		"IPv6Long":   {reason: "In its one spelling.", address: "[2001:DB8:0::1]:8443", want: "[2001:db8::1]:8443"},
		"URL":        {reason: "A URL.", address: "https://bmc.example/", want: "bmc.example:443"},
		"URLPort":    {reason: "With a port.", address: "HTTPS://bmc.example:8443", want: "bmc.example:8443"},
		"Spaces":     {reason: "As copied.", address: " 10.0.7.12 ", want: "10.0.7.12:443"},
		"HTTP":       {reason: "What goes in the open is another BMC.", address: "http://BMC.example", want: "http://bmc.example:80"},
		"HTTPv6":     {reason: "The same for an address.", address: "http://[2001:db8::1]/", want: "http://[2001:db8::1]:80"},
		"Root":       {reason: "As copied from a browser.", address: "https://bmc.example/redfish/v1/", want: "bmc.example:443"},
		"OfSystem":   {reason: "Which System is meant doesn't make it another BMC.", address: "https://10.0.7.12/redfish/v1/Systems/Node0", want: "10.0.7.12:443"},
		"Prefix":     {reason: "Several BMCs behind one proxy.", address: "https://Proxy.example/bmc-7/", want: "https://proxy.example:443/bmc-7"},
		"PathAlone":  {reason: "A path without a scheme is a typing error.", address: "bmc.example/redfish/v1"},
		"Page":       {reason: "Only Systems can be meant.", address: "https://bmc.example/redfish/v1/Chassis/1"},
		"Deeper":     {reason: "Nothing below a System.", address: "https://bmc.example/redfish/v1/Systems/1/Bios"},
		"Dots":       {reason: "A path that means another one.", address: "https://bmc.example/../x"},
		"Escape":     {reason: "The same.", address: "https://bmc.example/%2e%2e/x"},
		"OtherWays":  {reason: "Nothing else is spoken.", address: "ftp://bmc.example"},
		"User":       {reason: "No credentials in URLs.", address: "https://user:x@bmc.example"}, //nolint:gosec // No password.
		"UserHost":   {reason: "The same without a scheme.", address: "user@bmc.example"},
		"Query":      {reason: "Nor queries.", address: "bmc.example?x"},
		"Fragment":   {reason: "Nor fragments.", address: "bmc.example#x"},
		"Zone":       {reason: "Zones are for link-local addresses, which are never BMCs.", address: "[fe80::1%25eth0]"},
		"BareZone":   {reason: "The same.", address: "fe80::1%eth0"},
		"BadPort":    {reason: "No port.", address: "bmc.example:0"},
		"BadName":    {reason: "Not a name.", address: "bmc_example!"},
		"Empty":      {reason: "Nothing.", address: ""},
		"PortOnly":   {reason: "No host.", address: ":443"},
		"Unfinished": {reason: "Not a URL.", address: "[::1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Endpoint(tc.address)
			if got != tc.want || (err == nil) != (tc.want != "") {
				t.Errorf("\n%s\nEndpoint(%q): got %q, %v; want %q", tc.reason, tc.address, got, err, tc.want)
			}
			if err != nil && KindOf(err) != Invalid {
				t.Errorf("\n%s\nEndpoint(%q): got kind %q, want Invalid", tc.reason, tc.address, KindOf(err))
			}
		})
	}
}

func FuzzEndpoint(f *testing.F) {
	for _, s := range []string{"bmc.example", "[::1]:1", "https://x/", "::ffff:1.2.3.4", "a@b", "http://x/p/redfish/v1/Systems/1", "https://x:1/p"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := Endpoint(s)
		if err != nil {
			return
		}
		if again, err := Endpoint(got); err != nil || again != got {
			t.Errorf("Endpoint(%q) is %q, whose endpoint is %q, %v", s, got, again, err)
		}
	})
}

func TestParseAddress(t *testing.T) {
	for address, want := range map[string]Address{
		"bmc.example:8443": {Host: "bmc.example:8443"},
		"https://bmc.example/redfish/v1/Systems/Node0/":            {Host: "bmc.example:443", System: "Node0"},
		"https://bmc.example/redfish/v1/systems/System.Embedded.1": {Host: "bmc.example:443", System: "System.Embedded.1"},
		"https://bmc.example/a/b/redfish/v1/Systems/1":             {Host: "bmc.example:443", Prefix: "/a/b", System: "1"},
		"https://bmc.example/redfish":                              {Host: "bmc.example:443"},
		"http://bmc.example:8000/redfish/v1":                       {Host: "bmc.example:8000", Plain: true},
	} {
		got, err := ParseAddress(address)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("ParseAddress(%q): %v; -want, +got:\n%s", address, err, diff)
		}
	}
}

// TestPrefix: behind a proxy every link gets its prefix, once, the session's as well.
func TestPrefix(t *testing.T) {
	a := &asked{next: aBMC{
		"GET /bmc-7/redfish/v1/":                         {body: emptyRoot},
		"GET /bmc-7/redfish/v1/Systems":                  {body: `{"Members":[{"@odata.id":"/bmc-7/redfish/v1/Systems/1"}]}`},
		"GET /bmc-7/redfish/v1/Systems/1":                {body: `{"Id":"1","SerialNumber":"S","Actions":{"#ComputerSystem.Reset":{"target":"/r"}}}`},
		"POST /bmc-7/redfish/v1/SessionService/Sessions": {status: http.StatusNotFound},
	}}
	srv := httptest.NewTLSServer(a)
	t.Cleanup(srv.Close)
	c, err := Connect(t.Context(), Config{Address: srv.URL + "/bmc-7", Username: "u", Password: "p", TLS: TLS{Verify: VerifyNone}, Guard: loopback()})
	if err != nil {
		t.Fatal(err)
	}
	if s, err := c.System(t.Context(), Selector{}); err != nil || s.Serial != "S" {
		t.Errorf("System(...): %+v, %v", s.Identity, err)
	}
	for _, r := range a.seen {
		if !strings.Contains(r, " /bmc-7/redfish/v1/") {
			t.Errorf("asked for %q", r)
		}
	}
}

// TestPrefixIsAFence: no link leads from one BMC behind a proxy to its neighbour, to which a password would go with it.
func TestPrefixIsAFence(t *testing.T) {
	for name, way := range map[string]string{
		"Dots": "/../bmc-8", "Escaped": "/%2e%2e/bmc-8", "Half": "/.%2E/bmc-8", "Slash": "/x/..%2f..%2fbmc-8", "Backslash": "/..%5Cbmc-8", "Parameter": "/..;x/bmc-8",
		"Within": "/bmc-7/../bmc-8", "Here": "/./../bmc-8",
	} {
		t.Run(name, func(t *testing.T) {
			a := &asked{next: aBMC{
				"GET /bmc-7/redfish/v1/": {body: `{"Systems":{"@odata.id":"` + way + `/redfish/v1/Systems"},"Links":{"Sessions":{"@odata.id":"` + way + `/redfish/v1/SessionService/Sessions"}}}`},
			}}
			srv := httptest.NewTLSServer(a)
			t.Cleanup(srv.Close)
			c, err := Connect(t.Context(), Config{Address: srv.URL + "/bmc-7", Username: "u", Password: "p", TLS: TLS{Verify: VerifyNone}, Guard: loopback()})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.System(t.Context(), Selector{}); KindOf(err) != Protocol {
				t.Errorf("System(...): %v, want an error about the link", err)
			}
			if len(a.seen) != 1 {
				t.Errorf("asked for %q, want the service root alone", a.seen)
			}
		})
	}
}

// TestPlain: http is spoken where the config says that anybody may listen, and is shown.
func TestPlain(t *testing.T) {
	a := &asked{next: aBMC{"GET /redfish/v1/": {body: emptyRoot}}}
	srv := httptest.NewServer(a)
	t.Cleanup(srv.Close)
	for verify, want := range map[Verify]Kind{VerifyNone: "", VerifySystem: Invalid, VerifyPinned: Invalid, VerifyTrustOnFirstUse: Invalid, VerifyCABundle: Invalid} {
		a.seen = nil
		c, err := Connect(t.Context(), Config{
			Address: srv.URL, Username: "u", Password: "p", Auth: AuthBasic, Guard: loopback(),
			TLS: TLS{Verify: verify, Pins: []string{"ab"}},
		})
		if KindOf(err) != want || (want != "") != (len(a.seen) == 0) {
			t.Errorf("%s: got %v after %d requests, want kind %q", verify, err, len(a.seen), want)
		}
		if err != nil {
			continue
		}
		if diff := cmp.Diff(Connection{Verify: VerifyPlain, Auth: AuthBasic}, c.Connection()); diff != "" || c.Pin() != "" {
			t.Errorf("Connection(): pin %q; -want, +got:\n%s", c.Pin(), diff)
		}
	}
}

// TestStranger: what isn't Redfish gets no password, and is told by its status and media type, and by nothing else that it says.
func TestStranger(t *testing.T) {
	cases := map[string]struct {
		reason string
		status int
		media  string
		body   string
		kind   Kind
		shown  string
	}{
		"Page":      {reason: "A web server.", status: 200, media: "text/html; charset=utf-8", body: "<html>secret", kind: Protocol, shown: "text/html"},
		"JSON":      {reason: "Another API.", status: 200, media: "application/json", body: `{"secret":1}`, kind: Protocol, shown: "application/json"},
		"List":      {reason: "JSON that is no object.", status: 200, media: "application/json", body: `["secret"]`, kind: Protocol, shown: "application/json"},
		"Missing":   {reason: "A web server without such a page.", status: 404, media: "text/html", body: "secret", kind: NotFound, shown: "text/html"},
		"Hostile":   {reason: "A media type that is none.", status: 200, media: "secret<script>", body: "x", kind: Protocol},
		"Elsewhere": {reason: "A log-in page elsewhere.", status: 302, media: "text/html", kind: Protocol, shown: "text/html"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := &asked{next: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", tc.media)
				w.Header().Set("Location", "/login")
				w.WriteHeader(tc.status)
				_, _ = io.WriteString(w, tc.body)
			})}
			srv := httptest.NewTLSServer(a)
			t.Cleanup(srv.Close)
			_, err := Connect(t.Context(), Config{Address: srv.URL, Username: "u", Password: "p", TLS: TLS{Verify: VerifyNone}, Guard: loopback()})
			var e *Error
			if !asError(err, &e) || e.Kind != tc.kind || e.Status != tc.status || e.ContentType != tc.shown || strings.Contains(err.Error(), "secret") {
				t.Errorf("\n%s\nConnect(...): %+v; want kind %q, status %d, %q", tc.reason, err, tc.kind, tc.status, tc.shown)
			}
			root := func(asked string) bool { return strings.Trim(asked, "/ ") == "GET /redfish/v1" }
			if !root(a.seen[0]) || !root(a.seen[len(a.seen)-1]) || len(a.seen) > 2 || len(a.seen) > 1 && tc.status != http.StatusNotFound {
				t.Errorf("\n%s\nasked for %q, want the service root alone", tc.reason, a.seen)
			}
		})
	}
}

// TestNoTLS: a port where something else is spoken isn't a BMC that is away.
func TestNoTLS(t *testing.T) {
	srv := httptest.NewServer(aBMC{})
	t.Cleanup(srv.Close)
	_, err := Connect(t.Context(), Config{
		Address: strings.TrimPrefix(srv.URL, "http://"), TLS: TLS{Verify: VerifyNone}, Guard: loopback(), RequestTimeout: 5 * time.Second,
	})
	if KindOf(err) != Protocol {
		t.Errorf("Connect(...): %v of kind %q, want one that says that it isn't Redfish", err, KindOf(err))
	}
}

func TestOwnLinks(t *testing.T) {
	cases := map[string]struct {
		reason, address, link, want string
	}{
		"Path":       {"a path is one", "10.0.0.5", "/redfish/v1/Systems/1", "/redfish/v1/Systems/1"},
		"Full":       {"a BMC may name itself in full", "10.0.0.5", "https://10.0.0.5/redfish/v1/Systems/1", "/redfish/v1/Systems/1"},
		"Port":       {"with its port", "10.0.0.5", "https://10.0.0.5:443/redfish/v1/Systems?$skip=50", "/redfish/v1/Systems?$skip=50"},
		"Name":       {"in another case", "bmc.example", "HTTPS://BMC.Example/redfish/v1", "/redfish/v1"},
		"IPv6":       {"in another spelling", "[fd00::5]", "https://[fd00:0::5]/redfish/v1", "/redfish/v1"},
		"OtherPort":  {"another port is another service", "10.0.0.5", "https://10.0.0.5:8443/x", "https://10.0.0.5:8443/x"},
		"OtherHost":  {"somebody else", "10.0.0.5", "https://10.0.0.6/x", "https://10.0.0.6/x"},
		"User":       {"what looks like us, and isn't", "10.0.0.5", "https://10.0.0.5@evil.example/x", "https://10.0.0.5@evil.example/x"},
		"Plain":      {"what would be read by others isn't what was asked for", "10.0.0.5", "http://10.0.0.5:443/x", "http://10.0.0.5:443/x"},
		"SchemeLess": {"no scheme", "10.0.0.5", "//10.0.0.5/x", "//10.0.0.5/x"},
		"Bare":       {"nothing behind the name", "10.0.0.5", "https://10.0.0.5", "https://10.0.0.5"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a, err := ParseAddress(tc.address)
			if err != nil {
				t.Fatal(err)
			}
			if got := a.own(tc.link); got != tc.want {
				t.Errorf("%s: own(%q) = %q, want %q", tc.reason, tc.link, got, tc.want)
			}
		})
	}
}

// TestRootWithoutASlash: what has its service root by the other spelling alone is found.
func TestRootWithoutASlash(t *testing.T) {
	m := machine("")
	m["GET /redfish/v1"] = m["GET /redfish/v1/"]
	delete(m, "GET /redfish/v1/")
	if _, err := connectTo(t, m).System(t.Context(), Selector{}); err != nil {
		t.Error(err)
	}
}
