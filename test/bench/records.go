package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// markerField is the custom field of markers where a provider config names none.
const markerField = "crossplane_claim"

// shownMost is how many of what differs an error names.
const shownMost = 5

// given are the addresses that resources say they have, by what their markers end in: namespace, name and UID.
func given(ctx context.Context, l *lab.Lab, names ...string) (map[string]string, error) {
	out := map[string]string{}
	for _, name := range names {
		us, err := named(ctx, l, name)
		if err != nil {
			return nil, err
		}
		for i := range us.Items {
			u := &us.Items[i]
			address, _, err := unstructured.NestedString(u.Object, "status", "atProvider", "address")
			if err != nil || address == "" || lab.ConditionOf(u, "Ready").Status != "True" || lab.ConditionOf(u, "Synced").Status != "True" {
				return nil, fmt.Errorf("address %q isn't Ready and Synced, or doesn't say which it is", u.GetName())
			}
			out[u.GetNamespace()+"/"+u.GetName()+"/"+string(u.GetUID())] = address
		}
	}
	return out, nil
}

// leaks says, by an error, what differs between the records of a NetBox and the addresses that resources have: none without a resource,
// none twice, no resource without one, and beside them so many that carry no marker, all of one prefix.
func leaks(records []netbox.Address, want map[string]string, bare int, in string) error {
	var errs []error
	hosts, seen, cluster := map[netip.Addr]int64{}, map[string]int64{}, ""
	within := netip.MustParsePrefix(in)
	unmarked := 0
	for _, r := range records {
		if other, twice := hosts[r.Address.Addr()]; twice {
			errs = append(errs, fmt.Errorf("records number %d and %d are both %s", other, r.ID, r.Address.Addr()))
		}
		hosts[r.Address.Addr()] = r.ID
		marker, _ := r.CustomFields[markerField].(string)
		of, key, _ := strings.Cut(marker, "/")
		address, known := want[key]
		switch {
		case marker == "" && within.Contains(r.Address.Addr()):
			unmarked++
		case seen[key] != 0:
			errs = append(errs, fmt.Errorf("records number %d and %d both carry %q", seen[key], r.ID, marker))
		case !known:
			errs = append(errs, fmt.Errorf("record number %d, %s, is no resource's: its marker is %q", r.ID, r.Address, marker))
		case address != r.Address.String():
			errs = append(errs, fmt.Errorf("record number %d is %s, and its resource %q says that it has %s", r.ID, r.Address, key, address))
		case of != cmp.Or(cluster, of):
			errs = append(errs, fmt.Errorf("record number %d is of cluster %q, others are of %q", r.ID, of, cluster))
		}
		if marker != "" {
			seen[key], cluster = r.ID, of
		}
	}
	for key := range want {
		if seen[key] == 0 {
			errs = append(errs, fmt.Errorf("resource %q has no record", key))
		}
	}
	if unmarked != bare {
		errs = append(errs, fmt.Errorf("%d records of %s carry no marker, want %d", unmarked, in, bare))
	}
	if more := len(errs) - shownMost; more > 0 {
		slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
		errs = append(errs[:shownMost:shownMost], fmt.Errorf("and %d more", more))
	}
	return errors.Join(errs...)
}

// refused holds that all of a name wait for the tenant that isn't there: else what is measured is another mix.
func refused(ctx context.Context, l *lab.Lab, name string, n int) error {
	us, err := named(ctx, l, name)
	if err != nil {
		return err
	}
	if len(us.Items) != n {
		return fmt.Errorf("%d addresses %q, want %d", len(us.Items), name, n)
	}
	for i := range us.Items {
		c := lab.ConditionOf(&us.Items[i], "Ready")
		if c.Status != "False" || c.Reason != "Invalid" && c.Reason != "NotFound" || !strings.Contains(c.Message, nobody) {
			return fmt.Errorf("address %q is to be refused for its tenant: Ready is %q, %q: %s", us.Items[i].GetName(), c.Status, c.Reason, c.Message)
		}
	}
	return nil
}
