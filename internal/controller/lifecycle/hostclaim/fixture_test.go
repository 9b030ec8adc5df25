package hostclaim

import (
	"encoding/json"
	"errors"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// world is a bound machine whose first generation is granted and served, before it's powered on.
func world(change ...func(*inputs)) inputs {
	in := inputs{
		now: noon,
		claim: &v1alpha1.HostClaim{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "web-1", UID: "claim", Finalizers: []string{v1alpha1.FinalizerRelease}},
			Spec: v1alpha1.HostClaimSpec{
				HostRef:      &v1alpha1.HostReference{Namespace: "infra", Name: "r7-u12"},
				BootEntryRef: &v1alpha1.LocalReference{Name: "web-1"},
				Power:        v1alpha1.PoweredOn,
				Bound:        &v1alpha1.Binding{Kind: v1alpha1.RedfishHostKind, Namespace: "infra", Name: "r7-u12", UID: "host", Serial: "ABC123"},
			},
		},
		host:    host(),
		entry:   entry(),
		session: &v1alpha1.BootSession{Spec: v1alpha1.BootSessionSpec{EntryUID: "entry", Network: "infra/rack-7"}},
		addresses: []v1alpha1.NetBoxIPAddress{{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "web-1-boot-ipv4", Finalizers: []string{v1alpha1.FinalizerHeldByClaim}},
		}},
		servers: []v1alpha1.BootServer{{Status: v1alpha1.BootServerStatus{
			LastSeen: &metav1.MicroTime{Time: noon.Add(-time.Second)},
			Networks: []v1alpha1.BootServerNetwork{{Namespace: "infra", Name: "rack-7"}},
		}}},
	}
	for _, c := range change {
		c(&in)
	}
	return in
}

func host() *v1alpha1.RedfishHost {
	h := &v1alpha1.RedfishHost{
		ObjectMeta: metav1.ObjectMeta{Namespace: "infra", Name: "r7-u12", UID: "host", Generation: 3},
		Spec: v1alpha1.RedfishHostSpec{
			ClaimRef:          &v1alpha1.ClaimReference{Namespace: "team-a", Name: "web-1", UID: "claim"},
			AllowedNamespaces: &v1alpha1.AllowedNamespaces{From: v1alpha1.AllowedFromNames, Names: []string{"team-a"}},
			ForProvider:       v1alpha1.RedfishHostParameters{Power: v1alpha1.Unmanaged},
		},
	}
	h.Status.AtProvider.Identity = v1alpha1.HostIdentity{SystemURI: "/redfish/v1/Systems/1", Serial: "ABC123"}
	h.Status.AtProvider.Power = v1alpha1.PoweredOff
	synced := xpv2.ReconcileSuccess()
	synced.ObservedGeneration = 3
	h.SetConditions(xpv2.Available(), synced, v1alpha1.NewCondition(v1alpha1.ConditionReachable, true, v1alpha1.ReasonAvailable, ""))
	return h
}

func entry() *v1alpha1.BootEntry {
	e := &v1alpha1.BootEntry{ObjectMeta: metav1.ObjectMeta{
		Namespace: "team-a", Name: "web-1", UID: "entry", Finalizers: []string{v1alpha1.FinalizerHeldByClaim},
	}}
	e.Spec.ForProvider.Install.Generation = 1
	e.Spec.ForProvider.Networks = []v1alpha1.EntryNetwork{{Name: "boot", Addresses: []v1alpha1.EntryAddress{{Ref: &v1alpha1.LocalReference{Name: "web-1-boot-ipv4"}}}}}
	e.Status.AtProvider = v1alpha1.BootEntryObservation{
		Plan:  &v1alpha1.Plan{Digest: "sha256:p", HostUID: "host", EntryUID: "entry", Mode: v1alpha1.BootModeInstall, Network: v1alpha1.PlanNetwork{Name: "rack-7"}},
		Grant: &v1alpha1.Grant{ID: "g", HostUID: "host", EntryUID: "entry", Generation: 1, PlanDigest: "sha256:p"},
		Stage: v1alpha1.StageWaiting,
	}
	e.SetConditions(xpv2.Available(),
		v1alpha1.NewCondition(v1alpha1.ConditionPlanned, true, v1alpha1.ReasonAvailable, ""),
		v1alpha1.NewCondition(v1alpha1.ConditionServed, true, v1alpha1.ReasonAvailable, ""),
		v1alpha1.NewCondition(v1alpha1.ConditionInstalled, false, v1alpha1.ReasonWaitingForDHCP, ""))
	return e
}

func note(o metav1.Object, key string, r any) {
	b, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	as := o.GetAnnotations()
	if as == nil {
		as = map[string]string{}
	}
	as[key] = string(b)
	o.SetAnnotations(as)
}

// applied is a host to which the controller applied a power and a network boot.
func applied(p v1alpha1.PowerState, once int64) func(*inputs) {
	return func(in *inputs) {
		in.host.Spec.ForProvider.Power = p
		if once > 0 {
			in.host.Spec.ForProvider.Boot = &v1alpha1.HostBoot{Once: &v1alpha1.BootOnce{Target: v1alpha1.BootTargetPxe, Generation: once}}
		}
	}
}

func power(p v1alpha1.PowerState) func(*inputs) {
	return func(in *inputs) { in.host.Status.AtProvider.Power = p }
}

// started is a claim that has set its host to boot for its first generation.
func started(in *inputs) {
	note(in.claim, v1alpha1.AnnotationBoot, v1alpha1.BootRecord{EntryUID: "entry", HostUID: "host", Generation: 1, Once: 1})
}

func stage(s v1alpha1.BootStage) func(*inputs) {
	return func(in *inputs) { in.entry.Status.AtProvider.Stage = s }
}

func installed(in *inputs) {
	in.entry.Status.AtProvider.InstalledGeneration = 1
	in.entry.Status.AtProvider.Timeline.Installed = &metav1.MicroTime{Time: noon.Add(-time.Second)}
}

// recorded is an install that only the entry's own record knows: the session's status was lost.
func recorded(in *inputs) { in.entry.Status.AtProvider.InstalledGeneration = 1 }

func bootedFromDisk(in *inputs) {
	in.entry.Status.AtProvider.Timeline.BootedFromDisk = &metav1.MicroTime{Time: noon}
}

func deleted(in *inputs) { in.claim.DeletionTimestamp = &metav1.Time{Time: noon} }

func revoked(acknowledged bool) func(*inputs) {
	return func(in *inputs) {
		in.session.Spec.Revocation = &v1alpha1.Revocation{ID: "r"}
		if acknowledged {
			in.session.Status.AcknowledgedRevocation = "r"
		}
	}
}

func bmcDead(in *inputs) {
	in.host.SetConditions(xpv2.Condition{Type: v1alpha1.ConditionReachable, Status: corev1.ConditionFalse, Reason: v1alpha1.ReasonUnreachable})
}

func kindGoes(in *inputs) { in.kindGoes = errors.New("the kind is being deleted") }

func forced(in *inputs) {
	in.claim.Annotations = map[string]string{v1alpha1.AnnotationForceRelease: "burnt"}
}
