package redfishhost

import (
	"context"
	"fmt"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
	// reading says that an inventory is being read, with the password in use.
	reading bool
	// problem is why no rotation is begun; its zero value: nothing is.
	problem trouble
}

// lookWithNext looks at the machine, and once more with password-next where the
// BMC refuses the password and the Secret has one: a rotation was broken off. Each
// is tried once for a version of the Secret.
func (e *external) lookWithNext(ctx context.Context, host *v1alpha1.RedfishHost) (pin string, err error) {
	pin, err = e.look(ctx, host)
	if !redfish.IsUnauthorized(err) || e.own.next == "" || e.target.CredentialVersion == "" {
		return pin, err
	}
	e.own.used, e.own.first = true, refusal(e.target)
	e.target = withNext(e.target, e.own.next)
	e.inputs.both = true

	return e.look(ctx, host)
}

// withNext is a target whose password is the Secret's other one. What is refused
// is remembered of each.
func withNext(t gate.Target, next string) gate.Target {
	t.Password = next
	t.CredentialVersion += "#" + v1alpha1.SecretKeyPasswordNext

	return t
}

// lookRotation finds out what a rotation that is wanted goes by. Of a host for
// which none is, nothing is read.
func (e *external) lookRotation(ctx context.Context, host *v1alpha1.RedfishHost) error {
	e.rotation = rotationSeen{own: e.own.at.Name != "", next: e.own.next != "", byNext: e.own.used}
	w := wanted(host.Spec.ForProvider)
	j := e.journal(host, w)
	asked := host.GetAnnotations()[meta.AnnotationKeyReconcileRequestedAt]
	if !e.rotation.own || e.rotation.byNext || j == nil || meta.WasDeleted(host) || !j.Rotation.due(w.rotation, asked) {
		return nil
	}
	e.rotation.reading = e.connector.inventories.reading(host.GetUID())
	s := &corev1.Secret{}
	if err := e.connector.Kube.Get(ctx, e.own.at, s); err != nil {
		return errors.Wrapf(err, "cannot read Secret %q", e.own.at.Name)
	}
	other, err := e.sharer(ctx, host)
	if err != nil {
		return err
	}
	e.rotation.problem = rotationProblem(s, other, bootsForClaim(host, j))

	return nil
}

// rotationProblem is why the password of a Secret isn't changed now. other has
// the same account, and booting says that a machine is on its way for a claim.
func rotationProblem(s *corev1.Secret, other string, booting bool) trouble {
	keeper := keeperOf(s)
	switch {
	case meta.WasDeleted(s):
		return trouble{v1alpha1.ReasonNotFound, fmt.Sprintf("Secret %q is being deleted, and a new password would go with it: the password isn't changed", s.Name)}
	case s.Immutable != nil && *s.Immutable:
		return trouble{v1alpha1.ReasonInvalid, immutableSentence(s.Name)}
	case keeper != "":
		return trouble{v1alpha1.ReasonConflict, fmt.Sprintf("Secret %q is kept by %s, which would write the old password back and lock everybody out: change the password there and on the BMC, or give this host a Secret that nothing else writes", s.Name, keeper)}
	case other != "":
		return trouble{v1alpha1.ReasonConflict, fmt.Sprintf("%s has the same BMC or Secret %q, and would be locked out by another password: give each BMC an account and Secret of its own", other, s.Name)}
	case booting:
		return trouble{v1alpha1.ReasonWaitingForInstall, "the password is changed once the machine has booted for its claim"}
	default:
		return trouble{}
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

// sharer names another user of the host's BMC or Secret, for whom another password
// would be the wrong one; "" is nobody.
func (e *external) sharer(ctx context.Context, host *v1alpha1.RedfishHost) (string, error) {
	same, err := e.others(ctx, bmcIndexed(host))
	if err != nil {
		return "", err
	}
	hosts := &v1alpha1.RedfishHostList{}
	if err := e.connector.Kube.List(ctx, hosts, client.InNamespace(host.GetNamespace()), client.UnsafeDisableDeepCopy); err != nil {
		return "", errors.Wrap(err, "cannot list hosts")
	}
	for _, h := range hosts.Items {
		if ref := h.Spec.ForProvider.CredentialsSecretRef; ref != nil && ref.Name == e.own.at.Name {
			same = append(same, h)
		}
	}
	if i := slices.IndexFunc(same, func(h v1alpha1.RedfishHost) bool { return h.GetUID() != host.GetUID() }); i >= 0 {
		if same[i].GetNamespace() != host.GetNamespace() {
			return "another RedfishHost", nil
		}

		return named(same[i].GetName()), nil
	}

	return e.configOfSecret(ctx)
}

// configOfSecret names a provider config with the host's own Secret, or is "".
func (e *external) configOfSecret(ctx context.Context) (string, error) {
	configs, all := &v1alpha1.ProviderConfigList{}, &v1alpha1.ClusterProviderConfigList{}
	if err := e.connector.Kube.List(ctx, configs, client.InNamespace(e.own.at.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return "", errors.Wrap(err, "cannot list provider configs")
	}
	if err := e.connector.Kube.List(ctx, all, client.UnsafeDisableDeepCopy); err != nil {
		return "", errors.Wrap(err, "cannot list provider configs")
	}
	for _, c := range configs.Items {
		if secretOfConfig(c.Spec).Name == e.own.at.Name {
			return fmt.Sprintf("ProviderConfig %q", c.GetName()), nil
		}
	}
	for _, c := range all.Items {
		if secretOfConfig(c.Spec) == e.own.at {
			return "a ClusterProviderConfig", nil
		}
	}

	return "", nil
}

func secretOfConfig(spec v1alpha1.ProviderConfigSpec) types.NamespacedName {
	switch {
	case spec.Redfish != nil:
		ref := spec.Redfish.Credentials.SecretRef

		return types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}
	case spec.NetBox != nil:
		ref := spec.NetBox.Credentials.SecretRef

		return types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}
	default:
		return types.NamespacedName{}
	}
}

// rotatesFirst says whether the password of a BMC that lets us do nothing else is
// to be changed now: of a host that isn't known yet and asks for that. Of one that
// is known nothing tells that it's still the same machine.
func (e *external) rotatesFirst(ctx context.Context, host *v1alpha1.RedfishHost, err error) (bool, error) {
	w := wanted(host.Spec.ForProvider)
	j := parseJournal(host.GetAnnotations()[v1alpha1.AnnotationJournal])
	_, recorded := recordOf(host)
	if redfish.KindOf(err) != redfish.PasswordChangeRequired || w.rotation == 0 || meta.WasDeleted(host) || recorded || meta.GetExternalName(host) != "" || j.gaveUp() {
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
		j.Rotation = rotationRecord{}
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

// rotating says that the password is about to be another one: who reads an
// inventory meanwhile would log in with the old one.
func (e *external) rotating(host *v1alpha1.RedfishHost) bool {
	w := wanted(host.Spec.ForProvider)
	j := e.journal(host, w)
	next := following(e.view(host, w, j, e.seen(e.system))).do

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
