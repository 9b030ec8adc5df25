package specdir

import (
	"context"
	"log/slog"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// Keys of tokens; in production a keyring.Ring.
type Keys interface {
	// Keys are those that count now, the current one first.
	Keys() [][]byte
	// Run makes new ones in time, until ctx ends.
	Run(ctx context.Context)
}

// Options of a Source. Dir, StateDir, Keys, Now and Logger are required.
type Options struct {
	// Dir holds the specs, StateDir what bootd must remember.
	Dir, StateDir string
	// Node holds the labels that BootNetworks' serveOn selects by.
	Node map[string]string
	// NoInstall serves, and installs nothing.
	NoInstall bool
	// NewSite agrees to one record of grants alone, where Dir can't be written and StateDir is Fresh.
	NewSite bool
	// Fresh says that StateDir held nothing when bootd started.
	Fresh bool
	// Blocked says why nothing may be installed, where something that bootd must remember can't be read; "": nothing stands in the way.
	Blocked string
	// Before is what an earlier life of this bootd served; nil where that isn't known. Nothing is installed by it.
	Before *boot.State
	// Kept gives what that life kept beside Before, "" for nothing, and Keep keeps something beside a state that was told of; nil: nothing is kept.
	Kept func() (string, error)
	Keep func(st *boot.State, text []byte)
	// Peers are other servers that are meant to answer the machines, and install nothing, by each name that OtherServer may have for them.
	Peers []string
	// Program tells one from another that may resolve in another way; "": by the file that runs.
	Program string
	// Keys of tokens.
	Keys Keys
	// Still is how long Dir must not have changed before anything is granted; 0: two seconds.
	Still  time.Duration
	Now    func() time.Time
	Logger *slog.Logger
}
