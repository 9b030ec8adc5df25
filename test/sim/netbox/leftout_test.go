package netbox_test

import (
	"cmp"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// An exception is what isn't played against the emulator, by a pattern of "VERSION NUMBER METHOD PATH ", and why. Of what wasn't one
// exchange with NetBox the method is RESULT.
type exception struct{ pattern, reason string }

// exceptions: each must be needed by every recording that it's about, and about some. The first that fits counts.
func exceptions() []exception {
	return []exception{
		{`POST /api/(ipam/(prefixes|ip-ranges|vrfs|roles)|tenancy/tenants|extras/tags|dcim/[a-z-]+)/ `, "people make these: they are seeded"},
		{`PATCH /api/(ipam/prefixes|dcim/interfaces)/|DELETE /api/ipam/(prefixes|vrfs)/`, "people change these: they are seeded"},
		{` /api/ipam/prefixes/\d+/available-prefixes/`, "the provider carves no prefixes"},
		{` (522|765|767|769) `, "the provider asks for English"},
		{`^(4.6.8|4.7.0-beta1) 804 `, "people have no numbers here"},
		{`^4.2.9 590 `, "the recorded NetBox logged one change less, nobody knows which"},
		{`^4.4.10 (600|601|608|609|669) `, "records of one host come in any order"},
		{`^4.4.10 (622|752) `, "a record that an unknown custom field was dropped from is found neither by isn't nor by null"},
		{` 736 `, "a number that is too big for Go's JSON"},
		{` 85[56]b `, "after what many clients did at once, which is not an exchange"},
		{` (91[0-6]|92[2-4]|943) `, "a database that takes no writes: as other troubles, in other words"},
		{` 734 `, "a list to a record, which is a mistake of nobody's but a test's"},
		// The endpoints that neither provider nor emulator knows.
		{` /api/users/`, "tokens and permissions are seeded: AddToken"},
		{` /api/extras/(webhooks|event-rules)/`, "webhooks are seeded: AddWebhook"},
		{` /api/extras/(custom-field-choice-sets|config-contexts)/`, "people make these, too: choice sets are seeded, contexts left out"},
		{` /api/dcim/(racks|device-types)/`, "the provider knows neither racks nor types of devices"},
		{` GET /api/ `, "the provider doesn't ask what endpoints there are"},
		// What isn't one exchange.
		{` 85[0-7] RESULT `, "statuses that many clients at once were given: TestConcurrency does the like"},
		{` 858 RESULT `, "a client that gave up while NetBox went on: FaultDelay"},
		{` 876 RESULT `, "how often a webhook came for a list of three, and the provider makes no lists: TestWebhooks has one for each record"},
		{` 877 RESULT `, "a webhook that failed and wasn't sent again: nothing is to be seen"},
		{` 938 RESULT `, "a request that had no answer: FaultHangAfter"},
		{` 945 RESULT `, "30 answers, some of which were 500: FaultServerErrorJSON"},
		{` 946 RESULT `, "a connection that ended: FaultDisconnect"},
		{` 950 RESULT `, "how long it took: Options.Latency and Hold are of who measures"},
	}
}

func leftOut(version string, tr transcript) string {
	line := version + " " + tr.number() + " " + cmp.Or(tr.Method, "RESULT") + " " + tr.Path + " "
	for _, e := range exceptions() {
		if regexp.MustCompile(e.pattern).MatchString(line) {
			return e.reason
		}
	}
	return ""
}

// unrecorded are the endpoints that the emulator has and no recording is of, and what it does there instead.
func unrecorded() map[string]string {
	return map[string]string{
		"virtualization/virtual-machines": "as dcim/devices, without out-of-band address: NetBox has one code for both",
		"virtualization/interfaces":       "as dcim/interfaces, of a virtual_machine in the place of the device",
	}
}

// TestRecordedEndpoints holds that the emulator answers at no endpoint by guess, but for those that are said to be guesses.
func TestRecordedEndpoints(t *testing.T) {
	recorded := map[string]bool{}
	for _, v := range versions() {
		for _, tr := range own(t, v) {
			recorded[tr.endpoint()] = recorded[tr.endpoint()] || !tr.bare()
		}
	}
	for _, e := range slices.Sorted(maps.Keys(unrecorded())) {
		t.Logf("%s isn't recorded: %s", e, unrecorded()[e])
		if recorded[e] {
			t.Errorf("%s is recorded, and said not to be", e)
		}
	}
	s := netbox.New(netbox.Options{})
	s.AddToken(netbox.Token{Name: "provider", Secret: secret})
	for _, e := range netbox.Endpoints() {
		r := httptest.NewRequest(http.MethodGet, "http://netbox.example/api/"+e+"/", http.NoBody)
		r.Header.Set("Authorization", "Token "+secret)
		rec := httptest.NewRecorder()
		s.ServeHTTP(rec, r)
		if rec.Code != http.StatusOK {
			t.Errorf("%s is said to be emulated, and answers %d", e, rec.Code)
		}
		if !recorded[e] && unrecorded()[e] == "" {
			t.Errorf("%s is emulated by no recording: record it, or say so in unrecorded", e)
		}
	}
}

// compared are the headers of answers that are compared. There are no others in the recordings, which kept those that say something of
// the answer itself: NetBox sends neither Retry-After nor WWW-Authenticate (all its refusals are 403), and Vary and the headers of its
// security are for browsers. Retry-After, which a proxy in front of it may send, is FaultBusy's.
func compared() []string {
	return []string{"Content-Type", "API-Version", "Allow", "Content-Language", "Location", "ETag"}
}

// TestRecordedHeaders holds that no header of a recording is passed over.
func TestRecordedHeaders(t *testing.T) {
	for _, v := range versions() {
		for _, tr := range own(t, v) {
			for k := range tr.AnswerHeaders {
				if !slices.ContainsFunc(compared(), func(c string) bool { return strings.EqualFold(c, k) }) {
					t.Errorf("%s %s has the header %s, which is compared with nothing", v, tr.Name, k)
				}
			}
		}
	}
}
