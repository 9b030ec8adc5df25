package redfishhost

import (
	"crypto/rand"
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

func TestNewPassword(t *testing.T) {
	cases := map[string]struct {
		reason  string
		account redfish.Account
		user    string
		want    int // characters; 0 is an error
	}{
		"Usual":    {reason: "What IPMI 2.0 takes.", user: "root", want: 20},
		"Long":     {reason: "Not more, where more is allowed.", account: redfish.Account{MinLength: 8, MaxLength: 64}, want: 20},
		"Short":    {reason: "Cray.", account: redfish.Account{MinLength: 8, MaxLength: 12}, want: 12},
		"Demanded": {reason: "More, where more is demanded.", account: redfish.Account{MinLength: 24}, want: 24},
		"TooShort": {reason: "None worth the name.", account: redfish.Account{MaxLength: 6}},
		"Absurd":   {reason: "None at all.", account: redfish.Account{MinLength: 30, MaxLength: 20}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			seen := map[string]bool{}
			for range 50 {
				p, err := newPassword(tc.account, tc.user, rand.Reader)
				if (err != nil) != (tc.want == 0) || len(p) != tc.want {
					t.Fatalf("%s\n%d characters, error %v; want %d", tc.reason, len(p), err, tc.want)
				}
				if err != nil {
					return
				}
				if seen[p] || !strong(p) || strings.Trim(p, lowers+uppers+digits+marks) != "" || strings.ContainsAny(p[:1], digits+marks) {
					t.Fatalf("%s\na password is weak, or made twice", tc.reason)
				}
				seen[p] = true
			}
		})
	}
}

// TestRotationSteps are the decisions of a rotation, which need no BMC.
func TestRotationSteps(t *testing.T) {
	own := rotationSeen{own: true}
	both := rotationSeen{own: true, next: true}
	by := rotationSeen{own: true, next: true, byNext: true}
	pending := func(a action, attempts int) *act {
		return &act{Action: a, Generation: 2, State: begun, Attempts: attempts, Time: t0}
	}
	cases := map[string]struct {
		reason string
		j      journal
		seen   rotationSeen
		age    time.Duration
		task   bool
		none   bool // nothing is wanted
		gone   bool // the host is deleted
		want   action
		wait   bool
	}{
		"Due":        {reason: "The Secret first.", j: journal{Rotation: rotationRecord{Done: 1}}, seen: own, want: actStorePassword},
		"Done":       {reason: "Once is enough.", j: journal{Rotation: rotationRecord{Done: 2}}, seen: own},
		"NotOwn":     {reason: "A Secret that isn't the host's stays.", j: journal{}},
		"GivenUp":    {reason: "Nor is it tried for ever.", j: journal{Rotation: rotationRecord{Failed: 2}}, seen: own},
		"Problem":    {reason: "Nor while something stands in the way.", seen: rotationSeen{own: true, problem: trouble{reason: v1alpha1.ReasonConflict}}},
		"Reading":    {reason: "An inventory is read with the old password.", seen: rotationSeen{own: true, reading: true}},
		"Stored":     {reason: "Then the BMC.", j: journal{Act: &act{Action: actStorePassword, Generation: 2, State: done}}, seen: both, want: actSetPassword},
		"StoredOld":  {reason: "What another rotation left is stored again, which leaves it.", j: journal{Act: &act{Action: actStorePassword, Generation: 1, State: done}}, seen: both, want: actStorePassword},
		"Lost":       {reason: "Killed while it was stored.", j: journal{Act: pending(actStorePassword, 1)}, seen: own, want: actStorePassword},
		"Unheard":    {reason: "The same password again: nobody knows whether the BMC heard it.", j: journal{Act: pending(actSetPassword, 1)}, seen: both, want: actSetPassword},
		"NeverHeard": {reason: "In the end it's tried.", j: journal{Act: pending(actSetPassword, 3)}, seen: both, want: actKeepPassword},
		"Promised":   {reason: "A promise takes a moment.", j: journal{Act: pending(actSetPassword, 1), Rotation: rotationRecord{Sent: true}}, seen: both, wait: true},
		"Kept":       {reason: "Then it's tried.", j: journal{Act: pending(actSetPassword, 1), Rotation: rotationRecord{Sent: true}}, seen: both, age: settle, want: actKeepPassword},
		"Refused":    {reason: "The BMC refused it a moment ago.", j: journal{Act: pending(actKeepPassword, 1), Rotation: rotationRecord{Sent: true}}, seen: both, wait: true},
		"ByNext":     {reason: "The BMC has the new one: that's stored, whatever was wanted.", j: journal{Rotation: rotationRecord{Done: 2}}, seen: by, none: true, want: actKeepPassword},
		"SetByNext":  {reason: "The same in the middle.", j: journal{Act: pending(actSetPassword, 1)}, seen: by, want: actKeepPassword},
		"Deleted":    {reason: "Nor of one that is deleted: both passwords are in the Secret, if that's still there.", j: journal{Rotation: rotationRecord{Sent: true}}, seen: by, gone: true},
		"DeletedNow": {reason: "The same in the middle.", j: journal{Act: pending(actKeepPassword, 1)}, seen: by, gone: true},
		"NoMore":     {reason: "A host that has no Secret of its own any more.", j: journal{Act: pending(actSetPassword, 1)}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.j.Rotation.Kept = true
			v := view{want: want{rotation: 2}, j: &tc.j, seen: seen{rotation: tc.seen}, now: t0, lap: func(act) lap { return lap{age: tc.age} }}
			if tc.none {
				v.want.rotation = 0
			}
			v.want.power, v.want.leaving = v1alpha1.Unmanaged, tc.gone
			st := following(v)
			if st.do != tc.want || st.wait != tc.wait {
				t.Errorf("%s\nfollowing(...): does %q, waits %t (%s); want %q, %t", tc.reason, st.do, st.wait, st.why, tc.want, tc.wait)
			}
		})
	}
}

// TestRotationStandsAside: a rotation comes after everything that a machine is to do, and not while that is on its way.
func TestRotationStandsAside(t *testing.T) {
	v := view{want: want{rotation: 1, power: v1alpha1.PoweredOn}, seen: seen{power: redfish.PowerOff, rotation: rotationSeen{own: true}}, now: t0, lap: func(act) lap { return lap{} }}
	v.j = &journal{Rotation: rotationRecord{Kept: true}}
	if got := following(v).do; got != actPowerOn {
		t.Errorf("first comes %q, want power", got)
	}
	v.j = &journal{Act: &act{Action: actPowerOn, State: begun, Time: t0, Attempts: 1, Power: redfish.PowerOff}}
	if st := following(v); st.do == actStorePassword || st.idle() {
		t.Errorf("in the middle of it comes %q", st.do)
	}
}

func TestRotationFailed(t *testing.T) {
	refused := &redfish.Error{Kind: redfish.Refused, Status: 400, MessageID: "Base.1.18.PropertyValueFormatError"}
	cases := map[string]struct {
		reason string
		a      act
		err    error
		state  string
		rec    rotationRecord
		fresh  int64 // the generation that made the password
		tries  int
	}{
		"Old":       {reason: "One that an earlier rotation gave it is no new one.", fresh: 1, a: act{Action: actSetPassword, Attempts: 1}, err: refused, state: failed, rec: rotationRecord{Sent: true, Fresh: 1}},
		"Taken":     {reason: "Somebody took it out of the Secret, after an answer that was lost.", a: act{Action: actSetPassword, Attempts: 2}, err: notCalledError{&rotationError{later: true, gone: true}}, state: failed},
		"Role":      {reason: "The account can't be read any more: it counts, so that it ends.", a: act{Action: actSetPassword, Attempts: 3}, err: notCalledError{&redfish.Error{Kind: redfish.Forbidden}}, state: begun},
		"Policy":    {reason: "Refused the first time: nothing happened.", fresh: 2, a: act{Action: actSetPassword, Attempts: 1}, err: refused, state: failed, rec: rotationRecord{Failed: 2, Reason: v1alpha1.ReasonRefused, Message: refused.MessageID}},
		"After":     {reason: "Refused after an answer that was lost: it may have been taken then.", a: act{Action: actSetPassword, Attempts: 2}, err: refused, state: failed, rec: rotationRecord{Sent: true}},
		"Lost":      {reason: "An answer that was lost.", a: act{Action: actSetPassword, Attempts: 1}, err: &redfish.Error{Kind: redfish.Unreachable}, state: begun},
		"Late":      {reason: "A turn that never came.", a: act{Action: actSetPassword, Attempts: 1}, err: notCalledError{refused}, state: failed},
		"LateAfter": {reason: "One that never came after an answer that was lost.", a: act{Action: actSetPassword, Attempts: 2}, err: notCalledError{refused}, state: begun},
		"Starting":  {reason: "No account, of a BMC that may have started a moment ago.", a: act{Action: actStorePassword, Attempts: 1}, err: &redfish.Error{Kind: redfish.Unsupported}, state: failed, rec: rotationRecord{Tries: 1}},
		"NoAccount": {reason: "Nothing to change.", tries: 2, a: act{Action: actStorePassword, Attempts: 1}, err: &redfish.Error{Kind: redfish.Unsupported}, state: failed, rec: rotationRecord{Failed: 2, Reason: v1alpha1.ReasonNotSupported}},
		"Again":     {reason: "Taken, and refused once.", a: act{Action: actKeepPassword, Attempts: 1}, err: &rotationError{again: true, reason: v1alpha1.ReasonNoEffect}, state: begun, rec: rotationRecord{Tries: 1}},
		"Conflict":  {reason: "A Secret that somebody wrote.", a: act{Action: actStorePassword, Attempts: 1}, err: later("later"), state: failed},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.a.State, tc.a.Generation = begun, 2
			v := view{j: &journal{Rotation: rotationRecord{Fresh: tc.fresh, Tries: tc.tries}}}
			j := v.j.with(rotationFailed(v, tc.a, tc.err))
			noteRotation(v, j, tc.err)
			if diff := cmp.Diff(tc.rec, j.Rotation); diff != "" || j.Act.State != tc.state {
				t.Errorf("%s\nthe act is %q, want %q; record: -want, +got:\n%s", tc.reason, j.Act.State, tc.state, diff)
			}
		})
	}
}

// TestRotationUnknown: the journal is of a version that knew of no rotation, or had none. Nothing is changed unasked.
func TestRotationUnknown(t *testing.T) {
	v := view{want: want{rotation: 3, power: v1alpha1.Unmanaged}, j: &journal{}, seen: seen{rotation: rotationSeen{own: true}}, now: t0, lap: func(act) lap { return lap{} }}
	st := following(v)
	if st.do != actNone || st.journal == nil || st.journal.Rotation != (rotationRecord{Kept: true, Done: 3}) {
		t.Fatalf("following(...): does %q, journal %v", st.do, st.journal)
	}
	v.j, v.want.rotation = st.journal, 4
	if st := following(v); st.do != actStorePassword {
		t.Errorf("raised since: does %q", st.do)
	}
	if a := adopted(want{}); !a.Rotation.known() || parseJournal(a.String()) == nil || !parseJournal(a.String()).Rotation.known() {
		t.Error("a journal without a rotation isn't told from one of an older version")
	}
}

// TestRotationGenerations: a generation that is raised while another one is on its way is a change of its own.
func TestRotationGenerations(t *testing.T) {
	j := &journal{Rotation: rotationRecord{Kept: true, Done: 1, For: 2, Sent: true}}
	v := view{want: want{rotation: 3, power: v1alpha1.Unmanaged}, j: j, seen: seen{rotation: rotationSeen{own: true, next: true}}, now: t0, lap: func(act) lap { return lap{} }}
	if st := following(v); st.do != actKeepPassword || st.journal.Act.Generation != 2 {
		t.Errorf("following(...): does %q, %+v; want it kept for 2", st.do, st.journal)
	}
}

// TestRotationAskedAgain: a look that is asked for has tried again what costs no log-in with a wrong password.
func TestRotationAskedAgain(t *testing.T) {
	for reason, want := range map[string]bool{"Refused": false, "NoEffect": true} {
		r := rotationRecord{Kept: true, Failed: 2, Asked: "1", Reason: xpv2.ConditionReason(reason)}
		if got := r.failed(2, "2"); got != want || !r.failed(2, "1") {
			t.Errorf("%s, and another look is asked for: ended %t, want %t", reason, got, want)
		}
	}
}

// TestKeptBesideGivenUp: a password is kept though something was given up, which stays so; and nothing else is begun by that.
func TestKeptBesideGivenUp(t *testing.T) {
	gone := act{Action: actPowerOn, State: gaveUp, Attempts: 3, Time: t0, Power: redfish.PowerOff}
	v := view{want: want{power: v1alpha1.PoweredOn}, seen: seen{power: redfish.PowerOff, rotation: rotationSeen{own: true, next: true, byNext: true}}, now: t0, lap: func(act) lap { return lap{} }}
	v.j = &journal{Act: &gone, Rotation: rotationRecord{Kept: true}}
	st := following(v)
	if st.do != actKeepPassword || st.journal.Held == nil || st.journal.Held.Action != actPowerOn {
		t.Fatalf("following(...): does %q, %+v", st.do, st.journal)
	}
	v.j, v.seen = rotated(v, *st.journal, redfish.Receipt{})
	st = following(v)
	if st.do != actNone || !st.journal.gaveUp() || st.journal.Held != nil {
		t.Errorf("then: does %q, %+v; want it given up as before", st.do, st.journal)
	}
	v.j = st.journal
	if st := following(v); !st.idle() {
		t.Errorf("at last: does %q", st.do)
	}
}
