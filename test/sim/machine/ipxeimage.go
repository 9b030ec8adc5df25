package machine

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// imageCommand is one of the commands that load and start images.
func (sh *shell) imageCommand(ctx context.Context, name string, args []string) (ending, error) {
	_, rest := options(args, "n", "name", "t", "timeout")
	switch name {
	case "kernel", "imgselect":
		if len(rest) == 0 {
			return "", errors.New("kernel needs an address")
		}
		sh.image.kernel, sh.image.command = "", strings.Join(rest[1:], " ")
		return "", sh.artifact(ctx, rest[0], func(digest string) { sh.image.kernel = digest })
	case "initrd", "module", "imgfetch":
		if len(rest) == 0 {
			return "", fmt.Errorf("%s needs an address", name)
		}
		return "", sh.artifact(ctx, rest[0], func(digest string) { sh.image.initrds = append(sh.image.initrds, digest) })
	case "imgfree":
		sh.image = image{}
		return "", nil
	case "imgargs":
		if len(rest) == 0 {
			return "", errors.New("imgargs needs an image")
		}
		sh.image.command = strings.Join(rest[1:], " ")
		return "", nil
	default: // boot
		return sh.boot(ctx, rest)
	}
}

// boot starts what was loaded, or loads and starts what it names.
func (sh *shell) boot(ctx context.Context, rest []string) (ending, error) {
	if len(rest) > 0 && strings.Contains(rest[0], "://") {
		if _, err := sh.imageCommand(ctx, "kernel", rest); err != nil {
			return "", err
		}
	}
	if sh.image.kernel == "" {
		return "", errors.New("boot: no image was loaded")
	}
	return endKernel, errEnd
}

// chain runs another script. One that can't be fetched, or fails, is an error, which `chain X || …` catches; after one
// that ends by exit the line below goes on, except with --replace, which leaves nothing to come back to.
func (sh *shell) chain(ctx context.Context, args []string) (ending, error) {
	flags, rest := options(args, "n", "name", "t", "timeout")
	if len(rest) == 0 {
		return "", errors.New("chain needs an address")
	}
	next, err := sh.resolve(rest[0])
	if err != nil {
		return "", err
	}
	text, err := sh.m.script(ctx, next)
	if err != nil {
		return "", err
	}
	if _, replace := flags["replace"]; replace {
		sh.next.address, sh.next.text = next, text
		return endChain, errEnd
	}
	if sh.depth >= maxDepth {
		return "", fmt.Errorf("%d scripts wait for each other", sh.depth)
	}
	return sh.call(ctx, next, text)
}

// call runs a script that comes back to this one.
func (sh *shell) call(ctx context.Context, address, text string) (ending, error) {
	child := &shell{m: sh.m, vars: sh.vars, image: sh.image, depth: sh.depth + 1}
	end, err := child.interpret(ctx, address, text)
	sh.image, sh.next = child.image, child.next
	if err == nil && end == endExit && child.failed {
		err = errors.New("the chained script ended by exit 1")
	}
	if err != nil || end == endExit {
		return "", err
	}
	return end, errEnd
}

// artifact downloads one image whole.
func (sh *shell) artifact(ctx context.Context, address string, keep func(digest string)) error {
	full, err := sh.resolve(address)
	if err != nil {
		return err
	}
	if err := sh.m.at(ctx, StageArtifact, withoutQuery(full)); err != nil {
		return err
	}
	digest, err := sh.m.load(ctx, agentIPXE, full)
	if err != nil {
		return err
	}
	keep(digest)
	return nil
}

// resolve makes an address absolute, as iPXE does with what a script names.
func (sh *shell) resolve(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", fmt.Errorf("cannot parse address %q: %w", address, err)
	}
	full := sh.base.ResolveReference(u)
	if full.Scheme != "http" {
		return "", fmt.Errorf("cannot load %q: Debian's iPXE has no %s", address, full.Scheme)
	}
	return full.String(), nil
}

// variable is one of the commands about settings.
func (sh *shell) variable(name string, args []string) error {
	switch {
	case name == "set" && len(args) >= 1:
		sh.vars[args[0]] = strings.Join(args[1:], " ")
	case name == "clear" && len(args) == 1:
		delete(sh.vars, args[0])
	case name == "isset" && len(args) == 1: // it is written `isset ${name}`: an empty word is an unset variable
		if args[0] == "" {
			return errors.New("isset: it is not")
		}
	case name == "iseq" && len(args) == 2: //nolint:mnd // it compares two words
		if args[0] != args[1] {
			return errors.New("iseq: they differ")
		}
	default:
		return fmt.Errorf("%s doesn't take %d arguments", name, len(args))
	}
	return nil
}

// jump goes on behind a label.
func (sh *shell) jump(s script, args []string) error {
	if len(args) != 1 {
		return errors.New("goto needs one label")
	}
	to, ok := s.labels[args[0]]
	if !ok {
		return fmt.Errorf("there is no label %q", args[0])
	}
	sh.line = to
	return nil
}
