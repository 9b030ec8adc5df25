package netbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// fieldsPath is where custom fields are listed and made.
const fieldsPath = "extras/custom-fields/"

// impossible is a value that no marker and no note has.
const impossible = "no/such/marker"

// A field is one of the custom fields on addresses that are ours.
type field struct {
	name string
	// unique says that NetBox must refuse a second record with the same value.
	unique bool
	// whose completes "the … custom field".
	whose, label, description string
	// kind of failure where it isn't what it must be.
	kind Kind
}

// markerField holds our marker.
func (c *Client) markerField() field {
	return field{
		name: c.field, unique: true, whose: "marker's", kind: KindMarkerField,
		label: "Crossplane claim", description: "Which Crossplane resource this address belongs to. Don't edit.",
	}
}

// releaseField holds a release note.
func (c *Client) releaseField() field {
	return field{
		name: c.note, whose: "release note's", kind: KindReleaseField,
		label: "Crossplane release", description: "Which Crossplane resource let this address go, and until when it is kept. Don't edit.",
	}
}

// fieldCall names the field in every failure.
func (*Client) fieldCall(f field, verb, method string, want int) call {
	return call{op: verb + " the " + f.whose + " custom field", subject: f.name, method: method, path: fieldsPath, want: want}
}

func (c *Client) fieldState(ctx context.Context, f field) (FieldState, error) {
	k := c.fieldCall(f, "check", http.MethodGet, http.StatusOK)
	k.query = url.Values{"name": {f.name}}
	p, err := list(ctx, c, k, decodeCustomField)
	if IsForbidden(err) {
		return c.probeField(ctx, f)
	}
	if err != nil {
		return "", err
	}
	state, err := f.judge(k, p.Items)
	if state == FieldMissing {
		return c.unlisted(ctx, f)
	}
	return state, err
}

// unlisted says whether a field that NetBox doesn't list is there all the same, hidden from the token by a constraint of its permission:
// what isn't there is no filter either, and what NetBox doesn't know as a filter it ignores. Where there are no addresses that could
// tell, there's none with a marker either.
func (c *Client) unlisted(ctx context.Context, f field) (FieldState, error) {
	filtered, err := c.count(ctx, f, url.Values{"cf_" + f.name: {impossible}})
	if err != nil {
		return "", err
	}
	if filtered > 0 {
		return FieldMissing, nil
	}
	all, err := c.count(ctx, f, url.Values{})
	switch {
	case err != nil:
		return "", err
	case all == 0:
		return FieldMissing, nil
	}
	return FieldUnproven, nil
}

// count says how many addresses a filter leaves, at least.
func (c *Client) count(ctx context.Context, f field, q url.Values) (int, error) {
	k := c.fieldCall(f, "try", http.MethodGet, http.StatusOK)
	k.path, k.query = addressesPath, q
	k.query.Set("limit", "1")
	k.query.Set("fields", "id,address")
	p, err := list(ctx, c, k, decodeIPAddress)
	return max(p.Count, len(p.Items)), err
}

// judge says whether the listed fields have the one that is wanted. The filter ignores case on some versions,
// so the name is compared again. Pure.
func (f field) judge(k call, fields []customField) (FieldState, error) {
	i := slices.IndexFunc(fields, func(g customField) bool { return g.Name == f.name })
	if i < 0 {
		return FieldMissing, nil
	}
	got, wrong := fields[i], []string{}
	if !slices.Contains(got.ObjectTypes, typeAddress) {
		wrong = append(wrong, `its object types lack "ipam.ipaddress"`)
	}
	if got.Type != "text" {
		wrong = append(wrong, "its type isn't text")
	}
	if f.unique && !got.Unique {
		wrong = append(wrong, "it isn't unique")
	}
	if got.FilterLogic != "exact" {
		wrong = append(wrong, "its filter logic isn't exact")
	}
	if len(wrong) == 0 {
		return FieldReady, nil
	}
	return "", k.failed(f.kind, strings.Join(wrong, ", ")+"; correct it in NetBox, or name another field in the ProviderConfig", nil)
}

// probeField is the check without the right extras.view_customfield: an unknown filter is ignored and
// returns everything, so the lookup of an impossible value must find nothing.
func (c *Client) probeField(ctx context.Context, f field) (FieldState, error) {
	n, err := c.count(ctx, f, url.Values{"cf_" + f.name: {impossible}})
	if err != nil {
		return "", err
	}
	if n != 0 {
		k := c.fieldCall(f, "try", http.MethodGet, http.StatusOK)
		return "", k.failed(f.kind, "NetBox ignores it as a filter, so it is missing or not for addresses; "+f.recipe(), errIgnored)
	}
	return FieldUnproven, nil
}

// errIgnored says of a field that the token can't see, and that NetBox doesn't know as a filter: as far as can be told there's none.
var errIgnored = errors.New("the filter was ignored") // sentinel: Released asks for it

// FieldRecipe is what a person has to do for a marker's field of a name.
func FieldRecipe(name string) string { return field{name: name, unique: true}.recipe() }

// recipe is the exact object that a person has to create.
func (f field) recipe() string {
	return fmt.Sprintf(`ask an administrator of NetBox to create it: POST /api/extras/custom-fields/ `+
		`{"name":%q,"object_types":["ipam.ipaddress"],"type":"text","unique":%t,"filter_logic":"exact","ui_editable":"no"}`, f.name, f.unique)
}

// request is recipe as NetBox's API spells it.
func (f field) request() map[string]any {
	return map[string]any{
		"object_types": []string{typeAddress},
		"name":         f.name,
		"type":         "text",
		"unique":       f.unique,
		"filter_logic": "exact",
		"ui_editable":  "no",
		"label":        f.label,
		"description":  f.description,
	}
}

func (c *Client) createField(ctx context.Context, k call, f field) error {
	k.body = f.request()
	a, err := c.do(ctx, k)
	if IsForbidden(err) {
		return k.failed(f.kind, "the token may not; "+f.recipe(), err)
	}
	if IsInvalid(err) { // a second provider was faster: whether theirs will do is for a look to say
		state, ferr := c.fieldState(ctx, f)
		if ferr != nil || state != FieldMissing {
			return ferr
		}
		if e := (*Error)(nil); errors.As(err, &e) && slices.Contains(e.Fields, "name") {
			return k.failed(f.kind, "NetBox takes no new one of that name and shows none: the token may not be shown the one that is there; let it view extras.customfield without constraints", err)
		}
	}
	if err != nil {
		return err
	}
	made, err := decodeCustomField(a.body)
	if err != nil {
		return k.failed(KindUnknownOutcome, "its answer isn't a custom field", err)
	}
	_, err = f.judge(k, []customField{made})
	return err
}
