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
