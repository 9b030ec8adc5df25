package redfishhost

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/gate"
)

// rotationSeen is what is known of a host's own Secret, and of what stands in the
// way of another password.
type rotationSeen struct {
	// own says that there is one, next that it has a password-next, and byNext
	// that the BMC lets us in with that alone.
	own, next, byNext bool
	// back says that something has put another password into it than the BMC was
	// given, which refuses it, and that password-rotated lets us in.
	back bool
	// reading says that an inventory is being read, with the password in use.
	reading bool
	// problem is why no rotation is begun; its zero value: nothing is.
	problem trouble
}

// lookWithNext looks at the machine, and once more with the Secret's other password
// where the BMC refuses the first: password-next, since a rotation was broken off, or
// else password-rotated, since something has put an older one back. Each is tried once
// for a version of the Secret. Where the refusal may mean something else, only a
// password is tried that the BMC is known to have been given.
func (e *external) lookWithNext(ctx context.Context, host *v1alpha1.RedfishHost) (pin string, err error) {
	e.own.lasting = refusal(withRotated(e.target, "", e.inputs.rotated))
	if pin, err = e.look(ctx, host); err == nil {
		return pin, e.forgive(ctx, host)
	}
	if !redfish.IsUnauthorized(err) || e.target.CredentialVersion == "" {
		return pin, err
	}
	first := refusal(e.target)
	switch plain := redfish.IsPlainRefusal(err); {
	case e.own.next != "" && (plain || wasGiven(host)):
		e.own.used, e.inputs.tried = true, v1alpha1.SecretKeyPasswordNext
		e.target = withNext(e.target, e.own.next)
	case e.own.next == "" && e.own.rotated != "" && e.own.rotated != e.target.Password && plain:
		e.own.back, e.inputs.tried = true, v1alpha1.SecretKeyPasswordRotated
		e.target = withRotated(e.target, e.own.rotated, e.inputs.rotated)
	default:
		return pin, err
	}
	e.own.first = first

	return e.look(ctx, host)
}

// wasGiven says whether the host's BMC was given the Secret's password-next.
func wasGiven(host *v1alpha1.RedfishHost) bool {
	j := parseJournal(host.GetAnnotations()[v1alpha1.AnnotationJournal])

	return j != nil && j.Rotation.For > 0
}

// withNext is a target whose password is the Secret's other one. What is refused
// is remembered of each.
func withNext(t gate.Target, next string) gate.Target {
	t.Password = next
	t.CredentialVersion += "#" + v1alpha1.SecretKeyPasswordNext

	return t
}

// withRotated is a target whose password is the one that the BMC was given last, at
// some time. Where that is refused, it's so however often the Secret is written.
func withRotated(t gate.Target, rotated string, at time.Time) gate.Target {
	t.Password = rotated
	if i := strings.LastIndexByte(t.CredentialVersion, '/'); i >= 0 {
		t.CredentialVersion = t.CredentialVersion[:i]
	}
	t.CredentialVersion += "#" + v1alpha1.SecretKeyPasswordRotated + "#" + at.UTC().Format(time.RFC3339)

	return t
}

// lookRotation finds out what a rotation that is wanted goes by. Of a host for
// which none is, nothing is read.
func (e *external) lookRotation(ctx context.Context, host *v1alpha1.RedfishHost) error {
	e.rotation = rotationSeen{own: e.own.at.Name != "", next: e.own.next != "", byNext: e.own.used, back: e.own.back}
	if e.own.back {
		e.rotation.problem = trouble{v1alpha1.ReasonConflict, putBackSentence(e.inputs)}

		return nil
	}
	w := wanted(host.Spec.ForProvider)
	j := e.journal(host, w)
	asked := host.GetAnnotations()[meta.AnnotationKeyReconcileRequestedAt]
	if !e.rotation.own || e.rotation.byNext || j == nil || meta.WasDeleted(host) || !j.Rotation.due(w.rotation, asked) {
		return nil
	}
	if e.rotation.reading = e.connector.inventories.reading(host.GetUID()); e.rotation.reading {
		return nil // It's asked for once that has ended.
	}
	problem, err := e.connector.rotationLooks.of(e.glance(fmt.Sprintf("%d %q %s", w.rotation, asked, e.target.CredentialVersion), false), func() (*trouble, bool, error) {
		t, err := e.rotationProblem(ctx, host)

		return &t, t.reason != "", err
	})
	if err != nil {
		return err
	}
	if e.rotation.problem = *problem; problem.reason == "" && bootsForClaim(host, j) {
		e.rotation.problem = trouble{v1alpha1.ReasonWaitingForInstall, "the password is changed once the machine has booted for its claim"}
	}

	return nil
}

// rotationProblem is why the password of the host's Secret isn't changed now: what
// changes with the Secret, or seldom.
func (e *external) rotationProblem(ctx context.Context, host *v1alpha1.RedfishHost) (trouble, error) {
	s := &corev1.Secret{}
	if err := e.connector.Kube.Get(ctx, e.own.at, s); err != nil {
		return trouble{}, errors.Errorf("cannot read Secret %q: %s", e.own.at.Name, apiWord(err))
	}
	other, err := e.sharer(ctx, host)
	if err != nil {
		return trouble{}, err
	}
	keeper := keeperOf(s)
	switch {
	case meta.WasDeleted(s):
		return trouble{v1alpha1.ReasonNotFound, fmt.Sprintf("Secret %q is being deleted, and a new password would go with it: the password isn't changed", s.Name)}, nil
	case s.Immutable != nil && *s.Immutable:
		return trouble{v1alpha1.ReasonInvalid, immutableSentence(s.Name)}, nil
	case keeper != "":
		return trouble{v1alpha1.ReasonConflict, fmt.Sprintf("Secret %q is kept by %s, which would write the old password back and lock everybody out: change the password there and on the BMC, or give this host a Secret that nothing else writes", s.Name, keeper)}, nil
	case other != "":
		return trouble{v1alpha1.ReasonConflict, fmt.Sprintf("%s has the same BMC or Secret %q, and would be locked out by another password: give each BMC an account and Secret of its own", other, s.Name)}, nil
	default:
		return trouble{}, nil
	}
}

func immutableSentence(secret string) string {
	return fmt.Sprintf("Secret %q is immutable, so that no new password can be stored: make one that isn't, and name it in credentialsSecretRef", secret)
}

// bootsForClaim says whether a claim's machine is on its way: granted and not
// installed, or with a boot source that is there for one boot.
func bootsForClaim(host *v1alpha1.RedfishHost, j *journal) bool {
	return host.Spec.ClaimRef != nil && (boundPhase(host.GetAnnotations()) == v1alpha1.HostProvisioning || j.Override != "")
}

// rotatesFirst says whether the password of a BMC that lets us do nothing else is
// to be changed now: of a host that isn't known yet and asks for that. Of one that
// is known nothing tells that it's still the same machine.
func (e *external) rotatesFirst(ctx context.Context, host *v1alpha1.RedfishHost, err error) (bool, error) {
	w := wanted(host.Spec.ForProvider)
	j := parseJournal(host.GetAnnotations()[v1alpha1.AnnotationJournal])
	_, recorded := recordOf(host)
	if isFirstRefusal(err) && w.rotation > 0 {
		// It doesn't even let us in to do that.
		host.SetConditions(condition(v1alpha1.ConditionCredentialsRotated, corev1.ConditionFalse, v1alpha1.ReasonNotSupported, firstByHandSentence(e.inputs)))

		return false, nil
	}
	if redfish.KindOf(err) != redfish.PasswordChangeRequired || w.rotation == 0 || meta.WasDeleted(host) || recorded || meta.GetExternalName(host) != "" || j.gaveUp() || j.newer() {
		return false, nil
	}
	if j.pending() && !slices.Contains(rotationFacet.actions, j.Act.Action) {
		return false, nil
	}
	e.initial = true
	if err := e.lookRotation(ctx, host); err != nil {
		return false, err
	}
	e.showActs(host, w, e.seen(e.system))
	st := following(e.view(host, w, e.journal(host, w), e.seen(e.system)))

	return st.journal != nil || st.do != actNone, nil
}

// journal is the host's; of one that isn't known yet, and whose password is changed
// first, everything else that it asks for counts as done.
func (e *external) journal(host *v1alpha1.RedfishHost, w want) *journal {
	j := parseJournal(host.GetAnnotations()[v1alpha1.AnnotationJournal])
	if j == nil && e.initial {
		j = adopted(w)
		j.Rotation = rotationRecord{Kept: true}
	}

	return j
}

// facets that are asked what to do, and how far they have come. Of a machine that
// nobody sees before its BMC's password is changed, that's the rotation alone.
func (v view) facets() []facet {
	if v.initial {
		return []facet{rotationFacet}
	}

	return facets
}

// rotating says that the password is about to be another one, as soon as no inventory
// is read any more: who reads one meanwhile would log in with the old one, and who
// begins to read another has it wait for ever.
func (e *external) rotating(host *v1alpha1.RedfishHost) bool {
	w := wanted(host.Spec.ForProvider)
	j, seen := e.journal(host, w), e.seen(e.system)
	seen.rotation.reading = false
	if j.newer() {
		return false
	}
	next := following(e.view(host, w, j, seen)).do

	return slices.Contains(rotationFacet.actions, next) || j.pending() && slices.Contains(rotationFacet.actions, j.Act.Action)
}

// reading says whether a host's inventory is being read, or waits for that.
func (i *inventories) reading(host types.UID) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, j := range i.running {
		if j.host == host {
			return true
		}
	}

	return slices.ContainsFunc(i.waiting, func(j *job) bool { return j.host == host })
}
