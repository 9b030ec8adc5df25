package bmc_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// leak is where a secret is in what the product says, with what comes before it;
// "" where there's none.
func leak(said any, secrets ...string) string {
	text, plain := said.(string)
	if !plain {
		b, err := json.Marshal(said)
		if err != nil {
			return "what can't be read: " + err.Error()
		}
		text = string(b)
	}
	for _, secret := range append(secrets, bmc.Secret) {
		if before, _, found := strings.Cut(text, secret); found && secret != "" {
			const most = 80

			return before[max(0, len(before)-most):] + "…"
		}
	}

	return ""
}

// scan fails the test where what the product says holds a secret: all that labs'
// hosts, errors, events and logs say goes through it.
func (l *lab) scan(where string, said any) {
	l.t.Helper()
	// A password that the provider made begins with nothing in particular.
	secrets := []string{l.emu.Password()}
	s := &corev1.Secret{}
	if l.kube.Get(l.t.Context(), ownSecret, s) == nil {
		for _, key := range []string{v1alpha1.SecretKeyPassword, v1alpha1.SecretKeyPasswordNext, v1alpha1.SecretKeyPasswordRotated} {
			secrets = append(secrets, string(s.Data[key]))
		}
	}
	if at := leak(said, secrets...); at != "" {
		l.t.Errorf("%s tells a password or token, after %q", where, at)
	}
}

// scanned is the lab's recorder of events, and a logger that keeps nothing.
type scanned struct{ l *lab }

var (
	_ event.Recorder = scanned{}
	_ logging.Logger = scanned{}
)

// Event implements event.Recorder.
func (s scanned) Event(o runtime.Object, e event.Event) {
	s.l.scan("an event", fmt.Sprintf("%+v", e))
	recorder(s).Event(o, e)
}

// WithAnnotations implements event.Recorder.
func (s scanned) WithAnnotations(keysAndValues ...string) event.Recorder {
	s.l.scan("an event", strings.Join(keysAndValues, " "))

	return s
}

// Info implements logging.Logger.
func (s scanned) Info(msg string, keysAndValues ...any) {
	s.l.scan("a log", msg+fmt.Sprintf(" %+v", keysAndValues))
}

// Debug implements logging.Logger.
func (s scanned) Debug(msg string, keysAndValues ...any) { s.Info(msg, keysAndValues...) }

// WithValues implements logging.Logger.
func (s scanned) WithValues(keysAndValues ...any) logging.Logger {
	s.Info("", keysAndValues...)

	return s
}

// TestScanner: what is to be found is.
func TestScanner(t *testing.T) {
	status := v1alpha1.RedfishHostStatus{}
	if at := leak(status); at != "" {
		t.Errorf("an empty status: %q", at)
	}
	status.AtProvider.VirtualMedia = []v1alpha1.MediumObservation{{Slot: "CD1", Image: rescue}}
	for name, said := range map[string]any{"status": status, "error": "login with " + bmc.DefaultPassword, "annotation": map[string]string{"a": rescue}} {
		if leak(said) == "" {
			t.Errorf("a secret in %s isn't found", name)
		}
	}
}
