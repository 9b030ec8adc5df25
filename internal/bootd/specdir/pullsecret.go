package specdir

import (
	"fmt"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootspec"
)

// pullSecrets keeps the Secrets that profiles' files are fetched by under the names that plans have for them, and says which aren't there. A
// profile without its Secret is served all the same: its files may be here.
func (w *world) pullSecrets(p parts) {
	for name, profile := range p.profiles {
		ref := profile.Spec.PullSecretRef
		if ref == nil {
			continue
		}
		at := boot.Name{Namespace: profile.Namespace, Name: ref.Name}
		if prob := bootspec.CheckPullSecret(profile, p.kinds[at], p.secrets[at]); prob != nil {
			w.problems["BootProfile "+name.String()] = p.ofProfile(name, prob)
			continue
		}
		w.data[bootspec.PullSecretOf(profile)] = map[string][]byte{boot.KeyPullSecret: p.secrets[at][boot.KeyPullSecret]}
	}
}

// profiles says what is wrong with a profile whoever boots it: else nobody hears of it before an entry names it.
func (w *world) profiles(p parts) {
	for name, profile := range p.profiles {
		if prob := bootspec.ProfileProblem(profile); prob != nil {
			w.problems["BootProfile "+name.String()+" itself"] = p.ofProfile(name, prob)
		}
	}
}

// ofProfile is what is wrong with a profile, and where that stands.
func (p *parts) ofProfile(name boot.Name, prob *boot.Problem) string {
	key := "BootProfile " + name.String()
	return fmt.Sprintf("%s: %s: %s: %s", p.places[key], key, prob.Reason, prob.Message)
}
