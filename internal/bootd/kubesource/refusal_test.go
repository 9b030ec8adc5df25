package kubesource

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

func forbidden() error {
	return apierrors.NewForbidden(schema.GroupResource{Group: v1alpha1.GroupVersion.Group, Resource: "bootprofiles"}, "", errors.New("no such right"))
}

// TestRefusal: it's said once, and asked again less and less often.
func TestRefusal(t *testing.T) {
	var said bytes.Buffer
	f := &refusal{kind: v1alpha1.BootProfileKind, most: patience(&v1alpha1.BootProfile{}), log: slog.New(slog.NewTextHandler(&said, nil))}
	var waits []time.Duration
	for range 8 {
		waits = append(waits, f.after(forbidden()))
		if d := f.after(errors.New("connection refused")); d != 0 {
			t.Errorf("what is no refusal waits %s", d)
		}
	}
	if waits[0] != time.Second || waits[1] != 2*time.Second || waits[7] != time.Minute {
		t.Errorf("waits %s", waits)
	}
	if n := strings.Count(said.String(), "ClusterRole"); n != 1 || !strings.Contains(said.String(), "when a machine asks for them") {
		t.Errorf("said %d times:\n%s", n, said.String())
	}
	f.after(nil)
	if f.after(forbidden()) != time.Second || strings.Count(said.String(), "ClusterRole") != 2 {
		t.Error("after it was let in once it's a new one")
	}
	if d := patience(&v1alpha1.BootEntry{}); d > neededAgain {
		t.Errorf("machines wait for entries, and these are asked for each %s", d)
	}
}

// refusing is an API that lets nobody list BootProfiles.
type refusing struct {
	API

	asked atomic.Int32
}

func (*refusing) IsWatchListSemanticsUnSupported() bool { return true }

func (r *refusing) List(ctx context.Context, namespace string, into runtime.Object, o metav1.ListOptions) error {
	if _, ok := into.(*v1alpha1.BootProfileList); ok {
		r.asked.Add(1)
		return forbidden()
	}
	return r.API.List(ctx, namespace, into, o)
}

// saying is a log that is read while it's written.
type saying struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *saying) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(b)
}

func (s *saying) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// TestWithoutTheRightToListProfiles: a new bootd with the ClusterRole of before serves its machines all the same.
func TestWithoutTheRightToListProfiles(t *testing.T) {
	keys := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "baremetal-boot", Name: SecretTokens}, Data: map[string][]byte{"current": []byte("k")}}
	s := newSource(t, &log{}, &clock{now: time.Now()}, keys)
	api, said := &refusing{API: s.o.Kube}, &saying{}
	s.o.Kube, s.o.Logger = api, slog.New(slog.NewTextHandler(said, nil))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	for end := time.Now().Add(20 * time.Second); !s.Ready() || api.asked.Load() < 2; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("ready %t, asked %d times\n%s", s.Ready(), api.asked.Load(), said)
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if n := strings.Count(said.String(), "ClusterRole"); n != 1 {
		t.Errorf("said %d times:\n%s", n, said)
	}
}

// TestRefusedSessions: a bootd that may read and write no sessions says so where its owner looks, until it may again, though no machine asks.
func TestRefusedSessions(t *testing.T) {
	refused, read := true, false
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case !strings.Contains(r.URL.Path, "/bootsessions/"):
			_ = json.NewEncoder(w).Encode(&v1alpha1.BootServer{
				TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.BootServerKind}, ObjectMeta: self(),
			})
		case refused && (!read || r.Method != http.MethodGet):
			w.WriteHeader(http.StatusForbidden)
			_ = json.NewEncoder(w).Encode(apierrors.NewForbidden(v1alpha1.GroupVersion.WithResource("bootsessions").GroupResource(), "web", errBoom).Status())
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(srv.Close)
	c, err := NewClient(&rest.Config{Host: srv.URL, QPS: 100, Burst: 100})
	if err != nil {
		t.Fatal(err)
	}
	s := newSource(t, &log{}, &clock{now: time.Now()})
	s.o.Kube = c
	tables := listed(t, s, "7", nil, nil)
	says := func() bool { return strings.Contains(s.status(tables, 7).Message, "apply the ClusterRole") }
	if says() {
		t.Error("nothing was refused yet")
	}
	if err := c.UpdateStatus(t.Context(), &v1alpha1.BootSession{ObjectMeta: self()}); !apierrors.IsForbidden(err) || !says() {
		t.Errorf("%v isn't told", err)
	}
	for _, want := range []bool{true, true, false} {
		refused, read = want, !read // Whoever may read alone can't install either.
		if err := s.heartbeat(t.Context(), tables); err != nil {
			t.Fatal(err)
		}
		if says() != want {
			t.Errorf("refused %t, and it says so: %t", want, !want)
		}
	}
}
