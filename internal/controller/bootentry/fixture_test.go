package bootentry

import (
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// world is an entry of a bound machine that is off and new: everything that a plan needs is there.
func world(change ...func(*inputs)) inputs {
	in := inputs{
		entry: &v1alpha1.BootEntry{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "web-1", UID: "entry", CreationTimestamp: metav1.NewTime(noon)},
			Spec: v1alpha1.BootEntrySpec{ForProvider: v1alpha1.BootEntryParameters{
				Machine:    v1alpha1.MachineSelector{HostClaimRef: &v1alpha1.LocalReference{Name: "web-1"}},
				ProfileRef: v1alpha1.NamespacedReference{Namespace: "infra", Name: "debian-12"},
				Networks: []v1alpha1.EntryNetwork{{
					Name: "boot", NetworkRef: v1alpha1.NamespacedReference{Namespace: "infra", Name: "rack-7"},
					Addresses: []v1alpha1.EntryAddress{{Ref: &v1alpha1.LocalReference{Name: "web-1-boot-ipv4"}}},
				}},
				Hostname: "web-1",
				Install:  v1alpha1.EntryInstall{Generation: 1},
			}},
		},
		session: &v1alpha1.BootSession{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "team-a", Name: "web-1", UID: "session", ResourceVersion: "100",
				OwnerReferences: []metav1.OwnerReference{{Kind: v1alpha1.BootEntryKind, Name: "web-1", UID: "entry"}},
			},
			Spec: v1alpha1.BootSessionSpec{EntryUID: "entry", Network: "infra/rack-7"},
		},
		claim: &v1alpha1.HostClaim{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "web-1", UID: "claim"},
			Spec:       v1alpha1.HostClaimSpec{Bound: &v1alpha1.Binding{Namespace: "infra", Name: "r7-u12", UID: "host"}},
		},
		host: &v1alpha1.RedfishHost{
			ObjectMeta: metav1.ObjectMeta{Namespace: "infra", Name: "r7-u12", UID: "host"},
			Spec: v1alpha1.RedfishHostSpec{
				ClaimRef:    &v1alpha1.ClaimReference{Namespace: "team-a", Name: "web-1", UID: "claim"},
				ForProvider: v1alpha1.RedfishHostParameters{MACs: []string{"52:54:00:00:00:01"}, CommandLine: []string{"console=ttyS1"}},
			},
			Status: v1alpha1.RedfishHostStatus{AtProvider: v1alpha1.RedfishHostObservation{
				Identity: v1alpha1.HostIdentity{Serial: "ABC123", UUID: "u"}, Power: v1alpha1.PoweredOff,
			}},
		},
		addresses: []*v1alpha1.NetBoxIPAddress{{Status: v1alpha1.NetBoxIPAddressStatus{
			AtProvider: v1alpha1.NetBoxIPAddressObservation{Address: "10.77.0.11/24"},
		}}},
		profile: &v1alpha1.BootProfile{
			ObjectMeta: metav1.ObjectMeta{Namespace: "infra", Name: "debian-12"},
			Spec: v1alpha1.BootProfileSpec{
				AllowedNamespaces: &v1alpha1.AllowedNamespaces{From: v1alpha1.AllowedFromAll},
				Mode:              v1alpha1.BootModeInstall, Method: v1alpha1.BootMethodDiskImage,
				Artifacts: []v1alpha1.ProfileArtifacts{{
					Arch:   v1alpha1.AMD64,
					Kernel: &v1alpha1.Artifact{URL: "http://x/k", Digest: "sha256:k"}, Initrds: []v1alpha1.Artifact{{URL: "http://x/i", Digest: "sha256:i"}},
					Image: &v1alpha1.ImageArtifact{Artifact: v1alpha1.Artifact{URL: "http://x/d", Digest: "sha256:d"}, Format: "Raw", Compression: "Zstd"},
				}},
			},
		},
		network: &v1alpha1.BootNetwork{
			ObjectMeta: metav1.ObjectMeta{Namespace: "infra", Name: "rack-7"},
			Spec: v1alpha1.BootNetworkSpec{
				AllowedNamespaces: &v1alpha1.AllowedNamespaces{From: v1alpha1.AllowedFromNames, Names: []string{"team-a"}},
				Subnets:           []v1alpha1.Subnet{{CIDR: "10.77.0.0/24", Gateway: "10.77.0.1", DNS: []string{"10.77.0.2"}}},
			},
		},
		servers: []v1alpha1.BootServer{{Status: v1alpha1.BootServerStatus{
			LastSeen: &metav1.MicroTime{Time: noon.Add(-time.Second)}, SyncedRevision: "120",
			Networks: []v1alpha1.BootServerNetwork{{Namespace: "infra", Name: "rack-7"}},
		}}},
	}
	synced := xpv2.ReconcileSuccess()
	synced.ObservedGeneration = 3
	in.host.Generation = 3
	in.host.SetConditions(synced, v1alpha1.NewCondition(v1alpha1.ConditionReachable, true, v1alpha1.ReasonAvailable, ""))
	for _, c := range change {
		c(&in)
	}
	return in
}

func note(o metav1.Object, key string, r any) {
	as := o.GetAnnotations()
	if as == nil {
		as = map[string]string{}
	}
	as[key] = encode(r)
	o.SetAnnotations(as)
}

func plan() boot.Plan {
	p, prob := resolve(world())
	if prob != nil {
		panic(prob.message)
	}
	return *p
}

// granted is a machine whose first generation was granted, by records and session.
func granted(in *inputs) {
	r := v1alpha1.GrantRecord{EntryUID: "entry", HostUID: "host", Generation: 1, GrantID: "g", SessionUID: "session", State: v1alpha1.GrantIssued, Revision: "110"}
	note(in.entry, v1alpha1.AnnotationGranted, r)
	note(in.host, v1alpha1.AnnotationGranted, r)
	p := plan()
	in.session.Spec.Grant = &v1alpha1.Grant{
		ID: "g", HostUID: "host", EntryUID: "entry", Generation: 1, PlanDigest: p.Digest(), Expires: metav1.NewTime(noon.Add(time.Hour)),
	}
}

func consumed(in *inputs) {
	in.session.Status.Consumed = &v1alpha1.Consumption{GrantID: "g", HostUID: "host", EntryUID: "entry", Generation: 1, Nonce: "n"}
}

func installed(in *inputs) {
	p := plan()
	r := v1alpha1.InstalledRecord{EntryUID: "entry", HostUID: "host", Generation: 1, PlanDigest: p.Digest(), Serial: "ABC123", At: noon.Format(time.RFC3339)}
	note(in.entry, v1alpha1.AnnotationInstalled, r)
	note(in.host, v1alpha1.AnnotationInstalled, r)
	in.session.Status.Installed = &v1alpha1.BootResult{GrantID: "g", Generation: 1, PlanDigest: p.Digest()}
	in.session.Spec.Grant = nil
}

func poweredOn(in *inputs) { in.host.Status.AtProvider.Power = v1alpha1.PoweredOn }

func withUserData(in *inputs) {
	in.entry.Spec.ForProvider.UserDataSecretRef = &v1alpha1.LocalKeyReference{Name: "web-1", Key: "userData"}
	in.secrets = map[string]*corev1.Secret{"web-1": {Data: map[string][]byte{"userData": []byte("#cloud-config\n")}}}
}

func confirmed(serial string) func(*inputs) {
	return func(in *inputs) { in.entry.Spec.ForProvider.Confirm = &v1alpha1.Confirmation{Serial: serial} }
}

func askedWhyOn(seen string) func(*inputs) {
	return func(in *inputs) {
		note(in.entry, v1alpha1.AnnotationQuestion, v1alpha1.QuestionRecord{OwnerUID: "entry", Generation: 1, Reason: boot.IssueHostOn, Seen: seen})
	}
}

func conditionOf(cs []xpv2.Condition, t xpv2.ConditionType) xpv2.Condition {
	for _, c := range cs {
		if c.Type == t {
			return c
		}
	}
	return xpv2.Condition{}
}

func typeOf(s string) xpv2.ConditionType { return xpv2.ConditionType(s) }

func withKeys(in *inputs) {
	in.entry.Spec.ForProvider.SSHAuthorizedKeys = []string{"ssh-ed25519 AAAA"}
}
