package main

import (
	"encoding/base64"
	"errors"
	"slices"
	"strings"
)

var errSecret = errors.New("a password or token is in the output of tests")

// secret is what all passwords, session tokens and tokens in URLs begin with that tests give to the product, and what emulated BMCs
// give to it (test/sim/bmc, Secret). The product must never tell one, so that no output of a test that passes has one.
const secret = "emulated-" + "secret" // In two parts: a test that fails may show this line.

// forms are the secret as it is, and what it comes to in base64, as of basic authentication and Secrets, wherever it begins there.
func forms() []string {
	out := []string{secret}
	for _, before := range []string{"", "\x00", "\x00\x00"} {
		encoded := base64.RawStdEncoding.EncodeToString([]byte(before + secret))
		// The first and the last letters depend on what is beside it.
		first := []int{0, 2, 3}[len(before)]
		last := (len(before) + len(secret)) / 3 * 4
		out = append(out, encoded[first:last])
	}
	return out
}

// tells says whether s has a secret in it.
func (v *verdict) tells(s string) bool {
	return slices.ContainsFunc(v.secrets, func(f string) bool { return strings.Contains(s, f) })
}

// scan notes a secret in what a test or package printed, and returns the line that says so: without what it was.
func (v *verdict) scan(k key, output string) string {
	if !v.tells(output) {
		return ""
	}
	v.told++
	return "--- SECRET: a password or token is in the output of " + strings.TrimSpace(k.pkg+" "+k.test) + "\n"
}
