package programs

import "time"

// Versions that the modules beside this package pin. A test holds them against the go.mod files.
const (
	KubernetesVersion = "v1.35.4"
	CrossplaneVersion = "v2.4.0"
	CoreDNSVersion    = "v1.13.1"
	// CrossplaneCLIVersion is the last one that is to be had as a module.
	CrossplaneCLIVersion = "v2.2.1"
)

// Names of the programs.
const (
	Etcd      = "etcd"
	APIServer = "kube-apiserver"
	// Controllers is the few controllers that the local control plane runs of kube-controller-manager's.
	Controllers = "controllers"
	Crossplane  = "crossplane"
	Kubectl     = "kubectl"
)

// Names of the programs that a cluster with a node has beside these.
const (
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	Kubelet           = "kubelet"
	Proxy             = "kube-proxy"
	CoreDNS           = "coredns"
	Helm              = "helm"
	// Registry serves images that it builds from programs.
	Registry = "registry"
	// Pause is what holds a pod's namespaces.
	Pause = "pause"
	// CrossplaneCLI is what users install packages with. Its name there is crossplane, as is that of Crossplane itself.
	CrossplaneCLI = "crank"
)

// Names of the programs that test examples.
const (
	Uptest   = "uptest"
	Chainsaw = "chainsaw"
)

// A Module pins programs, or has them itself.
type Module struct {
	// name of its folder, from cluster/local.
	name string
	// own says that the programs' source is in the module, in a folder each.
	own      bool
	programs []program
}

// A program of one of the pinned modules.
type program struct {
	name, pkg, ldflags string
	// cold is how long a first build took on two cores, for the estimate.
	cold time.Duration
	// patch of a module that it's built of; nil: none.
	patch *patch
}

const (
	kubernetesFlags = "-s -w -X k8s.io/component-base/version.gitVersion=" + KubernetesVersion +
		" -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=35" +
		" -X k8s.io/component-base/version.gitTreeState=clean -X k8s.io/client-go/pkg/version.gitVersion=" + KubernetesVersion
	crossplaneCLIFlags = "-s -w -X github.com/crossplane/crossplane/v2/internal/version.version=" + CrossplaneCLIVersion
	crossplaneFlags    = "-s -w -X github.com/crossplane/crossplane-runtime/v2/pkg/version.version=" + CrossplaneVersion +
		" -X github.com/crossplane/crossplane/v2/internal/version.version=" + CrossplaneVersion
)

// controlPlane is the module of Kubernetes, etcd and Crossplane.
const controlPlane = "controlplane"

// modules of the local control plane.
func modules() []Module {
	return []Module{
		{name: controlPlane, programs: []program{
			{name: Etcd, pkg: "go.etcd.io/etcd/server/v3", ldflags: kubernetesFlags, cold: 40 * time.Second},
			{name: APIServer, pkg: "k8s.io/kubernetes/cmd/kube-apiserver", ldflags: kubernetesFlags, cold: 220 * time.Second},
			{name: Crossplane, pkg: "github.com/crossplane/crossplane/v2/cmd/crossplane", ldflags: crossplaneFlags, cold: 90 * time.Second},
		}},
		{name: controlPlane, own: true, programs: []program{
			{name: Controllers, pkg: "./controllers", ldflags: "-s -w", cold: 5 * time.Second},
		}},
	}
}

// Hand is the module of what a person at a control plane uses.
func Hand() Module {
	return Module{name: controlPlane, programs: []program{
		{name: Kubectl, pkg: "k8s.io/kubernetes/cmd/kubectl", ldflags: kubernetesFlags, cold: 45 * time.Second},
	}}
}

// Node are the modules of the programs that a cluster with a node has beside the local control plane's.
func Node() []Module {
	const plain = "-s -w"
	return []Module{
		Hand(),
		{name: controlPlane, programs: []program{
			{name: ControllerManager, pkg: "k8s.io/kubernetes/cmd/kube-controller-manager", ldflags: kubernetesFlags, cold: 100 * time.Second},
			{name: Kubelet, pkg: "k8s.io/kubernetes/cmd/kubelet", ldflags: kubernetesFlags, cold: 40 * time.Second},
			{name: Scheduler, pkg: "k8s.io/kubernetes/cmd/kube-scheduler", ldflags: kubernetesFlags, cold: 10 * time.Second},
			{name: Proxy, pkg: "k8s.io/kubernetes/cmd/kube-proxy", ldflags: kubernetesFlags, cold: 15 * time.Second},
		}},
		{name: "../node/tools", own: true, programs: []program{
			{name: CoreDNS, pkg: "./coredns", ldflags: plain, cold: 15 * time.Second},
			{name: Registry, pkg: "./registry", ldflags: plain, cold: 2 * time.Second},
			{name: Pause, pkg: "./pause", ldflags: plain, cold: time.Second},
		}},
		{name: "../../tools/helm", programs: []program{
			{name: Helm, pkg: "helm.sh/helm/v4/cmd/helm", ldflags: plain, cold: 40 * time.Second},
		}},
		{name: "../node/crank", programs: []program{
			{name: CrossplaneCLI, pkg: "github.com/crossplane/crossplane/v2/cmd/crank", ldflags: crossplaneCLIFlags, cold: 55 * time.Second},
		}},
	}
}

// Uptests are the modules of the programs that test examples.
func Uptests() []Module {
	const plain = "-s -w"
	return []Module{{name: "../../tools/uptest", own: true, programs: []program{
		{name: Uptest, pkg: "github.com/crossplane/uptest/cmd/uptest", ldflags: plain, cold: 5 * time.Second},
		{name: Chainsaw, pkg: "./chainsaw", ldflags: plain, cold: 200 * time.Second, patch: &patch{
			// Chainsaw runs tests by package testing, which since Go 1.26 asks for this too.
			module: "github.com/kyverno/chainsaw", file: "pkg/runner/internal/module_path.go",
			text: "package internal\n\nfunc (*TestDeps) ModulePath() string { return \"\" }\n",
		}},
	}}}
}
