package machine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// ending is how a script ended.
type ending string

const (
	endKernel   ending = "kernel"
	endLocal    ending = "local" // sanboot, or exit: what comes next in the boot order
	endExit     ending = "exit"
	endChain    ending = "chain"
	endReboot   ending = "reboot"
	endPowerOff ending = "poweroff"
	endError    ending = "error"
	kindHold           = "hold" // what a script that slept before it chained or rebooted is counted as
)

// image is what iPXE has loaded so far.
type image struct {
	kernel, command string
	initrds         []string
}

// shell runs one script on behalf of a machine.
type shell struct {
	m      *Machine
	base   *url.URL // what relative addresses are relative to
	vars   map[string]string
	image  image
	slept  bool
	failed bool                           // it ended by exit with a status other than 0
	next   struct{ address, text string } // what `chain --replace` goes on with
	depth  int                            // how many scripts wait for this one to end
	line   int
}

const (
	maxCommands = 10_000 // of one script: a loop without a sleep is a mistake
	maxDepth    = 100    // of scripts that chain without --replace; iPXE runs out of memory at some point too
)

// errEnd steers the interpreter.
var errEnd = errors.New("the script ended")

// runIPXE is iPXE: an address of its own, the script that the DHCP answer names, and what follows from it.
func (m *Machine) runIPXE(ctx context.Context) error {
	l, err := m.exchange(ctx, speakerIPXE)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(l.BootFile, "http") {
		return fmt.Errorf("the DHCP answer of %s gives iPXE no script: its boot file is %q", l.Server, l.BootFile)
	}
	address, vars := expand(l.BootFile, lookup(m.settings(l))), m.settings(l)
	text, err := m.script(ctx, address)
	for {
		if err != nil {
			return fmt.Errorf("iPXE script %q: %w", withoutQuery(address), err)
		}
		sh := &shell{m: m, vars: vars}
		var end ending
		end, err = sh.interpret(ctx, address, text)
		if err == nil && end != endChain {
			return m.follow(ctx, end, sh)
		}
		if steers(err) || ctx.Err() != nil {
			return err
		}
		address, text = sh.next.address, sh.next.text
	}
}

// script fetches a script.
func (m *Machine) script(ctx context.Context, address string) (string, error) {
	if err := m.at(ctx, StageScript, withoutQuery(address)); err != nil {
		return "", err
	}
	return m.text(ctx, agentIPXE, address)
}

// follow does what a script ended with.
func (m *Machine) follow(ctx context.Context, end ending, sh *shell) error {
	switch end {
	case endKernel:
		return m.runKernel(ctx, sh.image)
	case endLocal:
		return m.bootDisk(ctx)
	case endReboot:
		return fmt.Errorf("the script said reboot: %w", errReset)
	case endPowerOff:
		return fmt.Errorf("the script said poweroff: %w", errPowerOff)
	default:
		if m.cfg.Firmware == UEFI && !sh.failed { // UEFI 2.10, 3.1.2: after success the boot manager shows its menu
			return fmt.Errorf("the script said exit, and the firmware shows its menu: %w", errHalt)
		}
		return fmt.Errorf("the script said exit: %w", errNext)
	}
}

// kind is the name that the script is counted under.
func (sh *shell) kind(e ending) string {
	switch {
	case sh.slept && (e == endChain || e == endReboot):
		return kindHold
	case e == endExit:
		return string(endLocal)
	default:
		return string(e)
	}
}

// settings are the variables that a script can use; names as iPXE has them.
func (m *Machine) settings(l Lease) map[string]string {
	platform := map[Firmware]string{BIOS: "pcbios", UEFI: "efi"}[m.cfg.Firmware]
	arch := map[Firmware]string{BIOS: "i386", UEFI: "x86_64"}[m.cfg.Firmware]
	v := map[string]string{
		"mac": m.cfg.MAC.String(), "uuid": m.cfg.UUID.String(), "serial": m.cfg.Serial, "product": m.cfg.Product,
		"platform": platform, "buildarch": arch, "ip": l.Address.String(), "hostname": l.Hostname,
		"next-server": l.NextServer.String(), "filename": l.BootFile, "dhcp-server": l.Server.String(), "version": agentIPXE,
		"unixtime": strconv.FormatInt(time.Now().Unix(), 10), // Debian's is of 2019, and this of 2017.
	}
	for _, k := range []string{"mac", "ip"} {
		v["net0/"+k], v["netX/"+k] = v[k], v[k]
	}
	return v
}

func lookup(vars map[string]string) func(name, format string) string {
	return func(name, format string) string {
		v := vars[name]
		switch format {
		case "hexhyp":
			return strings.ReplaceAll(v, ":", "-")
		case "hexraw":
			return strings.ReplaceAll(v, ":", "")
		case "uristring":
			return url.QueryEscape(v)
		}
		return v
	}
}

// withoutQuery shortens an address for messages: what follows a question mark may be a secret.
func withoutQuery(address string) string {
	before, _, _ := strings.Cut(address, "?")
	return before
}

// interpret runs the script that came from address, and counts how it ended.
func (sh *shell) interpret(ctx context.Context, address, text string) (ending, error) {
	end, err := sh.parsed(ctx, address, text)
	if steers(err) || ctx.Err() != nil {
		return end, err
	}
	sh.m.update(func(s *Status) {
		s.Script = text
		s.Scripts[sh.kind(end)]++
	})
	return end, err
}

func (sh *shell) parsed(ctx context.Context, address, text string) (ending, error) {
	base, err := url.Parse(address)
	if err != nil {
		return endError, fmt.Errorf("cannot parse %q: %w", address, err)
	}
	sh.base = base
	s, err := parseScript(text)
	if err != nil {
		return endError, err
	}
	return sh.run(ctx, s)
}

// run executes a script to its end. A line whose last command fails ends it, as in iPXE.
func (sh *shell) run(ctx context.Context, s script) (ending, error) {
	for n := 0; sh.line < len(s.lines); n++ {
		if n > maxCommands {
			return endError, fmt.Errorf("gave up after %d lines: does it loop?", maxCommands)
		}
		line := s.lines[sh.line]
		sh.line++
		var err error
		for _, c := range line {
			if !c.runs(err != nil) {
				continue
			}
			if len(c.args) == 0 {
				err = nil
				continue
			}
			var end ending
			end, err = sh.command(ctx, s, sh.expanded(c.args))
			if errors.Is(err, errEnd) {
				return end, nil
			}
			if steers(err) || ctx.Err() != nil {
				return endError, err
			}
		}
		if err != nil {
			return endError, err
		}
	}
	return endExit, nil
}

func (sh *shell) expanded(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = expand(a, lookup(sh.vars))
	}
	return out
}

// command executes one command; errEnd: the script is over, in the way it returns.
func (sh *shell) command(ctx context.Context, s script, args []string) (ending, error) {
	name, args := args[0], args[1:]
	switch name {
	case "kernel", "imgselect", "initrd", "module", "imgfetch", "imgfree", "imgargs", "boot":
		return sh.imageCommand(ctx, name, args)
	case "chain":
		return sh.chain(ctx, args)
	case "goto":
		return "", sh.jump(s, args)
	case "set", "clear", "isset", "iseq":
		return "", sh.variable(name, args)
	case "sleep":
		return "", sh.sleep(ctx, args)
	case "echo":
		sh.m.note(StageScript, "echo: "+strings.Join(args, " "))
		return "", nil
	case "dhcp":
		return "", sh.dhcp(ctx)
	case "sanboot":
		return sh.sanboot()
	case "exit":
		sh.failed = len(args) > 0 && args[0] != "0"
		return endExit, errEnd
	case "reboot":
		return endReboot, errEnd
	case "poweroff":
		return endPowerOff, errEnd
	case "ifopen", "ifclose", "ifstat", "console", "colour", "cpair", "imgstat", "sync":
		return "", nil // the network is up already, and there is no screen
	default:
		return "", fmt.Errorf("%q is not a command that this machine knows", name)
	}
}

// dhcp asks for a lease, and with it a script address, once more.
func (sh *shell) dhcp(ctx context.Context) error {
	l, err := sh.m.exchange(ctx, speakerIPXE)
	if err != nil {
		return err
	}
	maps.Copy(sh.vars, sh.m.settings(l))
	return nil
}

// sanboot starts the first disk by its boot sector. UEFI has none, and iPXE there can't.
func (sh *shell) sanboot() (ending, error) {
	if sh.m.cfg.Firmware == UEFI || !sh.m.Status().Disk.Bootable {
		return "", errors.New("sanboot: there is no drive 0x80 to boot from")
	}
	return endLocal, errEnd
}

func (sh *shell) sleep(ctx context.Context, args []string) error {
	_, rest := options(args)
	if len(rest) != 1 {
		return errors.New("sleep needs one number of seconds")
	}
	n, err := strconv.Atoi(rest[0])
	if err != nil {
		return fmt.Errorf("cannot sleep %q seconds: %w", rest[0], err)
	}
	sh.slept = true
	if err := sh.m.at(ctx, StageHold, fmt.Sprintf("the script sleeps %d s", n)); err != nil {
		return err
	}
	return sh.m.pause(ctx, time.Duration(n)*time.Second)
}
