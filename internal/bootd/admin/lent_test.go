package admin

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/pool"
)

// TestLent: who asks about a machine that nobody knows is told what it's lent.
func TestLent(t *testing.T) {
	const stranger = boot.MAC("52:54:00:00:09:01")
	rack := boot.Name{Namespace: "lab", Name: "rack"}
	address := netip.MustParseAddr("10.77.0.201")
	lends := boot.Segment{Name: rack, Pools: []boot.Pool{{Start: address, End: address}}}
	cases := map[string]struct {
		reason  string
		segment boot.Segment
		do      func(b *pool.Book)
		want    string
	}{
		"NoRange": {"by default it hears nothing", boot.Segment{Name: rack}, nil, "and it gets silence"},
		"None":    {"it hasn't asked", lends, nil, "where its BootNetwork has discoveryRanges it's lent an address"},
		"Offered": {"an offer isn't taken", lends, func(b *pool.Book) { b.Offer(rack, address, stranger, start()) }, "it's lent an address, else"},
		"Lent":    {"it has one", lends, func(b *pool.Book) { b.Take(rack, address, stranger, start()) }, "BootNetwork lab/rack lends it 10.77.0.201 until 2"},
		"Another": {"another has it", lends, func(b *pool.Book) { b.Take(rack, address, "52:54:00:00:09:02", start()) }, "it's lent an address, else"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			book := pool.NewBook(pool.Most)
			if tc.do != nil {
				tc.do(book)
			}
			h := &handler{o: Options{Now: start, View: func() dhcp.View { return dhcp.View{Now: start(), Lending: dhcp.Lending{Book: book}} }}}
			_, _, err := h.find(boot.NewState([]boot.Segment{tc.segment}, nil, nil), Query{MAC: string(stranger)})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
}
