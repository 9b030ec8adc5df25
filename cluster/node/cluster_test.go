package node_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
	"github.com/crossplane-contrib/provider-baremetal/cluster/node"
	"github.com/crossplane-contrib/provider-baremetal/test/able"
)

const namespace = "default"

// need skips a test on a machine that can't run it, or where a person asked for those that take no time.
func need(t *testing.T) {
	t.Helper()
	able.Need(t, node.Missing())
	if testing.Short() {
		t.Skip("skipped: -short, and a cluster takes its time")
	}
}

// probeImage is the image of testdata/probe.
func probeImage(t *testing.T) node.Image {
	t.Helper()
	out := filepath.Join(t.TempDir(), "probe")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", out, "./testdata/probe") //nolint:gosec // Our own program.
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if b, err := build.CombinedOutput(); err != nil {
		t.Fatalf("cannot build the probe: %v\n%s", err, b)
	}
	return node.Image{
		Name: "probe:test", User: "65532", Entrypoint: []string{"/probe"}, Files: map[string]string{"/probe": out},
	}
}

// story is what happened when, for whoever reads the verdict: it's printed after the tests.
var story []string

func TestMain(m *testing.M) {
	code := m.Run()
	for _, s := range story {
		fmt.Fprintln(os.Stdout, "e2e-cluster: "+s)
	}
	os.Exit(code)
}

// timeline notes what happens with the seconds since the start.
func timeline(t *testing.T) func(string) {
	t.Helper()
	start := time.Now()
	return func(s string) {
		s = fmt.Sprintf("%5.1fs %s", time.Since(start).Seconds(), s)
		t.Log(s)
		story = append(story, s)
	}
}

func TestCluster(t *testing.T) {
	need(t)
	if err := node.Prepare(t.Context(), func(s string) { fmt.Fprintln(os.Stderr, "e2e-cluster:", s) }); err != nil {
		t.Fatal(err)
	}
	image := probeImage(t)
	state := filepath.Join(t.TempDir(), "state")
	say := timeline(t)
	c, err := node.Start(t.Context(), node.Options{StateDir: state, Say: say, Images: []node.Image{image}})
	if err != nil {
		t.Fatal(err)
	}
	traces := tracesOf(t, c.PID(), state)
	defer func() { _ = c.Stop() }()
	apply(t, c, image)
	for _, step := range []struct {
		name string
		run  func(*testing.T, *node.Cluster)
	}{
		{"Pods", pods}, {"Names", names}, {"Segment", segment}, {"Kubectl", kubectl}, {"Crossplane", crossplane},
	} {
		if !t.Run(step.name, func(t *testing.T) { step.run(t, c) }) {
			break
		}
		say(step.name + " passed")
	}
	if err := c.Failed(); err != nil {
		t.Errorf("a program of the node ended by itself: %v", err)
	}
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
	say("stopped")
	traces.gone(t)
}

func apply(t *testing.T, c *node.Cluster, image node.Image) {
	t.Helper()
	b, err := os.ReadFile("testdata/probe.yaml")
	if err != nil {
		t.Fatal(err)
	}
	objects, err := local.Decode([]byte(strings.ReplaceAll(string(b), "$IMAGE", image.Ref())))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		o.SetNamespace(namespace)
	}
	if err := local.Apply(t.Context(), c.Client(), objects...); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := c.AwaitAvailable(ctx, namespace, "pod", "host"); err != nil {
		t.Fatal(err)
	}
}

// get asks a URL from the node.
func get(t *testing.T, c *node.Cluster, url string) (string, error) {
	t.Helper()
	hc := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		DialContext:       func(ctx context.Context, _, address string) (net.Conn, error) { return c.Dial(ctx, address) },
		DisableKeepAlives: true,
	}}
	res, err := hc.Get(url)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers %s: %s", url, res.Status, b)
	}
	return string(b), err
}

// eventually asks until the answer has want in it: rules for a Service follow its endpoints after a moment.
func eventually(t *testing.T, c *node.Cluster, url, want string) {
	t.Helper()
	var got string
	var err error
	for deadline := time.Now().Add(15 * time.Second); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		if got, err = get(t, c, url); err == nil && strings.Contains(got, want) {
			return
		}
	}
	t.Errorf("%s: want %q, got %q, %v", url, want, got, err)
}

func podIPs(t *testing.T, c *node.Cluster) []string {
	t.Helper()
	all := &corev1.PodList{}
	if err := c.Client().List(t.Context(), all, client.InNamespace(namespace), client.MatchingLabels{"app": "pod"}); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, p := range all.Items {
		out = append(out, p.Status.PodIP)
	}
	return out
}

func serviceIP(t *testing.T, c *node.Cluster) string {
	t.Helper()
	s := &corev1.Service{}
	if err := c.Client().Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "pod"}, s); err != nil {
		t.Fatal(err)
	}
	return s.Spec.ClusterIP
}

// pods are reached from the node, from each other, and by their Service, even from themselves.
func pods(t *testing.T, c *node.Cluster) {
	t.Helper()
	ips := podIPs(t, c)
	if len(ips) != 2 {
		t.Fatalf("want two pods, got %v", ips)
	}
	eventually(t, c, "http://"+ips[0]+":8080/", "hello from pod-")
	eventually(t, c, "http://"+node.Address+":18080/", "hello from "+node.Name)
	eventually(t, c, "http://"+ips[0]+":8080/get?url=http://"+ips[1]+":8080/", "hello from pod-")
	eventually(t, c, "http://"+ips[0]+":8080/get?url=http://"+node.Address+":18080/", "hello from "+node.Name)
	eventually(t, c, "http://"+ips[0]+":8080/get?url=http://"+served(t, c)+"/", "hello from the test")
	for range 8 { // Each way is taken sooner or later, the one to itself too.
		eventually(t, c, "http://"+ips[0]+":8080/get?url=http://"+serviceIP(t, c)+"/", "hello from pod-")
	}
	eventually(t, c, "http://"+serviceIP(t, c)+"/", "hello from pod-")
	if got, err := get(t, c, "http://"+ips[0]+":8080/get?url=http://192.0.2.1/"); err == nil {
		t.Errorf("a pod reached the outside: %q", got)
	}
}

// served is the address inside at which the test itself answers.
func served(t *testing.T, c *node.Cluster) string {
	t.Helper()
	l, err := c.Listen(node.Address + ":0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{
		Handler:           http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello from the test") }),
		ReadHeaderTimeout: time.Minute,
	}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	return l.Addr().String()
}

// names of Services are resolved, from the pod network and from the node's.
func names(t *testing.T, c *node.Cluster) {
	t.Helper()
	pod, host := "http://"+podIPs(t, c)[0]+":8080", "http://"+node.Address+":18080"
	for _, from := range []string{pod, host} {
		for _, name := range []string{"pod", "pod.default", "pod.default.svc.cluster.local"} {
			eventually(t, c, from+"/resolve?host="+name, serviceIP(t, c))
		}
		eventually(t, c, from+"/get?url=http://pod.default/", "hello from pod-")
	}
}

// kubectl works from outside, through the API server to kubelet too.
func kubectl(t *testing.T, c *node.Cluster) {
	t.Helper()
	for want, args := range map[string][]string{
		"probe serves": {"logs", "deploy/pod"},
		"-dhcp":        {"exec", "deploy/host", "--", "/probe", "-help"},
		"Ready":        {"get", "node", node.Name},
	} {
		if out, _ := c.Kubectl(t.Context(), args...); !strings.Contains(out, want) {
			t.Errorf("kubectl %s: want %q, got %q", strings.Join(args, " "), want, out)
		}
	}
}

// crossplane is as users have it: core and RBAC manager in pods, with no more rights than its chart gives.
func crossplane(t *testing.T, c *node.Cluster) {
	t.Helper()
	if err := c.InstallCrossplane(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.AwaitAvailable(t.Context(), local.CrossplaneNamespace, "crossplane", "crossplane-rbac-manager"); err != nil {
		t.Fatal(err)
	}
	role := &rbacv1.ClusterRole{}
	if err := c.Client().Get(t.Context(), client.ObjectKey{Name: "crossplane"}, role); err != nil {
		t.Fatal(err)
	}
	if role.AggregationRule == nil || len(role.Rules) == 0 {
		t.Errorf("Crossplane's ClusterRole isn't filled by aggregation: %v", role)
	}
	if out, err := c.CrossplaneCLI(t.Context(), "version"); err != nil || !strings.Contains(out, "Server Version: v2.4.0") {
		t.Errorf("Crossplane's CLI doesn't know the server's version: %v\n%s", err, out)
	}
}
