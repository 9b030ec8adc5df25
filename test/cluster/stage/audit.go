package stage

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// AuditDelay is how long the API server may keep to itself what happened.
const AuditDelay = 35 * time.Second

// Deeds that the audit log has of a user, each once.
func (s *Stage) Deeds(user string) ([]Deed, error) {
	seen := map[Deed]bool{}
	err := s.audited(func(e auditEvent) {
		if e.User.Username == user {
			seen[e.deed()] = true
		}
	})
	out := make([]Deed, 0, len(seen))
	for d := range seen {
		out = append(out, d)
	}
	return out, err
}

// A Denial is a deed that was forbidden, and when it was asked for.
type Denial struct {
	Deed

	At time.Time
}

// Denials that the audit log has of users that are meant, by user. One to whom nothing was denied has an empty list.
func (s *Stage) Denials(meant func(user string) bool) (map[string][]Denial, error) {
	out := map[string][]Denial{}
	err := s.audited(func(e auditEvent) {
		user := e.User.Username
		if !meant(user) {
			return
		}
		all := out[user]
		if d := e.deed(); d.Forbidden {
			all = append(all, Denial{d, e.At})
		}
		out[user] = all
	})
	return out, err
}

// audited hands over what the audit log has about objects.
func (s *Stage) audited(take func(auditEvent)) error {
	files, err := filepath.Glob(filepath.Join(s.LogDir(), "audit*.log")) // Long ones are put aside.
	if err != nil {
		return fmt.Errorf("cannot list audit logs: %w", err)
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return fmt.Errorf("cannot read the audit log: %w", err)
		}
		if err := errors.Join(readAudit(f, take), f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// An auditEvent is a line of the log, of audit.k8s.io/v1.
type auditEvent struct {
	Verb string    `json:"verb"`
	At   time.Time `json:"requestReceivedTimestamp"`
	User struct {
		Username string `json:"username"`
	} `json:"user"`
	ImpersonatedUser *struct{}    `json:"impersonatedUser"`
	ObjectRef        *auditObject `json:"objectRef"`
	ResponseStatus   struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
}

// An auditObject is what was asked about.
type auditObject struct {
	Resource    string `json:"resource"`
	Subresource string `json:"subresource"`
	Namespace   string `json:"namespace"`
	Name        string `json:"name"`
	APIGroup    string `json:"apiGroup"`
}

// forbidden is the status that a denial has, by RBAC or by an admission policy.
const forbidden = 403

func (e auditEvent) deed() Deed {
	o := e.ObjectRef
	d := Deed{Verb: e.Verb, Group: o.APIGroup, Resource: o.Resource, Namespace: o.Namespace, Name: o.Name, Forbidden: e.ResponseStatus.Code == forbidden}
	if o.Subresource != "" {
		d.Resource += "/" + o.Subresource
	}
	return d
}

// readAudit hands over what users asked of objects in their own name. A last line that isn't whole yet is left out.
func readAudit(in io.Reader, take func(auditEvent)) error {
	r := bufio.NewReader(in)
	for {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("cannot read the audit log: %w", err)
		}
		var e auditEvent
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("cannot understand the audit log's line %.100q: %w", line, err)
		}
		if e.ObjectRef != nil && e.ImpersonatedUser == nil {
			take(e)
		}
	}
}
