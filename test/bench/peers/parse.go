package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// ours is bootd's plug.
const ours = "bootd"

// A row is one measurement as the harness writes it.
//
//nolint:tagliatelle // The names are the harness'.
type row struct {
	Suite  string `json:"suite"`
	Server string `json:"server"`
	// N reservations, of DHCP; Par clients and Win as the window asked for, of TFTP; Kind of a file, of HTTP.
	N    int    `json:"n"`
	M    string `json:"m"`
	Par  int    `json:"par"`
	Blk  int    `json:"blk"`
	Win  int    `json:"win"`
	Kind string `json:"kind"`
	Rep  int    `json:"rep"`

	Rate    *float64 `json:"dora_per_s,omitempty"`
	P99     *float64 `json:"p99_us,omitempty"`
	Start   *float64 `json:"startup_s,omitempty"`
	RSS     *float64 `json:"rss_mb,omitempty"`
	HWM     *float64 `json:"hwm_mb,omitempty"`
	Add     *float64 `json:"add_s,omitempty"`
	Files   *float64 `json:"files_per_s,omitempty"`
	ReqRate *float64 `json:"req_s,omitempty"`
	MBRate  *float64 `json:"mb_s,omitempty"`
}

func read(in io.Reader) ([]row, error) {
	var out []row
	d := json.NewDecoder(in)
	for {
		var r row
		err := d.Decode(&r)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("cannot understand the results: %w", err)
		}
		out = append(out, r)
	}
}

// A question picks one number from rows.
type question struct {
	of    row
	value func(row) *float64
}

// median of what the rows say; false where none does.
func (q question) median(rows []row) (float64, bool) {
	var all []float64
	for _, r := range rows {
		same := r.Suite == q.of.Suite && r.Server == q.of.Server && r.N == q.of.N && r.M == q.of.M && r.Par == q.of.Par && r.Blk == q.of.Blk &&
			r.Win == q.of.Win && r.Kind == q.of.Kind
		if v := q.value(r); same && v != nil {
			all = append(all, *v)
		}
	}
	if len(all) == 0 {
		return 0, false
	}
	slices.Sort(all)
	if n := len(all); n%2 == 0 {
		return (all[n/2-1] + all[n/2]) / 2, true
	}
	return all[len(all)/2], true
}

// A goal is a figure: bootd's number, or its ratio to a peer's.
type goal struct {
	name, unit  string
	mine, their question
	// ratio says that the figure is mine through theirs.
	ratio bool
	// limit that it mustn't exceed, or reach where atLeast is set; 0: none.
	limit   float64
	atLeast bool
}

const (
	small = 1000
	few   = 10000
	many  = 100000
)

func dhcp(server string, n int, m string, value func(row) *float64) question {
	return question{row{Suite: "dhcp", Server: server, N: n, M: m}, value}
}

func tftp(server string, clients, window int) question {
	return question{row{Suite: "tftp", Server: server, Blk: 1468, Par: clients, Win: window}, func(r row) *float64 { return r.Files }}
}

func http(server, kind string, value func(row) *float64) question {
	return question{row{Suite: "http", Server: server, Kind: kind}, value}
}

func goals() []goal {
	rate := func(r row) *float64 { return r.Rate }
	p99 := func(r row) *float64 { return r.P99 }
	rss := func(r row) *float64 { return r.RSS }
	all := []goal{
		{name: "dhcp_ceiling_ratio", ratio: true, limit: 0.75, atLeast: true, mine: dhcp(ours, few, "closed", rate), their: dhcp("libdhcp", few, "closed", rate)},
		{name: "dhcp_kea_ratio", ratio: true, limit: 2.5, atLeast: true, mine: dhcp(ours, few, "closed", rate), their: dhcp("kea", few, "closed", rate)},
		{name: "dhcp_100k_ratio", ratio: true, limit: 0.9, atLeast: true, mine: dhcp(ours, many, "closed", rate), their: dhcp(ours, few, "closed", rate)},
		{name: "dhcp_p99_ratio", ratio: true, limit: 1.2, mine: dhcp(ours, few, "open50", p99), their: dhcp("kea", few, "open50", p99)},
		{name: "bootd_start_100k", unit: "s", limit: 0.5, mine: dhcp(ours, many, "startup", func(r row) *float64 { return r.Start })},
		{name: "bootd_rss_100k", unit: "MB", limit: 150, mine: dhcp(ours, many, "open50", rss)},
		{name: "bootd_peak_100k", unit: "MB", mine: dhcp(ours, many, "open50", func(r row) *float64 { return r.HWM })},
		{name: "bootd_rss_1000", unit: "MB", limit: 60, mine: dhcp(ours, small, "open50", rss)},
		{name: "change_to_served_100k", unit: "s", limit: 0.05, mine: dhcp(ours, many, "add", func(r row) *float64 { return r.Add })},
	}
	for _, clients := range []int{1, 16, 64, 256} {
		all = append(all, goal{
			name: "tftp_" + strconv.Itoa(clients) + "_ratio", ratio: true, limit: 1, atLeast: true,
			mine: tftp(ours, clients, 0), their: tftp("dnsmasq", clients, 0),
		})
	}
	req := func(r row) *float64 { return r.ReqRate }
	mb := func(r row) *float64 { return r.MBRate }
	return append(all,
		goal{name: "tftp_window_ratio", ratio: true, limit: 3, atLeast: true, mine: tftp(ours, 1, 16), their: tftp(ours, 1, 0)},
		goal{name: "http_script_ratio", ratio: true, limit: 0.85, atLeast: true, mine: http(ours, "small", req), their: http("nethttp", "small", req)},
		goal{name: "http_file_ratio", ratio: true, limit: 0.9, atLeast: true, mine: http(ours, "big", mb), their: http("nginx", "big", mb)},
	)
}

// figures are the lines of what was measured; goals whose numbers aren't there are left out.
func figures(rows []row) []string {
	var out []string
	for _, g := range goals() {
		if text, ok := g.figure(rows); ok {
			out = append(out, text)
		}
	}
	return out
}

// missing names the figures of some suites whose numbers aren't there: a server didn't start, or a load failed.
func missing(rows []row, suites []string) []string {
	var out []string
	for _, g := range goals() {
		if _, ok := g.figure(rows); !ok && slices.Contains(suites, g.mine.of.Suite) {
			out = append(out, g.name)
		}
	}
	return out
}

// figure is a goal's line; false where its numbers aren't there.
func (g goal) figure(rows []row) (string, bool) {
	mine, ok := g.mine.median(rows)
	if !ok || !g.ratio {
		return fmt.Sprintf("figure %s %.3g %s%s", g.name, mine, g.unit, g.promise()), ok
	}
	theirs, ok := g.their.median(rows)
	if !ok || theirs == 0 {
		return "", false
	}
	return fmt.Sprintf("figure %s %.3g of 1%s (%s %.5g, %s %.5g)", g.name, mine/theirs, g.promise(), g.mine.of.Server, mine, g.their.of.Server, theirs), true
}

// promise is the limit in words.
func (g goal) promise() string {
	switch {
	case g.limit == 0:
		return ""
	case g.atLeast:
		return fmt.Sprintf(" at least %g", g.limit)
	}
	return fmt.Sprintf(" at most %g", g.limit)
}
