package inventory

import (
	"cmp"
	"slices"
	"strings"
)

// maxSensors bounds the temperatures of one machine.
const maxSensors = 8

// Readings are what sensors said while an inventory was read. They change all
// the time, and so are metrics and never status.
type Readings struct {
	// Watts that the machine takes; 0 where nobody tells.
	Watts        float64
	Temperatures []Temperature
}

// Temperature is that of one sensor.
type Temperature struct {
	Sensor  string
	Celsius float64
}

// ThermalBody is a chassis' Thermal.
type ThermalBody struct{ Temperatures sensors }

// EnvironmentBody is a chassis' EnvironmentMetrics.
type EnvironmentBody struct {
	Power       struct{ Reading number } `json:"PowerWatts"`
	Temperature struct{ Reading number } `json:"TemperatureCelsius"`
}

// sensor is one of Thermal.
type sensor struct {
	Name    text
	Context text   `json:"PhysicalContext"`
	Celsius number `json:"ReadingCelsius"`
	Status  Status
}

// control is one of Power's.
type control struct {
	Watts number `json:"PowerConsumedWatts"`
}

type (
	sensors  []sensor
	controls []control
)

// UnmarshalJSON implements json.Unmarshaler; it never fails.
func (s *sensors) UnmarshalJSON(b []byte) error {
	*s = decodeList[sensor](b)

	return nil
}

// UnmarshalJSON implements json.Unmarshaler; it never fails.
func (c *controls) UnmarshalJSON(b []byte) error {
	*c = decodeList[control](b)

	return nil
}

// Power adds a chassis' Power: its supplies, and what it takes.
func (r *Raw) Power(b PowerBody) {
	r.Supplies = append(r.Supplies, b.PowerSupplies...)
	// The first one is the whole; others are parts of it (Lenovo).
	if len(b.Control) > 0 && r.watts == 0 {
		r.watts = sane(b.Control[0].Watts)
	}
}

// Thermal adds a chassis' temperatures.
func (r *Raw) Thermal(b ThermalBody) { r.sensors = append(r.sensors, b.Temperatures...) }

// Environment adds what a chassis says where it has no Power.
func (r *Raw) Environment(b EnvironmentBody) {
	if r.watts == 0 {
		r.watts = sane(b.Power.Reading)
	}
	r.sensors = append(r.sensors, sensor{Name: "Chassis", Celsius: b.Temperature.Reading})
}

// sane is a reading that can be: firmware has 0 and 65535 for none.
func sane(n number) float64 {
	const most = 60_000
	if !n.Known || n.Value < 0 || n.Value > most {
		return 0
	}

	return n.Value
}

// contexts of sensors, those that say most of a machine first.
var contexts = []string{"Intake", "CPU", "GPU", "Exhaust", "SystemBoard", "Memory", "Chassis", "Room"} //nolint:gochecknoglobals // A table.

func (r *Raw) readings() Readings {
	rank := func(s sensor) int {
		if i := slices.IndexFunc(contexts, func(c string) bool { return strings.EqualFold(c, string(s.Context)) }); i >= 0 {
			return i
		}

		return len(contexts)
	}
	found := slices.Clone(r.sensors)
	slices.SortStableFunc(found, func(a, b sensor) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(string(a.Name), string(b.Name)))
	})
	out := Readings{Watts: r.watts}
	for _, s := range found {
		t := Temperature{Sensor: word(s.Name), Celsius: sane(s.Celsius)}
		known := func(o Temperature) bool { return o.Sensor == t.Sensor }
		if t.Sensor == "" || t.Celsius == 0 || oneOf(s.Status.State, "Absent", "Disabled") != "" || slices.ContainsFunc(out.Temperatures, known) {
			continue
		}
		if out.Temperatures = append(out.Temperatures, t); len(out.Temperatures) == maxSensors {
			break
		}
	}

	return out
}
