package bootentry

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// restored is an installed machine whose objects were all made again, and whose claim was told that it's the one that is meant.
func restored(in *inputs) {
	granted(in)
	installed(in)
	poweredOn(in)
	in.entry.UID, in.host.UID, in.session = "entry-2", "host-2", nil
	in.claim.Spec.Bound.UID = "host-2"
	note(in.claim, v1alpha1.AnnotationQuestion, v1alpha1.QuestionRecord{OwnerUID: "claim", Answered: "ABC123"})
}

// TestAdoption takes a restored machine over, write by write: at each point where the provider may die or be refused, the same step
// is next, and nobody is asked again.
func TestAdoption(t *testing.T) {
	in := world(restored)
	for _, o := range []metav1.Object{in.host, in.entry} {
		if d := decide(in, noon); d.step != stepIssue || d.issue.Step != boot.StepAdopt {
			t.Fatalf("decide(...) = %q, %q (%s; problem %+v), want it adopted", d.step, d.issue.Step, d.issue.Reason, d.problem)
		}
		records, err := adoption(in, noon)
		if err != nil {
			t.Fatal(err)
		}
		for key, r := range records {
			note(o, key, r)
		}
	}
	if d := decide(in, noon); d.step != stepNone || d.issue.Reason != boot.IssueInstalled {
		t.Errorf("decide(...) = %q, %q (%s), want nothing left to do", d.step, d.issue.Step, d.issue.Reason)
	}
	if g := installedGeneration(in); g != 1 {
		t.Errorf("want generation 1 installed, got %d", g)
	}
}

func TestAdoptionWithoutRecord(t *testing.T) {
	if _, err := adoption(world(), noon); err == nil {
		t.Error("nothing is adopted without a record of what runs")
	}
}
