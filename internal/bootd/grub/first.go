package grub

import (
	"fmt"
	"strings"
)

const (
	// patience is how often in a row a machine's own configuration is asked for in vain, and pause the seconds in between.
	patience = 20
	pause    = 10
)

// First is the same for all machines: Debian's signed grub has its name built in, and nothing of the machine in that. It asks for the
// machine's own configuration, which lies beside the shim that DHCP has named, and again once that has ended. It never ends itself: behind
// it there's a prompt, and whoever stands at the machine. Grub can't ask DHCP for another token without saying that it's an operating
// system; where it's been refused all the time the machine starts again.
func First() string {
	lines := []string{
		"set silent=",
		"set failed=", // A machine's own configuration counts in it what didn't boot.
		"while true; do",
		"set answered=",
		// Debian's grub has the folder that its shim came from in cmdpath until 2.06 (Debian 12), and from 2.12 on (Debian 13) in fw_path alone.
		`if [ -z "$cmdpath" ]; then`,
		`set cmdpath="$fw_path"`,
		"fi",
		`source "$cmdpath/grub.cfg"`,
		`if [ "$answered" = yes ]; then`,
		"set silent=",
		"else",
		`set silent="${silent}x"`,
		"echo 'bootd gives this machine no grub.cfg now; it is asked again'",
		fmt.Sprintf("sleep %d", pause),
		"fi",
		fmt.Sprintf(`if [ "$silent" = %s ]; then`, strings.Repeat("x", patience)),
		"reboot",
		"fi",
		"done",
	}
	return strings.Join(lines, "\n") + "\n"
}
