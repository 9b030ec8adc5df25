package netbox

import (
	"fmt"
	"maps"
	"net/http"
)

// createList makes all of a list or none. Before 4.7 all are checked before the first is made, so that one address twice in one list
// passes (703).
func (c *exchange) createList(items []any) *response {
	var out []Address
	var wrong []complaint
	undo := c.begin()
	for i, item := range items {
		m, ok := item.(map[string]any)
		if !ok {
			wrong = append(wrong, complaint{index: i, errors: map[string]any{c.s.traits.wholeRecord(): []string{notDictionary(item)}}})
			continue
		}
		a, res := c.create(m)
		if res != nil && res.status != http.StatusBadRequest {
			undo()
			return res
		}
		if res != nil {
			wrong = append(wrong, complaint{index: i, errors: res.body})
			continue
		}
		if c.s.traits.bulkReports() {
			a = c.store(a)
		}
		out = append(out, a)
	}
	if len(wrong) > 0 {
		undo()
		return c.refuseList(len(items), wrong, "could not be created")
	}
	made := []any{}
	for _, a := range out {
		if a.ID == 0 {
			a = c.store(a)
		}
		c.s.changed(c.author(), nil, &a)
		made = append(made, c.renderAddress(a))
	}
	return answer(http.StatusCreated, made)
}

// begin remembers the addresses, for a list of which one item is refused.
func (c *exchange) begin() (undo func()) {
	before := maps.Clone(c.s.state.addresses)
	next := c.s.state.next["address"]
	return func() { c.s.state.addresses, c.s.state.next["address"] = before, next }
}

// A complaint is about one item of a list, by its place or by its number.
type complaint struct {
	index  int
	id     int64
	errors any
}

// refuseList writes complaints as the version does: a list with {} for the good ones, or from 4.7 on a report.
func (c *exchange) refuseList(n int, wrong []complaint, what string) *response {
	if !c.s.traits.bulkReports() {
		out := make([]any, n)
		for i := range out {
			out[i] = map[string]any{}
		}
		for _, w := range wrong {
			out[w.index] = w.errors
		}
		return answer(http.StatusBadRequest, out)
	}
	var errors []any
	for _, w := range wrong {
		m := map[string]any{"errors": w.errors, "index": w.index}
		if w.id != 0 {
			m = map[string]any{"errors": w.errors, "id": w.id}
		}
		errors = append(errors, m)
	}
	return answer(http.StatusBadRequest, map[string]any{"detail": fmt.Sprintf("%d of %d objects %s.", len(wrong), n, what), "errors": errors})
}

// numbered reads a list of objects with numbers, and finds their records. What isn't there is skipped, or from 4.7 on refused.
func (c *exchange) numbered() (records []Address, wishes []map[string]any, res *response) {
	v, res := c.json()
	if res != nil {
		return nil, nil, res
	}
	items, ok := v.([]any)
	if !ok && c.s.traits.bulkReports() {
		return nil, nil, detail(http.StatusBadRequest, "Expected a list of objects, but no data was submitted.")
	}
	if !ok {
		return nil, nil, fieldError("non_field_errors", `Expected a list of items but got type "dict".`)
	}
	var wrong, absent []complaint
	for i, item := range items {
		m, ok := item.(map[string]any)
		id, known := m["id"].(float64)
		switch {
		case !ok:
			wrong = append(wrong, complaint{index: i, errors: map[string]any{c.s.traits.wholeRecord(): []string{notDictionary(item)}}})
			continue
		case !known:
			wrong = append(wrong, complaint{index: i, errors: map[string]any{"id": []string{"This field is required."}}})
			continue
		}
		a, found := c.s.state.addresses[int64(id)]
		if !found || !c.token.sees(a) {
			why := fmt.Sprintf("Object with ID %d does not exist", int64(id))
			absent = append(absent, complaint{id: int64(id), errors: map[string]any{"id": []string{why}}})
			continue
		}
		records, wishes = append(records, a), append(wishes, m)
	}
	switch {
	case len(wrong) > 0:
		return nil, nil, c.refuseList(len(items), wrong, "failed validation")
	case len(absent) > 0 && c.s.traits.bulkReports():
		return nil, nil, c.refuseList(len(items), absent, "could not be found")
	}
	return records, wishes, nil
}

// changeAddresses is PATCH and PUT of a list: one after the other, all or none (704 to 708, 713).
func (c *exchange) changeAddresses() *response {
	records, wishes, res := c.numbered()
	if res != nil {
		return res
	}
	undo := c.begin()
	var changed []Address
	for i, a := range records {
		m := wishes[i]
		delete(m, "id")
		a, res := c.apply(a, m)
		if res == nil && !c.token.writes(a) {
			res = noRight()
		}
		if res != nil {
			undo()
			if res.status == http.StatusBadRequest && c.s.traits.bulkReports() {
				return c.refuseList(len(records), []complaint{{id: a.ID, errors: res.body}}, "could not be updated")
			}
			return res
		}
		changed = append(changed, c.store(a))
	}
	out := []any{}
	for i, a := range changed {
		c.s.changed(c.author(), &records[i], &a)
		out = append(out, c.renderAddress(a))
	}
	return answer(http.StatusOK, out)
}

// deleteAddresses deletes a list (709 to 712).
func (c *exchange) deleteAddresses() *response {
	records, _, res := c.numbered()
	if res != nil {
		return res
	}
	for _, a := range records {
		c.s.dropAddress(a, c.author())
	}
	return answer(http.StatusNoContent, nil)
}
