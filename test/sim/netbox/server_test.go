package netbox_test

import (
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	client "github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

const (
	field  = "crossplane_claim"
	secret = "0123456789abcdef0123456789abcdef01234567"
)

// start gives a running NetBox with one prefix, one token, the marker field, and a client of it.
func start(t *testing.T, version, network string) (*netbox.Server, *client.Client, client.Parent) {
	t.Helper()
	s := netbox.New(netbox.Options{Version: version})
	s.AddToken(netbox.Token{Name: "provider", Secret: secret})
	s.AddMarkerField(field)
	p := client.Parent{Kind: client.ParentPrefix, ID: s.AddCIDR(network), Prefix: netip.MustParsePrefix(network)}
	if err := s.Start(""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, newClient(t, s.URL(), patient), p
}

func newClient(t *testing.T, url string, timeout time.Duration) *client.Client {
	t.Helper()
	c, err := client.New(client.Config{URL: url, Token: secret, MarkerField: field, RequestsPerSecond: 10000, Timeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// TestClient takes the real client through a record's life on each version.
func TestClient(t *testing.T) {
	for _, v := range versions() {
		t.Run(v, func(t *testing.T) {
			s, c, p := start(t, v, "10.77.0.0/24")
			s.AddTenant(netbox.Named{Name: "Team A", Slug: "team-a"})
			s.AddTag(netbox.Named{Name: "Kubernetes", Slug: "kubernetes"})
			ctx := t.Context()
			pre, err := c.Preflight(ctx)
			if err != nil || pre.Field != client.FieldReady || pre.Version.String() != v {
				t.Fatalf("preflight: %+v, %v", pre, err)
			}
			found, err := c.FindPrefix(ctx, "10.77.0.0/24", client.VRFRef{})
			if err != nil || found.ID != p.ID {
				t.Fatalf("prefix: %+v, %v", found, err)
			}
			ip, err := c.Allocate(ctx, found, client.Request{Marker: "c/ns/n/u", Tenant: "team-a", Tags: []string{"kubernetes"}, DNSName: "A.example"})
			if err != nil || ip.Address.String() != "10.77.0.1/24" || ip.Tenant != "team-a" || ip.DNSName != "a.example" {
				t.Fatalf("allocate: %+v, %v", ip, err)
			}
			same, err := c.FindByMarker(ctx, "c/ns/n/u")
			if err != nil || same.ID != ip.ID {
				t.Fatalf("by marker: %+v, %v", same, err)
			}
			text := "new"
			got, _ := c.Get(ctx, ip.ID)
			if ip, err = c.Patch(ctx, got, client.Patch{Description: &text}); err != nil || ip.Description != "new" {
				t.Fatalf("patch: %+v, %v", ip, err)
			}
			_, err = c.Patch(ctx, got, client.Patch{Description: &text})
			if !client.IsConflict(err) {
				t.Errorf("a stale patch is refused, by NetBox from 4.6 on, by a look before: %v", err)
			}
			if _, err := c.Allocate(ctx, found, client.Request{Marker: "c/ns/n/u"}); !client.IsMarkerTaken(err) {
				t.Errorf("a second use of the marker: %v", err)
			}
			if err := c.Delete(ctx, ip, "other"); !client.IsConflict(err) {
				t.Errorf("delete another's: %v", err)
			}
			if err := c.Delete(ctx, ip, "c/ns/n/u"); err != nil || len(s.Addresses()) != 0 {
				t.Errorf("delete: %v, %v", err, s.Addresses())
			}
			if _, err := c.FindByMarker(ctx, "c/ns/n/u"); !client.IsNotFound(err) {
				t.Errorf("after delete: %v", err)
			}
		})
	}
}

func TestCreateMarkerFieldByClient(t *testing.T) {
	for _, v := range versions() {
		s, c, _ := start(t, v, "10.77.0.0/24")
		s.RemoveCustomField(field)
		if pre, err := c.Preflight(t.Context()); err != nil || pre.Field != client.FieldMissing {
			t.Errorf("%s: before: %+v, %v", v, pre, err)
		}
		if err := c.CreateMarkerField(t.Context()); err != nil {
			t.Errorf("%s: %v", v, err)
		}
		if pre, err := c.Preflight(t.Context()); err != nil || pre.Field != client.FieldReady {
			t.Errorf("%s: after: %+v, %v", v, pre, err)
		}
		if diff := cmp.Diff([]string{field}, s.CustomFields()); diff != "" {
			t.Errorf("%s: %s", v, diff)
		}
	}
}

// TestDroppedMarker: without the field, 4.4.10 says 201 and forgets the marker; the client takes the
// record back, so that retries don't eat the prefix.
func TestDroppedMarker(t *testing.T) {
	for _, v := range versions() {
		s, c, p := start(t, v, "10.77.0.0/24")
		s.RemoveCustomField(field)
		for range 3 {
			if _, err := c.Allocate(t.Context(), p, client.Request{Marker: "c/ns/n/u"}); err == nil {
				t.Errorf("%s: allocated without a marker", v)
			}
		}
		if got := s.Addresses(); len(got) != 0 {
			t.Errorf("%s: left behind %v", v, got)
		}
		s.AddMarkerField(field)
		s.Inject(netbox.Fault{Kind: netbox.FaultDropFields, Times: 1})
		if _, err := c.Allocate(t.Context(), p, client.Request{Marker: "c/ns/n/u"}); !client.IsMarkerField(err) || len(s.Addresses()) != 0 {
			t.Errorf("%s: dropped by fault: %v, %v", v, err, s.Addresses())
		}
	}
}

// TestConcurrency is transcripts 850, 851 and 853.
func TestConcurrency(t *testing.T) {
	s, c, p := start(t, "4.6.8", "10.77.0.0/27") // 30 addresses
	kinds := func(marker func(int) string) map[client.Kind]int {
		var mu sync.Mutex
		var wg sync.WaitGroup
		out := map[client.Kind]int{}
		for i := range 40 {
			wg.Go(func() {
				_, err := c.Allocate(t.Context(), p, client.Request{Marker: marker(i)})
				mu.Lock()
				defer mu.Unlock()
				out[client.KindOf(err)]++
			})
		}
		wg.Wait()
		return out
	}
	if diff := cmp.Diff(map[client.Kind]int{"": 1, client.KindMarkerTaken: 39}, kinds(func(int) string { return "one" })); diff != "" {
		t.Errorf("one marker, 40 times: %s", diff)
	}
	got := kinds(func(i int) string { return fmt.Sprintf("m%d", i) })
	if diff := cmp.Diff(map[client.Kind]int{"": 29, client.KindFull: 11}, got); diff != "" {
		t.Errorf("40 markers, 29 addresses left: %s", diff)
	}
	seen := map[netip.Addr]bool{}
	for _, a := range s.Addresses() {
		if seen[a.Address.Addr()] {
			t.Errorf("%s twice", a.Address)
		}
		seen[a.Address.Addr()] = true
	}
	for m, n := range s.Markers(field) {
		if n != 1 {
			t.Errorf("marker %s on %d records", m, n)
		}
	}
	if s.Writes() != 80 {
		t.Errorf("%d writes logged", s.Writes())
	}
}

func TestFaults(t *testing.T) {
	cases := map[string]struct {
		fault       netbox.Fault
		read, write client.Kind
		records     int
	}{
		"None":       {netbox.Fault{}, client.KindNotFound, "", 1},
		"BadToken":   {netbox.Fault{Kind: netbox.FaultBadToken}, client.KindUnauthorized, client.KindUnauthorized, 0},
		"ReadOnly":   {netbox.Fault{Kind: netbox.FaultReadOnlyToken}, client.KindNotFound, client.KindForbidden, 0},
		"Full":       {netbox.Fault{Kind: netbox.FaultFull}, client.KindNotFound, client.KindFull, 0},
		"Taken":      {netbox.Fault{Kind: netbox.FaultMarkerTaken}, client.KindNotFound, client.KindMarkerTaken, 0},
		"NoPrefix":   {netbox.Fault{Kind: netbox.FaultNoPrefix}, client.KindNotFound, client.KindNotFound, 0},
		"JSON500":    {netbox.Fault{Kind: netbox.FaultServerErrorJSON}, client.KindServerError, client.KindUnknownOutcome, 0},
		"HTML500":    {netbox.Fault{Kind: netbox.FaultServerErrorHTML}, client.KindServerError, client.KindUnknownOutcome, 0},
		"Hang":       {netbox.Fault{Kind: netbox.FaultHang}, client.KindUnreachable, client.KindUnknownOutcome, 0},
		"HangAfter":  {netbox.Fault{Kind: netbox.FaultHangAfter}, client.KindNotFound, client.KindUnknownOutcome, 1},
		"Disconnect": {netbox.Fault{Kind: netbox.FaultDisconnect}, client.KindUnreachable, client.KindUnknownOutcome, 0},
		"EOFAfter":   {netbox.Fault{Kind: netbox.FaultEOFAfter}, client.KindNotFound, client.KindUnknownOutcome, 1},
		"ErrorAfter": {netbox.Fault{Kind: netbox.FaultErrorAfter}, client.KindNotFound, client.KindUnknownOutcome, 1},
		"Delay":      {netbox.Fault{Kind: netbox.FaultDelay, Delay: 50 * time.Millisecond}, client.KindNotFound, "", 1},
		"Elsewhere":  {netbox.Fault{Kind: netbox.FaultDisconnect, Path: "/vrfs/"}, client.KindNotFound, "", 1},
		"OtherBody":  {netbox.Fault{Kind: netbox.FaultDisconnect, Body: "another marker"}, client.KindNotFound, "", 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, _, p := start(t, "4.6.8", "10.77.0.0/24")
			reads := newClient(t, s.URL(), patient)
			c, writes := reads, reads
			if k := tc.fault.Kind; k == netbox.FaultHang || k == netbox.FaultHangAfter {
				writes = newClient(t, s.URL(), hasty)
			}
			if tc.fault.Kind == netbox.FaultHang {
				reads = writes
			}
			remove := s.Inject(tc.fault)
			_, rerr := reads.FindByMarker(t.Context(), "m")
			_, werr := writes.Allocate(t.Context(), p, client.Request{Marker: "m"})
			if client.KindOf(rerr) != tc.read || client.KindOf(werr) != tc.write {
				t.Errorf("read %v, write %v; want %q, %q", rerr, werr, tc.read, tc.write)
			}
			if got := len(s.WithMarker(field, "m")); got != tc.records {
				t.Errorf("%d records, want %d", got, tc.records)
			}
			remove()
			if _, err := c.Preflight(t.Context()); err != nil {
				t.Errorf("the fault stays: %v", err)
			}
		})
	}
}

func TestFaultTimes(t *testing.T) {
	s, c, _ := start(t, "4.6.8", "10.77.0.0/24")
	s.Inject(netbox.Fault{Kind: netbox.FaultServerErrorJSON, Times: 2})
	var kinds []client.Kind
	for range 3 {
		_, err := c.Status(t.Context())
		kinds = append(kinds, client.KindOf(err))
	}
	if diff := cmp.Diff([]client.Kind{client.KindServerError, client.KindServerError, ""}, kinds); diff != "" {
		t.Error(diff)
	}
	log := s.Requests()
	if len(log) != 3 || log[0].Fault != netbox.FaultServerErrorJSON || log[0].Status != 500 || log[2].Status != 200 || log[2].Token != "provider" {
		t.Errorf("log: %+v", log)
	}
	s.ForgetRequests()
	if len(s.Requests()) != 0 {
		t.Error("the log isn't empty")
	}
}

func TestByHand(t *testing.T) {
	s, c, p := start(t, "4.6.8", "10.77.0.0/29")
	ip, err := c.Allocate(t.Context(), p, client.Request{Marker: "m"})
	if err != nil {
		t.Fatal(err)
	}
	before, _ := c.Get(t.Context(), ip.ID)
	if !s.ChangeAddress(ip.ID, func(a *netbox.Address) { a.CustomFields[field] = "stolen" }) || s.ChangeAddress(999, nil) {
		t.Error("change")
	}
	after, err := c.Get(t.Context(), ip.ID)
	if err != nil || after.Marker(field) != "stolen" || after.ETag == before.ETag {
		t.Errorf("after a change by hand: %+v, %v", after, err)
	}
	s.RemovePrefix(p.ID)
	if _, err := c.GetPrefix(t.Context(), p.ID); !client.IsNotFound(err) {
		t.Errorf("removed prefix: %v", err)
	}
	if len(s.Addresses()) != 1 {
		t.Error("addresses stay when their prefix goes")
	}
	s.RemoveAddress(ip.ID)
	s.RemoveToken(secret)
	if _, err := c.Get(t.Context(), ip.ID); !client.IsUnauthorized(err) {
		t.Errorf("removed token: %v", err)
	}
}

// TestFirstFree is transcripts 303 to 312, 380 to 387, 788.
func TestFirstFree(t *testing.T) {
	cases := map[string]struct {
		network string
		pool    bool
		want    []string
	}{
		"30":     {"10.30.0.16/30", false, []string{"10.30.0.17/30", "10.30.0.18/30"}},
		"30Pool": {"10.30.0.20/30", true, []string{"10.30.0.20/30", "10.30.0.21/30", "10.30.0.22/30", "10.30.0.23/30"}},
		"31":     {"10.30.0.0/31", false, []string{"10.30.0.0/31", "10.30.0.1/31"}},
		"32":     {"10.30.0.9/32", false, []string{"10.30.0.9/32"}},
		"V6":     {"2001:db8::/126", false, []string{"2001:db8::1/126", "2001:db8::2/126", "2001:db8::3/126"}},
		"V6127":  {"2001:db8::/127", false, []string{"2001:db8::/127", "2001:db8::1/127"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, c, _ := start(t, "4.6.8", "10.0.0.0/8")
			p := client.Parent{Kind: client.ParentPrefix, Prefix: netip.MustParsePrefix(tc.network)}
			p.ID = s.AddPrefix(netbox.Prefix{Prefix: p.Prefix, IsPool: tc.pool})
			var got []string
			for i := range len(tc.want) + 1 {
				ip, err := c.Allocate(t.Context(), p, client.Request{Marker: fmt.Sprintf("m%d", i)})
				if err != nil {
					if !client.IsFull(err) {
						t.Error(err)
					}
					break
				}
				got = append(got, ip.Address.String())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestRestart: NetBox goes away and comes back where it was, with what it had.
func TestRestart(t *testing.T) {
	s, c, p := start(t, "4.6.8", "10.77.0.0/24")
	if _, err := c.Allocate(t.Context(), p, client.Request{Marker: "m"}); err != nil {
		t.Fatal(err)
	}
	address := strings.TrimSuffix(strings.TrimPrefix(s.URL(), "http://"), "/")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.FindByMarker(t.Context(), "m"); !client.IsUnreachable(err) {
		t.Errorf("while it is away: %v", err)
	}
	if err := s.Start(address); err != nil {
		t.Fatal(err)
	}
	if _, err := c.FindByMarker(t.Context(), "m"); err != nil {
		t.Errorf("when it is back: %v", err)
	}
	if err := netbox.New(netbox.Options{}).Start(address); err == nil {
		t.Error("an address can't be used twice")
	}
	if err := netbox.New(netbox.Options{}).Close(); err != nil {
		t.Errorf("one that was never started: %v", err)
	}
}
