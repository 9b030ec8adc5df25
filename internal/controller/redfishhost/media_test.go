package redfishhost

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
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

// youngLooks are a view whose images may still come.
func youngLooks(w want, s seen) view {
	v := looking(w, s)
	v.rests = func(action, time.Time) time.Duration { return time.Minute }

	return v
}

// TestImageThatComesLate holds that an image whose insertion was interrupted is ours
// all the same: it's taken out, and no other one is put in its place before.
func TestImageThatComesLate(t *testing.T) {
	const image = "https://images.example.org/a.iso"
	w := want{media: map[string]wantMedium{"CD": {image: image}}}
	empty, in := drives(redfish.Medium{}), drives(redfish.Medium{Inserted: true, Image: image})
	first := beginMedia(looking(w, empty), journal{}).journal
	off := w
	off.power = v1alpha1.PoweredOff
	other := want{media: map[string]wantMedium{"CD": {image: "https://images.example.org/b.iso"}}}
	for name, then := range map[string]want{"Off": off, "Changed": other, "Deleted": {leaving: true}} {
		t.Run(name, func(t *testing.T) {
			v := youngLooks(then, empty)
			v.lap = func(act) lap { return lap{ours: true} }
			st := resumeMedia(v, *first)
			if st.journal == nil || st.journal.Media["CD"].Slot != "CD1" {
				t.Fatalf("resumeMedia(...): got %+v, want the image kept in mind", st)
			}
			j := *st.journal
			j.Act = nil
			if st := beginMedia(v, j); !st.idle() {
				t.Errorf("beginMedia(...): got %+v while it may still come", st)
			}
			gone := youngLooks(want{leaving: true}, in)
			st = beginMedia(gone, j)
			if st.journal == nil || !st.journal.Media["CD"].Begun.IsZero() {
				t.Fatalf("beginMedia(...): got %+v, want the image recorded", st)
			}
			if st := beginMedia(gone, *st.journal); st.do != actEjectMedia {
				t.Errorf("beginMedia(...): got %+v, want it out", st)
			}
			if st := beginMedia(looking(want{}, empty), j); st.journal == nil || len(st.journal.Media) != 0 {
				t.Errorf("beginMedia(...): got %+v of an image that didn't come", st)
			}
			theirs := drives(redfish.Medium{Inserted: true, Image: "https://images.example.org/theirs.iso"})
			if st := beginMedia(looking(want{}, theirs), j); st.do != actNone {
				t.Errorf("beginMedia(...): got %+v of somebody else's", st)
			}
		})
	}
}

// TestImageThatIsRefused holds that nothing is kept in mind of an image that the BMC
// said it didn't insert.
func TestImageThatIsRefused(t *testing.T) {
	w := want{media: map[string]wantMedium{"CD": {image: "https://a"}}}
	v := looking(w, drives(redfish.Medium{}))
	for status, kept := range map[int]int{403: 0, 503: 1} {
		kind := redfish.Forbidden
		if status == 503 {
			kind = redfish.Unreachable
		}
		j, err := *beginMedia(v, journal{}).journal, error(&redfish.Error{Kind: kind, Status: status})
		next := j.with(afterFailure(v, *j.Act, err))
		mediaNoted(v, next, err)
		if len(next.Media) != kept {
			t.Errorf("status %d: %+v", status, next.Media)
		}
	}
}

// TestImageInAnotherWay holds that an image goes out of a drive that isn't named any
// more, and is inserted anew where the machine may write to it or not.
func TestImageInAnotherWay(t *testing.T) {
	const image = "https://a/b"
	in := drives(redfish.Medium{Inserted: true, Image: image})
	j := journal{Media: map[string]insertedRecord{"CD": {Slot: "CD1", Digest: digest(image), Shown: digest(image)}}}
	for name, m := range map[string]wantMedium{"Slot": {image: image, slot: "CD2", protect: true}, "Open": {image: image}} {
		v := looking(want{media: map[string]wantMedium{"CD": m}}, in)
		if st := beginMedia(v, j); st.do != actEjectMedia {
			t.Errorf("%s: got %+v", name, st)
		}
		v.j = &j
		if c := showMedia(v, inputs{}); c[0].Reason != v1alpha1.ReasonApplying {
			t.Errorf("%s: showMedia(...): %+v", name, c)
		}
	}
	v := looking(want{media: map[string]wantMedium{"CD": {image: image, protect: true}}}, in)
	if st := beginMedia(v, j); !st.idle() {
		t.Errorf("as it is: got %+v", st)
	}
	v.seen.media = mediaIn{busy: true}
	if st := beginMedia(v, j); !st.wait {
		t.Errorf("drives that can't be read now: got %+v", st)
	}
	if c := showMedia(v, inputs{}); c[0].Reason != v1alpha1.ReasonRefused {
		t.Errorf("drives that can't be read now: showMedia(...): %+v", c)
	}
}

// TestImageWithoutItsAccount: a machine isn't started without its image because the Secret of the image's server comes later; one without an account
// goes in meanwhile, and one that was given up is waited for no more.
func TestImageWithoutItsAccount(t *testing.T) {
	w := want{power: v1alpha1.PoweredOn, media: map[string]wantMedium{"CD": {image: "https://a", secret: "images"}}}
	s := drives(redfish.Medium{})
	s.power, s.media.accounts = redfish.PowerOff, map[string]mediaAccount{"CD": {missing: errNoAccounts}}
	v := looking(w, s)
	v.j = &journal{}
	if st := following(v); !st.wait || st.do != actNone {
		t.Errorf("following(...): does %q, waits %t; want it to wait", st.do, st.wait)
	}
	both := v
	both.want.media = map[string]wantMedium{"CD": w.media["CD"], "USBStick": {image: "https://b"}}
	if st := following(both); st.do != actInsertMedia || st.journal.Act.Target != "USBStick" {
		t.Errorf("following(...) of another image: %+v", st)
	}
	off := v
	off.want.power, off.seen.power = v1alpha1.PoweredOff, redfish.PowerOn
	if st := following(off); st.do == actNone {
		t.Error("it isn't switched off")
	}
	v.j.Settings = v.j.Settings.with(act{Action: actInsertMedia, Target: "CD", Slot: "CD1", Digest: digest("https://a")}, "")
	if st := following(v); st.do != actPowerOn {
		t.Errorf("following(...) of one that was given up: does %q", st.do)
	}
}

// TestMediaTaskWithoutEnd: a BMC that never ends what it promised is waited for once, and no machine for three times as long.
func TestMediaTaskWithoutEnd(t *testing.T) {
	w := want{media: map[string]wantMedium{"CD": {image: "https://a"}}}
	v := looking(w, drives(redfish.Medium{}))
	j := *beginMedia(v, journal{}).journal
	j.Act.Task = "/redfish/v1/TaskService/Tasks/1"
	v.lap = func(act) lap {
		return lap{age: taskPatience, ours: true, task: redfish.Progress{State: redfish.TaskRunning}}
	}
	st := resumeMedia(v, j)
	if st.journal == nil || st.journal.Act.State != failed {
		t.Fatalf("resumeMedia(...): got %+v", st)
	}
	j = *st.journal
	for range 5 {
		if st = beginMedia(v, j); st.idle() {
			break
		}
		if j = *st.journal; st.do != actNone {
			t.Fatalf("beginMedia(...): does %q, want it given up", st.do)
		}
	}
	if !st.idle() || len(j.Settings.Refused) != 1 {
		t.Errorf("beginMedia(...): got %+v, given up: %v", st, j.Settings.Refused)
	}
}
