package machine

import (
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/test/guest/cmdline"
)

// runKernel starts what iPXE loaded: the installer where the command line names an image, a live system otherwise.
func (m *Machine) runKernel(ctx context.Context, i image) error {
	m.update(func(s *Status) {
		s.Kernels++
		s.Command = i.command
	})
	if err := m.at(ctx, StageKernel, fmt.Sprintf("kernel %s with %d initrds", i.kernel, len(i.initrds))); err != nil {
		return err
	}
	p := cmdline.Parse(i.command)
	if p.Image == "" && p.Role != cmdline.RoleInstaller {
		return m.runOS(ctx, p.Callback, p.Token)
	}
	err := m.install(ctx, p, i)
	if err == nil {
		return fmt.Errorf("the installer has finished: %w", errReset)
	}
	if steers(err) || ctx.Err() != nil {
		return err
	}
	m.fail(m.Status().Stage, err)
	m.complain(ctx, p, err)
	return fmt.Errorf("the installer failed: %w", errHalt)
}

// complain reports a failed installation, unless it was the server who refused it: then it knows.
func (m *Machine) complain(ctx context.Context, p cmdline.Parameters, why error) {
	if final(why) || p.Callback == "" {
		return
	}
	if err := m.call(ctx, p.Callback, p.Token, "failed", report{Message: why.Error()}); err != nil && ctx.Err() == nil {
		m.fail(StageHalted, err)
	}
}

// install does what the project's installer does: begin, user data, image, installed.
func (m *Machine) install(ctx context.Context, p cmdline.Parameters, i image) error {
	if p.Callback == "" {
		return errors.New("the command line asks for an installation but names no callback")
	}
	if err := m.step(ctx, StageBegin, p, "begin", report{Message: "the installer runs"}); err != nil {
		return err
	}
	userData, err := m.userData(ctx, p)
	if err != nil {
		return err
	}
	digest, n, err := m.fill(ctx, p, i)
	if err != nil {
		return err
	}
	if p.ImageDigest != "" && digest != p.ImageDigest {
		return fmt.Errorf("the image is %s, the command line says %s", digest, p.ImageDigest)
	}
	m.update(func(s *Status) {
		s.Disk = Disk{Bootable: true, Image: digest, Bytes: n, UserData: userData, Callback: p.Callback, Token: p.Token}
	})
	if err := m.step(ctx, StageWritten, p, "installed", report{Message: "the disk holds " + digest}); err != nil {
		return err
	}
	m.update(func(s *Status) { s.Installs++ })
	return m.at(ctx, StageInstalled, "installed was acknowledged")
}

// step announces a stage and makes the callback that belongs to it.
func (m *Machine) step(ctx context.Context, s Stage, p cmdline.Parameters, verb string, r report) error {
	if err := m.at(ctx, s, "callback "+verb); err != nil {
		return err
	}
	return m.call(ctx, p.Callback, p.Token, verb, r)
}

func (m *Machine) userData(ctx context.Context, p cmdline.Parameters) (string, error) {
	if p.UserData == "" {
		return "", nil
	}
	if err := m.at(ctx, StageUserData, withoutQuery(p.UserData)); err != nil {
		return "", err
	}
	var got string
	err := m.retry(ctx, func() (err error) {
		got, err = m.text(ctx, agentInstaller, p.UserData)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("user data: %w", err)
	}
	return got, nil
}

// fill writes the disk: the image, or what an installer that needs none brings along, which is its kernel's digest here.
func (m *Machine) fill(ctx context.Context, p cmdline.Parameters, i image) (digest string, n int64, err error) {
	if p.Image != "" {
		return m.write(ctx, p)
	}
	if err := m.at(ctx, StageImage, "an image of its own"); err != nil {
		return "", 0, err
	}
	w := &diskWriter{ctx: ctx, m: m, hash: sha256.New()}
	written, err := w.Write([]byte(i.kernel))
	return i.kernel, int64(written), err
}

// write streams the image to the disk and returns its digest and size. A broken transfer goes on where it broke.
func (m *Machine) write(ctx context.Context, p cmdline.Parameters) (digest string, n int64, err error) {
	if err := m.at(ctx, StageImage, withoutQuery(p.Image)); err != nil {
		return "", 0, err
	}
	w := &diskWriter{ctx: ctx, m: m, hash: hasher(p.ImageDigest)}
	err = m.retry(ctx, func() error {
		before := w.n
		body, err := m.get(ctx, agentInstaller, p.Image, w.n)
		if err != nil {
			return err
		}
		defer func() { _ = body.Close() }()
		_, err = io.Copy(w, body)
		m.update(func(s *Status) { s.NetworkLoad += w.n - before })
		return err
	})
	if err != nil {
		return "", w.n, fmt.Errorf("image after %d bytes: %w", w.n, err)
	}
	algorithm, _, found := strings.Cut(p.ImageDigest, ":")
	if !found {
		algorithm = "sha256"
	}
	if err := m.call(ctx, p.Callback, p.Token, "progress", report{Message: "image written", Percent: whole}); err != nil {
		return "", w.n, err
	}
	return algorithm + ":" + hex.EncodeToString(w.hash.Sum(nil)), w.n, nil
}

const whole = 100 // per cent

// hasher returns the hash that digest is of; sha256 where it doesn't say.
func hasher(digest string) hash.Hash {
	if strings.HasPrefix(digest, "sha512:") {
		return sha512.New()
	}
	return sha256.New()
}

// diskWriter is the disk while an installer writes it. The first byte destroys what was there.
type diskWriter struct {
	ctx  context.Context //nolint:containedctx // one transfer's writer, made and dropped with it.
	m    *Machine
	hash hash.Hash
	n    int64

	erased bool
}

func (w *diskWriter) Write(p []byte) (int, error) {
	if !w.erased && len(p) > 0 {
		w.erased = true
		w.m.update(func(s *Status) {
			s.Disk = Disk{}
			s.Erased++
		})
		if err := w.m.at(w.ctx, StageWriting, "the first byte is on the disk"); err != nil {
			return 0, err
		}
	}
	w.n += int64(len(p))
	return w.hash.Write(p)
}
