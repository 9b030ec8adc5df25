package stage

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"

	"sigs.k8s.io/yaml"
)

// pinned is where a checkout says which Debian packages its images carry files of.
const pinned = "tools/packages/internal/debian/pins.yaml"

// A pin names one of them, as its own checkout writes it.
type pin map[string]any

// repin gives an older version's pins the versions of this checkout's, where they differ, and names those packages. It keeps what an older
// version knows of a pin, since its program refuses anything else, and the packages that this checkout doesn't have.
//
// An older version as it was published would have the older packages. But Debian's mirrors drop a version soon after they have the next one,
// the first versions of ours knew of nowhere else to look, and they are built where there's no network at all, from packages that were
// downloaded for this checkout. So an upgrade is tried of the older programs, kinds and manifests, beside the firmware of today. As long as
// the pins are the same, so is every byte.
func repin(older, own []byte) (out []byte, changed []string, err error) {
	var before, now []pin
	if err := yaml.Unmarshal(older, &before); err != nil {
		return nil, nil, fmt.Errorf("cannot understand the older version's pinned Debian packages: %w", err)
	}
	if err := yaml.Unmarshal(own, &now); err != nil {
		return nil, nil, fmt.Errorf("cannot understand the pinned Debian packages: %w", err)
	}
	type key struct{ name, arch any }
	current := map[key]pin{}
	for _, p := range now {
		current[key{p["name"], p["arch"]}] = p
	}
	for _, p := range before {
		c, ok := current[key{p["name"], p["arch"]}]
		if !ok || reflect.DeepEqual(c["sha256"], p["sha256"]) {
			continue
		}
		for field := range p {
			if value, ok := c[field]; ok {
				p[field] = value
			}
		}
		changed = append(changed, fmt.Sprintf("%v %v", p["name"], p["version"]))
	}
	if out, err = yaml.Marshal(before); err != nil {
		return nil, nil, fmt.Errorf("cannot write the older version's pinned Debian packages: %w", err)
	}
	return out, changed, nil
}

// overlay writes what go reads in the place of an older checkout's pins, which stays as it was, and returns the flag that says so; none where
// they are this checkout's.
func (s *Stage) overlay(from Source) (flags []string, err error) {
	at := filepath.Join(from.Root, filepath.FromSlash(pinned))
	older, err := os.ReadFile(at)
	if err != nil {
		return nil, fmt.Errorf("cannot read which Debian packages %s takes: %w", from.Version, err)
	}
	own, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(pinned)))
	if err != nil {
		return nil, fmt.Errorf("cannot read which Debian packages are pinned: %w", err)
	}
	text, changed, err := repin(older, own)
	if err != nil || len(changed) == 0 {
		return nil, err
	}
	s.opts.Say(fmt.Sprintf("packages %s get this checkout's %v, since Debian's mirrors needn't have theirs any more", from.Version, changed))
	pins, err := filepath.Abs(s.in("pins-" + from.Version + ".yaml"))
	if err != nil {
		return nil, fmt.Errorf("cannot find the state folder: %w", err)
	}
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{at: pins}})
	if err != nil {
		return nil, fmt.Errorf("cannot write an overlay: %w", err)
	}
	list := filepath.Join(filepath.Dir(pins), "overlay-"+from.Version+".json")
	for path, data := range map[string][]byte{pins: text, list: replace} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return nil, fmt.Errorf("cannot write an overlay: %w", err)
		}
	}
	return []string{"-overlay=" + list}, nil
}
