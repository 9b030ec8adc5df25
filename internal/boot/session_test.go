package boot

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestOpen(t *testing.T) {
	cases := map[string]struct {
		reason string
		s      *Session
		now    time.Time
		want   []string
		err    error
	}{
		"First":     {reason: "The first script of a grant opens it.", s: session(), want: []string{"n"}},
		"Next":      {reason: "A machine that was reset before it began gets another.", s: session(opened("a")), want: []string{"a", "n"}},
		"Fifth":     {reason: "The last one is still served.", s: session(opened("a", "b", "c", "d")), want: []string{"a", "b", "c", "d", "n"}},
		"Sixth":     {reason: "Then it's a loop, in which the fifth has ended.", s: session(opened("a", "b", "c", "d", "e")), want: []string{"a", "b", "c", "d", "e", "n"}, err: ErrBootLoop},
		"Seventh":   {reason: "It's noted once.", s: session(opened("a", "b", "c", "d", "e", "f")), want: []string{"a", "b", "c", "d", "e", "f"}, err: ErrBootLoop},
		"Reissued":  {reason: "A new grant starts to count anew.", s: session(opened("a"), func(s *Session) { s.Grant.ID = "00000000000000a2" }), want: []string{"n"}},
		"NoGrant":   {reason: "Nothing granted, nothing opened.", s: session(func(s *Session) { s.Grant = nil }), err: ErrNoGrant},
		"Revoked":   {reason: "A closed session opens nothing.", s: session(func(s *Session) { s.Revocation = "r" }), err: ErrRevoked},
		"Used":      {reason: "A used grant isn't opened again.", s: session(opened("a"), consumedBy("a")), err: ErrConsumed},
		"Regranted": {reason: "A restored provider that grants a used generation anew, under another id, opens nothing.", s: session(consumedBy("a"), regranted), err: ErrConsumed},
		"Late":      {reason: "An expired grant isn't opened.", s: session(), now: noon.Add(time.Hour), err: ErrExpired},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			now := tc.now
			if now.IsZero() {
				now = noon
			}
			before := len(tc.s.Opened)
			got, err := Open(*tc.s, "n", Exchange{Began: now}, "bootd-1", now)
			if !errors.Is(err, tc.err) {
				t.Fatalf("%s\nOpen(...): error %v, want %v", tc.reason, err, tc.err)
			}
			if err != nil && tc.want == nil {
				return
			}
			var nonces []string
			for _, o := range got.Opened {
				nonces = append(nonces, o.Nonce)
			}
			if diff := cmp.Diff(tc.want, nonces); diff != "" {
				t.Errorf("%s\nOpen(...): -want, +got:\n%s", tc.reason, diff)
			}
			if len(tc.s.Opened) != before || got.OpenedGrantID != got.Grant.ID {
				t.Errorf("%s\nOpen(...) changed its input, or names no grant", tc.reason)
			}
		})
	}
}

func TestConsume(t *testing.T) {
	cases := map[string]struct {
		reason string
		s      *Session
		nonce  string
		now    time.Time
		want   string
		err    error
	}{
		"First":        {reason: "The boot that was served last uses the grant.", s: session(opened("a")), nonce: "a", want: "a"},
		"Again":        {reason: "The same boot's retries change nothing.", s: session(opened("a"), consumedBy("a")), nonce: "a", want: "a"},
		"AgainLate":    {reason: "A long install goes on past the grant's expiry.", s: session(opened("a"), consumedBy("a")), nonce: "a", now: noon.Add(9 * time.Hour), want: "a"},
		"AfterClear":   {reason: "The same boot goes on when the provider has taken the used grant out.", s: session(opened("a"), consumedBy("a"), func(s *Session) { s.Grant = nil }), nonce: "a", want: "a"},
		"Other":        {reason: "Another boot can't use it again.", s: session(opened("a", "b"), consumedBy("a")), nonce: "b", err: ErrConsumed},
		"Superseded":   {reason: "Of several scripts only the newest counts.", s: session(opened("a", "b")), nonce: "a", err: ErrSuperseded},
		"Looped":       {reason: "The fifth boot has ended where the machine began a sixth.", s: session(opened("a", "b", "c", "d", "e", "n")), nonce: "e", err: ErrBootLoop},
		"LoopedNewest": {reason: "A boot that was given no script begins nothing.", s: session(opened("a", "b", "c", "d", "e", "n")), nonce: "n", err: ErrBootLoop},
		"NeverOpened":  {reason: "A token that no script held uses nothing.", s: session(), nonce: "a", err: ErrNoGrant},
		"OtherGrant":   {reason: "A token of an earlier grant uses nothing.", s: session(opened("a"), func(s *Session) { s.Grant.ID = "00000000000000a2" }), nonce: "a", err: ErrNoGrant},
		"Regranted":    {reason: "Nor is it used, whoever opened it.", s: session(consumedBy("a"), regranted, opened("b")), nonce: "b", err: ErrConsumed},
		"Revoked":      {reason: "Revoked before it was used.", s: session(opened("a"), func(s *Session) { s.Revocation = "r" }), nonce: "a", err: ErrRevoked},
		"RevokedUsed":  {reason: "Revoked while it was used: the boot gets nothing more.", s: session(opened("a"), consumedBy("a"), func(s *Session) { s.Revocation = "r" }), nonce: "a", err: ErrRevoked},
		"Late":         {reason: "Expired before it was used.", s: session(opened("a")), nonce: "a", now: noon.Add(time.Hour), err: ErrExpired},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			now := tc.now
			if now.IsZero() {
				now = noon
			}
			got, err := Consume(*tc.s, claimsOf(tc.nonce), "bootd-2", now)
			if !errors.Is(err, tc.err) {
				t.Fatalf("%s\nConsume(...): error %v, want %v", tc.reason, err, tc.err)
			}
			if err == nil && got.Consumed.Nonce != tc.want {
				t.Errorf("%s\nConsume(...): used by %q, want %q", tc.reason, got.Consumed.Nonce, tc.want)
			}
			if err != nil && !cmp.Equal(*tc.s, got) {
				t.Errorf("%s\nConsume(...) refused and changed the session: %s", tc.reason, cmp.Diff(*tc.s, got))
			}
		})
	}
}

// regranted is a provider that was restored, and grants the same generation under another id.
func regranted(s *Session) { s.Consumed.GrantID = "00000000000000a0" }

func TestReport(t *testing.T) {
	cases := map[string]struct {
		reason    string
		s         *Session
		nonce     string
		ok        bool
		installed bool
		failed    bool
		err       error
	}{
		"Installed":        {reason: "The boot that used the grant says so.", s: session(consumedBy("a")), nonce: "a", ok: true, installed: true},
		"Failed":           {reason: "It may say that it failed.", s: session(consumedBy("a")), nonce: "a", failed: true},
		"FailedThenDone":   {reason: "A retry that works in the end counts.", s: session(consumedBy("a"), func(s *Session) { s.Failed = &Result{GrantID: "00000000000000a1"} }), nonce: "a", ok: true, installed: true},
		"DoneThenFailed":   {reason: "A late failure doesn't unsay an install.", s: session(consumedBy("a"), installed), nonce: "a", installed: true},
		"Stranger":         {reason: "Another boot's word doesn't count.", s: session(consumedBy("a")), nonce: "b", ok: true, err: ErrConsumed},
		"NothingUsed":      {reason: "Nobody is installed by a word alone.", s: session(opened("a")), nonce: "a", ok: true, err: ErrNoGrant},
		"RevokedMeanwhile": {reason: "A late callback of a released machine is refused.", s: session(consumedBy("a"), func(s *Session) { s.Revocation = "r" }), nonce: "a", ok: true, err: ErrRevoked},
		"RaisedMeanwhile":  {reason: "An install that was done before its generation was raised, and is told a moment after, was done.", s: session(consumedBy("a"), func(s *Session) { s.Grant.ID = "00000000000000a2" }), nonce: "a", ok: true, installed: true},
		"NewerBegan":       {reason: "Once a newer generation's boot has begun, the word of the one before is late.", s: session(consumedBy("a"), func(s *Session) { s.Grant.ID, s.OpenedGrantID = "00000000000000a2", "00000000000000a2" }), nonce: "a", ok: true, err: ErrNoGrant},
		"RestoredToBefore": {reason: "A backup of etcd put back the grant of before, whose script was served once: what was used since goes on, and ends.", s: session(consumedBy("a"), func(s *Session) {
			s.Grant.ID, s.OpenedGrantID = "00000000000000a0", "00000000000000a0"
			s.Grant.Generation, s.Consumed.Generation = 1, 2
		}), nonce: "a", ok: true, installed: true},
		"NothingEverHeldIt": {reason: "A token without a grant installs nothing.", s: &Session{}, nonce: "a", ok: true, err: ErrNoGrant},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Report(*tc.s, claimsOf(tc.nonce), tc.ok, "disk is full", noon)
			if !errors.Is(err, tc.err) {
				t.Fatalf("%s\nReport(...): error %v, want %v", tc.reason, err, tc.err)
			}
			if err != nil {
				return
			}
			if (got.Installed != nil) != tc.installed || (got.Failed != nil) != tc.failed {
				t.Errorf("%s\nReport(...): installed %v, failed %v", tc.reason, got.Installed, got.Failed)
			}
		})
	}
}

func TestRestore(t *testing.T) {
	mine := Consumption{GrantID: "00000000000000a1", EntryUID: "entry", HostUID: "host", Generation: 1, Nonce: "a", At: noon}
	older := mine
	older.GrantID, older.At = "00000000000000a0", noon.Add(-time.Hour)
	first := mine
	second := mine
	second.GrantID, second.Generation, second.At = "00000000000000a2", 2, noon.Add(time.Hour)
	skewed := second
	skewed.At = noon.Add(-time.Hour)
	cases := map[string]struct {
		reason  string
		s       *Session
		log     []Consumption
		want    *Consumption
		changed bool
	}{
		"Lost":      {reason: "What the session forgot is written back.", s: session(), log: []Consumption{mine}, want: &mine, changed: true},
		"Newest":    {reason: "Of several the newest is.", s: session(), log: []Consumption{older, mine}, want: &mine, changed: true},
		"Known":     {reason: "What the session knows stays.", s: session(func(s *Session) { s.Consumed = &mine }), log: []Consumption{mine}, want: &mine},
		"Newer":     {reason: "A newer one in the session stays.", s: session(func(s *Session) { s.Consumed = &mine }), log: []Consumption{older}, want: &mine},
		"Unordered": {reason: "The log may have heard of the older one last.", s: session(func(s *Session) { s.Consumed = &first }), log: []Consumption{second, first}, want: &second, changed: true},
		"Skewed":    {reason: "The generation tells what is newer, not the clocks of two bootds.", s: session(func(s *Session) { s.Consumed = &first }), log: []Consumption{skewed}, want: &skewed, changed: true},
		"Others":    {reason: "Other entries' don't matter.", s: session(), log: []Consumption{{EntryUID: "other", At: noon}}},
		"Nothing":   {reason: "An empty log changes nothing.", s: session()},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, changed := Restore(*tc.s, tc.log)
			if changed != tc.changed {
				t.Errorf("%s\nRestore(...): changed %t, want %t", tc.reason, changed, tc.changed)
			}
			if diff := cmp.Diff(tc.want, got.Consumed, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s\nRestore(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestAcknowledge(t *testing.T) {
	cases := map[string]struct {
		reason  string
		s       Session
		want    string
		changed bool
	}{
		"Open":  {reason: "Nothing was revoked."},
		"New":   {reason: "A revocation is repeated.", s: Session{Revocation: "r2", Acknowledged: "r1"}, want: "r2", changed: true},
		"Known": {reason: "Once is enough.", s: Session{Revocation: "r1", Acknowledged: "r1"}, want: "r1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, changed := Acknowledge(tc.s)
			if got.Acknowledged != tc.want || changed != tc.changed {
				t.Errorf("%s\nAcknowledge(...) = %q, %t; want %q, %t", tc.reason, got.Acknowledged, changed, tc.want, tc.changed)
			}
		})
	}
}
