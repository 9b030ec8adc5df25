package hostclaim

import (
	"slices"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// run decides the boot of a bound machine: plan and address first, then grant, then a boot server that
// has seen the grant, then boot-once and power.
func run(in inputs) verdict {
	if in.host.DeletionTimestamp != nil {
		return at(v1alpha1.ClaimReleasing, v1alpha1.ReasonReleasing, "host %s is being removed by its operator, and is powered off for it; delete the claim to let it go", in.host.Name)
	}
	if in.entry == nil {
		return powerOnly(in)
	}
	e := in.entry
	if e.DeletionTimestamp != nil {
		return at(v1alpha1.ClaimReleasing, v1alpha1.ReasonReleasing, "BootEntry %q is being deleted, and goes with its claim: the machine is left as it is until the claim is deleted too", e.Name)
	}
	plan := e.Status.AtProvider.Plan
	if plan == nil || plan.HostUID != string(in.host.UID) || plan.EntryUID != string(e.UID) {
		c := e.GetCondition(v1alpha1.ConditionPlanned)
		if c.Status == corev1.ConditionFalse {
			return at(v1alpha1.ClaimPreparing, c.Reason, "%s", c.Message)
		}
		return at(v1alpha1.ClaimPreparing, v1alpha1.ReasonWaitingForBootEntry, "BootEntry %q has no plan yet", e.Name)
	}
	if in.claim.Spec.Power == v1alpha1.PoweredOff {
		return stop(in)
	}
	if plan.Mode == v1alpha1.BootModeLive {
		return live(in)
	}
	generation := e.Spec.ForProvider.Install.Generation
	if generation == 0 || e.Status.AtProvider.InstalledGeneration >= generation {
		return settled(in, generation)
	}
	return install(in, generation)
}

// powerOnly is a claim without a BootEntry: a machine with a power switch.
func powerOnly(in inputs) verdict {
	if in.claim.Spec.Power == v1alpha1.PoweredOff {
		return stop(in)
	}
	return on(in, at(v1alpha1.ClaimReady, v1alpha1.ReasonAvailable, "host %s is on", in.host.Name))
}

func stop(in inputs) verdict {
	if in.seenOff() {
		return at(v1alpha1.ClaimStopped, v1alpha1.ReasonStopped, "host %s is off, as asked; its addresses stay", in.host.Name)
	}
	v := at(v1alpha1.ClaimPreparing, v1alpha1.ReasonWaitingForPowerOff, "waiting for host %s to be off%s", in.host.Name, troubleOf(in.host))
	return apply(in, v, wish{v1alpha1.PoweredOff, currentOnce(in)})
}

// on wants the machine on, without a network boot.
func on(in inputs, done verdict) verdict {
	w := wish{v1alpha1.PoweredOn, currentOnce(in)}
	if v := apply(in, at(v1alpha1.ClaimPoweringOn, v1alpha1.ReasonWaitingForPowerOn, "host %s is being powered on", in.host.Name), w); v.act != actNone {
		return v
	}
	if in.power() != v1alpha1.PoweredOn {
		return at(v1alpha1.ClaimPoweringOn, v1alpha1.ReasonWaitingForPowerOn, "waiting for host %s to be on%s", in.host.Name, troubleOf(in.host))
	}
	return done
}

// settled is a machine that has what was asked for, or boots from its disk as it is.
func settled(in inputs, generation int64) verdict {
	if generation == 0 {
		c := in.entry.GetCondition(v1alpha1.ConditionServed)
		if c.Status != corev1.ConditionTrue {
			return at(v1alpha1.ClaimPreparing, v1alpha1.ReasonWaitingForBootServer, "%s", c.Message)
		}
		return on(in, at(v1alpha1.ClaimReady, v1alpha1.ReasonAvailable, "host %s is on and boots from its disk", in.host.Name))
	}
	if awaitsDiskBoot(in) {
		return on(in, at(v1alpha1.ClaimInstalled, v1alpha1.ReasonWaitingForDiskBoot, "generation %d is installed; waiting for host %s to boot from its disk%s", generation, in.host.Name, unseen(in)))
	}
	return on(in, at(v1alpha1.ClaimReady, v1alpha1.ReasonAvailable, "generation %d is installed and runs on host %s", generation, in.host.Name))
}

// unseen says what must tell of a boot from disk that no request for an address does: that of a system which has its address from elsewhere, or asks
// by DHCPv6, as its firmware does.
func unseen(in inputs) string {
	n := in.entry.Status.AtProvider.Plan.Network
	switch i := n.Interface; {
	case strings.Contains(n.Address, ":"):
		return ", which over IPv6 its system must say itself, by reporting booted"
	case i != nil && i.Addressing != v1alpha1.AddressingDHCP:
		return ", which a system with a static address must say itself, by reporting booted"
	}
	return ""
}

// awaitsDiskBoot says whether an install that the boot plane saw end is still to be seen booting. One that is known by its record
// alone, since the session or its status was lost, restored or adopted, was seen when it was recorded, and isn't doubted.
func awaitsDiskBoot(in inputs) bool {
	t := in.entry.Status.AtProvider.Timeline
	return t.Installed != nil && t.BootedFromDisk == nil
}

// live netboots the machine each time we power it on.
func live(in inputs) verdict {
	if c := in.entry.GetCondition(v1alpha1.ConditionServed); c.Status != corev1.ConditionTrue {
		return at(v1alpha1.ClaimPreparing, v1alpha1.ReasonWaitingForBootServer, "%s", c.Message)
	}
	done := at(v1alpha1.ClaimReady, v1alpha1.ReasonAvailable, "host %s is on and boots from the network", in.host.Name)
	if in.power() != v1alpha1.PoweredOff || in.host.Spec.ForProvider.Power == v1alpha1.PoweredOn {
		return on(in, done)
	}
	return apply(in, at(v1alpha1.ClaimPoweringOn, v1alpha1.ReasonWaitingForPowerOn, "host %s is being powered on", in.host.Name),
		wish{v1alpha1.PoweredOn, nextOnce(in)})
}

// install boots the machine into its installer once for a generation.
func install(in inputs, generation int64) verdict {
	if v := granted(in, generation); v.phase != "" {
		return v
	}
	e := in.entry
	r := v1alpha1.ReadRecord[v1alpha1.BootRecord](in.claim.Annotations, v1alpha1.AnnotationBoot)
	if r != nil && r.EntryUID == string(e.UID) && r.HostUID == string(in.host.UID) && r.Generation == generation && !stoppedBefore(in, *r) {
		return apply(in, progress(in, generation), wish{v1alpha1.PoweredOn, r.Once})
	}
	if in.consumed() {
		return progress(in, generation) // Its install has begun, whoever powered it on: it isn't reset.
	}
	if in.off() {
		v := at(v1alpha1.ClaimPoweringOn, v1alpha1.ReasonWaitingForPowerOn, "host %s will be powered on to install generation %d", in.host.Name, generation)
		v.boot = &v1alpha1.BootRecord{EntryUID: string(e.UID), HostUID: string(in.host.UID), Generation: generation, Once: nextOnce(in)}
		return v.then(actRecordBoot)
	}
	return switchOff(in, generation)
}

// stoppedBefore says whether a machine was started for its install, and stopped by its claim before the install began: its network
// boot may be used up, and starts anew with its power.
func stoppedBefore(in inputs, r v1alpha1.BootRecord) bool {
	return in.seenOff() && currentOnce(in) >= r.Once && !in.consumed()
}

// granted says, by an empty verdict, whether the generation is granted and a boot server has seen it.
func granted(in inputs, generation int64) verdict {
	e := in.entry
	if c := e.GetCondition(xpv2.TypeReady); c.Reason == v1alpha1.ReasonNeedsConfirmation {
		return at(v1alpha1.ClaimNeedsConfirmation, c.Reason, "%s", c.Message)
	}
	installed := e.GetCondition(v1alpha1.ConditionInstalled)
	if ended(installed.Reason) {
		return at(v1alpha1.ClaimFailed, installed.Reason, "%s", installed.Message)
	}
	g, plan := e.Status.AtProvider.Grant, e.Status.AtProvider.Plan
	if g != nil && e.Status.AtProvider.GrantConsumed && g.Generation == generation {
		return verdict{}
	}
	if c := e.GetCondition(v1alpha1.ConditionPlanned); c.Status == corev1.ConditionFalse {
		return at(v1alpha1.ClaimPreparing, c.Reason, "%s", c.Message)
	}
	if installed.Reason == v1alpha1.ReasonWaitingForHost {
		return at(v1alpha1.ClaimPreparing, hostReason(in.host), "%s%s", installed.Message, troubleOf(in.host))
	}
	if installed.Reason == v1alpha1.ReasonWaitingForPowerOff {
		return offFirst(in, generation)
	}
	if g == nil || g.Generation != generation || g.HostUID != string(in.host.UID) || g.PlanDigest != plan.Digest {
		return at(v1alpha1.ClaimPreparing, v1alpha1.ReasonWaitingForBootEntry, "generation %d isn't granted yet", generation)
	}
	if c := e.GetCondition(v1alpha1.ConditionServed); c.Status != corev1.ConditionTrue {
		return at(v1alpha1.ClaimPreparing, v1alpha1.ReasonWaitingForBootServer, "%s", c.Message)
	}
	return verdict{}
}

// offFirst switches a machine off that is to be granted an install once it's off. The entry says that it waits for that, and the live
// objects must agree: the grant is decided, and there's none that the machine could use, or be using, meanwhile.
func offFirst(in inputs, generation int64) verdict {
	waiting := at(v1alpha1.ClaimPreparing, v1alpha1.ReasonWaitingForBootEntry, "generation %d isn't granted yet%s", generation, troubleOf(in.host))
	if c := in.entry.GetCondition(v1alpha1.ConditionServed); c.Status != corev1.ConditionTrue {
		return at(v1alpha1.ClaimPreparing, v1alpha1.ReasonWaitingForBootServer, "%s", c.Message)
	}
	if !in.undecided(generation) || in.off() {
		return waiting
	}
	return switchOff(in, generation)
}

func switchOff(in inputs, generation int64) verdict {
	if in.power() == "" {
		return at(v1alpha1.ClaimPreparing, hostReason(in.host), "the power of host %s isn't known%s", in.host.Name, troubleOf(in.host))
	}
	v := at(v1alpha1.ClaimPreparing, v1alpha1.ReasonWaitingForPowerOff, "host %s is powered off first, to install generation %d%s", in.host.Name, generation, troubleOf(in.host))
	return apply(in, v, wish{v1alpha1.PoweredOff, currentOnce(in)})
}

// undecided says whether a grant of this generation was recorded and not given yet, and no other can be used.
func (in inputs) undecided(generation int64) bool {
	s := in.ownSession()
	if s == nil || s.Spec.Grant != nil || s.Spec.Revocation != nil {
		return false
	}
	for _, o := range []client.Object{in.entry, in.host} {
		r := v1alpha1.ReadRecord[v1alpha1.GrantRecord](o.GetAnnotations(), v1alpha1.AnnotationGranted)
		if r == nil || r.EntryUID != string(in.entry.UID) || r.HostUID != string(in.host.UID) || r.Generation != generation || r.State == v1alpha1.GrantIssued {
			return false
		}
	}
	c := s.Status.Consumed
	return c == nil || c.EntryUID != string(in.entry.UID) || c.Generation < generation
}

// ended says whether an install ended without a system, and waits for a person.
func ended(r xpv2.ConditionReason) bool {
	return slices.Contains([]xpv2.ConditionReason{
		v1alpha1.ReasonGrantExpired, v1alpha1.ReasonBootLoop, v1alpha1.ReasonInstallFailed, v1alpha1.ReasonInterrupted, v1alpha1.ReasonDigestMismatch,
	}, r)
}

// progress says where a started install is, by what bootd saw of it.
func progress(in inputs, generation int64) verdict {
	h, net := in.host, in.entry.Status.AtProvider.Plan.Network.Name
	if in.power() != v1alpha1.PoweredOn {
		return at(v1alpha1.ClaimPoweringOn, v1alpha1.ReasonWaitingForPowerOn, "waiting for host %s to be on%s", h.Name, troubleOf(h))
	}
	switch in.entry.Status.AtProvider.Stage {
	case v1alpha1.StageDHCP, v1alpha1.StageFirmware:
		return at(v1alpha1.ClaimBooting, v1alpha1.ReasonWaitingForScript, "host %s has its address; waiting for it to ask for its boot script", h.Name)
	case v1alpha1.StageScript, v1alpha1.StageKernel:
		if c := in.entry.GetCondition(v1alpha1.ConditionInstalled); c.Reason == v1alpha1.ReasonArtifactUnavailable || c.Reason == v1alpha1.ReasonArtifactNotAllowed {
			return at(v1alpha1.ClaimBooting, c.Reason, "%s", c.Message) // It goes on by itself once its files are to be had.
		}
		return at(v1alpha1.ClaimBooting, v1alpha1.ReasonWaitingForInstaller, "host %s loads its installer", h.Name)
	case v1alpha1.StageInstalling, v1alpha1.StageInstalled:
		if c := in.entry.GetCondition(v1alpha1.ConditionInstalled); c.Reason == v1alpha1.ReasonInstallOverdue {
			return at(v1alpha1.ClaimInstalling, c.Reason, "%s", c.Message)
		}
		return at(v1alpha1.ClaimInstalling, v1alpha1.ReasonWaitingForInstall, "generation %d is being installed on host %s", generation, h.Name)
	case v1alpha1.StageWaiting, v1alpha1.StageBootedFromDisk, v1alpha1.StageFailed:
	}
	since := ""
	if t := h.Status.AtProvider.PoweredOnAt; t != nil {
		since = " at " + t.UTC().Format("15:04:05")
	}
	return at(v1alpha1.ClaimBooting, v1alpha1.ReasonWaitingForDHCP, "host %s was powered on%s; waiting for its first DHCP request on %s", h.Name, since, net)
}

// apply asks for a wish, if the host doesn't hold it yet.
func apply(in inputs, v verdict, w wish) verdict {
	v.wish = w
	p := in.host.Spec.ForProvider
	once := int64(0)
	if p.Boot != nil && p.Boot.Once != nil {
		once = p.Boot.Once.Generation
	}
	if p.Power == w.power && once == w.once {
		return v
	}
	return v.then(actApply)
}

func currentOnce(in inputs) int64 {
	if b := in.host.Spec.ForProvider.Boot; b != nil && b.Once != nil {
		return b.Once.Generation
	}
	return 0
}

// nextOnce is above every network boot that the host was ever asked for, whoever asked.
func nextOnce(in inputs) int64 {
	return max(currentOnce(in), in.host.Status.AtProvider.Boot.OnceGeneration) + 1
}
