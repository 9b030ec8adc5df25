package examples_test

import (
	"cmp"
	"strings"
	"testing"
)

// TestInvalidRaspberryPi: names and lines by which a board would load another kernel, or flash its firmware, aren't taken.
func TestInvalidRaspberryPi(t *testing.T) {
	const file = `url: https://x.example/a, digest: "sha256:a4052e51598b257621edc75bc019c759bc478338f99aa7e230bfc6e7862988e2"`
	pi := func(reason, arch, initrds, files, line, want string) refusal {
		line = cmp.Or(line, "enable_uart=1")
		return of("BootProfile", reason, `{spec: {artifacts: [{arch: `+arch+`, kernel: {`+file+`}, initrds: [`+initrds+`], raspberryPi: {files: [`+files+`], config: ["`+line+`"]}}]}}`, want)
	}
	refuse(t, map[string]refusal{
		"PiOnAMD64":   pi("a Raspberry Pi has another processor", `amd64`, ``, `{name: start4.elf, `+file+`}`, ``, "raspberryPi goes with arch: arm64"),
		"PiInitrds":   pi("its firmware reads so many names", `arm64`, strings.Repeat(`{`+file+`}, `, 10), `{name: start4.elf, `+file+`}`, ``, "takes 9 initrds at most"),
		"PiNoFiles":   pi("it loads no kernel without", `arm64`, ``, ``, ``, "files"),
		"PiKernel":    pi("no kernel goes past the gate", `arm64`, ``, `{name: kernel8.img, `+file+`}`, ``, "name"),
		"PiRamdisk":   pi("nor one in a ramdisk", `arm64`, ``, `{name: boot.img, `+file+`}`, ``, "name"),
		"PiEEPROM":    pi("a boot flashes nothing", `arm64`, ``, `{name: pieeprom.upd, `+file+`}`, ``, "name"),
		"PiRecovery":  pi("nor by a second loader", `arm64`, ``, `{name: recover4.elf, `+file+`}`, ``, "name"),
		"PiTexts":     pi("bootd makes this itself", `arm64`, ``, `{name: cmdline.txt, `+file+`}`, ``, "name"),
		"PiFolder":    pi("a name isn't a path", `arm64`, ``, `{name: overlays/../start4.elf, `+file+`}`, ``, "name"),
		"PiTwice":     pi("a name means one file", `arm64`, ``, `{name: start4.elf, `+file+`}, {name: start4.elf, `+file+`}`, ``, "Duplicate value"),
		"PiFileURL":   pi("its files come as all others do", `arm64`, ``, `{name: start4.elf, url: "ftp://x/y", digest: "sha256:a4052e51598b257621edc75bc019c759bc478338f99aa7e230bfc6e7862988e2"}`, ``, "url must be an http, https or oci URL"),
		"PiOverrides": pi("which kernel is bootd's to say", `arm64`, ``, `{name: start4.elf, `+file+`}`, `kernel=kernel7.img`, "config may not set kernel"),
		"PiInclude":   pi("and so is what's read", `arm64`, ``, `{name: start4.elf, `+file+`}`, `include other.txt`, "config"),
		"PiLine":      pi("a line is short", `arm64`, ``, `{name: start4.elf, `+file+`}`, `a=`+strings.Repeat("b", 98), "config"),
	})
}
