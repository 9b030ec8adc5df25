// Package bmc is a Redfish BMC emulator: sessions, power, one-shot boot override and inventory in front of any Machine.
package bmc

import "sync"

// BootTarget is what a machine boots next, in the words of Redfish's
// ComputerSystem.BootSource. The empty target is the normal boot order.
type BootTarget string

// The boot targets that an emulated BMC offers.
const (
	BootNormal    BootTarget = ""
	BootPxe       BootTarget = "Pxe"
	BootUefiHTTP  BootTarget = "UefiHttp"
	BootHdd       BootTarget = "Hdd"
	BootCd        BootTarget = "Cd"
	BootBiosSetup BootTarget = "BiosSetup"
)

// Machine is what stands behind an emulated BMC: an in-process simulated
// machine or a QEMU process. The emulator never calls it with a lock held, and
// may call it from several goroutines.
type Machine interface {
	// On powers the machine on and boots target once ("" = its normal boot
	// order). Returns at once.
	On(target BootTarget) error
	// Off removes power; graceful asks the OS, which may take a moment or
	// (injected) be ignored.
	Off(graceful bool) error
	// Restart resets a running machine and boots target once.
	Restart(target BootTarget) error
	// Powered says whether the machine has power now.
	Powered() bool
}

// Idle is the simplest Machine: it has power or not and remembers what it was
// told to boot. The zero value is a machine that is off.
type Idle struct {
	mu      sync.Mutex
	powered bool
	boots   []BootTarget
}

// On implements Machine.
func (m *Idle) On(target BootTarget) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.powered = true
	m.boots = append(m.boots, target)

	return nil
}

// Off implements Machine: an idle machine's OS obeys at once.
func (m *Idle) Off(bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.powered = false

	return nil
}

// Restart implements Machine.
func (m *Idle) Restart(target BootTarget) error { return m.On(target) }

// Powered implements Machine.
func (m *Idle) Powered() bool {
	m.mu.Lock()
	defer m.mu.Unlock()

	return m.powered
}

// Boots returns what the machine was told to boot, oldest first.
func (m *Idle) Boots() []BootTarget {
	m.mu.Lock()
	defer m.mu.Unlock()

	return append([]BootTarget(nil), m.boots...)
}
