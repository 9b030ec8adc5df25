package config

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

func TestAccount(t *testing.T) {
	secret := func(namespace string, data map[string][]byte) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "images"}, Data: data}
	}
	both := map[string][]byte{"username": []byte("robot\n"), "password": []byte("hush\r\n")}
	cases := map[string]struct {
		reason string
		secret *corev1.Secret
		want   Account
		err    xpv2.ConditionReason
	}{
		"There":     {"As it is in the Secret, but for a line's end.", secret("infra", both), Account{"robot", "hush"}, ""},
		"Missing":   {"Nobody made it.", secret("elsewhere", both), Account{}, v1alpha1.ReasonNotFound},
		"NoKey":     {"Half of it.", secret("infra", map[string][]byte{"username": []byte("robot")}), Account{}, v1alpha1.ReasonInvalid},
		"EmptyText": {"A key without a value.", secret("infra", map[string][]byte{"username": []byte("robot"), "password": {}}), Account{}, v1alpha1.ReasonInvalid},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			kube := testKube(t, interceptor.Funcs{}, tc.secret)
			h := &v1alpha1.RedfishHost{ObjectMeta: metav1.ObjectMeta{Namespace: "infra", Name: "h"}}
			got, err := NewResolver(kube, kube, kube).Account(t.Context(), h, "images")
			if got != tc.want || ReasonOf(err) != tc.err || (err == nil) != (tc.err == "") {
				t.Errorf("%s\nAccount(...): got %v, %v; want reason %q", tc.reason, got, err, tc.err)
			}
			if said := fmt.Sprintf("%v %+v %#v %v", got, got, got, err); strings.Contains(said, "hush") {
				t.Errorf("%s\nthe password is printed: %s", tc.reason, strings.ReplaceAll(said, "hush", "…"))
			}
		})
	}
}

// TestAboutSecret: what the API server says about a Secret may quote it, and its word for it doesn't; that word is still known.
func TestAboutSecret(t *testing.T) {
	const quoted = "the-password"
	denied := kerrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "s", errors.New("denied: "+quoted))
	for name, err := range map[string]error{"Forbidden": denied, "no answer": errors.New("proxy: " + quoted)} {
		got := aboutSecret(err, "cannot write Secret %q", "s")
		if want := `cannot write Secret "s": ` + name; got.Error() != want || !errors.Is(got, err) {
			t.Errorf("aboutSecret(...): %q, want %q", got, want)
		}
	}
	if !kerrors.IsForbidden(aboutSecret(denied, "x")) {
		t.Error("nobody knows any more that it's forbidden")
	}
}
