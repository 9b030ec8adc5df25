package bmc_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

func (m *tried) secureBoot() (string, error) {
	s, err := m.now()
	if err != nil {
		return "", err
	}
	was, err := m.c.SecureBoot(m.t.Context(), s)
	if err != nil {
		return "", err
	}
	if err := m.c.SetSecureBoot(m.t.Context(), s, !was.Enabled); err != nil {
		return "", err
	}
	m.NextBoot(m.id)
	now, err := m.c.SecureBoot(m.t.Context(), s)
	if err == nil && now.Enabled == was.Enabled {
		err = errInVain
	}

	return atNextBoot, err
}

func (m *tried) indicator() (string, error) {
	s, err := m.now()
	if err != nil {
		return "", err
	}
	want := redfish.IndicatorLit
	if s.Indicator == want {
		want = redfish.IndicatorOff
	}
	if err := m.c.SetIndicator(m.t.Context(), s, want); err != nil {
		return "", err
	}
	if s.LED {
		return "`IndicatorLED`", nil
	}

	return "`LocationIndicatorActive`", nil
}

func (m *tried) tag() (string, error) {
	s, err := m.now()
	if err != nil {
		return "", err
	}

	return works, m.c.SetAssetTag(m.t.Context(), s, "DC1-R7")
}

func (m *tried) resetBMC() (string, error) {
	s, err := m.now()
	if err != nil {
		return "", err
	}
	if err := m.c.ResetBMC(m.t.Context(), s); err != nil {
		return "", err
	}
	if m.Counters().BMCResets != 1 {
		return "", errInVain
	}

	return m.wrote("ResetType"), nil
}

// taken is the way of the last write that the BMC took.
func (m *tried) taken() string {
	for _, w := range slices.Backward(m.FullWrites()) {
		if w.Status < http.StatusBadRequest {
			if w.Method == http.MethodPost {
				return w.Path[strings.LastIndex(w.Path, ".")+1:]
			}

			return w.Method
		}
	}

	return "nothing"
}

// disc inserts an image into the first empty drive for discs, and ejects it.
func (m *tried) disc() (string, error) {
	const image = "http://192.0.2.1/rescue.iso"
	s, err := m.now()
	if err != nil {
		return "", err
	}
	drive, err := m.drive(s, func(d redfish.Medium) bool { return d.Takes("CD") && !d.Inserted })
	if err != nil {
		return "", err
	}
	if err := m.insert(s, drive, image); err != nil {
		return "", err
	}
	how := m.taken()
	full, err := m.drive(s, func(d redfish.Medium) bool { return d.ID == drive.ID && d.Holds(image) })
	if err != nil {
		return "", errInVain
	}
	if _, err := m.c.EjectMedia(m.t.Context(), s, full); err != nil {
		return "", err
	}
	if _, err := m.drive(s, func(d redfish.Medium) bool { return d.ID == drive.ID && !d.Inserted }); err != nil {
		return "", errInVain
	}

	return "`" + how + "`", nil
}

func (m *tried) insert(s redfish.System, drive redfish.Medium, image string) error {
	_, err := m.c.InsertMedia(m.t.Context(), s, drive, redfish.Image{URL: image, Protect: true})

	return err
}

// drive is the first one that fits.
func (m *tried) drive(s redfish.System, fits func(redfish.Medium) bool) (redfish.Medium, error) {
	drives, err := m.c.Media(m.t.Context(), s)
	if err != nil {
		return redfish.Medium{}, err
	}
	for _, d := range drives {
		if fits(d) {
			return d, nil
		}
	}

	return redfish.Medium{}, &redfish.Error{Kind: redfish.Unsupported, Field: "empty drive for discs"}
}

// found is how the machine is: by its address alone, or by its id too.
func (m *tried) found() (string, error) {
	_, err := m.c.System(m.t.Context(), redfish.Selector{})
	if redfish.IsAmbiguous(err) {
		_, err = m.now()

		return "by id", err
	}

	return works, err
}

// look counts the requests of a look at a machine that is known.
func (m *tried) look() (string, error) {
	s, err := m.now()
	if err != nil {
		return "", err
	}
	before := m.Counters().Requests
	_, err = m.c.Find(m.t.Context(), redfish.Selector{ID: m.id}, s.URI)

	return fmt.Sprint(m.Counters().Requests - before), err
}

// read reads the inventory, so many times.
func (m *tried) read(times int) (redfish.Inventory, error) {
	s, err := m.now()
	if err != nil {
		return redfish.Inventory{}, err
	}
	memory := &redfish.Memory{}
	var inv redfish.Inventory
	for range times {
		const all = 1000
		w := redfish.NewWalk(s, memory)
		for done := false; !done; {
			if done, err = m.c.Walk(m.t.Context(), w, all); err != nil {
				return inv, err
			}
		}
		inv = w.Inventory()
	}

	return inv, nil
}

func (m *tried) inventory() (string, error) {
	inv, err := m.read(1)

	return fmt.Sprint(inv.Requests), err
}

// unchanged is how much of an inventory isn't sent when it's read for the second
// time.
func (m *tried) unchanged() (string, error) {
	inv, err := m.read(2)
	switch same := inv.Unchanged; {
	case 2*same > inv.Requests:
		return "most", err
	case 4*same > inv.Requests:
		return "some", err
	default:
		return "little or nothing", err
	}
}

func (m *tried) addresses() (string, error) {
	inv, err := m.read(1)

	return fmt.Sprint(len(inv.MACs)), err
}
