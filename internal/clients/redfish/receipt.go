package redfish

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// A Receipt is what a BMC said of a write that it took. The zero value is one of
// a write that wasn't needed.
type Receipt struct {
	// Status of the answer: 202 is a promise, and what it leads to has to be
	// looked for; with others nothing is promised either, but it mostly is there.
	Status int
	// Task, Monitor and Job are where the BMC tells how far it is, "" where it
	// didn't say: a Task resource, a Task's monitor, a job of its own making.
	Task, Monitor, Job string
	// Via is by what a boot source was set; nil for other writes.
	Via *BootVia
	// Made is where what was made is, "" where the BMC didn't say, and of other writes.
	Made string
}

// maxURI bounds what of a BMC's links is kept in a journal or a status.
const maxURI = 256

// Follow is where to ask how a write is coming along, "" where there is no such
// place. A monitor is the last choice: XCC deletes one, and its Task with it,
// once it has told the end, and iLO's are wrong at times.
func (r Receipt) Follow() string {
	for _, uri := range []string{r.Task, r.Job, r.Monitor} {
		if uri != "" {
			return uri
		}
	}

	return ""
}

// ReceiptAt is the receipt of a write that is followed at uri.
func ReceiptAt(uri string) Receipt { return noted(Receipt{Status: http.StatusAccepted}, uri) }

// receiptOf reads what a write was answered. Where the promise is kept is in the
// Location, in the body, or nowhere (DSP0266, 12.2).
func receiptOf(a answer) Receipt {
	r := Receipt{Status: a.status}
	var b struct {
		Type    text `json:"@odata.type"`
		URI     text `json:"@odata.id"`
		Monitor text `json:"TaskMonitor"`
	}
	_ = decode(a.body, &b) // An empty body is no reason to complain.
	if strings.HasPrefix(string(b.Type), "#Task.") {
		r.Task, r.Monitor = localPath(string(b.URI)), localPath(string(b.Monitor))
	}

	return noted(r, a.header.Get("Location"))
}

// noted is a receipt with a link, by the look of it. What looks like neither a
// Task nor a job is a monitor, if the BMC promised something.
func noted(r Receipt, link string) Receipt {
	uri := localPath(link)
	parts := strings.Split(strings.ToLower(strings.Trim(uri, "/")), "/")
	last := len(parts) - 1
	switch {
	case uri == "":
	case last > 0 && parts[last-1] == "tasks":
		r.Task = uri
	case last > 0 && parts[last-1] == "jobs":
		r.Job = uri
	case r.Status == http.StatusAccepted:
		r.Monitor = uri
	}

	return r
}

// localPath is a link's path on the BMC that named it, "" where it has none that
// can be used. Some BMCs name themselves in it by an address of their own.
func localPath(link string) string {
	u, err := url.Parse(strings.TrimSpace(link))
	if err != nil || !strings.HasPrefix(u.Path, "/") {
		return ""
	}
	uri := u.RequestURI()
	if len(uri) > maxURI || checkPath(uri) != nil {
		return ""
	}

	return uri
}

// unsentError is an error from before a write was sent.
type unsentError struct{ error }

// Unwrap returns the error itself.
func (u unsentError) Unwrap() error { return u.error }

// IsUnsent says whether a write that failed with err never left for the BMC.
func IsUnsent(err error) bool {
	var u unsentError

	return errors.As(err, &u)
}

// unconnected says whether a request failed for want of a connection.
func unconnected(err error) bool {
	var op *net.OpError

	return errors.As(err, &op) && op.Op == "dial"
}

// unsent marks an error from before a write.
func unsent(err error) error {
	if err == nil {
		return nil
	}

	return unsentError{err}
}
