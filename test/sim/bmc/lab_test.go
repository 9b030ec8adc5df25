package bmc_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/gate"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/redfishhost"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// lab is a RedfishHost controller without a manager: a fake API server, an
// emulated BMC, and what the managed reconciler does, in miniature.
type lab struct {
	t    *testing.T
	emu  *bmc.Server
	m    *bmc.Idle
	kube client.Client
	now  time.Time
	// jump is how wrong the wall clock is.
	jump time.Duration

	password string
	version  string
	verify   v1alpha1.TLSVerify
	pins     []string
	// account is what Secrets of images' servers have, by their names.
	account map[string]config.Account
	// tune changes the provider config; nil leaves it.
	tune      func(*v1alpha1.RedfishConfig)
	failpoint func(string)
	// takes says that the provider takes what BMCs send, and woken counts the looks that come of it.
	takes bool
	// pause of events; 0 is eventPause.
	pause     time.Duration
	woken     atomic.Int64
	connector *redfishhost.Connector
	// written is called before a Secret is written; nil does nothing.
	written func(*corev1.Secret) error
	// hostWritten is called before a host is patched; nil does nothing.
	hostWritten func() error
	// events are the host's, as people read them.
	events []string
	// changes of hosts that the API server was asked for.
	changes int
}

var hostKey = types.NamespacedName{Namespace: "infra", Name: "r7-u12"}

func newHost(name, address string) *v1alpha1.RedfishHost {
	h := &v1alpha1.RedfishHost{ObjectMeta: metav1.ObjectMeta{
		Namespace: hostKey.Namespace, Name: name, UID: types.UID(name), CreationTimestamp: metav1.NewTime(time.Unix(1, 0)),
	}}
	h.Spec.ForProvider.Address = address
	h.Spec.ForProvider.Power = v1alpha1.Unmanaged
	h.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionAll}

	return h
}

func newLab(t *testing.T, model bmc.Model) *lab {
	t.Helper()
	emu, m := emulator(t, model, nil)

	return newLabOf(t, emu, m)
}

// newLabOf makes one around a BMC that runs, and one of the machines behind it.
func newLabOf(t *testing.T, emu *bmc.Server, m *bmc.Idle) *lab {
	t.Helper()
	s := runtime.NewScheme()
	if err := errors.Join(v1alpha1.AddToScheme(s), corev1.AddToScheme(s)); err != nil {
		t.Fatal(err)
	}
	l := &lab{
		t: t, emu: emu, m: m, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		password: bmc.DefaultPassword, version: "1", verify: v1alpha1.TLSVerifyPinned, pins: []string{emu.CertificateSHA256()},
	}
	builder := fake.NewClientBuilder().WithScheme(s).WithObjects(newHost(hostKey.Name, emu.Addr())).WithStatusSubresource(&v1alpha1.RedfishHost{}).
		WithInterceptorFuncs(interceptor.Funcs{
			Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
				return l.change(c, o, func() error { return c.Update(ctx, o, opts...) })
			},
			Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
				if s, ok := o.(*corev1.Secret); ok && l.written != nil {
					if err := l.written(s); err != nil {
						return err
					}
				}
				if _, ok := o.(*v1alpha1.RedfishHost); ok && l.hostWritten != nil {
					if err := l.hostWritten(); err != nil {
						return err
					}
				}

				return l.change(c, o, func() error { return c.Patch(ctx, o, p, opts...) })
			},
			SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
				return l.change(c, o, func() error { return c.SubResource(sub).Update(ctx, o, opts...) })
			},
		})
	if err := redfishhost.Index(t.Context(), indexer{builder}); err != nil {
		t.Fatal(err)
	}
	l.kube = builder.Build()
	l.start()

	return l
}

// indexer lets the fake API server be indexed as a manager's cache is.
type indexer struct{ *fake.ClientBuilder }

// IndexField implements client.FieldIndexer.
func (i indexer) IndexField(_ context.Context, o client.Object, field string, fn client.IndexerFunc) error {
	i.WithIndex(o, field, fn)

	return nil
}

// change writes, and counts what a real API server would call a change: the
// fake one makes a new revision of a write that changes nothing, too.
func (l *lab) change(c client.Client, o client.Object, write func() error) error {
	before, after := &v1alpha1.RedfishHost{}, &v1alpha1.RedfishHost{}
	_ = c.Get(l.t.Context(), client.ObjectKeyFromObject(o), before)
	err := write()
	_ = c.Get(l.t.Context(), client.ObjectKeyFromObject(o), after)
	l.scan("status", after.Status)
	l.scan("an annotation", after.GetAnnotations())
	before.ResourceVersion = after.ResourceVersion
	if !equality.Semantic.DeepEqual(before, after) {
		l.changes++
	}

	return err
}

// start makes a new connector, as a restarted provider does.
func (l *lab) start() {
	g := gate.New(redfish.Connect)
	l.t.Cleanup(func() { g.Close(context.WithoutCancel(l.t.Context())) })
	rate := int64(1000)
	o := redfishhost.Options{
		Kube: l.kube, Gates: redfishhost.Gates{Gates: g}, AllowLoopback: true, Now: func() time.Time { return l.now.Add(l.jump) },
		Elapsed:  func() time.Duration { return time.Duration(l.now.UnixNano()) },
		Recorder: scanned{l}, Log: scanned{l},
		Account: func(_ context.Context, _ *v1alpha1.RedfishHost, secret string) (config.Account, error) {
			if a, ok := l.account[secret]; ok {
				return a, nil
			}

			return config.Account{}, &config.Error{Reason: v1alpha1.ReasonNotFound}
		},
		Failpoint: func(name string) {
			if l.failpoint != nil {
				l.failpoint(name)
			}
		},
		Resolve: func(ctx context.Context, host *v1alpha1.RedfishHost) (config.Redfish, error) {
			r := config.Redfish{
				Username: bmc.DefaultUsername, Password: l.password, SecretVersion: l.version,
				Config: v1alpha1.RedfishConfig{
					AllowedAddresses: []string{"127.0.0.0/8"}, RequestsPerSecond: &rate,
					TLS: &v1alpha1.TLS{Verify: l.verify, PinnedSHA256: l.pins},
				},
			}
			if l.tune != nil {
				l.tune(&r.Config)
			}

			err := l.ownCredentials(ctx, host, &r)

			return r, err
		},
	}
	if l.takes {
		o.TakesEvents, o.EventPause, o.Wake = true, cmp.Or(l.pause, eventPause), func(types.NamespacedName) { l.woken.Add(1) }
	}
	l.connector = redfishhost.NewConnector(o)
}

func (l *lab) get() *v1alpha1.RedfishHost {
	l.t.Helper()
	h := &v1alpha1.RedfishHost{}
	if err := l.kube.Get(l.t.Context(), hostKey, h); err != nil {
		l.t.Fatal(err)
	}

	return h
}

// edit changes the spec, as people and the HostClaim controller do.
func (l *lab) edit(change func(*v1alpha1.RedfishHost)) {
	l.t.Helper()
	h := l.get()
	change(h)
	if err := l.kube.Update(l.t.Context(), h); err != nil {
		l.t.Fatal(err)
	}
}

// reconcile does one round, and reads what it says as a spy would.
func (l *lab) reconcile() (managed.ExternalObservation, error) {
	l.t.Helper()
	o, err := l.round()
	l.scan("an error", fmt.Sprintf("%+v", err))
	l.scan("a reason", o.Diff)

	return o, err
}

// round is: observe, then late-initialise, update or delete.
func (l *lab) round() (managed.ExternalObservation, error) {
	l.t.Helper()
	h := l.get()
	e, err := l.connector.Connect(l.t.Context(), h)
	if err != nil {
		return managed.ExternalObservation{}, err
	}
	o, err := e.Observe(l.t.Context(), h)
	if err != nil {
		return o, err
	}
	switch {
	case o.ResourceLateInitialized:
		if err := l.kube.Update(l.t.Context(), h); err != nil {
			l.t.Fatal(err)
		}
		l.connector.Settle()

		return o, nil
	case meta.WasDeleted(h) && o.ResourceExists:
		_, err = e.Delete(l.t.Context(), h)
	case !meta.WasDeleted(h) && !o.ResourceUpToDate:
		_, err = e.Update(l.t.Context(), h)
	}
	if statusErr := l.kube.Status().Update(l.t.Context(), h); statusErr != nil {
		l.t.Fatal(statusErr)
	}
	l.connector.Settle()

	return o, err
}

// settle reconciles until nothing is left to do.
func (l *lab) settle() *v1alpha1.RedfishHost {
	l.t.Helper()
	for range 20 {
		read := l.connector.Settle()
		o, err := l.reconcile()
		if err != nil {
			l.t.Fatalf("reconcile: %v", err)
		}
		if l.connector.Settle() != read {
			continue // An inventory that is read has its host looked at again.
		}
		if !o.ResourceExists || (o.ResourceUpToDate && !o.ResourceLateInitialized) {
			return l.get()
		}
	}
	l.t.Fatal("the host doesn't settle")

	return nil
}

// later lets time go by under a provider that looks every half minute.
func (l *lab) later(d time.Duration) *v1alpha1.RedfishHost {
	l.t.Helper()
	const look = 30 * time.Second
	for ; d > 0; d -= look {
		l.now = l.now.Add(min(d, look))
		l.settle()
	}

	return l.get()
}

func (l *lab) resets() map[string]int { return l.emu.Counters().Resets }

func condition(h *v1alpha1.RedfishHost, t xpv2.ConditionType) [2]string {
	c := h.Status.GetCondition(t)

	return [2]string{string(c.Status), string(c.Reason)}
}

func once(generation int64) *v1alpha1.HostBoot {
	return &v1alpha1.HostBoot{Once: &v1alpha1.BootOnce{Target: v1alpha1.BootTargetPxe, Generation: generation}}
}
