package install_test

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
	"github.com/crossplane-contrib/provider-baremetal/test/docs"
)

// Blocks of docs/operations that say of themselves that they're run here, by what they have in them.
const (
	filesBlock   = "make release "
	mirrorBlock  = "sha256sum "
	rewriteBlock = "s#image: "
	helmBlock    = "helm upgrade "
	otherBlock   = "configuration-baremetal-v2:"
	pushBlock    = "make push "
	// runHere is what they say.
	runHere = "test/e2e/install runs it"
)

// pages are those of docs/operations, and what the README says of a cluster.
func pages(t *testing.T) map[string]docs.Page {
	t.Helper()
	all, err := docs.Read(filepath.Join(root, "docs", "operations"))
	must(t, err)
	all["README.md"], err = docs.ReadSection(filepath.Join(root, "README.md"), "## On your cluster")
	must(t, err)
	return all
}

// block of a page that names this folder as what runs it, and has those words.
func block(t *testing.T, page, words string) string {
	t.Helper()
	for _, b := range pages(t)[page].Other {
		if strings.Contains(b.NoRun(), runHere) && strings.Contains(b.Text, words) {
			return b.Text
		}
	}
	t.Fatalf("%s has no block with %q that is run here", page, words)
	return ""
}

// TestBlocksAreRun holds that no page sends a reader here for a block that nobody runs.
func TestBlocksAreRun(t *testing.T) {
	for name, p := range pages(t) {
		for _, b := range p.Other {
			known := b.Section == activationSection || slices.ContainsFunc([]string{filesBlock, mirrorBlock, rewriteBlock, helmBlock, otherBlock, pushBlock}, func(w string) bool { return strings.Contains(b.Text, w) })
			if strings.Contains(b.NoRun(), runHere) && !known {
				t.Errorf("%s:%d: nobody runs it here", name, b.Line)
			}
		}
	}
}

// TestAirGapped makes a release without a registry, as docs/operations/air-gapped.md says, carries its folder away, and pushes it from there:
// what is in the registry then is what was made, digest for digest.
func TestAirGapped(t *testing.T) {
	needDebian(t)
	mirror := serve(t.Context(), t, build(t.Context(), t))
	outside, inside := buildable(t), t.TempDir()
	table := []string{"MIRROR/PATH", mirror + "/some/path", "linux-amd64", "linux-" + runtime.GOARCH}
	typed(t, outside, "air-gapped.md", filesBlock, table)
	carry(t, filepath.Join(outside, "dist", "release"), filepath.Join(inside, "dist", "release"))
	typed(t, inside, "air-gapped.md", mirrorBlock, table)
	release := filepath.Join(inside, "dist", "release", "v0.1.0")
	inRegistry(t, filepath.Join(release, "digests.txt"), release)
}

// TestPush types what the README and install.md say of packages in one's own registry, in a clean checkout: what is in the registry then is
// what was made, the manifests name it, and the checkout is as clean as it was.
func TestPush(t *testing.T) {
	needDebian(t)
	registry, dir := serve(t.Context(), t, build(t.Context(), t)), buildable(t)
	git := func(args ...string) string {
		t.Helper()
		return string(run(t.Context(), t, "git", append([]string{"-C", dir, "-c", "user.name=reader", "-c", "user.email=reader@example.org"}, args...)...))
	}
	git("init", "-q")
	git("add", "-A")
	git("commit", "-q", "-m", "as it was cloned")
	for _, page := range []string{"README.md", "install.md"} {
		typed(t, dir, page, pushBlock, []string{"HOST/PATH", registry + "/some/path"})
		inRegistry(t, filepath.Join(dir, "dist", "digests.txt"), filepath.Join(dir, "dist", "install"))
		if changed := git("status", "--porcelain"); changed != "" {
			t.Errorf("after %s the checkout has changes: %s", page, changed)
		}
	}
}

// buildable is a checkout with what "make packages" takes.
func buildable(t *testing.T) string {
	t.Helper()
	dir := checkout(t)
	for _, f := range []string{"Makefile", ".gitignore", "tools/packages"} {
		carry(t, filepath.Join(root, filepath.FromSlash(f)), filepath.Join(dir, filepath.FromSlash(f)))
	}
	must(t, os.WriteFile(filepath.Join(dir, "CHANGELOG.md"), []byte("# Changelog\n\n## Unreleased\n\n* News.\n"), 0o600))
	return dir
}

// typed runs a page's block in a folder, with what there is here in place of what the page makes up.
func typed(t *testing.T, dir, page, words string, table []string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", strings.NewReplacer(table...).Replace(block(t, page, words))) //nolint:gosec // That is what the page is for.
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// inRegistry holds that all six things are in the registry that their names say, as they were made, and so is whatever manifests name.
func inRegistry(t *testing.T, digests, manifests string) {
	t.Helper()
	b, err := os.ReadFile(digests)
	must(t, err)
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	if len(lines) != 6 {
		t.Errorf("want provider, function, bootd, two configurations and the chart, got %v", lines)
	}
	for _, line := range lines {
		digest, ref, _ := strings.Cut(line, "  ")
		if got := manifest(t, ref); got != digest {
			t.Errorf("%s is %s in the registry, and was made as %s", ref, got, digest)
		}
	}
	named := 0
	for file, field := range map[string]string{"bootd.yaml": "image", "install.yaml": "package"} {
		b, err := os.ReadFile(filepath.Join(manifests, file))
		must(t, err)
		for _, m := range regexp.MustCompile(`(?m)^ +`+field+`: (.*)$`).FindAllStringSubmatch(string(b), -1) {
			named++
			_, digest, pinned := strings.Cut(m[1], "@")
			if got := manifest(t, m[1]); got == "" || pinned && got != digest {
				t.Errorf("%s names %s, which isn't in the registry", file, m[1])
			}
		}
	}
	if named != 4 {
		t.Errorf("manifests name %d things, want bootd, provider, function and configuration", named)
	}
}

// manifest's digest in a registry, of HOST/NAME:TAG or HOST/NAME@DIGEST, by what the registry sends. "" where there's none.
func manifest(t *testing.T, ref string) string {
	t.Helper()
	host, rest, _ := strings.Cut(ref, "/")
	name, tag, ok := strings.Cut(rest, "@")
	if !ok {
		at := strings.LastIndex(rest, ":")
		name, tag = rest[:at], rest[at+1:]
	}
	r, err := http.Get("http://" + host + "/v2/" + name + "/manifests/" + tag)
	must(t, err)
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	must(t, err)
	if r.StatusCode != http.StatusOK {
		return ""
	}
	sum := sha256.Sum256(body)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// carry copies a file or a folder.
func carry(t *testing.T, from, to string) {
	t.Helper()
	i, err := os.Stat(from)
	must(t, err)
	if i.IsDir() {
		must(t, os.CopyFS(to, os.DirFS(from)))
		return
	}
	b, err := os.ReadFile(from)
	must(t, err)
	must(t, os.MkdirAll(filepath.Dir(to), 0o750))
	must(t, os.WriteFile(to, b, 0o600)) //nolint:gosec // The test's own folder.
}

// TestHelmUpgrade upgrades bootd as docs/operations/upgrade.md says, and goes back: what runs then is the chart's own image, with the segments
// that were set when it was installed.
func TestHelmUpgrade(t *testing.T) {
	ctx := t.Context()
	bin, tool := helm(t), build(ctx, t)
	registry := serve(ctx, t, tool) + "/some/path"
	want := map[string]string{}
	from := checkout(t)
	for _, v := range []string{"v0.1.0-rc.1", "v0.2.0-rc.1"} {
		dist := t.TempDir()
		run(ctx, t, tool, "push", "--registry="+registry, "--version="+v, "--root="+from, "--dist="+dist, "--bare", "--arch="+runtime.GOARCH)
		b, err := os.ReadFile(filepath.Join(dist, "digests.txt"))
		must(t, err)
		for line := range strings.Lines(string(b)) {
			if digest, ref, _ := strings.Cut(strings.TrimSpace(line), "  "); ref == registry+"/baremetal-bootd:"+v {
				want[v] = registry + "/baremetal-bootd@" + digest
			}
		}
	}
	plane := start(ctx, t)
	t.Setenv("KUBECONFIG", plane.Kubeconfig())
	crd, err := local.Load(podMonitors)
	must(t, err)
	must(t, plane.Apply(ctx, crd...))
	must(t, plane.Established(ctx, crd...))
	runs := func(v string) {
		t.Helper()
		d := &appsv1.DaemonSet{}
		must(t, plane.Client().Get(ctx, client.ObjectKey{Namespace: "baremetal-boot", Name: "bootd-r7"}, d))
		if got := d.Spec.Template.Spec.Containers[0].Image; got != want[v] || got == "" {
			t.Errorf("%s runs %q, want %q", v, got, want[v])
		}
	}
	run(ctx, t, bin, "install", "bootd", "oci://"+registry+"/baremetal-bootd-chart", "--plain-http", "--version=0.1.0-rc.1",
		"--namespace=baremetal-boot", "--create-namespace", "--set=segments[0].name=r7,segments[0].nodeSelector.rack=r7,podMonitor.enabled=true")
	runs("v0.1.0-rc.1")
	typed := strings.NewReplacer("oci://HOST/PATH", "oci://"+registry, "--version 0.", "--plain-http --version 0.", "helm ", bin+" ").
		Replace(block(t, "upgrade.md", helmBlock))
	for _, v := range []string{"v0.2.0-rc.1", "v0.1.0-rc.1"} { // And back, as the page says.
		run(ctx, t, "bash", "-euc", strings.ReplaceAll(typed, "--version 0.2.0", "--version "+strings.TrimPrefix(v, "v")))
		runs(v)
	}
}

// needDebian skips a test that takes Debian's packages where there are none.
func needDebian(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("apt-get"); err != nil {
		t.Skip("skipped: there's no apt-get here, which bootd's firmware comes from")
	}
}

// TestRealImages builds what users get twice, from two folders: the same digests for both architectures, with real programs and Debian's
// real files. Each image is as large as it may be at most, has programs of its own architecture, and the licences that the copyright files
// in bootd's refer to are in it.
func TestRealImages(t *testing.T) {
	needDebian(t)
	ctx, tool := t.Context(), build(t.Context(), t)
	second := t.TempDir()
	for _, f := range []string{"go.mod", "go.sum", "LICENSE", "apis", "cmd", "internal", "package", "examples"} {
		carry(t, filepath.Join(root, f), filepath.Join(second, f))
	}
	var digests []string
	var dist string
	for _, dir := range []string{root, second} {
		dist = t.TempDir()
		out := run(ctx, t, tool, "build", "--version="+version, "--root="+dir, "--dist="+dist, "--revision=abc")
		figures = regexp.MustCompile(`(?m)^figure image_mb_.*$`).FindAllString(string(out), -1)
		b, err := os.ReadFile(filepath.Join(dist, "digests.txt"))
		must(t, err)
		digests = append(digests, string(b))
	}
	if digests[0] != digests[1] || strings.Count(digests[0], "sha256:") != 6 {
		t.Errorf("two builds differ, or aren't six:\n%s\n%s", digests[0], digests[1])
	}
	for program, image := range map[string]string{"provider": "provider-baremetal", "function": "function-baremetal", "bootd": "baremetal-bootd"} {
		checkArchitectures(t, filepath.Join(dist, "oci", image), "usr/local/bin/"+program)
	}
	if len(figures) != 6 { // The tool refuses what is too large.
		t.Errorf("want how large three images are for two architectures, got %q", figures)
	}
	checkLicences(t, filepath.Join(dist, "oci", "baremetal-bootd"))
}
