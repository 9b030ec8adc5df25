package netbox

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// A FieldState is what is known of the marker's custom field.
type FieldState string

// The states of the marker field.
const (
	// FieldReady: it is there, on addresses, text, unique, filtered exactly.
	FieldReady FieldState = "Ready"
	// FieldMissing: NetBox says that there is none of that name. So no record carries a marker.
	FieldMissing FieldState = "Missing"
	// FieldUnproven: the token may not read custom fields. Filtering by it works as far as can be
	// seen from outside; that it is unique can't be.
	FieldUnproven FieldState = "Unproven"
)

// A Preflight is what must be known before a marker is written or looked for.
type Preflight struct {
	Version Version
	Field   FieldState
}

// proof remembers the last good preflight; the slot lets one caller at a time make it. Whoever has it may read and write the proof.
type proof struct {
	slot  slot
	now   func() time.Time
	until time.Time
	value Preflight
}

func newProof(now func() time.Time) proof {
	return proof{slot: newSlot(), now: now}
}

// markerCall names the field in every failure.
func (c *Client) markerCall(op, method, path string, want int) call {
	return call{op: op, subject: c.field, method: method, path: path, want: want}
}

// A slot lets one caller at a time do what the others then needn't.
type slot chan struct{}

func newSlot() slot { return make(slot, 1) }

// hold takes the slot, or says that there was no time to.
func (s slot) hold(ctx context.Context, k call) (release func(), err error) {
	select {
	case s <- struct{}{}:
		return func() { <-s }, nil
	case <-ctx.Done():
		return nil, k.failed(KindUnreachable, "no answer came in time", ctx.Err())
	}
}

// set remembers what was found: for long that the field is good, for a moment that it is missing, so that a hundred resources
// don't all ask while one of them creates it.
func (p *proof) set(v Preflight) {
	ttl := fieldTTL
	if v.Field == FieldMissing {
		ttl = missingTTL
	}
	p.value, p.until = v, p.now().Add(ttl)
}

// Preflight reads the version and checks the marker field, and remembers a good answer for ten
// minutes. It writes nothing: FieldMissing isn't an error here. A field that is there but wrong is
// KindMarkerField, a NetBox before 4.2 KindUnexpected.
func (c *Client) Preflight(ctx context.Context) (Preflight, error) {
	release, err := c.proof.slot.hold(ctx, statusCall())
	if err != nil {
		return Preflight{}, err
	}
	defer release()
	if c.proof.now().Before(c.proof.until) {
		return c.proof.value, nil
	}
	p, err := c.preflight(ctx)
	if err == nil {
		c.proof.set(p)
	}
	return p, err
}

// forget makes the next Preflight look again.
func (c *Client) forget() {
	c.proof.slot <- struct{}{}
	c.proof.until = time.Time{}
	<-c.proof.slot
}

func (c *Client) preflight(ctx context.Context) (Preflight, error) {
	v, err := c.Status(ctx)
	if err != nil {
		return Preflight{}, err
	}
	if !v.AtLeast(4, 2, 0) {
		return Preflight{Version: v}, statusCall().failed(KindUnexpected, fmt.Sprintf("it is %s; 4.2 or later is needed", v), nil)
	}
	state, err := c.fieldState(ctx)
	return Preflight{Version: v, Field: state}, err
}

func (c *Client) fieldState(ctx context.Context) (FieldState, error) {
	k := c.markerCall("check the marker's custom field", http.MethodGet, "extras/custom-fields/", http.StatusOK)
	k.query = url.Values{"name": {c.field}}
	p, err := list(ctx, c, k, decodeCustomField)
	if IsForbidden(err) {
		return c.probeField(ctx)
	}
	if err != nil {
		return "", err
	}
	return judgeField(k, c.field, p.Items)
}

// judgeField says whether the listed fields make a marker. The filter ignores case on some versions,
// so the name is compared again. Pure.
func judgeField(k call, name string, fields []customField) (FieldState, error) {
	i := slices.IndexFunc(fields, func(f customField) bool { return f.Name == name })
	if i < 0 {
		return FieldMissing, nil
	}
	f, wrong := fields[i], []string{}
	if !slices.Contains(f.ObjectTypes, "ipam.ipaddress") {
		wrong = append(wrong, `its object types lack "ipam.ipaddress"`)
	}
	if f.Type != "text" {
		wrong = append(wrong, "its type isn't text")
	}
	if !f.Unique {
		wrong = append(wrong, "it isn't unique")
	}
	if f.FilterLogic != "exact" {
		wrong = append(wrong, "its filter logic isn't exact")
	}
	if len(wrong) == 0 {
		return FieldReady, nil
	}
	return "", k.failed(KindMarkerField, strings.Join(wrong, ", ")+"; correct it in NetBox, or name another field in the ProviderConfig", nil)
}

// probeField is the check without the right extras.view_customfield: an unknown filter is ignored and
// returns everything, so the lookup of an impossible value must find nothing.
func (c *Client) probeField(ctx context.Context) (FieldState, error) {
	k := c.markerCall("try the marker's custom field", http.MethodGet, "ipam/ip-addresses/", http.StatusOK)
	k.query = url.Values{"cf_" + c.field: {"no/such/marker"}, "limit": {"1"}, "fields": {"id,address"}}
	p, err := list(ctx, c, k, decodeIPAddress)
	if err != nil {
		return "", err
	}
	if p.Count != 0 || len(p.Items) != 0 {
		return "", k.failed(KindMarkerField, "NetBox ignores it as a filter, so it is missing or not for addresses; "+fieldRecipe(c.field), nil)
	}
	return FieldUnproven, nil
}

// fieldRecipe is the exact object that a person has to create.
func fieldRecipe(name string) string {
	return fmt.Sprintf(`ask an administrator of NetBox to create it: POST /api/extras/custom-fields/ `+
		`{"name":%q,"object_types":["ipam.ipaddress"],"type":"text","unique":true,"filter_logic":"exact","ui_editable":"no"}`, name)
}

// CreateMarkerField creates the marker's custom field where Preflight found none, unless another
// resource was faster. KindMarkerField says that the token may not, and names the exact object to create.
func (c *Client) CreateMarkerField(ctx context.Context) error {
	k := c.markerCall("create the marker's custom field", http.MethodPost, "extras/custom-fields/", http.StatusCreated)
	release, err := c.proof.slot.hold(ctx, k)
	if err != nil {
		return err
	}
	defer release()
	if c.proof.value.Field == FieldReady && c.proof.now().Before(c.proof.until) {
		return nil
	}
	if err := c.createField(ctx, k); err != nil {
		return err
	}
	c.proof.set(Preflight{Version: c.proof.value.Version, Field: FieldReady})
	return nil
}

func (c *Client) createField(ctx context.Context, k call) error {
	k.body = fieldRequest(c.field)
	a, err := c.do(ctx, k)
	if IsForbidden(err) {
		return k.failed(KindMarkerField, "the token may not; "+fieldRecipe(c.field), err)
	}
	if IsInvalid(err) { // a second provider was faster: whether theirs will do is for Preflight to say
		state, ferr := c.fieldState(ctx)
		if ferr != nil || state != FieldMissing {
			return ferr
		}
	}
	if err != nil {
		return err
	}
	f, err := decodeCustomField(a.body)
	if err != nil {
		return k.failed(KindUnknownOutcome, "its answer isn't a custom field", err)
	}
	_, err = judgeField(k, c.field, []customField{f})
	return err
}

// fieldRequest is fieldRecipe as NetBox's API spells it.
func fieldRequest(name string) map[string]any {
	return map[string]any{
		"object_types": []string{"ipam.ipaddress"},
		"name":         name,
		"type":         "text",
		"unique":       true,
		"filter_logic": "exact",
		"ui_editable":  "no",
		"label":        "Crossplane claim",
		"description":  "Which Crossplane resource this address belongs to. Don't edit.",
	}
}
