package redfishhost

import (
	"fmt"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// TestStatusFits has all that can be large beside the largest inventory.
func TestStatusFits(t *testing.T) {
	long := strings.Repeat("x", 4096)
	host := &v1alpha1.RedfishHost{}
	s := &host.Status
	o := &s.AtProvider
	o.Inventory = &v1alpha1.HostInventory{}
	for i := range 150 {
		o.Inventory.Drives = append(o.Inventory.Drives, v1alpha1.DriveFacts{ID: fmt.Sprint(i, long[:90])})
	}
	boot := redfish.Boot{Target: "UefiHttp", URI: "http://x/" + long, DevicePath: long, Next: long}
	var drives mediaIn
	o.BIOS = &v1alpha1.BIOSObservation{Attributes: map[string]string{}}
	for i := range 256 {
		boot.Order = append(boot.Order, fmt.Sprint(i, long))
		drives.slots = append(drives.slots, redfish.Medium{ID: fmt.Sprint(i, long[:100]), Types: []string{long, long, long, long, long}, Inserted: true, Image: "http://x/" + long})
		o.BIOS.Attributes[fmt.Sprint(i, long[:200])] = long[:maxValue]
		o.BIOS.Pending = append(o.BIOS.Pending, v1alpha1.BIOSDifference{Name: long[:200], Wanted: long[:maxValue]})
	}
	fitBIOS(o.BIOS)
	o.Boot, o.VirtualMedia = bootObservation(boot), mediaObservation(drives, nil)
	for i := range 10 {
		s.SetConditions(condition(xpv2.ConditionType(fmt.Sprint("C", i)), corev1.ConditionFalse, v1alpha1.ReasonNoEffect, long[:700]))
	}
	fitStatus(host, nil, t0)
	if n := size(s); n > maxStatus || len(o.Inventory.Drives) == 0 || len(o.Boot.Order) == 0 || len(o.VirtualMedia) == 0 {
		t.Errorf("%d bytes of JSON, want %d at most; %d drives, %d options, %d virtual drives", n, maxStatus, len(o.Inventory.Drives), len(o.Boot.Order), len(o.VirtualMedia))
	}
}
