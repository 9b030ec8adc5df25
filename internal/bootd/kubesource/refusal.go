package kubesource

import (
	"fmt"
	"log/slog"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

const (
	// firstRefused is how long a kind isn't asked for after the API refused it; then twice as long, up to neededAgain for what machines wait
	// for, and spareAgain for what they don't.
	firstRefused = time.Second
	neededAgain  = 2 * time.Second
	spareAgain   = time.Minute
)

// A refusal is that of the API to let bootd read a kind, since its role is older than the program. It's said once, and the API is asked
// again less and less often; whatever may be read goes on.
type refusal struct {
	kind string
	most time.Duration
	log  *slog.Logger
	wait time.Duration
}

// after an attempt says how much longer than usual to wait before the next; 0 where it wasn't refused.
func (f *refusal) after(err error) time.Duration {
	switch {
	case err == nil:
		f.wait = 0
		return 0
	case !apierrors.IsForbidden(err):
		return 0
	case f.wait == 0:
		f.wait = firstRefused
		f.log.Error("the API lets this bootd read nothing of a kind; apply the ClusterRole of its manifest, or upgrade its chart: it's asked again and again",
			"kind", f.kind, "without it", without(f.kind), "error", err.Error())
	default:
		f.wait = min(2*f.wait, f.most) //nolint:mnd // Doubling.
	}
	return f.wait
}

// refusedSessions is what the record of a bootd says that may not read or write sessions.
const refusedSessions = "the API lets this bootd not read or write BootSessions, and no install starts: apply the ClusterRole of its manifest and the binding to it, or upgrade its chart"

func (s *Source) refused() bool {
	c, ok := s.o.Kube.(interface{ Refused() bool })
	return ok && c.Refused()
}

// without says what isn't done while a kind can't be read.
func without(kind string) string {
	if kind == v1alpha1.BootProfileKind {
		return "kernels and images are fetched when a machine asks for them, and not before; all else goes on"
	}
	return "nothing new is known, and no install starts; what was known before is served"
}

// patience with a kind that isn't to be read.
func patience(o runtime.Object) time.Duration {
	if _, spare := o.(*v1alpha1.BootProfile); spare {
		return spareAgain
	}
	return neededAgain
}

// kindName of an object is its type's.
func kindName(o runtime.Object) string {
	_, name, _ := strings.Cut(fmt.Sprintf("%T", o), ".")
	return name
}
