package bootentry

import (
	"context"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// heard are the Events that were recorded.
type heard []string

func (h *heard) Event(_ runtime.Object, e event.Event) {
	*h = append(*h, string(e.Type)+" "+string(e.Reason)+": "+e.Message)
}

func (h *heard) WithAnnotations(...string) event.Recorder { return h }

// declinedAfter has the machine decline its address.
func declinedAfter(d time.Duration) func(*inputs) {
	return func(in *inputs) {
		in.session.Status.Declined = &v1alpha1.DeclinedAddress{Address: "10.77.0.11", MAC: "52:54:00:00:00:01", At: metav1.NewMicroTime(noon.Add(d))}
	}
}

// toldOf has an Event of that decline recorded.
func toldOf(in *inputs) {
	note(in.entry, v1alpha1.AnnotationDeclined, declinedAt(in.session.Status.Declined))
}

// TestDeclined holds that each decline is told once, by an Event that says what to do.
func TestDeclined(t *testing.T) {
	const says = "Warning AddressDeclined: address 10.77.0.11 was declined by MAC 52:54:00:00:00:01: another machine of the segment uses it. bootd gives it to nobody for ten minutes, " +
		"and no other in its place: find who has it and take it from there, or give this entry another address; then have the machine boot again"
	conflict := kerrors.NewConflict(schema.GroupResource{Resource: "bootentries"}, "web-1", errors.New("changed"))
	cases := map[string]struct {
		reason string
		in     inputs
		// refused are the errors of the entry's first writes.
		refused []error
		want    heard
	}{
		"Never":  {"A machine that keeps its address is no news.", world(granted, installed), nil, nil},
		"New":    {"One that declines it is.", world(granted, installed, declinedAfter(0)), nil, heard{says}},
		"Live":   {"While a grant waits for its machine, too: that's when it's most likely.", world(granted, declinedAfter(0)), nil, heard{says}},
		"Told":   {"A restart doesn't tell it again.", world(granted, installed, declinedAfter(0), toldOf), nil, nil},
		"Again":  {"Ten minutes later it declines it once more: whoever uses it is still there.", world(granted, installed, declinedAfter(0), toldOf, declinedAfter(10*time.Minute)), nil, heard{says}},
		"Raced":  {"Somebody else writes the entry in between.", world(granted, installed, declinedAfter(0)), []error{conflict}, heard{says}},
		"Broken": {"What couldn't be written down is told by the next look.", world(granted, installed, declinedAfter(0)), []error{errors.New("boom")}, heard{says}},
		"Earlier": {"An earlier entry's session says nothing about this one.", world(declinedAfter(0), func(in *inputs) {
			in.session.Spec.EntryUID = "earlier"
		}), nil, nil},
		"Meddled": {"A record that can't be read isn't one.", world(granted, installed, declinedAfter(0), func(in *inputs) {
			in.entry.Annotations[v1alpha1.AnnotationDeclined] = "yesterday"
		}), nil, heard{says}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got heard
			e, kube := clientOf(t, tc.in, interceptor.Funcs{
				Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
					if _, ok := o.(*v1alpha1.BootEntry); ok && len(tc.refused) > 0 {
						err := tc.refused[0]
						tc.refused = tc.refused[1:]
						return err
					}
					return c.Patch(ctx, o, p, opts...)
				},
			})
			e.record = &got
			entry := &v1alpha1.BootEntry{}
			for range 6 { // All steps that there are, and looks after the last.
				if err := kube.Get(t.Context(), client.ObjectKeyFromObject(tc.in.entry), entry); err != nil {
					t.Fatal(err)
				}
				_, _ = e.Update(t.Context(), entry) // An error has another look follow.
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			if d := decide(tc.in, noon); tc.want != nil && d.step == stepNone {
				t.Errorf("%s\nObserve doesn't say that there's something to be told", tc.reason)
			}
		})
	}
}
