package netbox

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"sync"
	"time"
)

// changesPage is how far back a change is looked for.
const changesPage = 25

// A Change is an entry of NetBox's change log.
type Change struct {
	// User who made it, by the name that NetBox keeps even when the user is gone.
	User string
	// Time as NetBox writes it.
	Time string
	// Action is what was done: create, update or delete; "" where that isn't told.
	Action string
	// Before and After are the record's fields, as NetBox keeps them; Before is empty for a create.
	Before, After map[string]any
}

// Deleted says that the change took the record away: by itself, or with what it was assigned to. What it's called says more than what a newer NetBox
// may have put where the record was.
func (c Change) Deleted() bool {
	switch c.Action {
	case "delete":
		return true
	case "create", "update":
		return false
	}
	return len(c.Before) > 0 && len(c.After) == 0
}

// Changed says whether the change gave one of these fields of the record, as NetBox calls them, another value. A custom field is
// named custom_fields.NAME. That it was made with one isn't a change of it.
func (c Change) Changed(fields ...string) bool {
	if len(c.Before) == 0 {
		return false
	}
	for _, f := range fields {
		if !reflect.DeepEqual(logged(c.Before, f), logged(c.After, f)) {
			return true
		}
	}
	return false
}

// logged is a field's value in one half of a change.
func logged(half map[string]any, field string) any {
	const custom = "custom_fields."
	if len(field) > len(custom) && field[:len(custom)] == custom {
		fields, _ := half["custom_fields"].(map[string]any)
		return fields[field[len(custom):]]
	}
	return half[field]
}

// A changeLog remembers that the token may not read changes: that right is a nicety, and isn't asked for again and again.
type changeLog struct {
	now func() time.Time

	mu     sync.Mutex
	denied time.Time
}

func (l *changeLog) closed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now().Before(l.denied)
}

func (l *changeLog) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.denied = l.now().Add(fieldTTL)
}

// Changes returns the latest changes of an address, the newest first. It needs the right core.view_objectchange: without it there's
// KindForbidden, from memory for a while.
func (c *Client) Changes(ctx context.Context, number int64) ([]Change, error) {
	return c.changesOf(ctx, typeAddress, number)
}

// HolderChanges returns those of a device or virtual machine.
func (c *Client) HolderChanges(ctx context.Context, kind HolderKind, number int64) ([]Change, error) {
	object := "dcim.device"
	if kind == VirtualMachine {
		object = "virtualization.virtualmachine"
	}
	return c.changesOf(ctx, object, number)
}

func (c *Client) changesOf(ctx context.Context, object string, number int64) ([]Change, error) {
	k := call{
		op: "read the changes of " + object, subject: strconv.FormatInt(number, 10), method: http.MethodGet,
		path: "core/object-changes/", want: http.StatusOK,
		query: url.Values{
			"changed_object_type": {object}, "changed_object_id": {strconv.FormatInt(number, 10)},
			"ordering": {"-time"}, "limit": {strconv.Itoa(changesPage)},
		},
	}
	if c.changes.closed() {
		return nil, k.failed(KindForbidden, "the token lacks this right", nil)
	}
	defer c.weigh(&k)() // Each has the record twice.
	p, err := list(ctx, c, k, func(b []byte) (*Change, error) { return decodeChange(b, object, number) })
	if IsForbidden(err) {
		c.changes.close()
	}
	if err != nil {
		return nil, err
	}
	var out []Change
	for _, change := range p.Items {
		if change != nil {
			out = append(out, *change)
		}
	}
	return out, nil
}

// decodeChange is nil for a change of something else, since NetBox ignores filters that it doesn't know.
func decodeChange(b []byte, object string, number int64) (*Change, error) {
	var w struct {
		ID       id     `json:"id"`
		Time     text   `json:"time"`
		UserName text   `json:"user_name"`
		Action   choice `json:"action"`
		Type     text   `json:"changed_object_type"`
		Object   id     `json:"changed_object_id"`
		Before   values `json:"prechange_data"`
		After    values `json:"postchange_data"`
	}
	if err := json.Unmarshal(b, &w); err != nil || w.ID == 0 {
		return nil, errors.New("change has no id")
	}
	if string(w.Type) != object || int64(w.Object) != number {
		return nil, nil
	}
	return &Change{User: string(w.UserName), Time: string(w.Time), Action: string(w.Action), Before: w.Before, After: w.After}, nil
}
