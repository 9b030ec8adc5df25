package node

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local/programs"
	"github.com/crossplane-contrib/provider-baremetal/cluster/node/inside"
)

const (
	containerdSocket = "/run/containerd/containerd.sock"
	// containerd is the name of its process.
	containerd = "containerd"
)

// cgroup is the control group of this state folder's pods: another start with the same folder finds what one before it left.
func (l layout) cgroup() string {
	h := sha256.Sum256([]byte(l.state))
	return "baremetal-" + hex.EncodeToString(h[:4])
}

// A planner decides what is set up and run.
type planner struct {
	layout

	set    programs.Set
	debian debian
	// last is the last image that the registry serves: when it's there, all are.
	last Image
}

func (p planner) plan() inside.Plan {
	return inside.Plan{
		Hostname: Name,
		Cgroup:   p.cgroup(),
		Mounts:   p.mounts(),
		Links: []inside.Link{
			// The kernel wants a route before kube-proxy's rules say where a Service really is. There is no other route: who asks
			// the outside is told at once that there is none.
			{Name: nodeLink, Kind: inside.Veth, Address: Address + prefix, Routes: []string{serviceRange}},
			{Name: SegmentLink, Kind: inside.Bridge, Address: SegmentAddress + prefix},
		},
		Sysctls: map[string]string{
			"net/ipv4/ip_forward": "1",
			// Loose, as most distributions for nodes have it: a reply may go another way than its request came.
			"net/ipv4/conf/all/rp_filter": "2", "net/ipv4/conf/default/rp_filter": "2",
		},
		Stages:  p.stages(),
		Socket:  p.socket(),
		Scratch: []string{p.data(), p.socket()},
	}
}

func (p planner) mounts() []inside.Mount {
	out := []inside.Mount{
		{To: "/run"}, {To: "/var/lib"},
		{From: p.data("kubelet"), To: "/var/lib/kubelet"},
		{From: p.data("containerd"), To: "/var/lib/containerd"},
		// Pods may have host paths there, which aren't this machine's.
		{From: p.data("var-cache"), To: "/var/cache"},
		{From: p.in("logs", "var"), To: "/var/log"},
		{From: p.etc("resolv.conf"), To: "/etc/resolv.conf"},
	}
	for _, name := range slices.Sorted(maps.Keys(fakeSysctls())) {
		out = append(out, inside.Mount{From: p.etc("sysctl", name), To: "/proc/sys/" + name})
	}
	return out
}

func (p planner) stages() []inside.Stage {
	return []inside.Stage{
		{
			Say: "starting etcd, containerd and the registry",
			Start: []inside.Process{
				p.process(programs.Etcd, p.etcdArgs()),
				p.process(programs.Registry, p.registryArgs()),
				{
					Name: containerd, Path: p.debian.containerd(), Args: []string{"--config", p.etc("containerd.toml")},
					Env: p.debian.env(), Log: p.log(containerd),
				},
			},
			Await: []inside.Ready{{Process: programs.Etcd, URL: "http://" + at("127.0.0.1", etcdPort) + "/health"}},
		},
		{
			Say:   "starting kube-apiserver",
			Start: []inside.Process{p.process(programs.APIServer, p.apiServerArgs())},
			Await: []inside.Ready{
				{
					Process: programs.APIServer, URL: "https://" + at(Address, apiPort) + "/readyz",
					CA: p.pki("ca.crt"), Cert: p.pki("apiserver-kubelet.crt"), Key: p.pki("apiserver-kubelet.key"),
				},
				{Process: containerd, Socket: containerdSocket},
				{Process: programs.Registry, URL: p.last.manifest()},
			},
		},
		{
			Say: "starting controllers, scheduler, kubelet and kube-proxy",
			Start: []inside.Process{
				p.process(programs.Kubelet, p.kubeletArgs()),
				p.process(programs.ControllerManager, p.controllerArgs()),
				p.process(programs.Scheduler, p.schedulerArgs()),
				p.process(programs.Proxy, []string{"--config=" + p.etc("kube-proxy.yaml")}),
			},
		},
	}
}

// process of the set. Those that start others find Debian's.
func (p planner) process(name string, args []string) inside.Process {
	return inside.Process{Name: name, Path: p.set.Path[name], Args: args, Env: p.debian.env(), Log: p.log(name)}
}

func (p planner) registryArgs() []string {
	return []string{"-listen=" + Registry, "-blobs=" + p.data("registry"), "-images=" + p.images()}
}

func (p planner) etcdArgs() []string {
	clients, peers := "http://"+at("127.0.0.1", etcdPort), "http://"+at("127.0.0.1", etcdPeerPort)
	return []string{
		"--name=" + Name,
		"--data-dir=" + p.data("etcd"),
		"--listen-client-urls=" + clients,
		"--advertise-client-urls=" + clients,
		"--listen-peer-urls=" + peers,
		"--initial-advertise-peer-urls=" + peers,
		"--initial-cluster=" + Name + "=" + peers,
		// Nothing here is to survive the machine.
		"--unsafe-no-fsync",
		"--log-level=warn",
	}
}

func (p planner) apiServerArgs() []string {
	return []string{
		"--etcd-servers=http://" + at("127.0.0.1", etcdPort),
		"--bind-address=0.0.0.0",
		"--advertise-address=" + Address,
		"--secure-port=" + strconv.Itoa(apiPort),
		"--service-cluster-ip-range=" + serviceRange,
		"--authorization-mode=Node,RBAC",
		// NodeRestriction is what kubeadm has on, the other one shows what an owner reference with blockOwnerDeletion needs
		// where a cluster's administrator has it on.
		"--enable-admission-plugins=NodeRestriction,OwnerReferencesPermissionEnforcement",
		"--allow-privileged=true",
		"--client-ca-file=" + p.pki("ca.crt"),
		"--tls-cert-file=" + p.pki("apiserver.crt"),
		"--tls-private-key-file=" + p.pki("apiserver.key"),
		"--service-account-issuer=https://kubernetes.default.svc." + domain,
		"--service-account-key-file=" + p.pki("service-accounts.key"),
		"--service-account-signing-key-file=" + p.pki("service-accounts.key"),
		"--kubelet-preferred-address-types=InternalIP",
		"--kubelet-certificate-authority=" + p.pki("ca.crt"),
		"--kubelet-client-certificate=" + p.pki("apiserver-kubelet.crt"),
		"--kubelet-client-key=" + p.pki("apiserver-kubelet.key"),
		"--requestheader-client-ca-file=" + p.pki("ca.crt"),
		"--requestheader-allowed-names=front-proxy",
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + p.pki("front-proxy.crt"),
		"--proxy-client-key-file=" + p.pki("front-proxy.key"),
		"--audit-policy-file=" + p.etc("audit.yaml"),
		"--audit-log-path=" + p.log("audit"),
		"--audit-log-mode=batch",
		"--profiling=false",
	}
}

func (p planner) controllerArgs() []string {
	kubeconfig := p.kubeconfig(userController)
	return []string{
		"--kubeconfig=" + kubeconfig,
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
		"--controllers=*,bootstrap-signer-controller,token-cleaner-controller",
		"--use-service-account-credentials=true",
		"--service-account-private-key-file=" + p.pki("service-accounts.key"),
		"--root-ca-file=" + p.pki("ca.crt"),
		"--client-ca-file=" + p.pki("ca.crt"),
		"--requestheader-client-ca-file=" + p.pki("ca.crt"),
		"--cluster-signing-cert-file=" + p.pki("ca.crt"),
		"--cluster-signing-key-file=" + p.pki("ca.key"),
		"--allocate-node-cidrs=true",
		"--cluster-cidr=" + podRange,
		"--service-cluster-ip-range=" + serviceRange,
		"--leader-elect=false",
		"--bind-address=127.0.0.1",
	}
}

func (p planner) schedulerArgs() []string {
	kubeconfig := p.kubeconfig(userScheduler)
	return []string{
		"--kubeconfig=" + kubeconfig,
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
		"--leader-elect=false",
		"--bind-address=127.0.0.1",
	}
}

func (p planner) kubeletArgs() []string {
	return []string{
		"--config=" + p.etc("kubelet.yaml"),
		"--kubeconfig=" + p.kubeconfig(userKubelet),
		"--hostname-override=" + Name,
		"--node-ip=" + Address,
		"--v=2",
	}
}
