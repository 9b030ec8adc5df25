package node

import (
	"fmt"
	"os"
	"path/filepath"
)

// writeFiles writes the configuration of all programs, which is a stock cluster's but for what the comments say.
func writeFiles(l layout, d debian) error {
	for path, content := range files(l, d) {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // Pods of other users read some.
			return fmt.Errorf("cannot make the folder of %q: %w", path, err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil { //nolint:gosec // Pods of other users read some.
			return fmt.Errorf("cannot write %q: %w", path, err)
		}
	}
	return nil
}

func files(l layout, d debian) map[string]string {
	out := map[string]string{
		l.etc("containerd.toml"):                 containerdConfig(l, d),
		l.etc("certs.d", Registry, "hosts.toml"): hostsConfig(),
		l.etc("cni", "10-pods.conflist"):         cniConfig(),
		l.etc("kubelet.yaml"):                    kubeletConfig(l),
		l.etc("kube-proxy.yaml"):                 proxyConfig(l),
		l.etc("audit.yaml"):                      auditPolicy,
		l.etc("resolv.conf"):                     "nameserver 127.0.0.1\n", // Nobody answers, at once.
	}
	for name, value := range fakeSysctls() {
		out[l.etc("sysctl", name)] = value + "\n"
	}
	return out
}

// fakeSysctls are the machine's own that kubelet insists on setting, by path below /proc/sys. It gets files to write to.
func fakeSysctls() map[string]string {
	return map[string]string{
		"vm/overcommit_memory": "1", "vm/panic_on_oom": "0", "kernel/panic": "10", "kernel/panic_on_oops": "1",
	}
}

// containerdConfig: what is restricted (restrict_oom_score_adj) is what a machine without CAP_SYS_RESOURCE can't do.
func containerdConfig(l layout, d debian) string {
	return fmt.Sprintf(`version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
disabled_plugins = ["io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs"]

[grpc]
  address = %q

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = %q
  disable_apparmor = true
  restrict_oom_score_adj = true

[plugins."io.containerd.grpc.v1.cri".containerd]
  snapshotter = "overlayfs"
  default_runtime_name = "runc"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
  BinaryName = %q
  SystemdCgroup = false

[plugins."io.containerd.grpc.v1.cri".cni]
  bin_dir = %q
  conf_dir = %q

[plugins."io.containerd.grpc.v1.cri".registry]
  config_path = %q
`, containerdSocket, Registry+"/"+pauseImage, d.runc(), d.cni(), l.etc("cni"), l.etc("certs.d"))
}

// hostsConfig lets containerd talk plain HTTP to the registry.
func hostsConfig() string {
	return fmt.Sprintf("server = \"http://%[1]s\"\n\n[host.\"http://%[1]s\"]\n  capabilities = [\"pull\", \"resolve\"]\n", Registry)
}

// cniConfig routes pods one by one: without a bridge, no packet between two of them misses kube-proxy's rules, and the
// machine's bridges needn't pass theirs to netfilter.
func cniConfig() string {
	return fmt.Sprintf(`{
  "cniVersion": "0.4.0",
  "name": "pods",
  "plugins": [
    {
      "type": "ptp",
      "mtu": 1500,
      "ipMasq": false,
      "ipam": {"type": "host-local", "dataDir": "/run/cni", "ranges": [[{"subnet": %q}]], "routes": [{"dst": "0.0.0.0/0"}]}
    },
    {"type": "portmap", "capabilities": {"portMappings": true}}
  ]
}
`, podSubnet)
}

// kubeletConfig: a full disk or little memory are the machine's business, and evict nobody here.
func kubeletConfig(l layout) string {
	return fmt.Sprintf(`apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: 0.0.0.0
authentication:
  anonymous: {enabled: false}
  webhook: {enabled: true}
  x509: {clientCAFile: %[1]q}
authorization: {mode: Webhook}
tlsCertFile: %[2]q
tlsPrivateKeyFile: %[3]q
containerRuntimeEndpoint: unix://%[4]s
cgroupDriver: cgroupfs
cgroupRoot: /%[5]s
failCgroupV1: false
failSwapOn: false
clusterDNS: [%[6]s]
clusterDomain: %[7]s
resolvConf: %[8]q
evictionHard: {memory.available: 50Mi, nodefs.available: 0%%, imagefs.available: 0%%, nodefs.inodesFree: 0%%}
imageGCHighThresholdPercent: 100
nodeStatusUpdateFrequency: 5s
registryPullQPS: 0
serializeImagePulls: false
`, l.pki("ca.crt"), l.pki("kubelet.crt"), l.pki("kubelet.key"), containerdSocket, l.cgroup(), dnsIP, domain, l.etc("resolv.conf"))
}

// proxyConfig leaves the machine's own limits for connections alone.
func proxyConfig(l layout) string {
	return fmt.Sprintf(`apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: nftables
clusterCIDR: %s
hostnameOverride: %s
clientConnection: {kubeconfig: %q}
conntrack: {maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
nftables: {syncPeriod: 10s, minSyncPeriod: 100ms}
`, podRange, Name, l.kubeconfig(userProxy))
}

// auditPolicy records who did what to which object, so that a test can tell which rights were used.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: None
  users: ["system:apiserver", "system:kube-controller-manager", "system:kube-scheduler", "system:kube-proxy"]
- level: None
  userGroups: ["system:nodes"]
- level: Metadata
`
