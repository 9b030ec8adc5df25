package config

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/time/rate"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// TestLeisure: nobody waits for the record of his use, and each is recorded that is still there.
func TestLeisure(t *testing.T) {
	const many = 30
	objects := []client.Object{localConfig("team-a", redfishSpec(from("", "bmc")))}
	for i := range many {
		objects = append(objects, host("team-a", fmt.Sprintf("h-%02d", i), local("mine")))
	}
	kube := testKube(t, interceptor.Funcs{}, objects...)
	r := testResolver(kube)
	l := r.record(logging.NewNopLogger())
	ask := func() {
		for _, o := range objects[1:] {
			h, _ := o.(*v1alpha1.RedfishHost)
			if _, _, err := r.resolve(t.Context(), h, redfish); err != nil {
				t.Fatal(err)
			}
		}
	}
	ask()
	ask()
	if n := len(usages(t, kube)); n != 0 || l.queue.Len() != many {
		t.Fatalf("%d were recorded, and %d wait, before anybody wrote; want none, and %d", n, l.queue.Len(), many)
	}
	for _, gone := range objects[1:3] { // One is gone, and one was made anew under its name.
		if err := kube.Delete(t.Context(), gone); err != nil {
			t.Fatal(err)
		}
	}
	anew := host("team-a", "h-01", local("mine"))
	anew.UID = "uid-anew"
	if err := kube.Create(t.Context(), anew); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- l.Start(ctx) }()
	want := many - 2
	for range 500 {
		if len(usages(t, kube)) == want && l.queue.Len() == 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	names := map[string]bool{}
	for _, u := range usages(t, kube) {
		names[u.ResourceReference.Name] = true
	}
	if diff := cmp.Diff(want, len(names)); diff != "" || names["h-00"] || names["h-01"] {
		t.Errorf("recorded %v: -want, +got:\n%s", names, diff)
	}
}

// TestUseFails: a record that can't be written is asked for again by the next look.
func TestUseFails(t *testing.T) {
	fails := 1
	kube := testKube(t, interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
		fails--
		if fails >= 0 {
			return errors.New("not now")
		}
		return c.Create(ctx, o, opts...)
	}}, localConfig("team-a", redfishSpec(from("", "bmc"))), host("team-a", "h", local("mine")))
	r := testResolver(kube)
	l := r.record(logging.NewNopLogger())
	for i, want := range []int{0, 1} {
		if _, _, err := r.resolve(t.Context(), host("team-a", "h", local("mine")), redfish); err != nil {
			t.Fatal(err)
		}
		u, _ := l.queue.Get()
		if err := l.write(t.Context(), u); (err != nil) != (i == 0) {
			t.Errorf("look %d: %v", i, err)
		}
		l.queue.Done(u)
		if n := len(usages(t, kube)); n != want {
			t.Errorf("look %d: %d are recorded, want %d", i, n, want)
		}
	}
}

// TestLeisurely: usages take a tenth of the time that an API server could write them in, and come to an end however slow it is.
func TestLeisurely(t *testing.T) {
	for took, want := range map[time.Duration]rate.Limit{
		0: 50, time.Millisecond: 50, 5 * time.Millisecond: 20, 25 * time.Millisecond: 4, 50 * time.Millisecond: 2, time.Minute: 2,
	} {
		if got := leisurely(took); got != want {
			t.Errorf("where one takes %s: %v a second, want %v", took, got, want)
		}
	}
}
