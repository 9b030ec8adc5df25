package kubesource

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// asked is what a server was asked: method, path, query and body.
type asked struct{ method, path, query, body string }

// serving answers each request with an object, and notes it.
func serving(t *testing.T, status int, o any) (*Client, *[]asked) {
	t.Helper()
	var all []asked
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		all = append(all, asked{r.Method, r.URL.Path, r.URL.RawQuery, string(b)})
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(o)
	}))
	t.Cleanup(srv.Close)
	c, err := NewClient(&rest.Config{Host: srv.URL, QPS: 100, Burst: 100})
	if err != nil {
		t.Fatal(err)
	}
	return c, &all
}

func self() metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "baremetal-boot", Name: "self", ResourceVersion: "7"}
}

// TestAskedAgainSoon: however long the API may say that it's away, it's asked again in a moment.
func TestAskedAgainSoon(t *testing.T) {
	for says, want := range map[string]string{"300": "2", "1": "1", "": ""} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if says != "" {
				w.Header().Set("Retry-After", says)
			}
		}))
		t.Cleanup(srv.Close)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := timeKeeper{http.DefaultTransport, &atomic.Pointer[told]{}}.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if got := resp.Header.Get("Retry-After"); got != want {
			t.Errorf("in %q seconds, as %q was said, want %q", got, says, want)
		}
	}
}

// TestHeartbeatsGoFirst: what a storm of machines asks doesn't keep a heartbeat from its turn.
func TestHeartbeatsGoFirst(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(&v1alpha1.BootServer{
			TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "BootServer"}, ObjectMeta: self(),
		})
	}))
	t.Cleanup(srv.Close)
	exhausted := flowcontrol.NewTokenBucketRateLimiter(0.001, 1)
	exhausted.Accept()
	c, err := NewClient(&rest.Config{Host: srv.URL, RateLimiter: exhausted})
	if err != nil {
		t.Fatal(err)
	}
	s := newSource(t, &log{}, &clock{now: t0()})
	tb := listed(t, s, "1", nil, nil)
	s.o.Kube = c
	if err := s.heartbeat(t.Context(), tb); err != nil {
		t.Errorf("a heartbeat waits: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := c.Get(ctx, types.NamespacedName{Namespace: "x", Name: "y"}, &v1alpha1.BootServer{}); err == nil {
		t.Error("what a machine asks waits for nothing")
	}
}

// TestClientAsks: what bootd's rights are written for (package/bootd) is what it asks.
func TestClientAsks(t *testing.T) {
	own := "/apis/baremetal.m.crossplane.io/v1alpha1/"
	name := types.NamespacedName{Namespace: "baremetal-boot", Name: "self"}
	server := &v1alpha1.BootServer{TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.BootServerKind}, ObjectMeta: self()}
	cases := map[string]struct {
		reason string
		answer any
		do     func(c *Client) error
		want   asked
	}{
		"Get": {
			reason: "an object of our own, by its namespace and name", answer: server,
			do:   func(c *Client) error { return c.Get(t.Context(), name, &v1alpha1.BootServer{}) },
			want: asked{http.MethodGet, own + "namespaces/baremetal-boot/bootservers/self", "", ""},
		},
		"Secret": {
			reason: "of Kubernetes' own kinds Secrets alone",
			answer: &corev1.Secret{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}, ObjectMeta: self()},
			do:     func(c *Client) error { return c.Get(t.Context(), name, &corev1.Secret{}) },
			want:   asked{http.MethodGet, "/api/v1/namespaces/baremetal-boot/secrets/self", "", ""},
		},
		"Create": {
			reason: "into the object's namespace", answer: server,
			do:   func(c *Client) error { return c.Create(t.Context(), server.DeepCopy()) },
			want: asked{http.MethodPost, own + "namespaces/baremetal-boot/bootservers", "", ""},
		},
		"Status": {
			reason: "the status alone", answer: server,
			do:   func(c *Client) error { return c.UpdateStatus(t.Context(), server.DeepCopy()) },
			want: asked{http.MethodPut, own + "namespaces/baremetal-boot/bootservers/self/status", "", ""},
		},
		"List": {
			reason: "all namespaces", answer: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "BootEntryList"},
			do: func(c *Client) error {
				return c.List(t.Context(), "", &v1alpha1.BootEntryList{}, metav1.ListOptions{ResourceVersion: "0"})
			},
			want: asked{http.MethodGet, own + "bootentries", "resourceVersion=0", ""},
		},
		"Watch": {
			reason: "one Secret, by its name", answer: struct{}{},
			do: func(c *Client) error {
				w, err := c.Watch(t.Context(), "baremetal-boot", &corev1.SecretList{}, metav1.ListOptions{FieldSelector: "metadata.name=" + SecretTokens})
				if err == nil {
					w.Stop()
				}
				return err
			},
			want: asked{http.MethodGet, "/api/v1/namespaces/baremetal-boot/secrets", "fieldSelector=metadata.name%3Dbootd-tokens&watch=true", ""},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, got := serving(t, http.StatusOK, tc.answer)
			if err := tc.do(c); err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if len(*got) != 1 {
				t.Fatalf("%s: %+v", tc.reason, *got)
			}
			one := (*got)[0]
			if one.method == http.MethodPut || one.method == http.MethodPost {
				sent := &v1alpha1.BootServer{}
				if err := json.Unmarshal([]byte(one.body), sent); err != nil || sent.ResourceVersion != "7" || sent.Kind != v1alpha1.BootServerKind {
					t.Errorf("%s: it sent %s (%v)", tc.reason, one.body, err)
				}
			}
			one.body = ""
			if diff := cmp.Diff(tc.want, one, cmp.AllowUnexported(asked{})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestClientReads: what comes is read into the object, and what the API refuses is known by its reason.
func TestClientReads(t *testing.T) {
	c, _ := serving(t, http.StatusOK, &v1alpha1.BootServer{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.BootServerKind}, ObjectMeta: self(),
	})
	got := &v1alpha1.BootServer{ObjectMeta: self()}
	got.ResourceVersion = "6"
	if err := c.UpdateStatus(t.Context(), got); err != nil || got.ResourceVersion != "7" {
		t.Errorf("%+v, %v: the revision that was made must be known", got.ObjectMeta, err)
	}
	c, _ = serving(t, http.StatusConflict, kerrors.NewConflict(v1alpha1.GroupVersion.WithResource("bootservers").GroupResource(), "self", errBoom).Status())
	if err := c.UpdateStatus(t.Context(), got); !kerrors.IsConflict(err) {
		t.Errorf("%v is to be a conflict", err)
	}
	if err := c.Get(t.Context(), types.NamespacedName{Name: "x"}, &v1alpha1.RedfishHost{}); err == nil {
		t.Error("bootd asks for no hosts")
	}
	if err := c.List(t.Context(), "", got, metav1.ListOptions{}); err == nil {
		t.Error("an object is no list")
	}
}

// TestClientWatches: objects come typed, bookmarks too.
func TestClientWatches(t *testing.T) {
	object, err := json.Marshal(&v1alpha1.BootServer{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.BootServerKind}, ObjectMeta: self(),
	})
	if err != nil {
		t.Fatal(err)
	}
	c, _ := serving(t, http.StatusOK, metav1.WatchEvent{Type: string(watch.Added), Object: runtime.RawExtension{Raw: object}})
	w, err := c.Watch(t.Context(), "baremetal-boot", &v1alpha1.BootServerList{}, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	e := <-w.ResultChan()
	if b, ok := e.Object.(*v1alpha1.BootServer); !ok || e.Type != watch.Added || b.Name != "self" {
		t.Errorf("%+v", e)
	}
}
