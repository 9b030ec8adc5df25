package config

import (
	"context"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// An Account is a user name and a password for something that a resource names itself, such as an image's server.
type Account struct{ Username, Password string }

// String is the user's name alone.
func (a Account) String() string { return a.Username }

// GoString implements fmt.GoStringer.
func (a Account) GoString() string { return a.Username }

// Account reads the one in a Secret of the resource's own namespace. Errors are *Error where a person must act.
func (r *Resolver) Account(ctx context.Context, mg resource.ModernManaged, name string) (Account, error) {
	s, err := r.read(ctx, types.NamespacedName{Namespace: mg.GetNamespace(), Name: name}, false)
	if kerrors.IsNotFound(err) {
		return Account{}, problem(v1alpha1.ReasonNotFound, "Secret %q, with the user name and password of an image's server, doesn't exist: create it", name)
	}
	if err != nil {
		return Account{}, aboutSecret(err, "cannot read the account of an image's server")
	}
	if k := missingKey(s.data, []string{"username", "password"}); k != "" {
		return Account{}, problem(v1alpha1.ReasonInvalid, "Secret %q, with the user name and password of an image's server, has no value for key %q: add it", name, k)
	}
	return Account{
		Username: strings.TrimRight(string(s.data["username"]), "\r\n"), Password: strings.TrimRight(string(s.data["password"]), "\r\n"),
	}, nil
}
