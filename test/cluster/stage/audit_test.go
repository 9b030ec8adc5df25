package stage

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestReadAudit(t *testing.T) {
	const log = `{"verb":"get","user":{"username":"u"},"objectRef":{"resource":"secrets","namespace":"n","name":"x"},"responseStatus":{"code":200}}
{"verb":"get","user":{"username":"u"},"objectRef":{"resource":"secrets","namespace":"n","name":"x"},"responseStatus":{"code":200}}
{"verb":"patch","user":{"username":"v"},"objectRef":{"resource":"bootsessions","subresource":"status","apiGroup":"g"},"responseStatus":{"code":403},"requestReceivedTimestamp":"2026-11-22T02:29:25.185623Z"}
{"verb":"create","user":{"username":"u"},"impersonatedUser":{"username":"v"},"objectRef":{"resource":"pods"},"responseStatus":{"code":200}}
{"verb":"get","user":{"username":"u"},"requestURI":"/healthz"}
{"verb":"get","user":{"username":"u"},"objec`
	type asked struct {
		User string
		Deed Deed
		At   time.Time
	}
	var got []asked
	take := func(e auditEvent) { got = append(got, asked{e.User.Username, e.deed(), e.At}) }
	if err := readAudit(strings.NewReader(log), take); err != nil {
		t.Fatal(err)
	}
	read := asked{User: "u", Deed: Deed{Verb: "get", Resource: "secrets", Namespace: "n", Name: "x"}}
	want := []asked{read, read, {
		User: "v", Deed: Deed{Verb: "patch", Group: "g", Resource: "bootsessions/status", Forbidden: true},
		At: time.Date(2026, 11, 22, 2, 29, 25, 185623000, time.UTC),
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what users did to objects by themselves: -want, +got:\n%s", diff)
	}
	if err := readAudit(strings.NewReader("no JSON\n"), take); err == nil {
		t.Error("want an error for a log that isn't one")
	}
}
