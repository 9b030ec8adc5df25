package oncluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local/keys"
	"github.com/crossplane-contrib/provider-baremetal/cluster/node"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
)

const (
	httpsPort = "8483"
	// renewal is how long a kubelet may take to bring a changed Secret to its pod, on a busy machine: it looks once in a minute or so.
	renewal = 4 * time.Minute
	// mirror is in the range that install.md lets bootd fetch from.
	mirror = "10.0.7.200"
	// mirrored is a profile whose files only the mirror has. Each of them says what it's called.
	mirrored = `
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: BootProfile
metadata: {namespace: infra, name: mirrored}
spec:
  mode: Install
  method: DiskImage
  artifacts:
  - arch: amd64
    kernel: {url: "«mirror»/kernel", digest: "«/kernel»"}
    initrds: [{url: "«mirror»/initrd", digest: "«/initrd»"}]
    image: {url: "«mirror»/image", digest: "«/image»", format: Raw, compression: None}
`
)

var errNoCertificate = errors.New("the reader has no certificate: an earlier step failed")

// trusted is the reader's own authority.
func (c *cluster) trusted() (*keys.Authority, error) {
	if c.authority == nil {
		a, err := keys.New("the reader's own", time.Now())
		if err != nil {
			return nil, err
		}
		c.authority = a
	}
	return c.authority, nil
}

// ownCertificate writes, where the reader sits, a certificate for the node's address on its segment, and its key.
func (c *cluster) ownCertificate(context.Context) error {
	a, err := c.trusted()
	if err != nil {
		return err
	}
	made, err := a.Issue(pkix.Name{CommonName: "bootd"}, []string{node.SegmentAddress}, time.Now())
	if err != nil {
		return err
	}
	c.certificate = &made
	return errors.Join(keys.WriteFile(filepath.Join(c.shell.Dir, "fullchain.pem"), made.Cert), keys.WriteFile(filepath.Join(c.shell.Dir, "key.pem"), made.Key))
}

// renewed gives bootd's Secret another certificate, as cert-manager would.
func (c *cluster) renewed(ctx context.Context) error {
	if err := c.ownCertificate(ctx); err != nil {
		return err
	}
	made, err := c.Kubectl(ctx, "-n", lab.BootNamespace, "create", "secret", "tls", "bootd-tls", "--dry-run=client", "-o", "yaml",
		"--cert="+filepath.Join(c.shell.Dir, "fullchain.pem"), "--key="+filepath.Join(c.shell.Dir, "key.pem"))
	if err != nil {
		return err
	}
	return c.ApplyYAML(ctx, made)
}

// servesHTTPS waits until whoever asks bootd at the node's address, and trusts the reader's authority, is served with the certificate that bootd was
// given last.
func (c *cluster) servesHTTPS(ctx context.Context) error {
	if c.certificate == nil {
		return errNoCertificate
	}
	want, _ := pem.Decode(c.certificate.Cert)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(c.authority.PEM)
	began := time.Now()
	err := c.Until(ctx, "bootd to serve HTTPS with its certificate", renewal, func(ctx context.Context) error {
		client := &http.Client{Transport: &http.Transport{
			DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
			DialContext: func(ctx context.Context, _, address string) (net.Conn, error) { return c.Dial(ctx, address) },
		}}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+net.JoinHostPort(node.SegmentAddress, httpsPort)+"/", http.NoBody)
		if err != nil {
			return err
		}
		res, err := client.Do(req)
		if err != nil {
			return err
		}
		defer func() { _ = res.Body.Close() }() // What it says there is nobody's.
		if got := res.TLS.PeerCertificates[0]; !bytes.Equal(got.Raw, want.Bytes) {
			time.Sleep(time.Second) // A kubelet takes its time, and needs the processors, too.
			return fmt.Errorf("it serves the certificate %x, and was given another one", got.SerialNumber)
		}
		return nil
	})
	_, _ = fmt.Fprintf(c.shell.Transcript, "served with the certificate after %.0f s\n", time.Since(began).Seconds()) // Who reads it sees what is missing.
	return err
}

// ownMirror is a web server with a certificate of the reader's own authority, whose own one lies where the reader sits.
func (c *cluster) ownMirror(context.Context) error {
	a, err := c.trusted()
	if err != nil {
		return err
	}
	made, err := a.Issue(pkix.Name{CommonName: "mirror"}, []string{mirror}, time.Now())
	if err != nil {
		return err
	}
	pair, err := tls.X509KeyPair(made.Cert, made.Key)
	if err != nil {
		return fmt.Errorf("cannot read back the mirror's certificate: %w", err)
	}
	if err := c.Answer(netip.PrefixFrom(netip.MustParseAddr(mirror), 32)); err != nil {
		return err
	}
	l, err := c.Listen(net.JoinHostPort(mirror, "443"))
	if err != nil {
		return err
	}
	s := &http.Server{ReadHeaderTimeout: patience, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.URL.Path) //nolint:gosec // bootd alone reads it, as a file.
	})}
	go func() {
		_ = s.Serve(tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}))
	}() // Ends with the test.
	return os.WriteFile(filepath.Join(c.shell.Dir, "ca.pem"), a.PEM, 0o600)
}

// fetchesFromMirror holds that bootd gets a profile's files, which it does when there's a profile, from a server whose authority it was told.
func (c *cluster) fetchesFromMirror(ctx context.Context) error {
	values := []string{"«mirror»", "https://" + mirror}
	for _, file := range []string{"/kernel", "/initrd", "/image"} {
		digest := sha256.Sum256([]byte(file))
		values = append(values, "«"+file+"»", "sha256:"+hex.EncodeToString(digest[:]))
	}
	if err := c.ApplyYAML(ctx, strings.NewReplacer(values...).Replace(mirrored)); err != nil {
		return err
	}
	profile := lab.Kind("BootProfile", "infra", "mirrored")
	if _, err := c.Await(ctx, profile, "fetched", patience, func(u *unstructured.Unstructured) bool {
		files, _, err := unstructured.NestedSlice(u.Object, "status", "artifacts")
		for _, f := range files {
			m, _ := f.(map[string]any)
			if on, _ := m["cachedOn"].(int64); on != 1 {
				return false
			}
		}
		return err == nil && len(files) == 3
	}); err != nil {
		return err
	}
	_, err := c.Kubectl(ctx, "delete", "bootprofiles.baremetal.m.crossplane.io", "-n", profile.Namespace, profile.Name)
	return err
}
