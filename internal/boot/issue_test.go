package boot

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// issueFacts is a machine that is granted and waits for its boot.
func issueFacts(change ...func(*IssueFacts)) IssueFacts {
	rec := GrantRecord{EntryUID: "entry", HostUID: "host", Generation: 1, GrantID: "00000000000000a1", SessionUID: "session"}
	host := rec
	f := IssueFacts{
		Now: noon, EntryUID: "entry", HostUID: "host", Serial: "ABC123", Generation: 1, PlanDigest: plan().Digest(), Installs: true,
		Session: session(), EntryGranted: &rec, HostGranted: &host, HostOff: true,
	}
	for _, c := range change {
		c(&f)
	}
	return f
}

func fresh(f *IssueFacts) {
	f.EntryGranted, f.HostGranted = nil, nil
	f.Session.Grant = nil
}

func on(f *IssueFacts)        { f.HostOn, f.HostOff = true, false }
func raised(f *IssueFacts)    { f.Generation = 2 }
func answer(f *IssueFacts)    { f.Answered = true }
func noSession(f *IssueFacts) { f.Session = nil }

// replaced is a started machine whose plan changed: another grant of the same generation is decided.
func replaced(f *IssueFacts) {
	r := GrantRecord{EntryUID: "entry", HostUID: "host", Generation: 1, GrantID: "00000000000000b2", SessionUID: "session", Issuing: true}
	f.PoweredOn, f.PlanDigest, f.EntryGranted, f.HostGranted = true, "sha256:new", &r, &r
}

// loaded is a machine that was given its script so long ago.
func loaded(ago time.Duration) func(*IssueFacts) {
	return func(f *IssueFacts) {
		f.Session.OpenedGrantID, f.Session.Opened = "00000000000000a1", []Opened{{Nonce: "a", At: noon.Add(-ago)}}
	}
}

func TestNextIssue(t *testing.T) {
	record := func(entry string, generation int64, id string, issuing bool) *GrantRecord {
		return &GrantRecord{EntryUID: entry, HostUID: "host", Generation: generation, GrantID: id, SessionUID: "session", Issuing: issuing}
	}
	install := func(entry string, generation int64) *InstallRecord {
		return &InstallRecord{EntryUID: entry, HostUID: "host", Generation: generation, Serial: "ABC123"}
	}
	cases := map[string]struct {
		reason string
		facts  IssueFacts
		want   Issue
	}{
		"NewMachine":     {"A machine without records that is off is new.", issueFacts(fresh), Issue{StepRecordHost, IssueGranted}},
		"NewNoSession":   {"A grant needs a session to go to.", issueFacts(fresh, noSession), Issue{StepCreateSession, IssueGranted}},
		"NewOn":          {"A machine found on without a record may hold data.", issueFacts(fresh, on), Issue{StepAsk, IssueHostOn}},
		"NewOnAnswered":  {"A person may say that it's meant.", issueFacts(fresh, on, answer), Issue{StepRecordHost, IssueGranted}},
		"NewUnknown":     {"A BMC that doesn't answer isn't Off.", issueFacts(fresh, func(f *IssueFacts) { f.HostOff = false }), Issue{StepWait, IssuePowerUnknown}},
		"NothingAsked":   {"Generation 0 asks for nothing.", issueFacts(fresh, func(f *IssueFacts) { f.Generation = 0 }), Issue{StepNone, IssueNothingAsked}},
		"Live":           {"A live machine needs no grant.", issueFacts(fresh, func(f *IssueFacts) { f.Installs = false }), Issue{StepNone, IssueNothingAsked}},
		"Incomplete":     {"Without a plan there's nothing to grant.", issueFacts(fresh, func(f *IssueFacts) { f.PlanDigest = "" }), Issue{StepNone, IssueNothingAsked}},
		"Closing":        {"A claim that goes gets nothing more.", issueFacts(fresh, func(f *IssueFacts) { f.Closing = true }), Issue{StepNone, IssueNothingAsked}},
		"CrashAfterHost": {"The host's record decides: the entry's follows, with the same id.", issueFacts(fresh, func(f *IssueFacts) { f.HostGranted = record("entry", 1, "00000000000000a1", true) }), Issue{StepRecordEntry, IssueGranted}},
		"CrashAfterEntry": {"Both recorded: the grant is written.", issueFacts(fresh, func(f *IssueFacts) {
			f.HostGranted = record("entry", 1, "00000000000000a1", true)
			f.EntryGranted = f.HostGranted
		}), Issue{StepGrant, IssueGranted}},
		"CrashAfterGrant":  {"Written already: it's marked, not written twice.", issueFacts(func(f *IssueFacts) { f.HostGranted.Issuing, f.EntryGranted.Issuing = true, true }), Issue{StepIssued, IssueGranted}},
		"Granted":          {"All is said: the machine's turn.", issueFacts(), Issue{StepNone, IssueGranted}},
		"PlanChanged":      {"An unused grant of another plan is issued anew.", issueFacts(func(f *IssueFacts) { f.PlanDigest = "sha256:new" }), Issue{StepRecordHost, IssueGranted}},
		"UsedPlanChanged":  {"A used one never is.", issueFacts(func(f *IssueFacts) { f.PlanDigest = "sha256:new"; consumedBy("a")(f.Session) }), Issue{StepNone, IssueInstalling}},
		"Expired":          {"An expired one is issued anew, if its machine wasn't started for it.", issueFacts(func(f *IssueFacts) { f.Now = noon.Add(2 * time.Hour) }), Issue{StepRecordHost, IssueGranted}},
		"ExpiredStarted":   {"If it was, a person raises the generation.", issueFacts(func(f *IssueFacts) { f.Now, f.PoweredOn = noon.Add(2*time.Hour), true }), Issue{StepWait, IssueGrantExpired}},
		"Installing":       {"A used grant is left alone.", issueFacts(on, func(f *IssueFacts) { consumedBy("a")(f.Session) }), Issue{StepNone, IssueInstalling}},
		"SessionDeleted":   {"A granted session that is gone asks.", issueFacts(noSession), Issue{StepAsk, IssueSessionLost}},
		"SessionReplaced":  {"One of the same name isn't it.", issueFacts(func(f *IssueFacts) { f.Session.UID = "other" }), Issue{StepAsk, IssueSessionLost}},
		"GrantLost":        {"A session that forgot the grant asks.", issueFacts(func(f *IssueFacts) { f.Session.Grant = nil }), Issue{StepAsk, IssueGrantLost}},
		"LostWhileIssuing": {"The crash of an issue doesn't excuse a lost session.", issueFacts(noSession, func(f *IssueFacts) { f.HostGranted.Issuing, f.EntryGranted.Issuing = true, true }), Issue{StepAsk, IssueSessionLost}},
		"RestoredEntry":    {"Records of an entry with another UID aren't trusted.", issueFacts(func(f *IssueFacts) { f.EntryUID = "restored" }), Issue{StepAsk, IssueForeignRecord}},
		"RestoredHost":     {"Nor are those of another host object.", issueFacts(func(f *IssueFacts) { f.HostUID = "restored" }), Issue{StepAsk, IssueForeignRecord}},
		"HostOfAnother":    {"A host that carries another entry's record asks.", issueFacts(fresh, func(f *IssueFacts) { f.HostGranted = record("other", 3, "00000000000000ff", false) }), Issue{StepAsk, IssueForeignRecord}},
		"HostInstalled":    {"So does one that carries another's install.", issueFacts(fresh, func(f *IssueFacts) { f.HostInstalled = install("other", 1) }), Issue{StepAsk, IssueForeignRecord}},
		"HostForgot":       {"A host that lost the record that its entry has asks.", issueFacts(func(f *IssueFacts) { f.HostGranted = nil }), Issue{StepAsk, IssueMissingRecord}},
		"EntryForgot":      {"So does an entry that lost the record that its host has.", issueFacts(func(f *IssueFacts) { f.EntryGranted = nil }), Issue{StepAsk, IssueMissingRecord}},
		"Unreadable":       {"A record that can't be read is nobody's.", issueFacts(func(f *IssueFacts) { f.EntryGranted = &GrantRecord{} }), Issue{StepAsk, IssueForeignRecord}},
		"RestoredAnswered": {"A confirmed machine with an install of this generation is taken over as it runs.", issueFacts(answer, on, func(f *IssueFacts) { f.EntryUID = "restored"; f.HostInstalled = install("entry", 1) }), Issue{StepAdopt, IssueInstalled}},
		"RaisedAnswered":   {"Where more is asked than runs there, it's granted.", issueFacts(answer, on, raised, func(f *IssueFacts) { f.EntryUID = "entry2"; f.HostInstalled = install("entry", 1) }), Issue{StepRecordHost, IssueGranted}},
		"AnsweredCrash": {"An answered grant goes on after a crash.", issueFacts(func(f *IssueFacts) {
			f.EntryUID = "entry2"
			f.HostGranted = record("entry2", 1, "00000000000000c1", true)
		}), Issue{StepRecordEntry, IssueGranted}},
		"Raised": {"Raising the generation asks for one install, on a machine that is on.", issueFacts(on, raised, func(f *IssueFacts) {
			f.EntryInstalled, f.HostInstalled = install("entry", 1), install("entry", 1)
			f.Session.Grant = nil
		}), Issue{StepRecordHost, IssueGranted}},
		"RaisedWaits": {"The grant that was decided waits until the host was seen off.", issueFacts(on, raised, func(f *IssueFacts) {
			f.EntryGranted = record("entry", 2, "00000000000000b2", true)
			f.HostGranted, f.Session.Grant = f.EntryGranted, nil
		}), Issue{StepWait, IssueHostNotOff}},
		"RaisedWithdraws": {"An unused grant is taken back before its machine is switched off.", issueFacts(on, raised, func(f *IssueFacts) {
			f.EntryGranted = record("entry", 2, "00000000000000b2", true)
			f.HostGranted = f.EntryGranted
		}), Issue{StepWithdraw, IssueHostNotOff}},
		"RaisedOff": {"Off, it's given.", issueFacts(raised, func(f *IssueFacts) {
			f.EntryGranted = record("entry", 2, "00000000000000b2", true)
			f.HostGranted = f.EntryGranted
		}), Issue{StepGrant, IssueGranted}},
		"RawRaised": {"Nobody can switch off a machine that is named by its MACs.", issueFacts(raised, func(f *IssueFacts) {
			f.EntryGranted = record("entry", 2, "00000000000000b2", true)
			f.Raw, f.HostOff, f.HostGranted = true, false, nil
		}), Issue{StepGrant, IssueGranted}},
		"StartedPlanChanged": {"A machine that was started for this generation and asked for no script yet goes on by the new plan.", issueFacts(on, replaced), Issue{StepGrant, IssueGranted}},
		"LoadingPlanChanged": {"One that loads by a script that counts no more is switched off first; nothing can be used meanwhile.", issueFacts(on, replaced, loaded(time.Minute)), Issue{StepWithdraw, IssueHostNotOff}},
		"LoadingWithdrawn":   {"It's waited for.", issueFacts(on, replaced, loaded(time.Minute), func(f *IssueFacts) { f.Session.Grant = nil }), Issue{StepWait, IssueHostNotOff}},
		"LoopedLongAgo": {"So may one that was given its last script long ago, and has asked for another since.", issueFacts(on, replaced, loaded(time.Hour), func(f *IssueFacts) {
			f.Session.Opened = append(slices.Repeat(f.Session.Opened, MaxOpens), Opened{Nonce: "f", At: noon})
		}), Issue{StepGrant, IssueGranted}},
		"LoadedLongAgo": {"One that was given its script long ago may run anything, and isn't switched off for it.", issueFacts(on, replaced, loaded(time.Hour)), Issue{StepGrant, IssueGranted}},
		"ExpiredPlanChanged": {"What expired on a machine that was started stays so, whatever its plan is by now.", issueFacts(on, func(f *IssueFacts) {
			f.Now, f.PoweredOn, f.PlanDigest = noon.Add(2*time.Hour), true, "sha256:new"
		}), Issue{StepWait, IssueGrantExpired}},
		"EntryLags":       {"The host's record says that the grant was given; the entry's follows with the install.", issueFacts(func(f *IssueFacts) { f.EntryGranted.Issuing = true }), Issue{StepNone, IssueGranted}},
		"EntryLagsLost":   {"So a grant that is gone is lost, and isn't given a second time.", issueFacts(func(f *IssueFacts) { f.EntryGranted.Issuing = true; f.Session.Grant = nil }), Issue{StepAsk, IssueGrantLost}},
		"UsedAtLast":      {"A grant that was used before it could be taken back isn't followed by another.", issueFacts(on, replaced, loaded(time.Minute), func(f *IssueFacts) { consumedBy("a")(f.Session) }), Issue{StepIssued, IssueGranted}},
		"RaisedNoSession": {"A new generation may have a new session.", issueFacts(on, raised, noSession), Issue{StepCreateSession, IssueGranted}},
		"Lowered":         {"A lowered generation asks for nothing.", issueFacts(func(f *IssueFacts) { f.EntryGranted.Generation, f.HostGranted.Generation = 2, 2 }), Issue{StepWait, IssueGenerationLowered}},
		"JustInstalled":   {"The session's install is recorded.", issueFacts(on, func(f *IssueFacts) { consumedBy("a")(f.Session); installed(f.Session) }), Issue{StepRecordInstalled, IssueInstalled}},
		"HalfRecorded":    {"On both.", issueFacts(on, func(f *IssueFacts) { installed(f.Session); f.HostInstalled = install("entry", 1) }), Issue{StepRecordInstalled, IssueInstalled}},
		"RecordedClear": {"Then the used grant is taken out.", issueFacts(on, func(f *IssueFacts) {
			installed(f.Session)
			f.HostInstalled, f.EntryInstalled = install("entry", 1), install("entry", 1)
		}), Issue{StepClear, IssueInstalled}},
		"Settled": {"Then there's nothing left to do.", issueFacts(on, func(f *IssueFacts) {
			installed(f.Session)
			f.HostInstalled, f.EntryInstalled = install("entry", 1), install("entry", 1)
			f.Session.Grant = nil
		}), Issue{StepNone, IssueInstalled}},
		"GivenBackAndBoundAgain": {"A host that lost the record of an install was given back, and may have been another's since.", issueFacts(func(f *IssueFacts) {
			installed(f.Session)
			f.Session.Grant, f.EntryInstalled, f.HostGranted = nil, install("entry", 1), nil
		}), Issue{StepAsk, IssueMissingRecord}},
		"AnothersSince": {"All the more where another's record is there.", issueFacts(func(f *IssueFacts) {
			installed(f.Session)
			f.Session.Grant, f.EntryInstalled = nil, install("entry", 1)
			f.HostGranted, f.HostInstalled = record("other", 1, "00000000000000ff", false), install("other", 1)
		}), Issue{StepAsk, IssueForeignRecord}},
		"GrantRecordGone": {"An entry that remembers an install and no grant isn't new.", issueFacts(fresh, func(f *IssueFacts) { f.EntryInstalled = install("entry", 1) }), Issue{StepAsk, IssueMissingRecord}},
		"InstalledElsewhere": {"The session's install on another host is none on this one.", issueFacts(func(f *IssueFacts) {
			consumedBy("a")(f.Session)
			installed(f.Session)
			f.HostUID, f.EntryInstalled, f.HostGranted = "host2", install("entry", 1), nil
		}), Issue{StepAsk, IssueForeignRecord}},
		"HostRecordOlder": {"A host whose record is older is brought up to date.", issueFacts(on, func(f *IssueFacts) {
			installed(f.Session)
			f.HostInstalled, f.EntryInstalled = install("entry", 0), install("entry", 1)
		}), Issue{StepRecordInstalled, IssueInstalled}},
		"SettledNoSession":  {"A deleted session of an installed machine asks for nothing.", issueFacts(on, noSession, func(f *IssueFacts) { f.HostInstalled, f.EntryInstalled = install("entry", 1), install("entry", 1) }), Issue{StepNone, IssueInstalled}},
		"ReopenedUnbound":   {"A session that was closed stays so while its claim isn't bound.", issueFacts(func(f *IssueFacts) { f.Session.Revocation, f.Closing = "r", true }), Issue{StepNone, IssueNothingAsked}},
		"Reopened":          {"Bound again, it's opened, empty.", issueFacts(func(f *IssueFacts) { f.Session.Revocation = "r" }), Issue{StepReopen, IssueGranted}},
		"RawNew":            {"An operator's raw MACs have no host to ask.", issueFacts(fresh, func(f *IssueFacts) { f.Raw, f.HostOff = true, false }), Issue{StepRecordHost, IssueGranted}},
		"RawGranted":        {"Their record is the entry's alone.", issueFacts(func(f *IssueFacts) { f.Raw, f.HostGranted = true, nil }), Issue{StepNone, IssueGranted}},
		"RestoredSameGrant": {"A session that was restored to before the use still holds the grant; bootd's log stands against it.", issueFacts(on), Issue{StepNone, IssueGranted}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, NextIssue(tc.facts)); diff != "" {
				t.Errorf("%s\nNextIssue(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
