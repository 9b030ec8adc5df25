package redfish

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// expander is a BMC that puts members into collections, in its own way.
type expander struct {
	aBMC

	drops  string
	status int
}

func (e expander) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.RawQuery != "$expand=." {
		e.aBMC.ServeHTTP(w, r)

		return
	}
	if e.status != 0 {
		w.WriteHeader(e.status)

		return
	}
	var list struct {
		Members []map[string]any `json:"Members"`
	}
	_ = json.Unmarshal([]byte(e.aBMC["GET "+r.URL.Path].body), &list)
	for _, m := range list.Members {
		_ = json.Unmarshal([]byte(e.aBMC[fmt.Sprint("GET ", m["@odata.id"])].body), &m)
		delete(m, e.drops)
	}
	if err := json.NewEncoder(w).Encode(list); err != nil {
		w.WriteHeader(http.StatusInternalServerError)
	}
}

// TestExpand: members that come with their collection are those that are read one by one, whatever a BMC makes of it.
func TestExpand(t *testing.T) {
	const offer = `{"Systems":{"@odata.id":"/redfish/v1/Systems"},"ProtocolFeaturesSupported":{"ExpandQuery":{"NoLinks":true}}}`
	rack := func(root string) aBMC {
		b := machine("").with("/redfish/v1/", root, http.StatusOK)
		var dimms []string
		for i := range 16 {
			uri := fmt.Sprintf("/dimms/%d", i)
			dimms = append(dimms, `{"@odata.id":"`+uri+`"}`)
			b.with(uri, fmt.Sprintf(`{"@odata.id":%q,"Id":"%d","CapacityMiB":1024,"Manufacturer":"M"}`, uri, i), http.StatusOK)
		}

		return b.with("/dimms", `{"Members":[`+strings.Join(dimms, ",")+`]}`, http.StatusOK)
	}
	plain := connectTo(t, rack(emptyRoot))
	want, err := plain.Inventory(t.Context(), theOnly(t, plain))
	if err != nil || want.Memory.Bytes != 16<<30 {
		t.Fatalf("without: %+v, %v", want.Memory, err)
	}
	cases := map[string]struct {
		reason string
		bmc    expander
		fewer  bool
	}{
		"Whole":   {reason: "Two requests instead of seventeen.", bmc: expander{aBMC: rack(offer)}, fewer: true},
		"Drops":   {reason: "A BMC that drops a property is asked for each.", bmc: expander{aBMC: rack(offer), drops: "CapacityMiB"}},
		"DropsID": {reason: "The same of one that drops what everything has.", bmc: expander{aBMC: rack(offer), drops: "Id"}},
		"Refused": {reason: "It says that it can, and can't.", bmc: expander{aBMC: rack(offer), status: http.StatusNotImplemented}},
		"Missing": {reason: "The same in other words.", bmc: expander{aBMC: rack(offer), status: http.StatusNotFound}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := connectTo(t, tc.bmc)
			got, err := c.Inventory(t.Context(), theOnly(t, c))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Inventory{}, "Requests")); diff != "" {
				t.Errorf("\n%s\n-one by one, +expanded:\n%s", tc.reason, diff)
			}
			if fewer := got.Requests < want.Requests-10; fewer != tc.fewer {
				t.Errorf("\n%s\n%d requests, and %d one by one", tc.reason, got.Requests, want.Requests)
			}
		})
	}
}
