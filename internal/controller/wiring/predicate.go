package wiring

import (
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// desiredStateChanged passes what people and other controllers change of a resource, but not its status. Finalizers count: the
// managed reconciler waits until it holds the last one, and nothing else would wake it when another one goes.
func desiredStateChanged() predicate.Predicate {
	return predicate.Or(resource.DesiredStateChanged(), predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		if e.ObjectOld == nil || e.ObjectNew == nil {
			return false
		}
		return !slices.Equal(e.ObjectOld.GetFinalizers(), e.ObjectNew.GetFinalizers())
	}})
}

// heardBy passes everything, and tells the pace of what the cache has heard of resources.
func heardBy(p *pace) predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		if e.ObjectNew != nil {
			p.heard(e.ObjectNew)
		}
		return true
	}}
}

// goneTo passes everything, and tells of resources that are gone, however they went: the pace, which forgets them, and gone, which may be nil.
func goneTo[T resource.ModernManaged](p *pace, gone func(T)) predicate.Predicate {
	return predicate.Funcs{DeleteFunc: func(e event.DeleteEvent) bool {
		mg, ok := e.Object.(T)
		if !ok {
			return true
		}
		p.forget(mg.GetUID())
		p.gone(mg.GetUID())
		if gone != nil {
			gone(mg)
		}
		return true
	}}
}

// pausedTo passes everything, and tells, of resources that are paused, and of those that aren't any more, which they are: nobody calls an
// external client of one that is paused. paused may be nil.
func pausedTo[T resource.ModernManaged](paused func(mg T, is bool)) predicate.Predicate {
	if paused == nil {
		return predicate.Funcs{}
	}
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool {
			if mg, ok := e.Object.(T); ok && isPaused(mg) {
				paused(mg, true)
			}
			return true
		},
		UpdateFunc: func(e event.UpdateEvent) bool {
			was, known := e.ObjectOld.(T)
			is, ok := e.ObjectNew.(T)
			if known && ok && (isPaused(was) != isPaused(is) || was.GetUID() != is.GetUID()) {
				paused(is, isPaused(is))
			}
			return true
		},
	}
}

// isPaused says whether the managed reconciler leaves a resource alone, by its annotation or by policies without any.
func isPaused(mg resource.ModernManaged) bool {
	return meta.IsPaused(mg) || len(mg.GetManagementPolicies()) == 0
}
