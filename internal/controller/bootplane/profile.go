package bootplane

import (
	"context"
	"fmt"
	"slices"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/apimachinery/pkg/api/equality"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootspec"
)

// profiles keeps the status of BootProfiles.
type profiles struct{ kube client.Client } // Live for Secrets.

// Reconcile says what a profile's digest is, who boots it, and where its files are.
func (r *profiles) Reconcile(ctx context.Context, req reconcile.Request) (ctrl.Result, error) {
	p := &v1alpha1.BootProfile{}
	if err := r.kube.Get(ctx, req.NamespacedName, p); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err) //nolint:wrapcheck // Nothing to add.
	}
	entries := &v1alpha1.BootEntryList{}
	if err := r.kube.List(ctx, entries, client.MatchingFields{fieldProfile: req.String()}); err != nil {
		return ctrl.Result{}, fmt.Errorf("cannot list the BootEntries of BootProfile %q: %w", req, err)
	}
	servers := &v1alpha1.BootServerList{}
	if err := r.kube.List(ctx, servers); err != nil {
		return ctrl.Result{}, fmt.Errorf("cannot list BootServers: %w", err)
	}
	before := p.DeepCopy()
	showProfile(p, len(entries.Items), servers.Items)
	if ready, err := r.pullReady(ctx, p); err != nil {
		return ctrl.Result{}, err
	} else if ready != nil {
		p.Status.SetConditions(ready.WithObservedGeneration(p.Generation))
	}
	if equality.Semantic.DeepEqual(before.Status, p.Status) {
		return ctrl.Result{}, nil
	}
	if err := r.kube.Status().Patch(ctx, p, client.MergeFrom(before)); err != nil {
		return ctrl.Result{}, fmt.Errorf("cannot write the status of BootProfile %q: %w", req, err)
	}
	return ctrl.Result{}, nil
}

// showProfile writes a profile's status.
func showProfile(p *v1alpha1.BootProfile, users int, servers []v1alpha1.BootServer) {
	p.Status.Digest = bootspec.ProfileDigest(p.Spec)
	p.Status.Users = int64(users)
	p.Status.Artifacts = artifactsOf(p.Spec, servers)
	p.Status.SetConditions(profileReady(p).WithObservedGeneration(p.Generation))
}

// artifactsOf lists a profile's files once each, in the order of its spec, with how many bootds have them.
func artifactsOf(spec v1alpha1.BootProfileSpec, servers []v1alpha1.BootServer) []v1alpha1.ArtifactStatus {
	var out []v1alpha1.ArtifactStatus
	for _, a := range files(spec) {
		if slices.ContainsFunc(out, func(s v1alpha1.ArtifactStatus) bool { return s.URL == a.URL }) {
			continue
		}
		s := v1alpha1.ArtifactStatus{URL: a.URL, Message: failure(a.Digest, servers)}
		for i := range servers {
			if slices.Contains(servers[i].Status.Cache.Digests, a.Digest) {
				s.CachedOn++
			}
		}
		out = append(out, s)
	}
	return out
}

// failure says why a file can't be had, by the first bootd, in the order of their names, that can't get it; "" where none says so.
func failure(digest string, servers []v1alpha1.BootServer) string {
	first, why := "", ""
	for i := range servers {
		for _, f := range servers[i].Status.Cache.Failed {
			if name := servers[i].Name; f.Digest == digest && (first == "" || name < first) {
				first, why = name, fmt.Sprintf("BootServer %s: %s: %s", name, f.Reason, f.Message)
			}
		}
	}
	return why
}

// files of a profile.
func files(spec v1alpha1.BootProfileSpec) []v1alpha1.Artifact {
	var out []v1alpha1.Artifact
	for _, a := range spec.Artifacts {
		if a.Kernel != nil {
			out = append(out, *a.Kernel)
		}
		out = append(out, a.Initrds...)
		if a.Image != nil {
			out = append(out, a.Image.Artifact)
		}
		if a.ISO != nil {
			out = append(out, *a.ISO)
		}
		if a.RaspberryPi != nil {
			for _, f := range a.RaspberryPi.Files {
				out = append(out, f.Artifact)
			}
		}
	}
	return out
}

// profileReady checks what admission can't.
func profileReady(profile *v1alpha1.BootProfile) xpv2.Condition {
	if prob := bootspec.ProfileProblem(profile); prob != nil {
		return invalid("%s", prob.Message)
	}
	return xpv2.Available()
}

func invalid(format string, args ...any) xpv2.Condition {
	c := xpv2.Unavailable().WithMessage(fmt.Sprintf(format, args...))
	c.Reason = v1alpha1.ReasonInvalid
	return c
}
