package bmc

import (
	"net"
	"strconv"
	"time"
)

// Model is a machine model of our own making. They differ wherever real vendors
// differ in ways that break clients.
type Model string

const (
	// ModelInline lists its reset types inline, has BootSourceOverrideMode,
	// takes the override on the System, keeps a LastResetTime, lists MACs under
	// Systems/*/EthernetInterfaces, and tells of changes in a stream of events.
	ModelInline Model = "ES-1000"
	// ModelActionInfo lists its reset types in a ResetActionInfo only, takes
	// the override on a settings resource with If-Match only, has neither Mode
	// nor LastResetTime, nor an event service, pads its serial with a space, and has
	// its MACs in the chassis' NetworkDeviceFunctions and Ports and in UEFI boot paths.
	ModelActionInfo Model = "ES-2000"
	// ModelTasks is ModelInline with a BMC that takes its time: it answers power
	// actions with a Task, carries them out later, and shows that later still.
	ModelTasks Model = "ES-3000"
	// ModelNode is a node of several behind one BMC: it can't override its boot,
	// only order it by names of its own, knows Off beside ForceOff and no
	// graceful end, and has no UUID. Its event service is switched off. Nodes of a
	// chassis may have one serial.
	ModelNode Model = "ES-4000"
	// ModelOpen tells neither serial nor ETags, has its MACs in UEFI boot paths
	// only, between which is one of the BMC's, and takes the override on a
	// settings resource, which lists no targets and rests at Continuous/Hdd.
	ModelOpen Model = "ES-5000"
)

// Models are those of our own making.
func Models() []Model {
	return []Model{ModelInline, ModelActionInfo, ModelTasks, ModelNode, ModelOpen}
}

// Secret is what every secret of an emulated BMC begins with, its password and
// its sessions' tokens, and what tests give to the product beside: by that the
// scanner of all tests' output (test/verdict) knows them.
const Secret = "emulated-secret"

// Defaults of Config.
const (
	DefaultUsername     = "admin"
	DefaultPassword     = Secret
	DefaultMaxSessions  = 4
	DefaultLockoutAfter = 5
)

// SystemConfig describes one emulated ComputerSystem.
type SystemConfig struct {
	// ID is the last part of the System's URI; default "1", "2", … by position.
	ID string
	// Model decides the shape of the resources; default ModelInline.
	Model Model
	// Serial and UUID are reported as the model does; an empty UUID is null.
	Serial, UUID string
	// MACs of the machine's interfaces, in their order.
	MACs []net.HardwareAddr
	// Machine stands behind the System; default an Idle one.
	Machine Machine
}

// Config describes one emulated BMC. The zero value has one System of
// ModelInline and the default account.
type Config struct {
	// Username and Password of the only account.
	Username, Password string
	// MaxSessions open at the same time; default that of Behaviour, at least
	// DefaultMaxSessions. One more is refused.
	MaxSessions int
	// LockoutAfter failed logins the account is locked until Unlock.
	LockoutAfter int
	// FirstPassword must be changed before anything else is done.
	FirstPassword bool
	// NoSessions makes a BMC that only knows basic authentication.
	NoSessions bool
	// Baseboard adds a second ComputerSystem that can't be reset, as GPU
	// machines have it.
	Baseboard bool
	// Systems behind this BMC; default one. With a Tree they name the machines
	// behind its Systems, and everything else is the tree's.
	Systems []SystemConfig
	// Tree is what a real BMC answered; nil makes one of Systems' models.
	Tree *Tree
	// Behaviour is what the BMC does with writes; nil is the Tree's vendor's, or
	// the models'.
	Behaviour *Behaviour
	// Now is the BMC's clock; default time.Now.
	Now func() time.Time
}

func (c Config) withDefaults() Config {
	if c.Username == "" {
		c.Username = DefaultUsername
	}
	if c.Password == "" {
		c.Password = DefaultPassword
	}
	if c.LockoutAfter == 0 {
		c.LockoutAfter = DefaultLockoutAfter
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Tree != nil {
		return c
	}
	if len(c.Systems) == 0 {
		c.Systems = []SystemConfig{{}}
	}
	systems := make([]SystemConfig, len(c.Systems))
	for i, s := range c.Systems {
		systems[i] = s.withDefaults(i)
	}
	c.Systems = systems

	return c
}

func (s SystemConfig) withDefaults(position int) SystemConfig {
	if s.ID == "" {
		s.ID = strconv.Itoa(position + 1)
	}
	if s.Model == "" {
		s.Model = ModelInline
	}
	if s.Machine == nil {
		s.Machine = &Idle{}
	}

	return s
}
