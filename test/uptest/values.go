package uptest

import (
	"errors"
	"fmt"
	"regexp"
)

// A Value stands in the place of one that an example makes up.
type Value struct {
	Text string
	// Digest is of the file, where Text is its URL.
	Digest string
}

// Values are what there is in the place of what examples make up, by the whole word that stands there. There aren't many: BMCs and networks
// have the addresses that examples give them.
type Values map[string]Value

// Account that all BMCs take.
type Account struct{ User, Password string }

// elsewhere is what is said to be on a network that doesn't exist.
var elsewhere = regexp.MustCompile(`^https?://[^/]*\.example(:\d+)?(/|$)`)

// Put puts values and BMCs' account into objects. The error has a sentence for each URL that no value stands for.
func (v Values) Put(o Objects, bmcs Account) error {
	var errs []error
	for _, u := range o {
		if data := nested(u.Object, "stringData"); data["password"] != nil {
			data["username"], data["password"] = bmcs.User, bmcs.Password
			u.Object["stringData"] = data
			continue
		}
		v.into(u.Object, func(s string) {
			errs = append(errs, fmt.Errorf("%s %s names %s, which isn't there: give it a value in test/uptest/oncluster/world_test.go", u.GetKind(), u.GetName(), s))
		})
	}
	return errors.Join(errs...)
}

// into puts values into what is below an object or a list.
func (v Values) into(o any, missing func(string)) {
	switch o := o.(type) {
	case map[string]any:
		if url, ok := o["url"].(string); ok && o["digest"] != nil {
			o["digest"] = v[url].Digest
		}
		for key, e := range o {
			o[key] = v.of(e, missing)
		}
	case []any:
		for i, e := range o {
			o[i] = v.of(e, missing)
		}
	}
}

// of is what stands in the place of a value, which may be one that has others below it.
func (v Values) of(e any, missing func(string)) any {
	s, ok := e.(string)
	if !ok {
		v.into(e, missing)
		return e
	}
	if value, ok := v[s]; ok {
		return value.Text
	}
	if elsewhere.MatchString(s) {
		missing(s)
	}
	return s
}
