package bootplane

import (
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

func decline(address string, ago time.Duration) v1alpha1.DeclinedAddress {
	return v1alpha1.DeclinedAddress{Address: address, MAC: "52:54:00:00:00:01", At: metav1.NewMicroTime(now().Add(-ago))}
}

// TestDeclined: the newest decline of each address stands in the status for ten minutes.
func TestDeclined(t *testing.T) {
	const nine, ten = "10.77.0.9", "10.77.0.10"
	for name, tc := range map[string]struct {
		reason  string
		before  []v1alpha1.DeclinedAddress
		servers [][]v1alpha1.DeclinedAddress
		want    []v1alpha1.DeclinedAddress
		news    int
		again   time.Duration
	}{
		"None":    {reason: "nobody declined"},
		"New":     {reason: "one did", servers: [][]v1alpha1.DeclinedAddress{{decline(nine, time.Minute)}}, want: []v1alpha1.DeclinedAddress{decline(nine, time.Minute)}, news: 1, again: 9 * time.Minute},
		"Known":   {reason: "it was told", before: []v1alpha1.DeclinedAddress{decline(nine, time.Minute)}, servers: [][]v1alpha1.DeclinedAddress{{decline(nine, time.Minute)}}, want: []v1alpha1.DeclinedAddress{decline(nine, time.Minute)}, again: 9 * time.Minute},
		"Both":    {reason: "two bootds heard it", servers: [][]v1alpha1.DeclinedAddress{{decline(nine, 61*time.Second)}, {decline(nine, time.Minute)}}, want: []v1alpha1.DeclinedAddress{decline(nine, time.Minute)}, news: 1, again: 9 * time.Minute},
		"Other":   {reason: "the other one heard it later, by its clock", before: []v1alpha1.DeclinedAddress{decline(nine, time.Minute)}, servers: [][]v1alpha1.DeclinedAddress{{decline(nine, 30*time.Second)}}, want: []v1alpha1.DeclinedAddress{decline(nine, 30*time.Second)}, again: 570 * time.Second},
		"Silent":  {reason: "its bootd isn't heard of for a moment", before: []v1alpha1.DeclinedAddress{decline(nine, time.Minute)}, want: []v1alpha1.DeclinedAddress{decline(nine, time.Minute)}, again: 9 * time.Minute},
		"Again":   {reason: "once it was offered again", before: []v1alpha1.DeclinedAddress{decline(nine, 9*time.Minute)}, servers: [][]v1alpha1.DeclinedAddress{{decline(nine, 0)}}, want: []v1alpha1.DeclinedAddress{decline(nine, 0)}, news: 1, again: kept},
		"Over":    {reason: "it's given again", before: []v1alpha1.DeclinedAddress{decline(nine, kept)}, servers: [][]v1alpha1.DeclinedAddress{{decline(nine, kept)}}},
		"Ordered": {reason: "by address", servers: [][]v1alpha1.DeclinedAddress{{decline(nine, 0), decline(ten, time.Minute)}}, want: []v1alpha1.DeclinedAddress{decline(ten, time.Minute), decline(nine, 0)}, news: 2, again: 9 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			var said []v1alpha1.BootServerNetwork
			for _, d := range tc.servers {
				said = append(said, v1alpha1.BootServerNetwork{Declined: d})
			}
			got := declined(tc.before, said, now())
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			if n, again := len(news(tc.before, got)), until(got, now()); n != tc.news || again != tc.again {
				t.Errorf("%s: %d are news, and the next look is in %s", tc.reason, n, again)
			}
		})
	}
}

// events are those that were recorded.
type events []event.Event

func (e *events) Event(_ runtime.Object, x event.Event)    { *e = append(*e, x) }
func (e *events) WithAnnotations(...string) event.Recorder { return e }

// TestDeclinedIsTold: each once, whoever looks again.
func TestDeclinedIsTold(t *testing.T) {
	network := &v1alpha1.BootNetwork{ObjectMeta: metav1.ObjectMeta{Namespace: "infra", Name: "rack-7"}}
	s := server("a", 0)
	s.Status.Networks[0].Declined = []v1alpha1.DeclinedAddress{decline("10.77.0.9", 0)}
	var writes int
	kube, told := testKube(t, &writes, s, network), &events{}
	for range 3 {
		r := &networks{kube: kube, record: told, now: now} // Another provider, or a restarted one.
		if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(network)}); err != nil {
			t.Fatal(err)
		}
	}
	if len(*told) != 1 || (*told)[0].Type != event.TypeWarning || (*told)[0].Reason != reasonDeclined || !strings.HasPrefix((*told)[0].Message, "address 10.77.0.9 was declined by MAC 52:54:00:00:00:01: ") {
		t.Errorf("%+v", *told)
	}
}
