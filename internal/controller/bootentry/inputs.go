package bootentry

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootspec"
)

// inputs are the objects that an entry's plan and grant rest on. Absent ones are nil.
type inputs struct {
	entry   *v1alpha1.BootEntry
	session *v1alpha1.BootSession
	claim   *v1alpha1.HostClaim
	host    *v1alpha1.RedfishHost
	// addresses are those that the entry names by ref, each where it stands there.
	addresses []*v1alpha1.NetBoxIPAddress
	profile   *v1alpha1.BootProfile
	network   *v1alpha1.BootNetwork
	// secrets are the tenant's own that the entry names, by name, copied the provider's copy of what is meant in them.
	secrets map[string]*corev1.Secret
	copied  *corev1.Secret
	servers []v1alpha1.BootServer
	// others are all other entries, for the MACs they hold. They are shared and not to be changed.
	others []v1alpha1.BootEntry
	// hosts are all hosts, where the entry's own isn't of the segment's namespace. They are shared and not to be changed.
	hosts []v1alpha1.RedfishHost
}

// A gatherer reads inputs. The session is read first and the claim after it: a revocation between the
// two changes the session, so that a grant decided on the older claim can't be written.
type gatherer struct {
	// kube reads the entry's own objects, all the entries and hosts of others: at a thousand machines those are megabytes from an API
	// server, so that only what rests on them reads them live.
	kube, all     client.Reader
	bootNamespace string
}

func (g gatherer) gather(ctx context.Context, e *v1alpha1.BootEntry) (inputs, error) {
	in := inputs{entry: e}
	p := e.Spec.ForProvider
	var err error
	if in.session, err = get[v1alpha1.BootSession](ctx, g.kube, e.Namespace, e.Name); err != nil {
		return in, err
	}
	if err := g.gatherMachine(ctx, e, &in); err != nil {
		return in, err
	}
	if in.profile, err = get[v1alpha1.BootProfile](ctx, g.kube, or(p.ProfileRef.Namespace, e.Namespace), p.ProfileRef.Name); err != nil {
		return in, err
	}
	n := p.Networks[0]
	if in.network, err = get[v1alpha1.BootNetwork](ctx, g.kube, or(n.NetworkRef.Namespace, e.Namespace), n.NetworkRef.Name); err != nil {
		return in, err
	}
	in.addresses = make([]*v1alpha1.NetBoxIPAddress, len(n.Addresses))
	for i, a := range n.Addresses {
		if a.Ref == nil {
			continue
		}
		if in.addresses[i], err = get[v1alpha1.NetBoxIPAddress](ctx, g.kube, e.Namespace, a.Ref.Name); err != nil {
			return in, err
		}
	}
	err = g.gatherData(ctx, e, &in)
	return in, err
}

func (g gatherer) gatherMachine(ctx context.Context, e *v1alpha1.BootEntry, in *inputs) (err error) {
	r := e.Spec.ForProvider.Machine.HostClaimRef
	if r == nil {
		return nil
	}
	if in.claim, err = get[v1alpha1.HostClaim](ctx, g.kube, e.Namespace, r.Name); err != nil || in.claim == nil {
		return err
	}
	if b := in.claim.Spec.Bound; b != nil {
		in.host, err = get[v1alpha1.RedfishHost](ctx, g.kube, b.Namespace, b.Name)
	}
	return err
}

func (g gatherer) gatherData(ctx context.Context, e *v1alpha1.BootEntry, in *inputs) (err error) {
	for _, r := range bootspec.DataRefs(e) {
		if _, read := in.secrets[r.Name]; read {
			continue // Parts of one Secret are of one moment.
		}
		s, err := get[corev1.Secret](ctx, g.kube, e.Namespace, r.Name)
		if err != nil {
			return err
		}
		if in.secrets == nil {
			in.secrets = map[string]*corev1.Secret{}
		}
		in.secrets[r.Name] = s
	}
	if in.copied, err = get[corev1.Secret](ctx, g.kube, g.bootNamespace, bootspec.DataName(e)); err != nil {
		return err
	}
	servers := &v1alpha1.BootServerList{}
	if err := g.kube.List(ctx, servers, client.InNamespace(g.bootNamespace)); err != nil {
		return errors.Wrap(err, "cannot list BootServers")
	}
	in.servers = servers.Items
	all := &v1alpha1.BootEntryList{}
	if err := g.all.List(ctx, all, client.UnsafeDisableDeepCopy); err != nil {
		return errors.Wrap(err, "cannot list BootEntries")
	}
	in.others = all.Items // A thousand of them aren't copied once more to leave one out.
	if i := indexOf(all.Items, e.UID); i >= 0 {
		last := len(all.Items) - 1
		all.Items[i] = all.Items[last]
		in.others = all.Items[:last]
	}
	if !ownHost(*in) {
		return nil
	}
	hosts := &v1alpha1.RedfishHostList{}
	if err := g.all.List(ctx, hosts, client.UnsafeDisableDeepCopy); err != nil {
		return errors.Wrap(err, "cannot list RedfishHosts")
	}
	in.hosts = hosts.Items
	return nil
}

// indexOf the entry with a UID; -1 where there's none.
func indexOf(all []v1alpha1.BootEntry, uid types.UID) int {
	for i := range all {
		if all[i].UID == uid {
			return i
		}
	}
	return -1
}

// get reads one object; absent is nil, and only that.
func get[T any, P interface {
	*T
	client.Object
}](ctx context.Context, kube client.Reader, namespace, name string) (P, error) {
	o := P(new(T))
	err := kube.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, o)
	if kerrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // Absent is an answer here, not an error.
	}
	return o, errors.Wrapf(err, "cannot get %T %q", o, namespace+"/"+name)
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
