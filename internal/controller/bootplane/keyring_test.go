package bootplane

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func now() time.Time { return time.Date(2026, 9, 1, 10, 0, 0, 0, time.UTC) }

// key of 32 equal bytes.
func key(b byte) []byte { return bytes.Repeat([]byte{b}, keySize) }

const week = 7 * 24 * time.Hour

func TestRotate(t *testing.T) {
	ago := func(d time.Duration) time.Time { return now().Add(-d) }
	cases := map[string]struct {
		reason string
		was    keys
		want   keys
		next   time.Duration
	}{
		"New": {
			reason: "Without a key one is made.",
			want:   keys{current: key('n'), since: now()}, next: week,
		},
		"Broken": {
			reason: "A key of another size is none: somebody edited it.",
			was:    keys{current: []byte("short"), previous: key('b'), since: ago(time.Hour)},
			want:   keys{current: key('n'), since: now()}, next: week,
		},
		"Young": {
			reason: "A key lives for a week.",
			was:    keys{current: key('a'), previous: key('b'), since: ago(time.Hour)},
			want:   keys{current: key('a'), previous: key('b'), since: ago(time.Hour)}, next: week - time.Hour,
		},
		"AgeUnknown": {
			reason: "A key that nobody knows the age of begins its week now.",
			was:    keys{current: key('a')},
			want:   keys{current: key('a'), since: now()}, next: week,
		},
		"FromTheFuture": {
			reason: "A clock that went back doesn't make a key immortal.",
			was:    keys{current: key('a'), since: now().Add(1000 * time.Hour)},
			want:   keys{current: key('a'), since: now()}, next: week,
		},
		"Old": {
			reason: "The next key is announced first: tokens are still made with the current one.",
			was:    keys{current: key('a'), previous: key('b'), since: ago(week)},
			want:   keys{current: key('a'), previous: key('n'), since: ago(week), announced: now()}, next: 10 * time.Minute,
		},
		"Announced": {
			reason: "All bootds are given time to learn it.",
			was:    keys{current: key('a'), previous: key('n'), since: ago(week), announced: ago(4 * time.Minute)},
			want:   keys{current: key('a'), previous: key('n'), since: ago(week), announced: ago(4 * time.Minute)}, next: 6 * time.Minute,
		},
		"Rotated": {
			reason: "Then they change places: tokens of the old key go on being valid.",
			was:    keys{current: key('a'), previous: key('n'), since: ago(week), announced: ago(10 * time.Minute)},
			want:   keys{current: key('n'), previous: key('a'), since: now()}, next: week,
		},
		"AnnouncedLost": {
			reason: "An announced key that was taken away is announced anew.",
			was:    keys{current: key('a'), since: ago(week), announced: ago(time.Hour)},
			want:   keys{current: key('a'), previous: key('n'), since: ago(week), announced: now()}, next: 10 * time.Minute,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, next := rotate(tc.was, key('n'), now())
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(keys{})); diff != "" || next != tc.next {
				t.Errorf("%s\nrotate(...): again after %s, want %s; -want, +got:\n%s", tc.reason, next, tc.next, diff)
			}
		})
	}
}

func TestKeysRoundTrip(t *testing.T) {
	want := keys{current: key('a'), previous: key('b'), since: now(), announced: now().Add(time.Second)}
	s := &corev1.Secret{}
	want.into(s)
	if diff := cmp.Diff(want, keysIn(s), cmp.AllowUnexported(keys{})); diff != "" {
		t.Errorf("keys must survive a restart: -want, +got:\n%s", diff)
	}
	if len(s.Data) != 2 {
		t.Errorf("Secret has keys %v: bootd knows current and previous", s.Data)
	}
}

// A diary is a logger that keeps what was said.
type diary struct{ lines []string }

func (d *diary) Info(msg string, kv ...any) { d.lines = append(d.lines, msg+" "+fmt.Sprint(kv...)) }

func (d *diary) Debug(string, ...any) {}

func (d *diary) WithValues(...any) logging.Logger { return d }

func TestKeyring(t *testing.T) {
	errNoNamespace := errors.New(`namespaces "baremetal-boot" not found`)
	there := false
	kube := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			if !there {
				return errNoNamespace
			}
			return c.Create(ctx, o, opts...)
		},
	}).Build()
	log := &diary{}
	clock := now()
	k := &keyring{
		kube: kube, namespace: "baremetal-boot", log: log, now: func() time.Time { return clock },
		random: bytes.NewReader(bytes.Join([][]byte{key(1), key(2), key(3), key(4), key(5), key(6)}, nil)),
	}
	again := func(want time.Duration) {
		t.Helper()
		got, err := k.Reconcile(t.Context(), reconcile.Request{})
		if err != nil || got.RequeueAfter != want {
			t.Fatalf("Reconcile(...) = %s, %v: want %s", got.RequeueAfter, err, want)
		}
	}
	stored := func() (byte, byte) {
		t.Helper()
		s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "baremetal-boot", Name: "bootd-tokens"}}
		if err := kube.Get(t.Context(), client.ObjectKeyFromObject(s), s); err != nil {
			t.Fatal(err)
		}
		var previous byte
		if p := s.Data["previous"]; len(p) > 0 {
			previous = p[0]
		}
		return s.Data["current"][0], previous
	}

	again(5 * time.Second)
	again(5 * time.Second)
	if len(log.lines) != 1 || !strings.Contains(log.lines[0], "not found") {
		t.Errorf("log %q: want one line, however often bootd's namespace isn't there", log.lines)
	}
	there = true
	again(time.Hour)
	if c, p := stored(); c != 3 || p != 0 {
		t.Errorf("keys %d, %d: want the third that was made, and none before it", c, p)
	}
	again(time.Hour)
	clock = clock.Add(week)
	again(10 * time.Minute)
	if c, p := stored(); c != 3 || p != 5 {
		t.Errorf("keys %d, %d: want the same current one, and the next one announced", c, p)
	}
	clock = clock.Add(10 * time.Minute)
	again(time.Hour)
	if c, p := stored(); c != 5 || p != 3 {
		t.Errorf("keys %d, %d: want them to have changed places", c, p)
	}
}

func TestKeyringTrouble(t *testing.T) {
	errBoom := errors.New("boom")
	cases := map[string]struct {
		reason string
		funcs  interceptor.Funcs
		random []byte
		want   string
	}{
		"NoAnswer": {
			reason: "Not to know the keys isn't to have none: new ones would make all tokens invalid.",
			funcs: interceptor.Funcs{
				Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
					return errBoom
				},
			},
			random: key(1),
			want:   `cannot get Secret "bootd-tokens" in namespace "baremetal-boot": boom`,
		},
		"NoRandomness": {
			reason: "A short key is none.",
			random: []byte("short"),
			want:   "cannot make a key: unexpected EOF",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			k := &keyring{
				kube:      fake.NewClientBuilder().WithInterceptorFuncs(tc.funcs).Build(),
				namespace: "baremetal-boot", now: now, random: bytes.NewReader(tc.random),
			}
			if _, err := k.ensure(t.Context()); err == nil || err.Error() != tc.want {
				t.Errorf("%s\nensure(...) = %v, want %s", tc.reason, err, tc.want)
			}
		})
	}
}
