package machine

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Action is what goes wrong at a stage.
type Action string

// The things that can go wrong.
const (
	Continue  Action = ""          // nothing, after Delay
	Hang      Action = "Hang"      // the machine stays where it is until it loses power or is reset, or Until is closed
	PowerLoss Action = "PowerLoss" // somebody pulls the plug; the machine stays off
	Reset     Action = "Reset"     // a watchdog resets it
	Fail      Action = "Fail"      // the step fails as if the network had
)

// Fault makes something go wrong when the machine reaches a stage.
type Fault struct {
	Stage  Stage
	Action Action
	Delay  time.Duration   // waited first
	Until  <-chan struct{} // ends a Hang when closed; nil: never
	Times  int             // how often it strikes; 0: every time
}

// These errors steer a boot; they are results, not failures.
var (
	errPowerLoss = errors.New("power lost")
	errPowerOff  = errors.New("the machine switched itself off")
	errReset     = errors.New("the machine was reset")
	errHalt      = errors.New("the machine stopped")
	errNext      = errors.New("the firmware goes on with its next boot device")
	errInjected  = errors.New("injected failure")
)

// Inject adds a fault. Faults of one stage strike in the order in which they were added, one each time it is reached.
func (m *Machine) Inject(f Fault) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.faults = append(m.faults, &f)
}

// ClearFaults removes every fault that hasn't struck.
func (m *Machine) ClearFaults() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.faults = nil
}

// take removes one strike of the first fault for s.
func (m *Machine) take(s Stage) (Fault, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, f := range m.faults {
		if f.Stage != s {
			continue
		}
		struck := *f
		if f.Times == 1 {
			m.faults = append(m.faults[:i:i], m.faults[i+1:]...)
		}
		if f.Times > 1 {
			f.Times--
		}
		return struck, true
	}
	return Fault{}, false
}

// at announces a stage and lets an injected fault strike. Its error ends the step.
func (m *Machine) at(ctx context.Context, s Stage, detail string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	m.update(func(st *Status) { st.Stage = s })
	m.note(s, detail)
	f, ok := m.take(s)
	if !ok {
		return nil
	}
	m.note(s, fmt.Sprintf("injected %q after %s", f.Action, f.Delay))
	if err := sleep(ctx, f.Delay); err != nil {
		return err
	}
	switch f.Action {
	case Hang:
		return m.hang(ctx, f.Until)
	case PowerLoss:
		return errPowerLoss
	case Reset:
		return errReset
	case Fail:
		return fmt.Errorf("at stage %s: %w", s, errInjected)
	case Continue:
	}
	return nil
}

// hang waits for until or the end of the boot; a graceful power-off isn't heard meanwhile.
func (m *Machine) hang(ctx context.Context, until <-chan struct{}) error {
	m.setDeaf(true)
	defer m.setDeaf(false)
	select {
	case <-until:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (m *Machine) setDeaf(deaf bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.deaf = deaf
}

// pause waits for d of simulated time.
func (m *Machine) pause(ctx context.Context, d time.Duration) error {
	return sleep(ctx, time.Duration(float64(d)*m.cfg.TimeScale))
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}
