package main

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"
)

func TestSecretsAreFound(t *testing.T) {
	cases := map[string]struct {
		reason, output string
		want           bool
	}{
		"Plain":  {"A password in a message.", "password " + secret + " refused", true},
		"Token":  {"A session's token.", "X-Auth-Token: " + secret + "-0a1b", true},
		"Basic":  {"A header of basic authentication.", "Basic " + base64.StdEncoding.EncodeToString([]byte("admin:"+secret)), true},
		"Basic1": {"With a longer name.", base64.StdEncoding.EncodeToString([]byte("admin1:" + secret + "-wrong")), true},
		"Basic2": {"With a still longer one.", base64.StdEncoding.EncodeToString([]byte("admin12:" + secret)), true},
		"Secret": {"A Secret's data.", `{"password":"` + base64.StdEncoding.EncodeToString([]byte(secret)) + `"}`, true},
		"None":   {"What a test says.", "emulated BMC, secretly", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := newVerdict().tells(tc.output); got != tc.want {
				t.Errorf("%s: got %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
}

// TestSecretFails: a secret in the output of a test that passed fails the stage, and isn't shown.
func TestSecretFails(t *testing.T) {
	in := `{"Action":"output","Package":"p","Test":"TestA","Output":"    log: ` + secret + `-1\n"}` + "\n" + `{"Action":"pass","Package":"p","Test":"TestA"}` + "\n" + `{"Action":"pass","Package":"p"}` + "\n"
	var out strings.Builder
	err := run(strings.NewReader(in), &out, newVerdict(), "x", false, nil)
	if !errors.Is(err, errSecret) || !strings.Contains(out.String(), "--- SECRET: a password or token is in the output of p TestA\n") || newVerdict().tells(out.String()) {
		t.Errorf("run: %v; it says:\n%s", err, out.String())
	}
}
