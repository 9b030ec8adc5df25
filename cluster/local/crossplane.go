package local

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local/keys"
	"github.com/crossplane-contrib/provider-baremetal/cluster/local/proc"
	"github.com/crossplane-contrib/provider-baremetal/cluster/local/programs"
)

// Names that Crossplane's chart gives its objects.
const (
	// CrossplaneNamespace is where Crossplane and providers run.
	CrossplaneNamespace = "crossplane-system"

	crossplaneAccount = "crossplane"
	webhookService    = "crossplane-webhooks"
	rootSecret        = "crossplane-root-ca"
	serverSecret      = "crossplane-tls-server"
	clientSecret      = "crossplane-tls-client"
)

func (p *Plane) startCrossplane(ctx context.Context) error {
	p.opts.Say("starting Crossplane")
	for _, o := range crossplaneObjects(p.port.crossplaneHook) {
		if err := p.kube.Create(ctx, o); err != nil {
			return fmt.Errorf("cannot create %T %q for Crossplane: %w", o, o.GetName(), err)
		}
	}
	cfg, err := p.ServiceAccountConfig(ctx, CrossplaneNamespace, crossplaneAccount)
	if err != nil {
		return err
	}
	if err := WriteKubeconfig(p.dir("crossplane.kubeconfig"), cfg); err != nil {
		return err
	}
	if err := p.initCrossplane(ctx); err != nil {
		return err
	}
	for _, s := range []string{serverSecret, clientSecret} {
		if err := p.dumpSecret(ctx, s); err != nil {
			return err
		}
	}
	pr, err := p.run(programs.Crossplane, p.crossplaneEnv(), p.crossplaneArgs())
	if err != nil {
		return err
	}
	return p.awaitCrossplane(ctx, pr)
}

func (p *Plane) awaitCrossplane(ctx context.Context, pr *proc.Process) error {
	return await(ctx, pr, healthy(http.DefaultClient, "http://"+loopback(p.port.crossplaneProbe)+"/readyz"))
}

// initCrossplane runs what is an init container in a cluster. Like it, it's run again when it fails: the first run may
// use a kind that the API server doesn't serve yet.
func (p *Plane) initCrossplane(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		pr, err := proc.Start(proc.Command{
			Name: "crossplane-init",
			Path: p.set.Path[programs.Crossplane],
			Args: []string{"core", "init"},
			Env:  p.crossplaneEnv(),
			Log:  p.log("crossplane-init"),
		})
		if err != nil {
			return err
		}
		select {
		case <-pr.Done():
		case <-ctx.Done():
			pr.Kill()
			return fmt.Errorf("crossplane doesn't get initialised: %w; the last lines:\n%s", ctx.Err(), proc.Tail(pr.Log(), 10))
		}
		if pr.Succeeded() {
			return nil
		}
		if err := wait(ctx, 100*time.Millisecond); err != nil {
			return fmt.Errorf("crossplane doesn't get initialised: %w; the last lines:\n%s", err, proc.Tail(pr.Log(), 10))
		}
	}
}

func (p *Plane) crossplaneEnv() []string {
	source := filepath.Join(p.set.CrossplaneModule, "cluster")
	return []string{
		"KUBECONFIG=" + p.dir("crossplane.kubeconfig"),
		"POD_NAMESPACE=" + CrossplaneNamespace,
		"POD_SERVICE_ACCOUNT=" + crossplaneAccount,
		"TLS_CA_SECRET_NAME=" + rootSecret,
		"TLS_SERVER_SECRET_NAME=" + serverSecret,
		"TLS_CLIENT_SECRET_NAME=" + clientSecret,
		"TLS_SERVER_CERTS_DIR=" + p.dir("crossplane", serverSecret),
		"TLS_CLIENT_CERTS_DIR=" + p.dir("crossplane", clientSecret),
		"WEBHOOK_SERVICE_NAME=" + webhookService,
		"WEBHOOK_SERVICE_NAMESPACE=" + CrossplaneNamespace,
		"WEBHOOK_SERVICE_PORT=" + strconv.Itoa(p.port.crossplaneHook),
		"CRDS_PATH=" + filepath.Join(source, "crds"),
		"WEBHOOK_CONFIGS_PATH=" + filepath.Join(source, "webhookconfigurations"),
		"XPKG_CACHE_DIR=" + p.dir("crossplane", "xpkg"),
		"XFN_CACHE_DIR=" + p.dir("crossplane", "xfn"),
	}
}

func (p *Plane) crossplaneArgs() []string {
	return append([]string{
		"core", "start", "--debug",
		"--package-runtime=Provider=External;Function=External",
		"--webhook-port=" + strconv.Itoa(p.port.crossplaneHook),
		"--metrics-port=" + strconv.Itoa(p.port.crossplaneMetrics),
		"--health-probe-port=" + strconv.Itoa(p.port.crossplaneProbe),
	}, p.opts.CrossplaneArgs...)
}

// dumpSecret writes a Secret's keys as files, as a mounted Secret is in a pod.
func (p *Plane) dumpSecret(ctx context.Context, name string) error {
	s := &corev1.Secret{}
	if err := p.kube.Get(ctx, client.ObjectKey{Namespace: CrossplaneNamespace, Name: name}, s); err != nil {
		return fmt.Errorf("cannot read Crossplane's Secret %q: %w", name, err)
	}
	for k, v := range s.Data {
		if err := keys.WriteFile(p.dir("crossplane", name, k), v); err != nil {
			return err
		}
	}
	return os.MkdirAll(p.dir("crossplane", "xpkg"), 0o700)
}

// crossplaneObjects are what Crossplane's chart creates beside its Deployment. The webhook Service is an ExternalName: the API
// server then asks that host itself, so that nothing has to route ClusterIPs.
func crossplaneObjects(hook int) []client.Object {
	in := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: CrossplaneNamespace, Name: name}
	}
	return []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: CrossplaneNamespace}},
		&corev1.ServiceAccount{ObjectMeta: in(crossplaneAccount)},
		// The chart's role grows by what the RBAC manager aggregates to it: every composite and managed kind. Here there
		// is no RBAC manager, so Crossplane, which isn't what is tested, may do everything.
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: crossplaneAccount},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
			Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: CrossplaneNamespace, Name: crossplaneAccount}},
		},
		&corev1.Secret{ObjectMeta: in(rootSecret)},
		&corev1.Secret{ObjectMeta: in(serverSecret)},
		&corev1.Secret{ObjectMeta: in(clientSecret)},
		&corev1.Service{ObjectMeta: in(webhookService), Spec: corev1.ServiceSpec{
			Type:         corev1.ServiceTypeExternalName,
			ExternalName: "localhost",
			Ports:        []corev1.ServicePort{{Port: int32(hook), Protocol: corev1.ProtocolTCP}}, //nolint:gosec // A port.
		}},
	}
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
