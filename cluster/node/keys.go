package node

import (
	"crypto/x509/pkix"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
	"github.com/crossplane-contrib/provider-baremetal/cluster/local/keys"
)

// user is somebody with a kubeconfig inside: the names are Kubernetes' own, and its own roles are bound to them.
type user struct{ name, subject, group string }

const (
	userAdmin      = "admin"
	userController = "controller-manager"
	userScheduler  = "scheduler"
	userKubelet    = "kubelet"
	userProxy      = "proxy"
)

func users() []user {
	return []user{
		{userAdmin, "admin", "system:masters"},
		{userController, "system:kube-controller-manager", ""},
		{userScheduler, "system:kube-scheduler", ""},
		{userKubelet, "system:node:" + Name, "system:nodes"},
		{userProxy, "system:kube-proxy", ""},
	}
}

// apiHosts is what the API server is called, inside and by Forward.
func apiHosts() []string {
	return []string{
		"127.0.0.1", "localhost", Address, serviceIP,
		"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc." + domain,
	}
}

// writeKeys writes the keys of all programs below dir, and their kubeconfigs. It returns the administrator's access, from
// inside.
func writeKeys(l layout, now time.Time) (*rest.Config, error) {
	ca, err := keys.New("provider-baremetal cluster", now)
	if err != nil {
		return nil, err
	}
	own, err := ca.Own()
	if err != nil {
		return nil, err
	}
	if err := own.Write(l.pki(), "ca"); err != nil {
		return nil, err
	}
	tokens, err := keys.NewKey()
	if err != nil {
		return nil, err
	}
	if err := keys.WriteFile(l.pki("service-accounts.key"), tokens); err != nil {
		return nil, err
	}
	for _, c := range []struct {
		name    string
		subject pkix.Name
		hosts   []string
	}{
		{"apiserver", pkix.Name{CommonName: "kube-apiserver"}, apiHosts()},
		{"apiserver-kubelet", pkix.Name{CommonName: "kube-apiserver-kubelet-client", Organization: []string{"system:masters"}}, nil},
		{"front-proxy", pkix.Name{CommonName: "front-proxy"}, nil},
		{"kubelet", pkix.Name{CommonName: "system:node:" + Name, Organization: []string{"system:nodes"}}, []string{Name, Address}},
	} {
		issued, err := ca.Issue(c.subject, c.hosts, now)
		if err != nil {
			return nil, err
		}
		if err := issued.Write(l.pki(), c.name); err != nil {
			return nil, err
		}
	}
	var admin *rest.Config
	for _, u := range users() {
		cfg, err := u.config(ca, now)
		if err != nil {
			return nil, err
		}
		if err := local.WriteKubeconfig(l.kubeconfig(u.name), cfg); err != nil {
			return nil, err
		}
		if u.name == userAdmin {
			admin = cfg
		}
	}
	return admin, nil
}

func (u user) config(ca *keys.Authority, now time.Time) (*rest.Config, error) {
	subject := pkix.Name{CommonName: u.subject}
	if u.group != "" {
		subject.Organization = []string{u.group}
	}
	c, err := ca.Issue(subject, nil, now)
	if err != nil {
		return nil, err
	}
	return &rest.Config{
		Host:            "https://" + at(Address, apiPort),
		TLSClientConfig: rest.TLSClientConfig{CAData: ca.PEM, CertData: c.Cert, KeyData: c.Key},
		QPS:             -1,
		// What is deprecated here, such as XRDs with claims, is so on purpose.
		WarningHandler: rest.NoWarnings{},
	}, nil
}

// layout says where everything is below the state folder.
type layout struct{ state string }

func (l layout) in(elem ...string) string {
	return filepath.Join(append([]string{l.state}, elem...)...)
}
func (l layout) pki(elem ...string) string     { return l.in(append([]string{"pki"}, elem...)...) }
func (l layout) kubeconfig(name string) string { return l.in("kubeconfigs", name) }
func (l layout) etc(elem ...string) string     { return l.in(append([]string{"etc"}, elem...)...) }
func (l layout) data(elem ...string) string    { return l.in(append([]string{"data"}, elem...)...) }
func (l layout) log(name string) string        { return l.in("logs", name+".log") }
func (l layout) socket() string                { return l.in("dial") }
func (l layout) plan() string                  { return l.in("plan.json") }
func (l layout) images() string                { return l.etc("images.json") }
