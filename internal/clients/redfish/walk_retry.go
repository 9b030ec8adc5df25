package redfish

import "context"

// stalled has a resource that wasn't answered tried again once all the others
// are read, or passed over, and then with it those that are left.
func (w *Walk) stalled(t task, err error) {
	w.stalls++
	if !t.again && IsUnreachable(err) {
		t.again = true
		w.retries = append(w.retries, t)

		return
	}
	w.missed(t, err)
	if w.final && w.stalls >= maxStalls {
		for _, t := range w.tasks {
			w.raw.Refuse(t.part)
		}
		w.tasks = nil
	}
}

// maxYields is how often a resource is broken off for others until it's passed
// over: once, and then in the end.
const maxYields = 3

// yielded has a resource read again that took so long that somebody else who
// waited for the BMC came first: at once, and then after all others.
func (w *Walk) yielded(t task, err error) {
	t.yields++
	switch {
	case t.yields > maxYields:
		w.missed(t, err)
	case t.yields == 1 && !w.final:
		w.tasks = append([]task{t}, w.tasks...)
	default:
		w.retries = append(w.retries, t)
	}
}

// missed notes a resource that isn't shown. Dangling links are normal.
func (w *Walk) missed(t task, err error) {
	switch {
	case t.instead != nil:
		t.instead(w, err)
	case !IsNotFound(err):
		w.raw.Refuse(t.part)
	}
}

// finish asks for what goes with the inventory. Where that isn't told several
// times, it goes without: nothing of what was read is worth less for it.
func (c *Client) finish(ctx context.Context, w *Walk) error {
	if w.done {
		return nil
	}
	_, rows, err := c.quirks(ctx, w.system)
	if err != nil && !yielded(ctx) {
		w.unnamed++
	}
	if err != nil && (!IsUnreachable(err) || w.unnamed < maxStalls) {
		return err
	}
	w.quirks, w.done = rows, true
	w.memory.settle()

	return nil
}

// Stuck says, of a Walk that ended with an error, whether going on is no use.
func (w *Walk) Stuck(err error) bool { return !IsUnreachable(err) || w.Stalled() }

// Stalled says whether too many reads in a row were without an answer.
func (w *Walk) Stalled() bool { return w.stalls >= maxStalls && !w.final }
