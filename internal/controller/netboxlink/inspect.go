package netboxlink

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
)

const (
	// patience is how long a look at a NetBox may take.
	patience = 20 * time.Second
	// Tolerable is by how much its clock may differ: as much as Kerberos and most tokens bear.
	Tolerable = 5 * time.Minute
)

// Inspect looks at the NetBox of a provider config, and words what it found. It changes nothing there.
func (l *Links) Inspect(ctx context.Context, n config.NetBox) config.Finding {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c, err := l.Borrow(n.Identity, Settings(n, l.cluster))
	if err != nil {
		return failed(n, netbox.Inspection{}, err)
	}
	i, err := c.Inspect(ctx)
	if err != nil {
		return failed(n, i, err)
	}
	return found(n, i)
}

// failed is a look that came to an error.
func failed(n config.NetBox, i netbox.Inspection, err error) config.Finding {
	f := config.Finding{Facts: facts(i), Clock: clock(n, i.Skew)}
	f.Reason, f.Message = Trouble(err, n.String(), FieldOf(n.Config), NoteFieldOf(n.Config))
	if f.Reason == "" {
		f.Reason, f.Message = v1alpha1.ReasonInvalid, fmt.Sprintf("%s can't be used: %v", n, err)
	}
	if e, ok := errors.AsType[*netbox.Error](err); ok && e.Kind == netbox.KindMarkerField {
		f.Facts.MarkerField = v1alpha1.MarkerFieldUnfit
	}
	return f
}

// found is a look that saw all there is to see.
func found(n config.NetBox, i netbox.Inspection) config.Finding {
	f := config.Finding{Facts: facts(i), Clock: clock(n, i.Skew)}
	field := FieldOf(n.Config)
	if len(i.Lacks) > 0 {
		f.Reason = v1alpha1.ReasonForbidden
		f.Message = fmt.Sprintf("the token of %s is valid but %s: grant it that in NetBox, or put another one into the Secret", n, lacks(i))
		if i.Token == netbox.TokenReadOnly {
			f.Message += "; for import alone set spec.netbox.access: ReadOnly"
		}
		return f
	}
	said := remarks(i, field)
	if n.Config.Access == v1alpha1.NetBoxReadOnly {
		said = []string{"addresses are looked at alone (access: ReadOnly): nothing is written to NetBox"}
	}
	if t := n.Config.TLS; t != nil && t.Verify == v1alpha1.TLSVerifyNone {
		said = append(said, "its certificate isn't verified (tls.verify: None): whoever answers there is believed, and gets the token")
	}
	f.Message = strings.Join(said, "; ")
	return f
}

// lacks says what a token may not.
func lacks(i netbox.Inspection) string {
	words := make([]string, 0, len(i.Lacks))
	for _, r := range i.Lacks {
		words = append(words, r.String())
	}
	s := "lacks permission " + strings.Join(words, ", and permission ")
	if i.Token == netbox.TokenReadOnly {
		return "is read-only, or " + s
	}
	return s
}

// remarks are what a config's owner may want to know of one that can be used.
func remarks(i netbox.Inspection, field string) []string {
	var out []string
	if i.Token == netbox.TokenUnproven {
		out = append(out, "whether the token may write is not known before it is tried")
	}
	for _, r := range i.Without {
		out = append(out, fmt.Sprintf("the token lacks permission %s, so that addresses can't come from there", r))
	}
	switch i.Field {
	case netbox.FieldMissing:
		words := fmt.Sprintf("custom field %q is created with the first address", field)
		if i.Creatable != netbox.TokenWritable {
			words += ", if the token may; if it may not, " + netbox.FieldRecipe(field)
		}
		out = append(out, words)
	case netbox.FieldUnproven:
		out = append(out, fmt.Sprintf("that custom field %q is unique is not known, since the token lacks permission extras.view_customfield on extras.customfield, or has it with constraints that leave it out", field))
	case netbox.FieldReady:
	}
	return out
}

func facts(i netbox.Inspection) v1alpha1.NetBoxFacts {
	return v1alpha1.NetBoxFacts{
		Version: i.Version.String(), MarkerField: v1alpha1.MarkerFieldState(i.Field), Token: v1alpha1.NetBoxTokenState(i.Token),
	}
}

// clock says whether both clocks agree; nil where NetBox doesn't say what time it is. Certificates, expiring tokens and people who compare times
// depend on it, and the end of quarantines, which waits for both clocks.
func clock(n config.NetBox, s netbox.Skew) *xpv2.Condition {
	if !s.Known {
		return nil
	}
	if s.Ahead.Abs() <= Tolerable {
		c := v1alpha1.NewCondition(v1alpha1.ConditionClockSynced, true, v1alpha1.ReasonAvailable, "")
		return &c
	}
	// Whole minutes: what is written again and again must not change with each second.
	where := "ahead of"
	if s.Ahead < 0 {
		where = "behind"
	}
	c := v1alpha1.NewCondition(v1alpha1.ConditionClockSynced, false, v1alpha1.ReasonClockSkew, fmt.Sprintf(
		"the clock of the NetBox of %s, or of what stands in front of it, is about %d minutes %s ours: set the clock that is wrong; expiring tokens and certificates are judged by it",
		n, int(s.Ahead.Abs().Round(time.Minute).Minutes()), where))
	return &c
}
