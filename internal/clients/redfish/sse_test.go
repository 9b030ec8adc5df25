package redfish

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestDecoder(t *testing.T) {
	cases := map[string]struct {
		reason string
		in     string
		want   int
		err    error
	}{
		"One":       {reason: "An event is data and an empty line.", in: "id: 1\ndata: {}\n\n", want: 1},
		"Windows":   {reason: "Lines end in three ways:", in: "data: {}\r\n\r\ndata: {}\r\n\r\n", want: 2},
		"Mac":       {reason: "this is the rarest.", in: "data: {}\r\rdata: {}\r\r", want: 2},
		"Mixed":     {reason: "They may be mixed.", in: "data: {}\r\n\ndata: {}\n\r\n", want: 2},
		"Lines":     {reason: "Data may have several lines.", in: "data: {\ndata: }\n\n", want: 1},
		"Bare":      {reason: "And none at all.", in: "data\n\n", want: 1},
		"Mark":      {reason: "A byte order mark may come first,", in: byteOrderMark + "data: {}\n\n", want: 1},
		"MarkLater": {reason: "and nowhere else.", in: "data: {}\n\n" + byteOrderMark + "data: {}\n\n", want: 1},
		"Comments":  {reason: "A comment keeps the connection alive, and is no event.", in: ": alive\n\n: alive\n\n"},
		"NoData":    {reason: "What has no data isn't told of.", in: "event: ping\nid: 7\n\n"},
		"Half":      {reason: "Nor is half of one.", in: "data: {}\n"},
		"HalfLine":  {reason: "Nor is half a line.", in: "data: {\"@odata.ty"},
		"Other":     {reason: "Other fields aren't data.", in: "database: {}\n\ndat: {}\n\n data: {}\n\n"},
		"Nothing":   {reason: "Empty lines are nothing.", in: "\n\r\r\n\n"},
		"Longest":   {reason: "A line may be long,", in: "data: " + strings.Repeat("x", maxLine-len("data: ")) + "\n\n", want: 1},
		"TooLong":   {reason: "and not without end.", in: "data: {}\n\ndata: " + strings.Repeat("x", maxLine), want: 1, err: ErrStreamGarbage},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, step := range []int{len(tc.in), 1, 3} {
				var d decoder
				got, err := decoded(&d, tc.in, step)
				if got != tc.want || !errors.Is(err, tc.err) {
					t.Errorf("%s\n%d bytes at once: got %d events, %v; want %d, %v", tc.reason, step, got, err, tc.want, tc.err)
				}
			}
		})
	}
}

// decoded feeds a decoder so many bytes at once.
func decoded(d *decoder, in string, step int) (events int, err error) {
	for in != "" && err == nil {
		var n int
		n, err = d.write([]byte(in[:min(step, len(in))]))
		events += n
		in = in[min(step, len(in)):]
	}

	return events, err
}

// FuzzDecoder holds that it doesn't matter in which pieces a stream comes, and that
// as many events are found as by reading it line by line.
func FuzzDecoder(f *testing.F) {
	for _, seed := range []string{"data: {}\n\n", "data\r\rdata:a\r\n\r\n", byteOrderMark + "data:\n\n", ": x\n\n", "id: 1\nda", "\x00\xff\n\n"} {
		f.Add(seed, 3)
	}
	f.Fuzz(func(t *testing.T, in string, step int) {
		if len(in) > maxLine {
			return
		}
		lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(in, byteOrderMark)), "\n")
		want, data := 0, false
		for _, line := range lines[:len(lines)-1] {
			name, _, _ := strings.Cut(line, ":")
			if line == "" && data {
				want++
			}
			data = line != "" && (data || name == fieldData)
		}
		for _, step := range []int{len(in) + 1, 1, min(max(step, 1), len(in)+1)} {
			var d decoder
			if got, err := decoded(&d, in, step); got != want || err != nil {
				t.Errorf("%q, %d bytes at once: %d events, %v; want %d", in, step, got, err, want)
			}
		}
	})
}

func TestFlood(t *testing.T) {
	start := time.Unix(1_000_000, 0)
	type come struct {
		after         time.Duration
		events, bytes int
	}
	cases := map[string]struct {
		reason string
		come   []come
		want   bool
	}{
		"Calm":   {reason: "A BMC may say much at once,", come: []come{{events: maxEvents, bytes: maxStreamed}}},
		"Hours":  {reason: "and all day long.", come: []come{{events: maxEvents}, {after: floodTime, events: maxEvents}, {after: floodTime, events: maxEvents}}},
		"Events": {reason: "Not more than anybody looks at,", come: []come{{events: maxEvents}, {after: time.Second, events: 1}}, want: true},
		"Bytes":  {reason: "be it without an event.", come: []come{{bytes: maxStreamed}, {after: time.Second, bytes: 1}}, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var f flood
			now, got := start, false
			for _, c := range tc.come {
				now = now.Add(c.after)
				got = f.over(now, c.events, c.bytes)
			}
			if got != tc.want {
				t.Errorf("%s\ngot %t", tc.reason, got)
			}
		})
	}
}
