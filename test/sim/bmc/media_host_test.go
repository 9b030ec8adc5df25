package bmc_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/redfishhost"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

const (
	rescue = "https://images.example.org/rescue.iso?token=" + bmc.Secret
	tools  = "https://images.example.org/tools.iso"
)

func cd(image string) []v1alpha1.VirtualMedium {
	return []v1alpha1.VirtualMedium{{Type: v1alpha1.MediaCD, Image: image}}
}

// posts counts what was done to the BMC's drives: inserted and ejected.
func (l *lab) posts() [2]int {
	var out [2]int
	for _, w := range l.emu.FullWrites() {
		switch {
		case strings.HasSuffix(w.Path, "InsertMedia"):
			out[0]++
		case strings.HasSuffix(w.Path, "EjectMedia"):
			out[1]++
		}
	}

	return out
}

func (l *lab) looks(n int) *v1alpha1.RedfishHost {
	l.t.Helper()
	for range n {
		l.now = l.now.Add(30 * time.Second)
		_, _ = l.reconcile()
	}

	return l.get()
}

// TestMedia goes through an image's life: in, changed, lost by the BMC, out.
func TestMedia(t *testing.T) {
	l := newTimedLab(t, bmc.ModelInline)
	l.settle()
	steps := []struct {
		reason string
		do     func()
		want   [2]string
		image  string
		ours   string
		posts  [2]int
	}{
		{"Inserted, and shown without its token.", func() {
			l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.VirtualMedia = cd(rescue) })
		}, [2]string{"True", "Applied"}, "https://images.example.org/rescue.iso", "Yes", [2]int{1, 0}},
		{"Nothing to do for an hour.", func() { l.looks(120) }, [2]string{"True", "Applied"}, "https://images.example.org/rescue.iso", "Yes", [2]int{1, 0}},
		{"Another image: out with the old one.", func() {
			l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.VirtualMedia = cd(tools) })
		}, [2]string{"True", "Applied"}, tools, "Yes", [2]int{2, 1}},
		{"The BMC restarts and loses it.", func() {
			l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.BMCResetGeneration = 1 })
			l.looks(40)
		}, [2]string{"True", "Applied"}, tools, "Yes", [2]int{3, 1}},
		{"Out of the list.", func() {
			l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.VirtualMedia = nil })
		}, [2]string{"", ""}, "", "", [2]int{3, 2}},
	}
	for _, s := range steps {
		s.do()
		h := l.looks(8)
		if diff := cmp.Diff(s.want, condition(h, v1alpha1.ConditionMediaInserted)); diff != "" && s.want[0] != "" {
			t.Errorf("\n%s\nMediaInserted: -want, +got:\n%s", s.reason, diff)
		}
		var image, ours string
		for _, m := range h.Status.AtProvider.VirtualMedia {
			if m.Slot == "CD1" {
				image, ours = m.Image, m.Ours
			}
		}
		if diff := cmp.Diff([2]string{s.image, s.ours}, [2]string{image, ours}); diff != "" {
			t.Errorf("\n%s\nin the drive: -want, +got:\n%s", s.reason, diff)
		}
		if diff := cmp.Diff(s.posts, l.posts()); diff != "" {
			t.Errorf("\n%s\ninserted and ejected: -want, +got:\n%s", s.reason, diff)
		}
	}
}

func TestMediaTroubles(t *testing.T) {
	cases := map[string]struct {
		reason string
		before func(l *lab)
		media  []v1alpha1.VirtualMedium
		want   [2]string
		posts  [2]int
	}{
		"Foreign": {
			reason: "Somebody else's image is never ejected.", media: cd(rescue),
			before: func(l *lab) { insertByHand(l, tools) }, want: [2]string{"False", "Conflict"}, posts: [2]int{1, 0},
		},
		"Theirs": {
			reason: "The wanted image is in already, by somebody else's hand.", media: cd(tools),
			before: func(l *lab) { insertByHand(l, tools) }, want: [2]string{"True", "Applied"}, posts: [2]int{1, 0},
		},
		"NoSlot": {
			reason: "No drive of that name.", media: []v1alpha1.VirtualMedium{{Type: v1alpha1.MediaCD, Image: rescue, Slot: "CD9"}},
			want: [2]string{"False", "NotSupported"},
		},
		"Unseen": {
			reason: "A BMC that says yes and does nothing is told three times.", media: cd(rescue),
			before: func(l *lab) {
				l.emu.Inject(bmc.Fault{Method: http.MethodPost, PathContains: "InsertMedia", Times: 100, Status: http.StatusNoContent})
			},
			want: [2]string{"False", "NoEffect"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, bmc.ModelInline)
			l.settle()
			if tc.before != nil {
				tc.before(l)
			}
			l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.VirtualMedia = tc.media })
			h := l.looks(60)
			if diff := cmp.Diff(tc.want, condition(h, v1alpha1.ConditionMediaInserted)); diff != "" {
				t.Errorf("\n%s\nMediaInserted: -want, +got:\n%s", tc.reason, diff)
			}
			if name == "Unseen" {
				asked := 0
				for _, r := range l.emu.Requests() {
					if r.Method == http.MethodPost && strings.HasSuffix(r.Path, "InsertMedia") {
						asked++
					}
				}
				if asked != 3 {
					t.Errorf("\n%s\nasked %d times, want 3", tc.reason, asked)
				}

				return
			}
			if diff := cmp.Diff(tc.posts, l.posts()); diff != "" {
				t.Errorf("\n%s\ninserted and ejected: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func insertByHand(l *lab, image string) {
	l.t.Helper()
	uri := "/redfish/v1/Managers/BMC/VirtualMedia/CD1/Actions/VirtualMedia.InsertMedia"
	if status, body := ask(l.t, l.emu.BMC, http.MethodPost, uri, map[string]any{"Image": image}, nil); status >= 300 {
		l.t.Fatalf("InsertMedia: %d, %v", status, body)
	}
}

// TestMediaCrash kills the provider around the call: the image is in once, and
// ours is out when the host is gone.
func TestMediaCrash(t *testing.T) {
	for _, point := range []string{redfishhost.FailpointBeforeCall, redfishhost.FailpointAfterCall} {
		t.Run(point, func(t *testing.T) {
			l := newLab(t, bmc.ModelInline)
			l.settle()
			l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.VirtualMedia = cd(rescue) })
			l.failpoint = func(at string) {
				if at == point {
					panic(crash{at})
				}
			}
			l.untilCrash()
			l.failpoint = nil
			l.start()
			h := l.looks(20)
			if diff := cmp.Diff([2]string{"True", "Applied"}, condition(h, v1alpha1.ConditionMediaInserted)); diff != "" {
				t.Errorf("MediaInserted: -want, +got:\n%s", diff)
			}
			if diff := cmp.Diff([2]int{1, 0}, l.posts()); diff != "" {
				t.Errorf("inserted and ejected: -want, +got:\n%s", diff)
			}
			l.edit(func(h *v1alpha1.RedfishHost) { h.Finalizers = []string{"test/keep"} })
			if err := l.kube.Delete(t.Context(), &v1alpha1.RedfishHost{ObjectMeta: metav1.ObjectMeta{Namespace: hostKey.Namespace, Name: hostKey.Name}}); err != nil {
				t.Fatal(err)
			}
			l.looks(6)
			if diff := cmp.Diff([2]int{1, 1}, l.posts()); diff != "" {
				t.Errorf("inserted and ejected when it's deleted: -want, +got:\n%s", diff)
			}
			survived(t, "the provider is killed around the insertion of an image")
		})
	}
}
