package redfishhost

import (
	"context"
	"errors"
	"testing"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/gate"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
)

// closedGate lets nobody in, and counts who asked.
type closedGate struct{ asked *int }

func (g closedGate) Do(context.Context, gate.Target, func(context.Context, BMC) error) error {
	*g.asked++

	return &redfish.Error{Kind: redfish.Unauthorized, Status: 401}
}

func (closedGate) Forget(context.Context, string) error { return nil }

func (closedGate) Distrust(string) {}

func TestRefusal(t *testing.T) {
	at := func(address, version string) gate.Target {
		return gate.Target{Config: redfish.Config{Address: address, Password: "secret"}, CredentialVersion: version}
	}
	by := func(auth redfish.Auth, t gate.Target) gate.Target {
		t.Auth = auth

		return t
	}
	base := refusal(at("10.0.0.1", "uid/1"))
	cases := map[string]struct {
		reason string
		target gate.Target
		same   bool
	}{
		"Same":     {"The same BMC and Secret.", at("10.0.0.1", "uid/1"), true},
		"Spelling": {"The same BMC in other words.", at("https://10.0.0.1:443/", "uid/1"), true},
		"Secret":   {"A Secret that has changed.", at("10.0.0.1", "uid/2"), false},
		"BMC":      {"Another BMC.", at("10.0.0.2", "uid/1"), false},
		"NoSecret": {"No Secret.", at("10.0.0.1", ""), false},
		"Auto":     {"The same way of authentication by its name.", by(redfish.AuthAuto, at("10.0.0.1", "uid/1")), true},
		"Session":  {"Another way, that somebody chose.", by(redfish.AuthSession, at("10.0.0.1", "uid/1")), false},
		"Unknown":  {"Another way, and no Secret.", by(redfish.AuthBasic, at("10.0.0.1", "")), false},
		"NoBMC":    {"No BMC.", at("http://10.0.0.1", "uid/1"), false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := refusal(tc.target); (got == base) != tc.same || base == "" {
				t.Errorf("%s\nrefusal(...) = %q, the other %q; want the same: %v", tc.reason, got, base, tc.same)
			}
		})
	}
}

// TestRefusalOutlivesTheProvider: each Connector here is a restarted process.
func TestRefusalOutlivesTheProvider(t *testing.T) {
	h := enrolled(&journal{})
	patches := 0
	kube := kubeWith(t, h, interceptor.Funcs{Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
		patches++

		return c.Patch(ctx, o, p, opts...)
	}})
	asked, version := 0, "uid/1"
	look := func() {
		t.Helper()
		c := NewConnector(Options{Kube: kube, Gates: closedGate{&asked}, Resolve: func(context.Context, *v1alpha1.RedfishHost) (config.Redfish, error) {
			return config.Redfish{SecretVersion: version}, nil
		}})
		stored := &v1alpha1.RedfishHost{}
		if err := kube.Get(t.Context(), client.ObjectKeyFromObject(h), stored); err != nil {
			t.Fatal(err)
		}
		e, err := c.Connect(t.Context(), stored)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Observe(t.Context(), stored); err != nil {
			t.Fatal(err)
		}
		if got := stored.Status.GetCondition(v1alpha1.ConditionReachable); got.Reason != v1alpha1.ReasonUnauthorized {
			t.Errorf("Reachable: got %v, want Unauthorized", got)
		}
		if err := kube.Status().Update(t.Context(), stored); err != nil {
			t.Errorf("the note makes the status stale: %v", err)
		}
	}
	for range 5 {
		look()
	}
	if asked != 1 || patches != 1 {
		t.Errorf("5 starts: %d tries, %d notes; want one of each", asked, patches)
	}
	version = "uid/2"
	look()
	look()
	if asked != 2 || patches != 2 {
		t.Errorf("after another version of the Secret: %d tries, %d notes; want two of each", asked, patches)
	}
}

// TestRefusalThatCantBeNoted is an error of the API server, and not of the BMC.
func TestRefusalThatCantBeNoted(t *testing.T) {
	conflict := kerrors.NewConflict(schema.GroupResource{}, "h", errors.New("stale"))
	for name, patchErr := range map[string]error{"Conflict": conflict, "Error": errors.New("boom")} {
		t.Run(name, func(t *testing.T) {
			h, asked := enrolled(&journal{}), 0
			kube := kubeWith(t, h, interceptor.Funcs{Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
				return patchErr
			}})
			c := NewConnector(Options{Kube: kube, Gates: closedGate{&asked}, Resolve: func(context.Context, *v1alpha1.RedfishHost) (config.Redfish, error) {
				return config.Redfish{SecretVersion: "1"}, nil
			}})
			e, err := c.Connect(t.Context(), h)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := e.Observe(t.Context(), h); !errors.Is(err, patchErr) {
				t.Errorf("Observe(...): got %v, want %v", err, patchErr)
			}
		})
	}
}

// firstGate is that of a BMC that wants another password first, and lets nobody in to change it.
type firstGate struct{ closedGate }

func (g firstGate) Do(context.Context, gate.Target, func(context.Context, BMC) error) error {
	*g.asked++

	return &redfish.Error{Kind: redfish.PasswordChangeRequired, Status: 401}
}

// TestFirstRefusal: such a BMC is asked once, over restarts, and whoever wants the password changed by the provider hears that it can't.
func TestFirstRefusal(t *testing.T) {
	h, asked := enrolled(&journal{}), 0
	h.Annotations = nil
	h.Spec.ForProvider.CredentialsSecretRef = &v1alpha1.LocalReference{Name: "bmc"}
	h.Spec.ForProvider.CredentialsRotation = &v1alpha1.CredentialsRotation{Generation: 1}
	kube := kubeWith(t, h, interceptor.Funcs{})
	for range 3 {
		c := NewConnector(Options{Kube: kube, Gates: firstGate{closedGate{&asked}}, Resolve: func(context.Context, *v1alpha1.RedfishHost) (config.Redfish, error) {
			return config.Redfish{SecretVersion: "uid/1"}, nil
		}})
		e, err := c.Connect(t.Context(), h)
		if err != nil {
			t.Fatal(err)
		}
		o, err := e.Observe(t.Context(), h)
		reachable, rotated := h.Status.GetCondition(v1alpha1.ConditionReachable), h.Status.GetCondition(v1alpha1.ConditionCredentialsRotated)
		if err != nil || !o.ResourceUpToDate || reachable.Reason != v1alpha1.ReasonPasswordChangeRequired || rotated.Reason != v1alpha1.ReasonNotSupported {
			t.Errorf("Observe(...): %v, up to date %t, Reachable %s, CredentialsRotated %s", err, o.ResourceUpToDate, reachable.Reason, rotated.Reason)
		}
	}
	if asked != 1 {
		t.Errorf("asked %d times, want once", asked)
	}
}
