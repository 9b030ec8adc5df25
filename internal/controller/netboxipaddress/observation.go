package netboxipaddress

import (
	"encoding/json"
	"maps"
	"net/netip"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

const (
	// mostFields are the custom fields that status shows, and longestValue is the most that one of them may hold: people write without
	// bounds.
	mostFields   = 64
	longestValue = 1024
)

// observation is what status says of a record, but for its comments, which are long, and its custom fields that are our own.
func observation(ip netbox.IPAddress, prefix *v1alpha1.PrefixObservation, ours ...string) v1alpha1.NetBoxIPAddressObservation {
	o := v1alpha1.NetBoxIPAddressObservation{
		ID: ip.ID, URL: ip.URL, Address: ip.Address.String(), Family: v1alpha1.IPv4, Prefix: prefix,
		Status: ip.Status, Role: ip.Role, DNSName: ip.DNSName, Description: ip.Description, Tenant: ip.Tenant, Tags: ip.Tags,
		CustomFields: shownFields(ip.CustomFields, ours), LastUpdated: ip.LastUpdated,
	}
	if ip.Address.Addr().Is6() {
		o.Family = v1alpha1.IPv6
	}
	if ip.VRF != nil {
		o.VRF = &v1alpha1.VRFObservation{ID: ip.VRF.ID, Name: ip.VRF.Name}
	}
	return o
}

// details are what Crossplane writes into the Secret that writeConnectionSecretToRef names: the address alone and with its mask, once it's Ready.
func details(mg *v1alpha1.NetBoxIPAddress) managed.ConnectionDetails {
	cidr := mg.Status.AtProvider.Address
	p, err := netip.ParsePrefix(cidr)
	if err != nil || mg.GetCondition(xpv2.TypeReady).Status != corev1.ConditionTrue {
		return nil
	}
	return managed.ConnectionDetails{"address": []byte(p.Addr().String()), "cidr": []byte(cidr)}
}

// shownFields are the custom fields that have a value, in the form that the spec has them in.
func shownFields(all map[string]any, ours []string) map[string]apiextv1.JSON {
	var out map[string]apiextv1.JSON
	for _, name := range slices.Sorted(maps.Keys(all)) {
		v := all[name]
		if u, ok := v.(netbox.Undecoded); ok && len(u) <= longestValue {
			v = u.Decoded()
		}
		if list, ok := v.([]any); ok {
			v = plainAll(list)
		}
		raw, err := json.Marshal(plain(v))
		if v == nil || v == "" || err != nil || len(raw) > longestValue || slices.Contains(ours, name) || len(out) == mostFields {
			continue
		}
		if out == nil {
			out = map[string]apiextv1.JSON{}
		}
		out[name] = apiextv1.JSON{Raw: raw}
	}
	return out
}

func plainAll(list []any) []any {
	out := make([]any, 0, len(list))
	for _, v := range list {
		out = append(out, plain(v))
	}
	return out
}

// vrfRef is what a selector means; nil is any table.
func vrfRef(s *v1alpha1.VRFSelector) netbox.VRFRef {
	if s == nil {
		return netbox.VRFRef{}
	}
	r := netbox.VRFRef{Global: s.Table == v1alpha1.VRFGlobal, Name: s.Name, RD: s.RD}
	if s.ID != nil {
		r = netbox.VRFRef{ID: *s.ID}
	}
	return r
}
