package netbox

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func FuzzDecodePrefix(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, err := decodePrefix(b); err == nil && (p.ID <= 0 || !p.Prefix.IsValid()) {
			t.Errorf("accepted %q without identity", b)
		}
	})
}

func FuzzDecodeVRF(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		if v, err := decodeVRF(b); err == nil && v.ID <= 0 {
			t.Errorf("accepted %q without identity", b)
		}
	})
}

func FuzzDecodeRange(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := decodeRange(b); err == nil && (r.ID <= 0 || !r.First.IsValid() || !r.Last.IsValid()) {
			t.Errorf("accepted %q without identity", b)
		}
	})
}

func FuzzDecodeCustomField(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		if c, err := decodeCustomField(b); err == nil && c.Name == "" {
			t.Errorf("accepted %q without a name", b)
		}
	})
}

func FuzzDecodeMAC(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		if i, err := decodeMAC(b); err == nil && (len(i.MACs) != 1 || i.MACs[0] == "" || len(i.MACs[0]) > longestMAC) {
			t.Errorf("accepted %q as %q", b, i.MACs)
		}
	})
}

func FuzzDecodeNamed(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		if n, err := decodeNamed(b); err == nil && n.slug == "" {
			t.Errorf("accepted %q without a slug", b)
		}
	})
}

// FuzzDecodeWithheld holds that a range which doesn't say whether it's populated counts as one: too few free addresses are told rather than too many.
func FuzzDecodeWithheld(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := decodeWithheld(b)
		if said := strings.Contains(string(b), "mark_populated"); err == nil && (p.ID <= 0 || !said && !p.Populated) {
			t.Errorf("accepted %q as %+v", b, p)
		}
	})
}

// FuzzDecodeFree holds that only a list is one of free addresses, and that what is offered is an address: what is counted is what else is told
// to be free, and what isn't a list would be a source that is full.
func FuzzDecodeFree(f *testing.F) {
	seed(f)
	for _, s := range []string{`[]`, `null`, `{}`, `[null,1,"x",{"address":"10.0.0.1/24"}]`, `[{"family":4,"address":"10.0.0.1/24","vrf":null}]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		free, err := decodeFree(b)
		if list := strings.HasPrefix(strings.TrimLeft(string(b), " \t\r\n"), "["); err == nil && !list {
			t.Errorf("accepted %q as a list", b)
		}
		for _, one := range free {
			if a, err := decodeOffered(one); err == nil && !a.IsValid() {
				t.Errorf("accepted %q as an address", one)
			}
		}
	})
}

func FuzzDecodeOffers(f *testing.F) {
	seed(f)
	f.Add([]byte(`{"name":"IP Address List","parses":["application/json"],"actions":{"POST":{}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if o, err := decodeOffers(b); err == nil && o == nil {
			t.Errorf("accepted %q as nothing", b)
		}
	})
}

// FuzzJudge holds that nothing a server sends becomes part of a sentence, and that a write never fails as if nothing was done where
// something may have been.
func FuzzJudge(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		const mark = "Zq7Zq7Zq7"
		b = append(b, mark...)
		for _, status := range []int{200, 201, 204, 302, 400, 403, 404, 408, 409, 412, 418, 425, 429, 499, 500, 503} {
			for _, ct := range []string{"application/json", "text/html"} {
				k := call{op: "do it", method: http.MethodPost, path: "ipam/ip-addresses/", want: http.StatusCreated}
				_, err := judge(k, status, http.Header{"Content-Type": {ct}}, b, nil)
				if err == nil && status != http.StatusCreated {
					t.Errorf("%d %q is done", status, b)
				}
				if err != nil && strings.Contains(err.Error(), mark) {
					t.Errorf("the server's words: %q", err)
				}
				if (status >= 500 || GaveUp(status)) && !IsUnknownOutcome(err) {
					t.Errorf("%d is %v", status, err)
				}
			}
		}
	})
}

func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"", "7", "Tue, 01 Sep 2026 10:00:09 GMT", "-1", "99999999999999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if d := retryAfter(http.Header{"Retry-After": {s}}, time.Unix(0, 0)); d < 0 {
			t.Errorf("%q: %s", s, d)
		}
	})
}

func TestSkew(t *testing.T) {
	at := func(s string) time.Time {
		v, err := time.Parse("15:04:05.000", s)
		if err != nil {
			t.Fatal(err)
		}
		return v.AddDate(2026, 0, 0)
	}
	cases := map[string]struct {
		reason, there, began, ended string
		want                        Skew
	}{
		"Same":        {"Within the request.", "10:00:01.000", "10:00:00.500", "10:00:01.500", Skew{Known: true}},
		"SameSecond":  {"A date has no fractions.", "10:00:00.000", "10:00:00.900", "10:00:00.990", Skew{Known: true}},
		"Ahead":       {"After the request.", "10:10:00.000", "09:59:59.000", "10:00:00.000", Skew{10 * time.Minute, true}},
		"Behind":      {"Before the request.", "09:50:00.000", "10:00:00.000", "10:00:05.000", Skew{-10 * time.Minute, true}},
		"SlowRequest": {"A minute in a queue is no skew.", "10:00:01.000", "10:00:00.000", "10:01:00.000", Skew{Known: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h := http.Header{"Date": {at(tc.there).Format(http.TimeFormat)}}
			if got := skewOf(h, at(tc.began), at(tc.ended)); got != tc.want {
				t.Errorf("%s: got %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
	if got := skewOf(http.Header{"Date": {"yesterday"}}, time.Time{}, time.Time{}); got.Known {
		t.Errorf("nonsense: got %v", got)
	}
}
