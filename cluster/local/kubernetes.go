package local

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"k8s.io/client-go/rest"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local/proc"
	"github.com/crossplane-contrib/provider-baremetal/cluster/local/programs"
)

const (
	// serviceRange is where ClusterIPs are from. Nothing routes there: there is no kube-proxy.
	serviceRange = "10.0.0.0/24"
	serviceIP    = "10.0.0.1"
	// issuer of ServiceAccount tokens.
	issuer = "https://kubernetes.default.svc"
	// startTimeout is how long one process may take until it's ready, on a busy machine.
	startTimeout = 5 * time.Minute
)

func (p *Plane) startKubernetes(ctx context.Context) error {
	if err := p.startEtcd(ctx); err != nil {
		return err
	}
	if err := p.startAPIServer(ctx); err != nil {
		return err
	}
	// Nothing waits for the controllers: they work from the moment they are up.
	_, err := p.run(programs.Controllers, nil, []string{"--kubeconfig=" + p.Kubeconfig()})
	return err
}

func (p *Plane) startEtcd(ctx context.Context) error {
	p.opts.Say("starting etcd")
	pr, err := p.run(programs.Etcd, nil, etcdArgs(p.port, p.dir("etcd")))
	if err != nil {
		return err
	}
	return p.awaitEtcd(ctx, pr)
}

func (p *Plane) startAPIServer(ctx context.Context) error {
	p.opts.Say("starting kube-apiserver")
	// A quarter of its time went into collecting garbage: it takes more memory instead, up to a gigabyte.
	pr, err := p.run(programs.APIServer, []string{"GOGC=300"}, apiServerArgs(p.port, p.pki))
	if err != nil {
		return err
	}
	return p.awaitAPIServer(ctx, pr)
}

func (p *Plane) awaitEtcd(ctx context.Context, pr *proc.Process) error {
	return await(ctx, pr, healthy(http.DefaultClient, "http://"+loopback(p.port.etcd)+"/health"))
}

func (p *Plane) awaitAPIServer(ctx context.Context, pr *proc.Process) error {
	ready, err := p.apiServerReady()
	if err != nil {
		return err
	}
	return await(ctx, pr, ready)
}

// await starts a process where it doesn't run, and waits until it's ready.
func await(ctx context.Context, pr *proc.Process, ready func(context.Context) error) error {
	if err := pr.Start(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	return pr.Await(ctx, ready)
}

func (p *Plane) apiServerReady() (func(context.Context) error, error) {
	hc, err := rest.HTTPClientFor(p.admin)
	if err != nil {
		return nil, fmt.Errorf("cannot make an HTTP client: %w", err)
	}
	return healthy(hc, p.admin.Host+"/readyz"), nil
}

func etcdArgs(port ports, dir string) []string {
	clients, peers := "http://"+loopback(port.etcd), "http://"+loopback(port.etcdPeer)
	return []string{
		"--name=local",
		"--data-dir=" + dir,
		"--listen-client-urls=" + clients,
		"--advertise-client-urls=" + clients,
		"--listen-peer-urls=" + peers,
		"--initial-advertise-peer-urls=" + peers,
		"--initial-cluster=local=" + peers,
		// A crash of the machine may lose data here, a crash of etcd may not: that is all a test needs, and much faster.
		"--unsafe-no-fsync",
		"--log-level=warn",
	}
}

func apiServerArgs(port ports, k *pki) []string {
	return []string{
		"--etcd-servers=http://" + loopback(port.etcd),
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(port.apiserver),
		"--service-cluster-ip-range=" + serviceRange,
		"--authorization-mode=RBAC",
		"--client-ca-file=" + k.file("ca.crt"),
		"--tls-cert-file=" + k.file("apiserver.crt"),
		"--tls-private-key-file=" + k.file("apiserver.key"),
		"--service-account-issuer=" + issuer,
		"--service-account-key-file=" + k.file("service-accounts.key"),
		"--service-account-signing-key-file=" + k.file("service-accounts.key"),
		"--requestheader-client-ca-file=" + k.file("ca.crt"),
		"--requestheader-allowed-names=front-proxy",
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + k.file("front-proxy.crt"),
		"--proxy-client-key-file=" + k.file("front-proxy.key"),
		// The defaults, NamespaceLifecycle and ValidatingAdmissionPolicy among them, and one that shows what an owner
		// reference with blockOwnerDeletion needs where a cluster's administrator has it on.
		"--enable-admission-plugins=OwnerReferencesPermissionEnforcement",
		"--endpoint-reconciler-type=none",
		"--profiling=false",
	}
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// healthy asks a URL and takes 200 for an answer.
func healthy(hc *http.Client, url string) func(context.Context) error {
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		if err != nil {
			return fmt.Errorf("cannot ask %q: %w", url, err)
		}
		res, err := hc.Do(req)
		if err != nil {
			return fmt.Errorf("no answer: %w", err)
		}
		defer res.Body.Close()                                      // Only read.
		_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 1<<16)) // Only lets the connection be used again.
		if res.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answers %s", url, res.Status)
		}
		return nil
	}
}
