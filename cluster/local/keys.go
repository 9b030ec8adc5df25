package local

import (
	"crypto/x509/pkix"
	"path/filepath"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local/keys"
)

// pki is one control plane's authority and where its files are.
type pki struct {
	*keys.Authority

	dir string
}

// newPKI writes everything that Kubernetes' programs read from files: the authority, the API server's certificate, that of
// the aggregation front and the key that signs ServiceAccount tokens.
func newPKI(dir string, now time.Time) (*pki, error) {
	ca, err := keys.New("provider-baremetal local control plane", now)
	if err != nil {
		return nil, err
	}
	k := &pki{Authority: ca, dir: dir}
	if err := keys.WriteFile(k.file("ca.crt"), ca.PEM); err != nil {
		return nil, err
	}
	serving := []string{"127.0.0.1", serviceIP, "localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"}
	if err := k.issueTo("apiserver", pkix.Name{CommonName: "kube-apiserver"}, serving, now); err != nil {
		return nil, err
	}
	if err := k.issueTo("front-proxy", pkix.Name{CommonName: "front-proxy"}, nil, now); err != nil {
		return nil, err
	}
	b, err := keys.NewKey()
	if err != nil {
		return nil, err
	}
	return k, keys.WriteFile(k.file("service-accounts.key"), b)
}

func (k *pki) issueTo(name string, subject pkix.Name, hosts []string, now time.Time) error {
	c, err := k.Issue(subject, hosts, now)
	if err != nil {
		return err
	}
	return c.Write(k.dir, name)
}

func (k *pki) file(name string) string { return filepath.Join(k.dir, name) }
