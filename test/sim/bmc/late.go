package bmc

import "time"

// arrival is an image that a BMC is fetching.
type arrival struct {
	slot string
	due  time.Time
	fill func(slot object)
}

// arrive puts the images into their drives that are there by now.
func (b *BMC) arrive() {
	var later []arrival
	for _, a := range b.arriving {
		if b.cfg.Now().Before(a.due) {
			later = append(later, a)

			continue
		}
		b.store.change(a.slot, a.fill)
	}
	b.arriving = later
}
