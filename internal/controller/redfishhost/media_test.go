package redfishhost

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// drives are one with something in it, and an empty one.
func drives(cd redfish.Medium) seen {
	cd.ID, cd.Types = "CD1", []string{"CD"}
	usb := redfish.Medium{ID: "USB1", Types: []string{"USBStick"}}

	return seen{power: redfish.PowerOn, media: mediaIn{slots: []redfish.Medium{cd, usb}, known: true}}
}

func looking(w want, s seen) view {
	return view{want: w, seen: s, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), lap: func(act) lap { return lap{age: time.Hour, ours: true} }}
}

// TestMediaOfAnotherName holds that an image is ours whatever the BMC shows of
// its URL: it's in once, it's recorded, and it's taken out.
func TestMediaOfAnotherName(t *testing.T) {
	for name, shown := range map[string]string{"Hidden": "", "Rewritten": "nfs://bmc/cache/1"} {
		t.Run(name, func(t *testing.T) {
			w := want{media: map[string]wantMedium{"CD": {image: "https://images.example.org/a.iso?t=1"}}}
			st := beginMedia(looking(w, drives(redfish.Medium{})), journal{})
			if st.do != actInsertMedia || st.journal.Act.Slot != "CD1" {
				t.Fatalf("beginMedia(...): got %+v, want an image in CD1", st)
			}
			in := drives(redfish.Medium{Inserted: true, Image: shown})
			st = resumeMedia(looking(w, in), *st.journal)
			if st.journal == nil || st.journal.pending() || st.journal.Media["CD"].Slot != "CD1" {
				t.Fatalf("resumeMedia(...): got %+v, want the image recorded", st)
			}
			j := *st.journal
			if st := beginMedia(looking(w, in), j); !st.idle() {
				t.Errorf("beginMedia(...): got %+v of an image that is in", st)
			}
			v := looking(w, in)
			v.j = &j
			if c := showMedia(v, inputs{}); len(c) != 1 || c[0].Status != corev1.ConditionTrue {
				t.Errorf("showMedia(...): got %v", c)
			}
			if st := beginMedia(looking(want{}, in), j); st.do != actEjectMedia {
				t.Errorf("beginMedia(...): got %+v of an image that isn't wanted any more, want it out", st)
			}
		})
	}
}

// TestMediaGivenUp holds that images which can't be inserted, or taken out, are
// given up each for itself, and stand in nobody's way.
func TestMediaGivenUp(t *testing.T) {
	w := want{media: map[string]wantMedium{"CD": {image: "https://a"}, "USBStick": {image: "https://b"}}}
	v, j := looking(w, drives(redfish.Medium{})), journal{}
	calls := map[string]int{}
	for range 40 {
		st := beginMedia(v, j)
		if st.idle() {
			break
		}
		j = *st.journal
		if st.do != actNone {
			calls[j.Act.Target]++
			a := *j.Act
			a.State = failed
			j = *j.with(a)
		}
	}
	if st := beginMedia(v, j); !st.idle() || calls["CD"] != 3 || calls["USBStick"] != 3 {
		t.Errorf("tried %v times, and then %+v; want three times each, and then nothing", calls, st)
	}
	in := drives(redfish.Medium{Inserted: true})
	j = *(&journal{Media: map[string]insertedRecord{"CD": {Slot: "CD1"}}}).with(act{Action: actEjectMedia, Target: "CD", State: failed, Attempts: 3})
	for range 4 {
		if st := beginMedia(looking(want{}, in), j); st.journal != nil {
			j = *st.journal
		}
	}
	if len(j.Media) != 0 {
		t.Errorf("an image that can't be taken out is waited for: %+v", j.Media)
	}
}
