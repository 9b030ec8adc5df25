package redfishhost

// aheadOfRotation is what comes before a rotation that is on its way: whatever
// else is wanted of the machine. The rotation's act ends by that, and the record
// says that the password is to be tried afterwards. One of which nobody knows
// whether the BMC heard it waits for nothing but an off: it's soon known.
func aheadOfRotation(v view, j journal) (step, bool) {
	a := *j.Act
	switch {
	case v.want.leaving, v.initial:
		return step{}, false
	case a.Action == actSetPassword && (j.Rotation.Sent || mustGoOff(v)):
		j.Rotation.Sent, j.Rotation.Fresh = true, 0
	case a.Action != actKeepPassword:
		return step{}, false
	}
	st := begin(v, *finish(j, "").journal)

	return st, st.do != actNone && !facetIsRotation(st.do)
}

// keepMeanwhile has the password that the BMC may have made the one in use while
// something else waits, or stands in the way of all others: nothing is done to the
// machine by it. What was given up, or failed, is gone on with afterwards.
func keepMeanwhile(v view, j journal) step {
	if !v.seen.rotation.byNext && !j.Rotation.Sent {
		return step{}
	}
	st := beginRotation(v, j)
	if st.do != actKeepPassword {
		return step{}
	}
	if j.Act != nil && j.Act.State != done && !facetIsRotation(j.Act.Action) {
		held := *j.Act
		st.journal.Held = &held
	}

	return st
}

// besides is what may be done while an act that was given up stands in the way of
// all others: the BMC may be restarted, which is what one does then, and a password
// be kept. was is what is written down in any case.
func besides(v view, j journal, was step) step {
	if st := managerFacet.begin(v, j); !st.idle() {
		return st
	}
	if st := keepMeanwhile(v, j); !st.idle() {
		return st
	}

	return was
}

// unheld is a journal with the act that was held, once the one beside it is over.
func unheld(j journal) step {
	j.Act, j.Held = j.Held, nil

	return step{journal: &j, why: "what was given up before a password was kept still is"}
}
