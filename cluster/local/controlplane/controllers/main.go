// Command controllers runs those of Kubernetes' own controllers that a control plane can't do without where no pod runs. They are
// kube-controller-manager's, which itself takes two minutes more to be built for what is never used here.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/clusterroleaggregation"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/namespace"
	"k8s.io/kubernetes/pkg/controller/serviceaccount"

	corev1 "k8s.io/api/core/v1"
)

const (
	// workers of each controller.
	workers = 5
	// resync is how often controllers look at everything again.
	resync = 10 * time.Minute
	// learn is how often the garbage collector looks for new kinds. kube-controller-manager does so every thirty seconds, and of an
	// owner that is deleted meanwhile it finds only those dependents that it lists first.
	learn = 2 * time.Second
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "Path of the kubeconfig of the API server.")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *kubeconfig); err != nil {
		fmt.Fprintln(os.Stderr, "controllers:", err)
		os.Exit(1)
	}
}

// clients of the API server, and what all controllers see it through.
type clients struct {
	kube     kubernetes.Interface
	metadata metadata.Interface
	shared   informers.SharedInformerFactory
}

// run runs all controllers until ctx ends.
func run(ctx context.Context, kubeconfig string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return fmt.Errorf("cannot read kubeconfig %q: %w", kubeconfig, err)
	}
	// The API server's own priorities are all the limit that is wanted.
	config.QPS = -1
	c, err := connect(config)
	if err != nil {
		return err
	}
	accounts, err := serviceaccount.NewServiceAccountsController(klog.FromContext(ctx), c.shared.Core().V1().ServiceAccounts(),
		c.shared.Core().V1().Namespaces(), c.kube, serviceaccount.DefaultServiceAccountsControllerOptions())
	if err != nil {
		return fmt.Errorf("cannot make the controller of service accounts: %w", err)
	}
	namespaces := namespace.NewNamespaceController(ctx, c.kube, c.metadata, c.kube.Discovery().ServerPreferredNamespacedResources,
		c.shared.Core().V1().Namespaces(), resync, corev1.FinalizerKubernetes)
	roles := clusterroleaggregation.NewClusterRoleAggregation(c.shared.Rbac().V1().ClusterRoles(), c.kube.RbacV1())
	started := make(chan struct{})
	seen := metadatainformer.NewSharedInformerFactory(c.metadata, resync)
	garbage, err := c.garbageCollector(ctx, seen, started)
	if err != nil {
		return err
	}

	var all sync.WaitGroup
	all.Go(func() { garbage.Run(ctx, workers, time.Minute) })
	all.Go(func() { garbage.Sync(ctx, c.kube.Discovery(), learn) })
	all.Go(func() { accounts.Run(ctx, 1) })
	all.Go(func() { namespaces.Run(ctx, workers) })
	all.Go(func() { roles.Run(ctx, workers) })
	c.shared.Start(ctx.Done())
	seen.Start(ctx.Done())
	close(started)
	all.Wait()
	return nil
}

func connect(config *rest.Config) (clients, error) {
	kube, kubeErr := kubernetes.NewForConfig(config)
	meta, metaErr := metadata.NewForConfig(config)
	if err := errors.Join(kubeErr, metaErr); err != nil {
		return clients{}, fmt.Errorf("cannot make clients: %w", err)
	}
	return clients{kube, meta, informers.NewSharedInformerFactory(kube, resync)}, nil
}

// garbageCollector removes what a deleted claim composed.
func (c clients) garbageCollector(
	ctx context.Context, seen metadatainformer.SharedInformerFactory, started <-chan struct{},
) (*garbagecollector.GarbageCollector, error) {
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(c.kube.Discovery()))
	graph := garbagecollector.NewDependencyGraphBuilder(ctx, c.metadata, mapper, garbagecollector.DefaultIgnoredResources(),
		informerfactory.NewInformerFactory(c.shared, seen), started)
	gc, err := garbagecollector.NewComposedGarbageCollector(ctx, c.kube, c.metadata, mapper, graph)
	if err != nil {
		return nil, fmt.Errorf("cannot make the garbage collector: %w", err)
	}
	return gc, nil
}
