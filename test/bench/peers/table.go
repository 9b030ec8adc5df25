package main

import (
	"fmt"
	"strings"
)

// A line of the table says one thing of each server.
type line struct {
	what, form string
	of         func(server string) question
}

// columns are the servers of the table, by their plugs and for people.
func columns() [][2]string {
	return [][2]string{
		{ours, "bootd"}, {"kea", "Kea"}, {"dnsmasq-ro", "dnsmasq"}, {"libdhcp", "insomniacslk/dhcp, answers from a map"},
		{"pintftp", "pin/tftp"}, {"nginx", "nginx"}, {"nethttp", "net/http, a constant"},
	}
}

func lines() []line {
	rate := func(r row) *float64 { return r.Rate }
	all := []line{}
	for _, n := range []int{few, many} {
		of := fmt.Sprintf(", %d reservations", n)
		all = append(all,
			line{"DHCP exchanges/s" + of, "%.0f", func(s string) question { return dhcp(s, n, "closed", rate) }},
			line{"99th percentile at half of that, ms" + of, "%.1f", func(s string) question {
				return dhcp(s, n, "open50", func(r row) *float64 { return scaled(r.P99, 1e-3) })
			}},
			line{"memory, MB" + of, "%.0f", func(s string) question { return dhcp(s, n, "open50", func(r row) *float64 { return r.RSS }) }},
			line{"start to the first answer, s" + of, "%.2f", func(s string) question { return dhcp(s, n, "startup", func(r row) *float64 { return r.Start }) }},
			line{"a new reservation to its answer, s" + of, "%.3f", func(s string) question { return dhcp(s, n, "add", func(r row) *float64 { return r.Add }) }},
		)
	}
	for _, clients := range []int{1, 16, 64, 256} {
		all = append(all, line{fmt.Sprintf("TFTP, files of 1 MiB/s, %d clients", clients), "%.0f", func(s string) question {
			return tftp(strings.TrimSuffix(s, "-ro"), clients, 0) // dnsmasq is one program with two plugs.
		}})
	}
	return append(all,
		line{"TFTP, one client with a window of 16", "%.0f", func(s string) question { return tftp(s, 1, 16) }},
		line{"HTTP, scripts of 1 kB/s", "%.0f", func(s string) question { return http(s, "small", func(r row) *float64 { return r.ReqRate }) }},
		line{"HTTP, MB/s of a file of 64 MiB", "%.0f", func(s string) question { return http(s, "big", func(r row) *float64 { return r.MBRate }) }},
	)
}

func scaled(v *float64, by float64) *float64 {
	if v == nil {
		return nil
	}
	x := *v * by
	return &x
}

// table is what was measured, for a page: medians, and a dash for what a server doesn't do.
func table(rows []row) []string {
	head, rule := "| |", "|---|"
	for _, c := range columns() {
		head, rule = head+" "+c[1]+" |", rule+"---|"
	}
	out := []string{head, rule}
	for _, l := range lines() {
		text, said := "| "+l.what+" |", false
		for _, c := range columns() {
			v, ok := l.of(c[0]).median(rows)
			cell := "–"
			if ok {
				cell, said = fmt.Sprintf(l.form, v), true
			}
			text += " " + cell + " |"
		}
		if said {
			out = append(out, text)
		}
	}
	if len(out) == len([]string{head, rule}) {
		return nil
	}
	return out
}
