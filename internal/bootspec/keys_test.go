package bootspec

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestKeyForm: a key is what sshd takes for one line of an authorized_keys file (sshd(8)).
func TestKeyForm(t *testing.T) {
	cases := map[string]struct {
		reason string
		key    string
		want   bool
	}{
		"Plain":    {"type and base64", "ssh-ed25519 AAAA", true},
		"Comment":  {"a comment may be anything", "ecdsa-sha2-nistp256 AAAA= ops on call, Zürich", true},
		"Options":  {"options come first", `command="/bin/true",no-pty ssh-rsa AAAA== a`, true},
		"Hardware": {"a key of a token", "sk-ssh-ed25519@openssh.com AAAA", true},
		"Tab":      {"fields are apart by blanks", "ssh-rsa\tAAAA  a", true},
		"Block":    {"YAML's block has a newline at its end", "ssh-rsa AAAA a\n", true},
		"Two":      {"one key is one line", "ssh-rsa AAAA a\nssh-rsa BBBB b", false},
		"File":     {"the name of a file isn't one", "id_ed25519.pub", false},
		"Empty":    {"nor is nothing", "", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, keyForm.MatchString(tc.key)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
