package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTold: what wrk says, in the harness' units.
func TestTold(t *testing.T) {
	const said = "Running 3s test @ http://10.99.0.1:8080\n  1 threads and 64 connections\nRequests/sec:  17492.25\nTransfer/sec:      1.50GB\n"
	r, err := told(said)
	if err != nil || *r.ReqRate != 17492.25 || int(*r.MBRate) != 1610 {
		t.Errorf("%+v, %v", r, err)
	}
	for name, text := range map[string]string{
		"Refused": said + "  Non-2xx or 3xx responses: 7\n",
		"Nothing": "unable to connect to 10.99.0.1:8080 Connection refused\n",
	} {
		if _, err := told(text); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestHosts(t *testing.T) {
	all := strings.Split(hosts(300), "\n")
	if all[0] != "52:54:00:00:00:00,10.64.1.0" || all[299] != "52:54:00:00:01:2b,10.64.2.43" || len(all) != 301 {
		t.Errorf("%q … %q", all[0], all[299])
	}
}

// TestTable: what one server doesn't do is a dash, and what none does is no line.
func TestTable(t *testing.T) {
	rows, err := read(strings.NewReader(`{"suite":"dhcp","server":"bootd","n":10000,"m":"closed","dora_per_s":30000.4}
{"suite":"dhcp","server":"kea","n":10000,"m":"closed","dora_per_s":11042}
{"suite":"dhcp","server":"bootd","n":10000,"m":"open50","p99_us":1500}
{"suite":"tftp","server":"dnsmasq","blk":1468,"win":0,"par":16,"files_per_s":192}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"| | bootd | Kea | dnsmasq | insomniacslk/dhcp, answers from a map | pin/tftp | nginx | net/http, a constant |",
		"|---|---|---|---|---|---|---|---|",
		"| DHCP exchanges/s, 10000 reservations | 30000 | 11042 | – | – | – | – | – |",
		"| 99th percentile at half of that, ms, 10000 reservations | 1.5 | – | – | – | – | – | – |",
		"| TFTP, files of 1 MiB/s, 16 clients | – | – | 192 | – | – | – | – |",
	}
	if diff := cmp.Diff(want, table(rows)); diff != "" {
		t.Error(diff)
	}
	if got := table(nil); got != nil {
		t.Errorf("%q", got)
	}
}
