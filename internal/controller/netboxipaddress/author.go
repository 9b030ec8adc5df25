package netboxipaddress

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// namesFor is how long it may take to find out who it was.
const namesFor = 5 * time.Second

// Historian tells who changed what.
type Historian interface {
	Changes(ctx context.Context, number int64) ([]netbox.Change, error)
	HolderChanges(ctx context.Context, kind netbox.HolderKind, number int64) ([]netbox.Change, error)
}

// author finds out who changed one of some fields last, and when: "" where NetBox doesn't tell.
func (e *external) author(ctx context.Context, drifted []v1alpha1.FieldDrift, s step) string {
	who, _ := e.authorOf(ctx, drifted, s)
	return who
}

// authorOf also says whether NetBox answered: whoever may not read its log, or isn't named there, won't be at the next look.
func (e *external) authorOf(ctx context.Context, drifted []v1alpha1.FieldDrift, s step) (who string, answered bool) {
	ctx, cancel := context.WithTimeout(ctx, e.connector.Names)
	defer cancel()
	var fields []string
	for _, d := range drifted {
		switch {
		case d.Field == "dnsName":
			fields = append(fields, "dns_name")
		case d.Field == wordAssignTo:
			fields = append(fields, "assigned_object_id", "assigned_object_type")
		case strings.HasPrefix(d.Field, wordCustomFields+"."):
			fields = append(fields, "custom_fields."+strings.TrimPrefix(d.Field, wordCustomFields+"."))
		default:
			fields = append(fields, d.Field)
		}
	}
	changes, err := e.netbox.Changes(ctx, e.record.ID)
	if who := lastOf(changes, fields...); err != nil || who != "" || s.seat == "" {
		return who, err == nil || netbox.IsForbidden(err)
	}
	changes, err = e.netbox.HolderChanges(ctx, s.kind, s.holder) // Without the right to, the name is left out.
	return lastOf(changes, string(s.seat)), err == nil || netbox.IsForbidden(err)
}

// lastOf names the user of the newest of some changes that changed one of some fields.
func lastOf(changes []netbox.Change, fields ...string) string {
	i := slices.IndexFunc(changes, func(c netbox.Change) bool { return c.User != "" && c.Changed(fields...) })
	if i < 0 {
		return ""
	}
	return fmt.Sprintf("%q at %s", changes[i].User, changes[i].Time)
}
