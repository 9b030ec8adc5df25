package wiring

import (
	"errors"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/prometheus/client_golang/prometheus"
)

// What a look at an external thing found, as its metric says.
const (
	foundUpToDate  = "UpToDate"
	foundDifferent = "Different"
	foundMissing   = "Missing"
	foundFailed    = "Failed"
)

// newObservations returns the count of looks at external things. Reconciles are no measure of them: those that wait for their turn, by the provider's rate limit, count as well.
func newObservations(r prometheus.Registerer) (*prometheus.CounterVec, error) {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "provider_baremetal_observations_total",
		Help: "Looks at external things, by kind and by what they found: UpToDate, Different, Missing, Failed.",
	}, []string{"kind", "found"})
	c, err := Registered(r, c)
	if err != nil {
		return nil, fmt.Errorf("cannot register the metric of observations: %w", err)
	}
	return c, nil
}

// Registered registers what is counted, and returns it, or what is registered in its place already: kinds count looks together, and in tests
// there are several providers in one process.
func Registered[T prometheus.Collector](r prometheus.Registerer, c T) (T, error) {
	err := r.Register(c)
	if already, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
		if there, ok := already.ExistingCollector.(T); ok {
			return there, nil
		}
	}
	return c, err //nolint:wrapcheck // It says which metric it is, and the caller what it is of.
}

// found is what a look found, in a word.
func found(o managed.ExternalObservation, err error) string {
	switch {
	case err != nil:
		return foundFailed
	case !o.ResourceExists:
		return foundMissing
	case !o.ResourceUpToDate:
		return foundDifferent
	}
	return foundUpToDate
}
