package local

import (
	"context"
	"crypto/x509/pkix"
	"fmt"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local/keys"
)

// tokenSeconds is how long a ServiceAccount's token lives: longer than any demo or test.
const tokenSeconds = int64(24 * time.Hour / time.Second)

// UserConfig is the access of a user of that name in those groups, by a client certificate.
func (p *Plane) UserConfig(user string, groups ...string) (*rest.Config, error) {
	c, err := p.pki.Issue(pkix.Name{CommonName: user, Organization: groups}, nil, time.Now())
	if err != nil {
		return nil, err
	}
	cfg := p.config()
	cfg.CertData, cfg.KeyData = c.Cert, c.Key
	return cfg, nil
}

// ServiceAccountConfig is the access of a ServiceAccount, by a token of the API server's own. The ServiceAccount must exist.
func (p *Plane) ServiceAccountConfig(ctx context.Context, namespace, name string) (*rest.Config, error) {
	sa := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	seconds := tokenSeconds
	tr := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	if err := p.kube.SubResource("token").Create(ctx, sa, tr); err != nil {
		return nil, fmt.Errorf("cannot get a token for ServiceAccount %s/%s: %w", namespace, name, err)
	}
	cfg := p.config()
	cfg.BearerToken = tr.Status.Token
	return cfg, nil
}

// WriteKubeconfig writes an access as a kubeconfig file that needs no other file.
func WriteKubeconfig(path string, cfg *rest.Config) error {
	const name = "local"
	out := api.NewConfig()
	out.Clusters[name] = &api.Cluster{Server: cfg.Host, CertificateAuthorityData: cfg.CAData}
	out.AuthInfos[name] = &api.AuthInfo{
		ClientCertificateData: cfg.CertData,
		ClientKeyData:         cfg.KeyData,
		Token:                 cfg.BearerToken,
	}
	out.Contexts[name] = &api.Context{Cluster: name, AuthInfo: name}
	out.CurrentContext = name
	b, err := clientcmd.Write(*out)
	if err != nil {
		return fmt.Errorf("cannot encode kubeconfig %q: %w", path, err)
	}
	return keys.WriteFile(path, b)
}

// config reaches the API server but names nobody. There is no rate limit: tests are the only clients.
func (p *Plane) config() *rest.Config {
	return &rest.Config{
		Host:            "https://" + loopback(p.port.apiserver),
		TLSClientConfig: rest.TLSClientConfig{CAData: p.pki.PEM},
		QPS:             -1,
		// What is deprecated here, such as XRDs with claims, is so on purpose.
		WarningHandler: rest.NoWarnings{},
	}
}

func newClient(cfg *rest.Config) (client.Client, error) {
	c, err := client.New(cfg, client.Options{})
	if err != nil {
		return nil, fmt.Errorf("cannot make a client: %w", err)
	}
	return c, nil
}
