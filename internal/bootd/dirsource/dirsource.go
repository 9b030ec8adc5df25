// Package dirsource is bootd's source of plans where there is no Kubernetes API: a folder of YAML files,
// for labs and for tests with virtual machines.
//
// The files hold BootNetwork and BootEntry objects as "kubectl get -o yaml" prints them, one or several
// to a file, lists too; of an entry its status.atProvider.plan is served, and nothing else read. There
// are no sessions, hence no grants: machines get their addresses, boot their disks, or netboot in mode
// Live. A plan that asks for an install is held.
package dirsource

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/keyring"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootspec"
)

// every is how often the folder is looked at.
const every = time.Second

// A Source reads a folder.
type Source struct {
	dir   string
	node  map[string]string
	log   *slog.Logger
	keys  *keyring.Ring
	onNew func(*boot.State)

	state atomic.Pointer[boot.State]
	last  string
}

// New makes a source of a folder. The keys of its tokens are kept, so that a restart doesn't turn away machines in the middle of a boot.
func New(dir string, keys *keyring.Ring, node map[string]string, log *slog.Logger, onState func(*boot.State)) *Source {
	if onState == nil {
		onState = func(*boot.State) {}
	}
	return &Source{dir: dir, node: node, log: log, keys: keys, onNew: onState}
}

// State is what the folder holds; nil before it was read.
func (s *Source) State() *boot.State { return s.state.Load() }

// Keys of tokens.
func (s *Source) Keys() [][]byte { return s.keys.Keys() }

// Ready says whether the folder was read.
func (s *Source) Ready() bool { return s.State() != nil }

// Synced is always false: without sessions there are no installs.
func (s *Source) Synced(*boot.Plan) bool { return false }

// Held is always true: nothing is installed.
func (s *Source) Held(*boot.Plan) bool { return true }

// Stands is always false, for the same reason.
func (s *Source) Stands(*boot.Plan) bool { return false }

// Lag is always 0: a folder is read as it is.
func (s *Source) Lag() float64 { return 0 }

// Data gives nothing: a folder holds no Secrets.
func (s *Source) Data(context.Context, string) (map[string][]byte, error) {
	return map[string][]byte{}, nil
}

// Run reads the folder, again whenever a file in it changes, until ctx ends. Files that can't be read
// leave what was served before.
func (s *Source) Run(ctx context.Context) error {
	go s.keys.Run(ctx)
	for {
		if err := s.look(); err != nil {
			s.log.Warn("the folder of plans can't be read; what was read before is served", "dir", s.dir, "error", err.Error())
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(every):
		}
	}
}

func (s *Source) look() error {
	files, mark, err := list(s.dir)
	if err != nil || mark == s.last {
		return err
	}
	s.last = mark
	var segments []boot.Segment
	var plans []boot.Plan
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return fmt.Errorf("cannot read %q: %w", f, err)
		}
		g, p, err := Parse(b, s.node)
		if err != nil {
			return fmt.Errorf("file %q: %w", f, err)
		}
		segments, plans = append(segments, g...), append(plans, p...)
	}
	st := boot.NewState(segments, plans, nil)
	s.state.Store(st)
	s.onNew(st)
	return nil
}

// list names the YAML files of a folder, and gives a mark that changes when one of them does.
func list(dir string) (files []string, mark string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, "", fmt.Errorf("cannot list %q: %w", dir, err)
	}
	var b strings.Builder
	b.WriteString("read")
	for _, e := range entries {
		if e.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(e.Name())) {
			continue
		}
		i, err := e.Info()
		if err != nil {
			return nil, "", fmt.Errorf("cannot look at %q: %w", e.Name(), err)
		}
		files = append(files, filepath.Join(dir, e.Name()))
		_, _ = fmt.Fprintf(&b, "|%s %d %d", e.Name(), i.Size(), i.ModTime().UnixNano())
	}
	return files, b.String(), nil
}

// Parse reads the objects of one file, as a bootd on a node with those labels serves them.
func Parse(b []byte, node map[string]string) (segments []boot.Segment, plans []boot.Plan, err error) {
	r := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(b)))
	for {
		doc, err := r.Read()
		if errors.Is(err, io.EOF) {
			return segments, plans, nil
		}
		if err != nil {
			return nil, nil, fmt.Errorf("cannot split into documents: %w", err)
		}
		g, p, err := object(doc, node)
		if err != nil {
			return nil, nil, err
		}
		segments, plans = append(segments, g...), append(plans, p...)
	}
}

func object(doc []byte, node map[string]string) ([]boot.Segment, []boot.Plan, error) {
	head := struct {
		Kind  string            `json:"kind"`
		Items []json.RawMessage `json:"items"`
	}{}
	if err := yaml.Unmarshal(doc, &head); err != nil {
		return nil, nil, fmt.Errorf("cannot decode: %w", err)
	}
	switch head.Kind {
	case "":
		return nil, nil, nil
	case v1alpha1.BootNetworkKind:
		n := &v1alpha1.BootNetwork{}
		if err := yaml.Unmarshal(doc, n); err != nil {
			return nil, nil, fmt.Errorf("cannot decode a BootNetwork: %w", err)
		}
		g, served, err := bootspec.SegmentOf(n, node)
		if err != nil || !served {
			return nil, nil, err
		}
		return []boot.Segment{g}, nil, nil
	case v1alpha1.BootEntryKind:
		e := &v1alpha1.BootEntry{}
		if err := yaml.Unmarshal(doc, e); err != nil {
			return nil, nil, fmt.Errorf("cannot decode a BootEntry: %w", err)
		}
		p, served, err := bootspec.PlanOf(e)
		if err != nil || !served {
			return nil, nil, err
		}
		return nil, []boot.Plan{p}, nil
	}
	return items(head.Items, node, head.Kind)
}

func items(list []json.RawMessage, node map[string]string, kind string) (segments []boot.Segment, plans []boot.Plan, err error) {
	if !strings.HasSuffix(kind, "List") {
		return nil, nil, fmt.Errorf("kind %q is neither BootNetwork nor BootEntry, nor a list of them", kind)
	}
	for _, i := range list {
		g, p, err := object(i, node)
		if err != nil {
			return nil, nil, err
		}
		segments, plans = append(segments, g...), append(plans, p...)
	}
	return segments, plans, nil
}

// NoSessions is the session.Store of a bootd without an API.
type NoSessions struct{}

// Get finds nothing.
func (NoSessions) Get(context.Context, boot.Name) (session.Record, error) {
	return session.Record{}, session.ErrNotFound
}

// Update finds nothing to write.
func (NoSessions) Update(context.Context, session.Record) (session.Record, error) {
	return session.Record{}, session.ErrConflict
}
