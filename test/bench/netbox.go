package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

const (
	figureAlloc   = "netbox_alloc_1000"
	figureRatio   = "netbox_alloc_ceiling_ratio"
	figureFair    = "netbox_fair_p99"
	figureBusy    = "netbox_fair_busy_p99"
	figureRelease = "netbox_release_1000"
	figureHanging = "netbox_hanging_neighbour_p99"

	manyAddresses = 1000
	// bare POSTs that show what the emulator can do, so many at once.
	bare, bareAtOnce = 300, 16
	latency          = 20 * time.Millisecond
	hold             = 10 * time.Millisecond
	// fairOnes are the good ones that come meanwhile; as many bad ones come with all but one of them. On the busy prefix it's busyOnes of
	// each, of another namespace.
	fairOnes, busyOnes = 11, 10
	otherNamespace     = "other"
	// nobody is the tenant that the bad ones ask for.
	nobody = "nobody"
	// The prefixes of the thousand, of those that come meanwhile, and of bare POSTs.
	manyFrom, fairFrom, bareFrom = "10.88.0.0/20", "10.89.0.0/24", "10.90.0.0/20"
	// addressTimeout is how long all may take, on a busy machine.
	addressTimeout = 10 * time.Minute
)

// addresses writes the manifests of n addresses of a prefix, of the operator's namespace.
func addresses(name string, n int, cidr, more string) string {
	return addressesOf(benchConfig, lab.InfraNamespace, name, n, cidr, func(int) string { return more })
}

// addressesOf writes those of a provider config and a namespace. more is what each asks for beside; nil is nothing.
func addressesOf(config, namespace, name string, n int, cidr string, more func(i int) string) string {
	var b bytes.Buffer
	if more == nil {
		more = func(int) string { return "" }
	}
	for i := range n {
		fmt.Fprintf(&b, `
---
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: NetBoxIPAddress
metadata: {namespace: %s, name: %s-%05d, labels: {bench: %s}}
spec:
  providerConfigRef: {kind: ClusterProviderConfig, name: %s}
  forProvider: {from: [{prefix: {cidr: %s}}]%s}
`, namespace, name, i, name, config, cidr, more(i))
	}
	return b.String()
}

// allocations measures how fast addresses come and go, and who waits for whom.
func allocations(ctx context.Context, l *lab.Lab) (map[string]float64, error) {
	s, err := slowNetBox(ctx, l, benchConfig, netbox.Options{Latency: latency, Hold: hold}, manyFrom, fairFrom, bareFrom)
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }() // Nobody talks to it any more.
	ceiling, err := barePosts(ctx, s, 3)
	if err != nil {
		return nil, err
	}
	// The first makes the marker's field, as an installation does once.
	if err := errors.Join(l.Namespace(ctx, otherNamespace), comesToBe(ctx, l, "first", 1, fairFrom, nil)); err != nil {
		return nil, err
	}
	began := time.Now()
	g, gctx := errgroup.WithContext(ctx)
	var last time.Time
	var fair meanwhile
	g.Go(func() error {
		if err := create(gctx, l, addresses("many", manyAddresses, manyFrom, "")); err != nil {
			return err
		}
		var err error
		last, err = ready(gctx, l, "many", manyAddresses)
		return err
	})
	g.Go(func() error {
		var err error
		fair, err = fairly(gctx, l)
		return err
	})
	if err := g.Wait(); err != nil {
		return nil, err
	}
	took := last.Sub(began)
	if !fair.last.Before(last) {
		return nil, errors.New("those that were to come meanwhile came after the thousand: nobody had to wait for anybody")
	}
	if err := errors.Join(refused(ctx, l, "bad", fairOnes-1), refused(ctx, l, "busybad", busyOnes), accounted(ctx, l, s, "first", "many", "fair", "busy")); err != nil {
		return nil, fmt.Errorf("after all were made: %w", err)
	}
	began = time.Now()
	if err := release(ctx, l, "many"); err != nil {
		return nil, err
	}
	released := time.Since(began)
	if err := accounted(ctx, l, s, "first", "fair", "busy"); err != nil {
		return nil, fmt.Errorf("after the thousand were released: %w", err)
	}
	beside, err := besideHanging(ctx, l)
	if err != nil {
		return nil, fmt.Errorf("beside a NetBox that hangs: %w", err)
	}
	return map[string]float64{
		figureHanging: beside.Seconds(),
		figureAlloc:   took.Seconds(), figureRatio: manyAddresses / took.Seconds() / ceiling,
		figureFair: fair.elsewhere.Seconds(), figureBusy: fair.busy.Seconds(), figureRelease: released.Seconds(),
	}, nil
}

// accounted holds that the records are those of the resources of these names, and the bare ones.
func accounted(ctx context.Context, l *lab.Lab, s *netbox.Server, names ...string) error {
	want, err := given(ctx, l, names...)
	if err != nil {
		return err
	}
	return leaks(s.Addresses(), want, bare, bareFrom)
}

// barePosts returns how many allocations a second NetBox does for a client that does nothing else.
func barePosts(ctx context.Context, s *netbox.Server, prefix int64) (float64, error) {
	hc := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: bareAtOnce}}
	defer hc.CloseIdleConnections()
	began := time.Now()
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(bareAtOnce)
	for range bare {
		g.Go(func() error {
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, fmt.Sprintf("%sapi/ipam/prefixes/%d/available-ips/", s.URL(), prefix), strings.NewReader("{}"))
			if err != nil {
				return fmt.Errorf("cannot make a request: %w", err)
			}
			req.Header.Set("Authorization", "Token "+lab.NetBoxToken)
			req.Header.Set("Content-Type", "application/json")
			res, err := hc.Do(req)
			if err != nil {
				return fmt.Errorf("cannot allocate: %w", err)
			}
			_ = res.Body.Close() // Not read.
			if res.StatusCode != http.StatusCreated {
				return fmt.Errorf("cannot allocate: %s", res.Status)
			}
			return nil
		})
	}
	err := g.Wait()
	return bare / time.Since(began).Seconds(), err
}

// A meanwhile is how long those waited for their addresses that came while a thousand were made, on another prefix and on the same one, and
// when the last of them was Ready.
type meanwhile struct {
	elsewhere, busy time.Duration
	last            time.Time
}

// fairly has some come while a thousand are made: one, and ten among ten that can't be made, on another prefix; and then ten among ten of
// another namespace on that of the thousand. One namespace's for one place stand in one line: of these nobody is before another.
func fairly(ctx context.Context, l *lab.Lab) (meanwhile, error) {
	out := meanwhile{}
	if err := pass(ctx, 3*time.Second); err != nil { // The thousand are to be under way.
		return out, err
	}
	const bad = ", tenant: {slug: " + nobody + "}"
	come := func(good string, n int, manifests string) (time.Duration, error) {
		began := time.Now()
		if err := create(ctx, l, manifests); err != nil {
			return 0, err
		}
		var err error
		out.last, err = ready(ctx, l, good, n)
		return out.last.Sub(began), err
	}
	var err error
	out.elsewhere, err = come("fair", fairOnes, addresses("bad", fairOnes-1, fairFrom, bad)+addresses("fair", fairOnes, fairFrom, ""))
	if err != nil {
		return out, err
	}
	out.busy, err = come("busy", busyOnes, addressesOf(benchConfig, otherNamespace, "busybad", busyOnes, manyFrom, func(int) string { return bad })+addressesOf(benchConfig, otherNamespace, "busy", busyOnes, manyFrom, nil))
	return out, err
}

// comesToBe makes addresses and waits until all are Ready. more is what is asked for of each beside where it's from; nil is nothing.
func comesToBe(ctx context.Context, l *lab.Lab, name string, n int, cidr string, more func(i int) string) error {
	if err := create(ctx, l, addressesOf(benchConfig, lab.InfraNamespace, name, n, cidr, more)); err != nil {
		return err
	}
	_, err := ready(ctx, l, name, n)
	return err
}

// create makes objects, so many at once: what comes one after the other measures who applies.
func create(ctx context.Context, l *lab.Lab, manifests string) error {
	objects, err := local.Decode([]byte(manifests))
	if err != nil {
		return fmt.Errorf("cannot read the manifests: %w", err)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(bareAtOnce)
	for _, u := range objects {
		g.Go(func() error {
			if err := l.Client().Create(ctx, u); err != nil {
				return fmt.Errorf("cannot create %s: %w", u.GetName(), err)
			}
			return nil
		})
	}
	return g.Wait()
}

// ready waits until so many of a name are Ready, and returns when the last one became so.
func ready(ctx context.Context, l *lab.Lab, name string, n int) (time.Time, error) {
	return watched(ctx, l, name, fmt.Sprintf("%d that are Ready", n), func(s sight) bool { return s.ready() >= n })
}

func named(ctx context.Context, l *lab.Lab, name string) (*unstructured.UnstructuredList, error) {
	us := &unstructured.UnstructuredList{}
	us.SetAPIVersion(lab.Baremetal)
	us.SetKind("NetBoxIPAddressList")
	// From the API server's cache, as whoever watches sees it: a thousand from etcd at each look would be part of what is measured.
	cached := client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: "0"}}
	if err := l.Client().List(ctx, us, &cached, client.MatchingLabels{"bench": name}); err != nil {
		return nil, fmt.Errorf("cannot list addresses: %w", err)
	}
	return us, nil
}

// release deletes all of a name, and waits until they're gone.
func release(ctx context.Context, l *lab.Lab, name string) error {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(lab.Baremetal)
	u.SetKind("NetBoxIPAddress")
	if err := l.Client().DeleteAllOf(ctx, u, client.InNamespace(lab.InfraNamespace), client.MatchingLabels{"bench": name}); err != nil {
		return fmt.Errorf("cannot delete addresses: %w", err)
	}
	_, err := watched(ctx, l, name, "their end", func(s sight) bool { return len(s) == 0 })
	return err
}
