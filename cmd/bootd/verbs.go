package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/admin"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/preview"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/specdir"
)

// named are the flags that name a machine of a bootd that runs.
type named struct {
	MAC      string `help:"One of its MAC addresses." name:"mac" xor:"machine"`
	IP       string `help:"Its address." name:"ip" xor:"machine"`
	Entry    string `help:"NAMESPACE/NAME of its BootEntry; the name is enough where no other has it." xor:"machine"`
	StateDir string `default:"/var/lib/bootd" help:"State folder of the bootd that's asked." type:"path"`
}

func (n named) query() admin.Query { return admin.Query{MAC: n.MAC, IP: n.IP, Entry: n.Entry} }

// wrong says which of them is no name of a machine, whichever bootd is asked, or that none names one; nil: nothing.
func (n named) wrong() error {
	if n.MAC == "" && n.IP == "" && n.Entry == "" {
		return misused{errors.New("name a machine by --mac, --ip or --entry")}
	}
	if n.MAC != "" {
		if err := wrongMAC(n.MAC); err != nil {
			return err
		}
	}
	if _, err := netip.ParseAddr(n.IP); n.IP != "" && err != nil {
		return misused{fmt.Errorf("--ip %q isn't an address", n.IP)}
	}
	return wrongEntry(n.Entry)
}

// wrongEntry says so of what is neither NAMESPACE/NAME nor NAME; nil: it is, or nothing is given.
func wrongEntry(s string) error {
	parts := strings.Split(s, "/")
	if s != "" && (len(parts) > 2 || slices.Contains(parts, "")) {
		return misused{fmt.Errorf("--entry %q isn't NAMESPACE/NAME of a BootEntry, nor its NAME", s)}
	}
	return nil
}

func wrongMAC(s string) error {
	if _, err := boot.ParseMAC(s); err != nil {
		return misused{fmt.Errorf("--mac: %w", err)}
	}
	return nil
}

// explain holds the flags of a question to a bootd that runs.
type explain struct {
	named

	Arch   string `help:"Firmware that is asked about: bios, uefi-x64, uefi-http-x64, uefi-arm64, uefi-http-arm64 or raspberry-pi; default: all that the machine may have."`
	Output string `default:"text" enum:"text,json" help:"text or json." short:"o"`
}

// Run asks.
func (e *explain) Run() error {
	if err := e.wrong(); err != nil {
		return err
	}
	if e.Arch != "" {
		if _, err := preview.Firmware(e.Arch); err != nil {
			return misused{err}
		}
	}
	q := e.query()
	q.Firmware = e.Arch
	x, err := admin.Explain(context.Background(), e.StateDir, q)
	if err != nil {
		return err //nolint:wrapcheck // It says what failed.
	}
	if e.Output == "text" {
		fmt.Print(x.Text())
		return nil
	}
	b, err := json.MarshalIndent(x, "", "  ")
	if err != nil {
		return fmt.Errorf("cannot encode the answer: %w", err)
	}
	fmt.Println(string(b))
	return nil
}

// packets holds the flags of a trace.
type packets struct {
	named

	Output string `default:"-" help:"File to write, as tcpdump -r reads it; -: standard output." short:"o"`
}

// Run fetches a machine's last packets.
func (p *packets) Run() error {
	if err := p.wrong(); err != nil {
		return err
	}
	b, err := admin.Trace(context.Background(), p.StateDir, p.query())
	if err != nil {
		return err //nolint:wrapcheck // It says what failed.
	}
	if p.Output != "-" {
		if err := os.WriteFile(p.Output, b, 0o600); err != nil {
			return fmt.Errorf("cannot write the packets: %w", err)
		}
		return nil
	}
	_, err = os.Stdout.Write(b)
	return err //nolint:wrapcheck // It says what failed.
}

// render holds the flags of a preview.
type render struct {
	Entry  string `help:"A file that holds BootEntries, or NAMESPACE/NAME (or NAME) of one in --specs." required:""`
	Specs  string `help:"Folder of the specs; default: the one of the file." type:"path"`
	Arch   string `default:"uefi-x64" help:"Firmware: bios, uefi-x64, uefi-http-x64, uefi-arm64, uefi-http-arm64 or raspberry-pi."`
	IPv6   bool   `help:"What a machine is told that came over IPv6; default: over IPv4, where it has an address of each." name:"ipv6"`
	Answer string `default:"auto" enum:"auto,install,disk,hold" help:"What the machine is told: install, disk or hold; auto: what its entry asks for, were it granted."`
	// Network is a language in which a system is told its network.
	Network string `default:"none" enum:"none,cloud-init,nmstate,talos" help:"Print, in the place of the script, what the machine's system is told of its network: cloud-init, nmstate or talos."`
}

// text is what one machine would get.
func (r *render) text(x *specdir.Prospect, fw boot.Firmware) (string, error) {
	p := &x.Plan
	if r.Network != "" && r.Network != "none" {
		return preview.Network(p, x.Segment, r.Network) //nolint:wrapcheck // It says what is wrong, and of which entry.
	}
	if r.IPv6 {
		return preview.ScriptSix(p, fw, preview.Told(r.Answer)) //nolint:wrapcheck // As above.
	}
	return preview.Script(p, fw, preview.Told(r.Answer)) //nolint:wrapcheck // As above.
}

// remarks say what isn't in one machine's script: whatever is wrong with it goes the same way, and standard output can be taken as it is.
func (r *render) remarks(problems io.Writer, x *specdir.Prospect, fw boot.Firmware) {
	if x.Port != nil {
		_, _ = fmt.Fprintf(problems, "BootEntry %s: behind port %s; seen elsewhere, it's installed by nothing\n", x.Entry, x.Port)
	}
	if x.Idle != "" {
		_, _ = fmt.Fprintln(problems, x.Idle)
	}
	if x.FirstStage == "" || x.FirstStage == boot.FirstStageAuto || fw.Kind == boot.FirmwareRaspberryPi {
		return
	}
	first := cmp.Or(preview.FirstStage(&x.Plan, fw, preview.Told(r.Answer), r.IPv6), "nothing of bootd's")
	_, _ = fmt.Fprintf(problems, "BootEntry %s: by firstStage %s its firmware loads %s first\n", x.Entry, x.FirstStage, first)
}

// Run prints what machines would get.
func (r *render) Run() error { return r.print(os.Stdout, os.Stderr) }

func (r *render) print(out, problems io.Writer) error {
	fw, err := preview.Firmware(r.Arch)
	if err != nil {
		return misused{err}
	}
	dir, file, name := r.Specs, "", r.Entry
	if i, err := os.Stat(r.Entry); err == nil && !i.IsDir() {
		file, name = r.Entry, ""
	}
	if file == "" && dir == "" {
		return misused{fmt.Errorf("%q isn't a file; name the folder of an entry by --specs", r.Entry)}
	}
	plans, wrong, err := specdir.Preview(dir, file, name)
	if err != nil {
		return misused{err} // The folder, the file or the entry isn't there.
	}
	for _, w := range wrong {
		_, _ = fmt.Fprintln(problems, w) // What's right is printed all the same.
	}
	for i := range plans {
		text, err := r.text(&plans[i], fw)
		if err != nil {
			return misused{err}
		}
		r.remarks(problems, &plans[i], fw)
		if len(plans) > 1 {
			_, _ = fmt.Fprintf(out, "# BootEntry %s\n", plans[i].Entry) // A closed pipe says so at the end.
		}
		if _, err := io.WriteString(out, text); err != nil {
			return fmt.Errorf("cannot print the script: %w", err)
		}
	}
	if len(wrong) > 0 {
		return misused{errors.New("the specs are wrong; see above")}
	}
	return nil
}
