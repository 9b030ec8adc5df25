package bootspec

import (
	"bytes"
	"encoding/json"

	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot/netconfig"
)

// CheckData says what is missing of what a machine is to be given, or wrong with it; nil: nothing. It never quotes it.
func CheckData(p Parts) *boot.Problem {
	f := v1alpha1.UserDataFormat(or(string(p.Profile.Spec.UserDataFormat), string(v1alpha1.UserDataNone)))
	profile := p.Profile.Namespace + "/" + p.Profile.Name
	if len(p.Entry.Spec.ForProvider.SSHAuthorizedKeys) > 0 && f != v1alpha1.UserDataCloudInit {
		// Said, not left out in silence: whoever gave keys would have a machine that nobody can log in to.
		return no(v1alpha1.ReasonInvalid, "sshAuthorizedKeys come to a machine by cloud-init, and BootProfile %q has userDataFormat %s; name a profile with CloudInit, or remove the keys",
			profile, f)
	}
	if p.Entry.Spec.ForProvider.UserDataSecretRef == nil && boot.AnsweredBy(string(f)) {
		return no(v1alpha1.ReasonInvalid, "BootProfile %q has userDataFormat %s, and its machine does nothing without any; set userDataSecretRef", profile, f)
	}
	size := 0
	for _, r := range DataRefs(p.Entry) {
		if r.As != KeyUserData && !noCloud(f) {
			return no(v1alpha1.ReasonInvalid, "%s is for cloud-init, and BootProfile %q has userDataFormat %s; name a profile with CloudInit or Autoinstall, or remove it",
				r.Field, profile, f)
		}
		b, prob := p.content(r)
		if prob != nil {
			return prob
		}
		if prob := checkContent(f, r, b); prob != nil {
			return prob
		}
		if prob := p.checkPlace(f, r, b); prob != nil {
			return prob
		}
		size += len(b)
	}
	if size > MaxUserData {
		return no(v1alpha1.ReasonInvalid, "the machine's user, network and vendor data hold %d bytes, and it's given %d at most; let it fetch what is large by its user data", size, MaxUserData)
	}
	return nil
}

// content of what an entry refers to, as its machine is given it.
func (p Parts) content(r DataRef) ([]byte, *boot.Problem) {
	s, ok := p.Secrets[r.Name]
	if !ok || s == nil {
		return nil, p.absent("Secret", p.Entry.Namespace+"/"+r.Name, r.Name, r.Field)
	}
	b, ok := s[r.Key]
	if !ok {
		return nil, no(v1alpha1.ReasonNotFound, "Secret %q has no key %q; add it, or name another in %s.key", r.Name, r.Key, r.Field)
	}
	if r.As == KeyNetworkConfig {
		return p.networkData(r, b)
	}
	return b, nil
}

// checkContent says what is wrong with data. What the machine's own system says of it only once it boots isn't repeated here, but
// for what is mistaken most often.
func checkContent(f v1alpha1.UserDataFormat, r DataRef, b []byte) *boot.Problem {
	switch {
	case r.As != KeyUserData:
		return nil
	case len(b) == 0 && boot.AnsweredBy(string(f)):
		return no(v1alpha1.ReasonInvalid, "key %q of Secret %q is empty, and a machine of userDataFormat %s does nothing without user data; fill it in", r.Key, r.Name, f)
	case f == v1alpha1.UserDataIgnition && !ignition(b):
		return no(v1alpha1.ReasonInvalid, "key %q of Secret %q isn't an Ignition config, a JSON object whose ignition.version is one of 2 or 3, such as 3.4.0; translate Butane's YAML by the program butane first", r.Key, r.Name)
	case f == v1alpha1.UserDataAutoinstall && !cloudConfig(b):
		return no(v1alpha1.ReasonInvalid, "key %q of Secret %q isn't a cloud-config, and a machine of userDataFormat Autoinstall reads nothing else; let it begin with the line #cloud-config", r.Key, r.Name)
	}
	return nil
}

// cloudConfig says whether cloud-init may find a cloud-config in something: as it is, in a message of several parts, behind a URL, or packed.
func cloudConfig(b []byte) bool {
	for _, mark := range []string{"#cloud-config", "text/cloud-config", "#include"} {
		if bytes.Contains(b, []byte(mark)) {
			return true
		}
	}
	return bytes.HasPrefix(b, []byte{0x1f, 0x8b}) // gzip
}

// checkPlace says that a Talos machine config leaves out the network that its machine is to have, since Talos asks for nothing else; or that user data
// has a place where nothing would stand.
func (p Parts) checkPlace(f v1alpha1.UserDataFormat, r DataRef, b []byte) *boot.Problem {
	ns := p.Entry.Spec.ForProvider.Networks
	if r.As != KeyUserData || len(ns) == 0 {
		return nil
	}
	if ns[0].Interface == nil {
		for _, place := range []string{netconfig.PlaceTalos, netconfig.PlaceNMState} {
			if netconfig.Says(b, place) {
				return no(v1alpha1.ReasonInvalid, "key %q of Secret %q says {{ .%s }}, and network %q has no interface, so that nothing would stand there; give it one, or remove the place",
					r.Key, r.Name, place, ns[0].Name)
			}
		}
		return nil
	}
	if f != v1alpha1.UserDataTalos || netconfig.Says(b, netconfig.PlaceTalos) {
		return nil
	}
	return no(v1alpha1.ReasonInvalid, "network %q has an interface, and key %q of Secret %q doesn't say where it belongs; write network: {{ .%s }} below machine, or remove the interface",
		ns[0].Name, r.Key, r.Name, netconfig.PlaceTalos)
}

// networkConfig says whether something is one of cloud-init's (https://cloudinit.readthedocs.io/en/latest/reference/network-config.html).
func networkConfig(b []byte) bool {
	type config struct {
		Version int `json:"version"`
	}
	var c struct {
		config

		Network config `json:"network"`
	}
	if yaml.Unmarshal(b, &c) != nil {
		return false
	}
	v := max(c.Version, c.Network.Version)
	return v == 1 || v == 2
}

// ignition says whether something is a config of a version that is in use (https://coreos.github.io/ignition/specs/).
func ignition(b []byte) bool {
	var c struct {
		Ignition struct {
			Version string `json:"version"`
		} `json:"ignition"`
	}
	return json.Unmarshal(b, &c) == nil && ignitionForm.MatchString(c.Ignition.Version)
}
