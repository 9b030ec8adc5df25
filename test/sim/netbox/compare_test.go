package netbox_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// compare says how an answer differs from the recorded one, or "".
func compare(tr transcript, res *http.Response, got []byte) string {
	if res.StatusCode != tr.Status {
		return fmt.Sprintf("status %d, recorded %d %s: %s", res.StatusCode, tr.Status, tr.Answer, got)
	}
	if diff := cmp.Diff(headers(tr, func(k string) string { return header(tr.AnswerHeaders, k) }), headers(tr, res.Header.Get)); diff != "" {
		return "headers (-recorded +emulated):\n" + diff
	}
	if tr.Status == http.StatusNoContent || tr.Method == http.MethodHead || strings.Contains(header(tr.AnswerHeaders, "Content-Type"), "html") || len(tr.Answer) == 0 {
		return ""
	}
	var want, have any
	if err := json.Unmarshal(tr.Answer, &want); err != nil {
		return err.Error()
	}
	if err := json.Unmarshal(got, &have); err != nil {
		return fmt.Sprintf("not JSON: %s", got)
	}
	if parserError(want) && parserError(have) {
		return ""
	}
	return difference(want, have)
}

// parserError is worded by the JSON parser, of which there are two.
func parserError(v any) bool {
	m, _ := v.(map[string]any)
	s, _ := m["detail"].(string)
	return strings.HasPrefix(s, "JSON parse error - ")
}

// difference compares two bodies but for what is of the moment.
func difference(want, have any) string {
	if diff := cmp.Diff(timeless(want, ""), timeless(have, "")); diff != "" {
		return "body (-recorded +emulated):\n" + diff
	}
	return ""
}

func header(m map[string]string, key string) string {
	for k, v := range m {
		if strings.EqualFold(k, key) {
			return v
		}
	}
	return ""
}

// headers are those that are compared. An ETag is where the record is as old as the recorded one.
func headers(tr transcript, get func(string) string) map[string]string {
	out := map[string]string{}
	for _, k := range compared() {
		out[k] = get(k)
	}
	if tr.Method == http.MethodGet || tr.Method == http.MethodHead || tr.Status >= http.StatusBadRequest {
		out["ETag"] = regexp.MustCompile(`\d`).ReplaceAllString(get("ETag"), "0")
	}
	return out
}

// momentary are the keys whose values are of the recorded server or moment; they must be there.
func momentary() []string {
	return []string{
		"created", "last_updated", "time", "timestamp", "request_id", "date_joined", "django-version", "python_version", "python-version",
		"rq-workers-running", "installed_apps", "installed-apps", "config_context", "users", "last_login", "email",
	}
}

// timeless replaces what is of the moment. The numbers and counts of the change log are those of a recording that changed more.
func timeless(v any, key string) any {
	if slices.Contains(momentary(), key) {
		return "of the moment"
	}
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		_, logged := v["changed_object_id"]
		for k, x := range v {
			if logged && slices.Contains([]string{"id", "url", "display_url"}, k) {
				x = "logged"
			}
			out[k] = timeless(x, k)
		}
		return out
	case []any:
		out := []any{}
		for _, x := range v {
			out = append(out, timeless(x, ""))
		}
		return out
	}
	return v
}
