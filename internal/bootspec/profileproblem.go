package bootspec

import (
	"regexp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// ProfileProblem says what is wrong with a profile whichever machine boots it, as far as admission can't: that parameters' patterns are RE2, that defaults
// match them, and that templates can be read; nil: nothing.
func ProfileProblem(p *v1alpha1.BootProfile) *boot.Problem {
	for _, x := range p.Spec.Parameters {
		re, err := regexp.Compile(`^(?:` + x.Pattern + `)$`)
		if err != nil {
			return no(v1alpha1.ReasonInvalid, "pattern %q of parameter %q isn't RE2: correct it", x.Pattern, x.Name)
		}
		if x.Default != nil && !re.MatchString(*x.Default) {
			return no(v1alpha1.ReasonInvalid, "default %q of parameter %q doesn't match its pattern %q: change one of them", *x.Default, x.Name, x.Pattern)
		}
	}
	if wrong := boot.CheckTemplates(Profile(p)); wrong != "" {
		return no(v1alpha1.ReasonInvalid, "%s; correct it", wrong)
	}
	return nil
}
