package wiring

import (
	"errors"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/prometheus/client_golang/prometheus"
)

func TestFound(t *testing.T) {
	cases := map[string]struct {
		reason string
		o      managed.ExternalObservation
		err    error
		want   string
	}{
		"UpToDate":  {"It's as it should be.", managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}, nil, "UpToDate"},
		"Different": {"It's to be changed.", managed.ExternalObservation{ResourceExists: true}, nil, "Different"},
		"Missing":   {"It's to be made, or gone.", managed.ExternalObservation{}, nil, "Missing"},
		"Failed":    {"Nobody knows.", managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}, errors.New("boom"), "Failed"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := found(tc.o, tc.err); got != tc.want {
				t.Errorf("%s: got %s, want %s", tc.reason, got, tc.want)
			}
		})
	}
}

func TestObservationsOfSeveralProviders(t *testing.T) {
	r := prometheus.NewRegistry()
	first, err := newObservations(r)
	if err != nil {
		t.Fatal(err)
	}
	second, err := newObservations(r)
	if err != nil || second != first {
		t.Errorf("the second provider of a process counts elsewhere: %v", err)
	}
	first.WithLabelValues("K", foundUpToDate).Inc()
	all, err := r.Gather()
	if err != nil || len(all) != 1 || all[0].GetName() != "provider_baremetal_observations_total" {
		t.Errorf("%v, %v", all, err)
	}
}

// TestRegistered: what is registered under the same name as something else is an error.
func TestRegistered(t *testing.T) {
	r := prometheus.NewRegistry()
	r.MustRegister(prometheus.NewCounter(prometheus.CounterOpts{Name: "provider_baremetal_observations_total", Help: "x"}))
	if _, err := newObservations(r); err == nil {
		t.Error("nobody can count where a name is taken")
	}
}
