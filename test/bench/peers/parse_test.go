package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFigures(t *testing.T) {
	cases := map[string]struct {
		reason string
		rows   string
		want   []string
	}{
		"Nothing": {reason: "What wasn't measured isn't told."},
		"Alone":   {reason: "Without the peer there's no ratio.", rows: `{"suite":"dhcp","server":"bootd","n":10000,"m":"closed","dora_per_s":10}`},
		"Median": {
			reason: "Medians are compared, of the same size and load alone.",
			rows: `{"suite":"dhcp","server":"bootd","n":10000,"m":"closed","dora_per_s":30}
{"suite":"dhcp","server":"bootd","n":10000,"m":"closed","dora_per_s":20}
{"suite":"dhcp","server":"bootd","n":10000,"m":"closed","dora_per_s":100}
{"suite":"dhcp","server":"bootd","n":100000,"m":"closed","dora_per_s":27}
{"suite":"dhcp","server":"bootd","n":10000,"m":"open50","dora_per_s":1}
{"suite":"dhcp","server":"kea","n":10000,"m":"closed","dora_per_s":10}`,
			want: []string{
				"figure dhcp_kea_ratio 3 of 1 at least 2.5 (bootd 30, kea 10)",
				"figure dhcp_100k_ratio 0.9 of 1 at least 0.9 (bootd 27, bootd 30)",
			},
		},
		"Failed": {
			reason: "A run that failed has no number.",
			rows: `{"suite":"dhcp","server":"bootd","n":100000,"m":"add","add_s":null}
{"suite":"dhcp","server":"bootd","n":100000,"m":"add","add_s":0.02}`,
			want: []string{"figure change_to_served_100k 0.02 s at most 0.05"},
		},
		"Others": {
			reason: "TFTP by clients and window, HTTP by kind.",
			rows: `{"suite":"tftp","server":"bootd","blk":1468,"win":0,"par":1,"files_per_s":10}
{"suite":"tftp","server":"bootd","blk":512,"win":0,"par":1,"files_per_s":1}
{"suite":"tftp","server":"bootd","blk":1468,"win":16,"par":1,"files_per_s":40}
{"suite":"tftp","server":"dnsmasq","blk":1468,"win":0,"par":1,"files_per_s":20}
{"suite":"http","server":"bootd","kind":"big","req_s":4,"mb_s":900}
{"suite":"http","server":"nginx","kind":"big","req_s":4,"mb_s":1000}`,
			want: []string{
				"figure tftp_1_ratio 0.5 of 1 at least 1 (bootd 10, dnsmasq 20)",
				"figure tftp_window_ratio 4 of 1 at least 3 (bootd 40, bootd 10)",
				"figure http_file_ratio 0.9 of 1 at least 0.9 (bootd 900, nginx 1000)",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			rows, err := read(strings.NewReader(tc.rows))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, figures(rows)); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	if got := missing(nil, []string{"http"}); !cmp.Equal(got, []string{"http_script_ratio", "http_file_ratio"}) {
		t.Errorf("missing of HTTP: %q", got)
	}
	if _, err := read(strings.NewReader(`{"suite":1}`)); err == nil {
		t.Error("want an error for what isn't a result")
	}
}
