package lenient

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

type everything struct {
	Text   Text
	Texts  Texts
	Number Number
	Flag   Flag
	Ref    Ref
	Refs   Refs
}

func TestDecode(t *testing.T) {
	cases := map[string]struct {
		reason string
		body   string
		want   everything
		err    error
	}{
		"AsMeant": {
			reason: "The standard's own forms.",
			body:   `{"Text":"a","Texts":["a","b"],"Number":2.5,"Flag":true,"Ref":{"@odata.id":"/a"},"Refs":[{"@odata.id":"/a"},{"@odata.id":"/b"}]}`,
			want:   everything{Text: "a", Texts: Texts{"a", "b"}, Number: Number{2.5, true}, Flag: Flag{true, true}, Ref: "/a", Refs: Refs{"/a", "/b"}},
		},
		"Drifted": {
			reason: "What vendors make of them.",
			body:   `{"Text":7,"Texts":"a","Number":" 42 ","Flag":"Disabled","Ref":"/a","Refs":{"@odata.id":"/a"}}`,
			want:   everything{Text: "7", Texts: Texts{"a"}, Number: Number{42, true}, Flag: Flag{Known: true}, Ref: "/a", Refs: Refs{"/a"}},
		},
		"Null":     {reason: "Nothing is nothing.", body: `{"Text":null,"Texts":null,"Number":null,"Flag":null,"Ref":null,"Refs":null}`},
		"Nonsense": {reason: "What can't be meant isn't there.", body: `{"Text":{},"Texts":{},"Number":"2 400 MHz","Flag":"maybe","Ref":[],"Refs":7}`, want: everything{Refs: nil}},
		"NaN":      {reason: "Not a number.", body: `{"Number":"NaN"}`},
		"Case":     {reason: "Names in another case.", body: `{"TEXT":"a"}`, want: everything{Text: "a"}},
		"Mark":     {reason: "A file that an editor of another system wrote.", body: "\xef\xbb\xbf" + `{"Text":"a"}`, want: everything{Text: "a"}},
		"Typed":    {reason: "Keys of a terminal in a text.", body: "{\n\"Text\":\"a\tb\r\n\"}", want: everything{Text: "a b  "}},
		"List":     {reason: "A body of another type is an empty one.", body: `[]`},
		"HTML":     {reason: "Not a BMC.", body: `<html>`, err: ErrNotJSON},
		"Cut":      {reason: "Half of an answer is none.", body: `{"Text":"a"`, err: ErrNotJSON},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got everything
			if err := Decode([]byte(tc.body), &got); !errors.Is(err, tc.err) {
				t.Errorf("\n%s\nDecode(...): got %v, want %v", tc.reason, err, tc.err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nDecode(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestTime(t *testing.T) {
	for in, want := range map[Text]time.Time{
		"2024-06-11T00:14:47-05:00": time.Date(2024, 6, 11, 5, 14, 47, 0, time.UTC),
		"0000-00-00T00:00:00+00:00": {}, "1970-01-01T00:02:17+00:00": {}, "": {}, "yesterday": {},
	} {
		if got := Time(in); !got.Equal(want) {
			t.Errorf("Time(%q): got %v, want %v", in, got, want)
		}
	}
}

func TestSamePath(t *testing.T) {
	if !SamePath("/redfish/v1/Systems/1/", "/redfish/v1/systems/1") || SamePath("/a/1", "/a/2") {
		t.Error("case and a trailing slash don't matter, the rest does")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"Text":"a","Texts":["a"],"Number":1,"Flag":true,"Ref":{"@odata.id":"/a"},"Refs":[{"@odata.id":"/a"}]}`))
	f.Add([]byte(`{"Texts":[[[]]],"Number":"1e999","Ref":{"@odata.id":{}}}`))
	f.Add([]byte(`[[[[`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var got everything
		if err := Decode(body, &got); err != nil && json.Valid(body) {
			t.Errorf("Decode(%q): %v, though it is JSON", body, err)
		}
	})
}
