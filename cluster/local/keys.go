package local

import (
	"crypto/x509/pkix"
	"path/filepath"
	"time"
)

// pki is one control plane's authority and where its files are.
type pki struct {
	*authority

	dir string
}

// newPKI writes everything that Kubernetes' programs read from files: the authority, the API server's certificate, that of
// the aggregation front and the key that signs ServiceAccount tokens.
func newPKI(dir string, now time.Time) (*pki, error) {
	ca, err := newAuthority("provider-baremetal local control plane", now)
	if err != nil {
		return nil, err
	}
	k := &pki{authority: ca, dir: dir}
	if err := writeFile(k.file("ca.crt"), ca.pem); err != nil {
		return nil, err
	}
	serving := []string{"127.0.0.1", serviceIP, "localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"}
	if err := k.issueTo("apiserver", pkix.Name{CommonName: "kube-apiserver"}, serving, now); err != nil {
		return nil, err
	}
	if err := k.issueTo("front-proxy", pkix.Name{CommonName: "front-proxy"}, nil, now); err != nil {
		return nil, err
	}
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	b, err := encodeKey(key)
	if err != nil {
		return nil, err
	}
	return k, writeFile(k.file("service-accounts.key"), b)
}

func (k *pki) issueTo(name string, subject pkix.Name, hosts []string, now time.Time) error {
	c, err := k.issue(subject, hosts, now)
	if err != nil {
		return err
	}
	return c.write(k.dir, name)
}

func (k *pki) file(name string) string { return filepath.Join(k.dir, name) }
