package redfishhost

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kerrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/gate"
)

// annotationRefused names, by fingerprints, the version of a credential that the
// host's BMC refused, and which of its two passwords, where it has two: several
// are apart by a space. The gatekeeper remembers that for as long as the
// process lives; a provider that is restarted, or crashes again and again, must
// not try the same password each time: BMCs lock accounts.
const annotationRefused = v1alpha1.Group + "/refused-credential"

// refusal is the fingerprint of a version of a credential at one BMC. It is of
// the Secret's UID and resourceVersion, never of what is in it.
func refusal(t gate.Target) string {
	const length = 8
	endpoint, err := redfish.Endpoint(t.Address)
	if err != nil || t.CredentialVersion == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(endpoint + " " + t.Credential()))

	return hex.EncodeToString(sum[:length])
}

// refused is the error that the BMC answered to this version of the credential
// before, or nil.
func refused(host *v1alpha1.RedfishHost, t gate.Target, now time.Time) error {
	r := refusal(t)
	if r == "" {
		return nil
	}
	for token := range strings.FieldsSeq(host.GetAnnotations()[annotationRefused]) {
		switch token {
		case r:
			return &redfish.Error{Kind: redfish.Unauthorized, Status: http.StatusUnauthorized}
		case r + firstMark:
			return &redfish.Error{Kind: redfish.PasswordChangeRequired, Status: http.StatusUnauthorized}
		}
		if d, ok := doubtOf(token, r); ok && d.holds(now) {
			return &redfish.Error{Kind: redfish.Unauthorized, Status: d.status, MessageID: d.message}
		}
	}

	return nil
}

// firstMark is after the fingerprint of a password that must be changed before a BMC
// lets anybody in.
const firstMark = "!"

// isFirstRefusal says whether err is that of such a BMC.
func isFirstRefusal(err error) bool {
	return redfish.KindOf(err) == redfish.PasswordChangeRequired && statusOf(err) == http.StatusUnauthorized
}

// doubt is a refusal that may mean something else, as it's noted after a fingerprint:
// so is how often there was one, and when it's tried again.
type doubt struct {
	until   time.Time
	times   int
	status  int
	message string
}

const doubtShape = "%d,%d,%d,%s"

func (d doubt) noted(r string) string {
	return r + "@" + fmt.Sprintf(doubtShape, d.until.Unix(), d.times, d.status, d.message)
}

// holds says whether it isn't tried again yet. A clock that was put back doesn't make
// it longer than it ever is.
func (d doubt) holds(now time.Time) bool {
	left := d.until.Sub(now)

	return left > 0 && left <= gate.Doubt(d.times)+time.Minute
}

// doubtOf reads what is noted of a fingerprint.
func doubtOf(token, r string) (doubt, bool) {
	said, ok := strings.CutPrefix(token, r+"@")
	if !ok {
		return doubt{}, false
	}
	var d doubt
	var until int64
	// One without a MessageId ends before it.
	if n, _ := fmt.Sscanf(said, doubtShape, &until, &d.times, &d.status, &d.message); n < 3 {
		return doubt{}, false
	}
	d.until = time.Unix(until, 0)

	return d, true
}

// rememberRefusal writes a refusal down, once. It returns err, or why it couldn't be
// written. One in other words than a 401 may be something else: it's tried again
// after a while, less and less often, by a provider that is started anew as well.
func (e *external) rememberRefusal(ctx context.Context, host *v1alpha1.RedfishHost, err error) error {
	r, now := refusal(e.target), e.connector.Now()
	first := isFirstRefusal(err)
	if !first && !redfish.IsUnauthorized(err) || r == "" || refused(host, e.target, now) != nil {
		return err
	}
	// Of other passwords that stays which is the same version's, or of one that no
	// version changes.
	var noted []string
	before := 0
	for token := range strings.FieldsSeq(host.GetAnnotations()[annotationRefused]) {
		of, _, _ := strings.Cut(token, "@")
		d, ours := doubtOf(token, r)
		switch {
		case ours:
			before = d.times
		case of != r && (of == e.own.first || of == e.own.lasting):
			noted = append(noted, token)
		}
	}
	switch {
	case first:
		noted = append(noted, r+firstMark)
	case redfish.IsPlainRefusal(err):
		noted = append(noted, r)
	default:
		noted = append(noted, newDoubt(err, before, now).noted(r))
	}
	if writeErr := e.annotate(ctx, host, map[string]string{annotationRefused: strings.Join(noted, " ")}); kerrors.IsConflict(writeErr) {
		return writeErr // The reconciler looks again: the gatekeeper remembers until then.
	} else if writeErr != nil {
		return errors.Wrap(writeErr, "cannot note that the BMC refused the credentials")
	}

	return err
}

func newDoubt(err error, before int, now time.Time) doubt {
	// A second later than the gatekeeper tries it again.
	d := doubt{until: now.Add(gate.Doubt(before) + time.Second), times: before, status: statusOf(err)}
	if e := (*redfish.Error)(nil); errors.As(err, &e) {
		d.message = e.MessageID
	}
	d.times++

	return d
}

// forgive forgets doubts about credentials that the BMC has let in: they were about
// something else.
func (e *external) forgive(ctx context.Context, host *v1alpha1.RedfishHost) error {
	noted := host.GetAnnotations()[annotationRefused]
	if !strings.Contains(noted, "@") || e.own.used || e.own.back {
		return nil
	}
	left := slices.DeleteFunc(strings.Fields(noted), func(token string) bool { return strings.Contains(token, "@") })
	err := e.annotate(ctx, host, map[string]string{annotationRefused: strings.Join(left, " ")})
	if err == nil || kerrors.IsConflict(err) {
		return err
	}

	return errors.Wrap(err, "cannot note that the BMC takes the credentials")
}
