package specdir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/durable"
)

// confirmFolder, in the state folder, holds what people have confirmed and nobody has taken yet.
const confirmFolder = "confirm"

// confirmation is a person's word about one machine: it's the one that is meant, and is kept as it runs.
type confirmation struct {
	Entry string `json:"entry"`
	MAC   string `json:"mac"`
}

var (
	// ErrRefused says that bootd didn't take a confirmation.
	ErrRefused = errors.New("the confirmation was refused")
	// ErrNoEntry says that something is the name of no BootEntry that there could be.
	ErrNoEntry = errors.New("isn't NAMESPACE/NAME of a BootEntry")
)

// Confirm hands a confirmation to the bootd that runs with a state folder, and waits for its answer. It asks for nothing to be
// installed: the machine is kept as it runs, and raising install.generation installs it.
func Confirm(stateDir, entry, mac string, patience time.Duration) (string, error) {
	m, err := boot.ParseMAC(mac)
	if err != nil {
		return "", err
	}
	if ns, name, ok := strings.Cut(entry, "/"); !ok || ns == "" || name == "" || strings.ContainsAny(name, "/") {
		return "", fmt.Errorf("%q %w", entry, ErrNoEntry)
	}
	dir := filepath.Join(stateDir, confirmFolder)
	b, err := json.Marshal(confirmation{entry, string(m)})
	if err != nil {
		return "", fmt.Errorf("cannot encode the confirmation: %w", err)
	}
	name := filepath.Join(dir, fmt.Sprintf("%d", time.Now().UnixNano()))
	if err := handOver(dir, name, b); err != nil {
		return "", err
	}
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		answer, err := os.ReadFile(name + ".answer")
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("cannot read bootd's answer: %w", err)
		}
		_ = os.Remove(name + ".answer")
		if refused, ok := strings.CutPrefix(string(answer), "refused: "); ok {
			return "", fmt.Errorf("%w: %s", ErrRefused, refused)
		}
		return string(answer), nil
	}
	if err := os.Remove(name + ".json"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("cannot take the confirmation back: %w", err)
	}
	return "", fmt.Errorf("no bootd that runs with --state-dir %s has answered within %s", stateDir, patience)
}

// handOver puts a confirmation where bootd looks, as the one who owns that folder: bootd may be another user than who types.
func handOver(dir, name string, b []byte) error {
	i, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("no bootd has run with --source dir and --state-dir %s", filepath.Dir(dir))
	}
	var f *os.File
	if err == nil {
		f, err = os.OpenFile(name+".new", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	}
	if err == nil {
		if owner, ok := i.Sys().(*syscall.Stat_t); ok {
			_ = f.Chown(int(owner.Uid), int(owner.Gid)) // Who isn't root is the owner, or bootd says that it can't read it.
		}
		_, err = f.Write(b)
		err = errors.Join(err, f.Close())
	}
	if err == nil {
		err = os.Rename(name+".new", name+".json")
	}
	if err != nil {
		return fmt.Errorf("cannot hand the confirmation over: %w", err)
	}
	return nil
}

// confirm takes what people have confirmed, and says whether that was anything. Where nothing is installed it says why instead.
func (s *Source) confirm(refused string) (taken bool) {
	dir := filepath.Join(s.o.StateDir, confirmFolder)
	list, err := os.ReadDir(dir)
	if err != nil {
		return false // Nobody has confirmed anything.
	}
	for _, e := range list {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok {
			continue
		}
		path := filepath.Join(dir, e.Name())
		answer, err := "refused: "+refused, error(nil)
		if refused == "" {
			answer, err = s.confirmed(path)
		}
		if err != nil {
			answer = "refused: " + err.Error()
		}
		s.o.Logger.Info("a machine was confirmed", "answer", answer)
		if err := errors.Join(durable.Write(filepath.Join(dir, name+".answer"), []byte(answer)), os.Remove(path)); err != nil {
			s.o.Logger.Warn("a confirmation can't be answered", "error", err.Error())
		}
		taken = true
	}
	return taken
}

func (s *Source) confirmed(path string) (string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("cannot read the confirmation: %w", err)
	}
	var c confirmation
	if err := json.Unmarshal(b, &c); err != nil {
		return "", fmt.Errorf("cannot read the confirmation: %w", err)
	}
	for _, p := range s.world.all() {
		if p.Entry.String() != c.Entry {
			continue
		}
		if !slices.Contains(p.MACs, boot.MAC(c.MAC)) {
			return "", fmt.Errorf("%s isn't a MAC of BootEntry %s", c.MAC, c.Entry)
		}
		return s.adopt(p)
	}
	return "", fmt.Errorf("there is no BootEntry %s that is served", c.Entry)
}

// adopt takes a machine over as it runs: both records say that what its entry asks for is installed. What was granted and not used
// goes first: a boot that has its script already must not use it any more.
func (s *Source) adopt(p *boot.Plan) (string, error) {
	if s.world.kept[p.EntryUID] && s.world.idle[p.EntryUID] == "" {
		return "", fmt.Errorf("what BootEntry %s asks for isn't known, since specs are wrong, gone or there twice, or another entry wants what it has, so that it can't be noted as installed; mend that first (bootd's log says which)", p.Entry)
	}
	r := s.session(p.Entry)
	if d := next(s.facts(p, r, p.Digest())); d.Step != boot.StepAsk && !s.answeredElsewhere(p.EntryUID) {
		return "", fmt.Errorf("nothing is asked about BootEntry %s (%s)", p.Entry, d.Reason)
	}
	if r != nil && r.Session.Grant != nil {
		if _, err := s.store.Grant(*r, nil); err != nil {
			return "", fmt.Errorf("cannot take the unused grant back: %w", err)
		}
	}
	id, err := newID()
	if err != nil {
		return "", err
	}
	uid := ""
	if r != nil {
		uid = r.Session.UID
	}
	lines := []line{
		{Installed: s.installOf(p, p.InstallGeneration, p.Digest(), s.o.Now())},
		{Granted: s.grantOf(p, id, uid, false)},
	}
	if p.InstallGeneration == 0 {
		lines = nil // Nothing was asked for, so that nothing counts as installed.
	}
	for _, l := range lines {
		if err := s.site.write(l); err != nil {
			return "", err
		}
	}
	if err := s.endElsewhere(p); err != nil {
		return "", err
	}
	return fmt.Sprintf("BootEntry %s is kept as it runs, as installed generation %d; raise install.generation to install it", p.Entry, p.InstallGeneration), nil
}
