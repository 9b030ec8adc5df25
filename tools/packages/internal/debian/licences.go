package debian

import (
	"embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Copyright files of Debian say "can be found in /usr/share/common-licenses/GPL-2": that is a file of every Debian machine, and of no image
// unless it's put there. These are those of Debian 12's base-files, word for word.
//
//go:embed licences
var commonLicences embed.FS

const commonFolder = "usr/share/common-licenses/"

var (
	// elsewhere is how a copyright file refers to a text that it doesn't have.
	elsewhere = regexp.MustCompile(`/` + commonFolder + `([A-Za-z0-9.-]*[A-Za-z0-9])`)
	operator  = regexp.MustCompile(`\s+(?:AND|OR)\s+|[()]`)
)

// apart are the licences whose text no copyright file has, by their SPDX names, with what Debian calls the text.
func apart() map[string]string {
	return map[string]string{
		"GPL-2.0-only": "GPL-2", "GPL-2.0-or-later": "GPL-2", "GPL-3.0-or-later": "GPL-3",
		"LGPL-2.0-or-later": "LGPL-2", "LGPL-2.1-or-later": "LGPL-2.1",
	}
}

// within are the licences whose text the copyright file itself has.
func within() []string { return []string{"BSD-2-Clause", "BSD-3-Clause", "MIT", "MPL-2.0", "OpenSSL"} }

// Licences are the texts that the files of a package need beside their copyright file, by where they go. It's an error where one isn't
// known here: an image without it may not be given to anybody.
func Licences(p Pin, files map[string][]byte) (map[string][]byte, error) {
	var need []string
	for _, id := range Names(p.License) {
		switch text := apart()[id]; {
		case text != "":
			need = append(need, text)
		case !slices.Contains(within(), id):
			return nil, fmt.Errorf("package %s is under %s, of which it isn't known where the text is: say so in licences.go", p.Name, id)
		}
	}
	for path, data := range files {
		if !strings.HasSuffix(path, "/copyright") {
			continue
		}
		for _, m := range elsewhere.FindAllSubmatch(data, -1) {
			need = append(need, string(m[1]))
		}
	}
	out := map[string][]byte{}
	for _, text := range need {
		b, err := commonLicences.ReadFile("licences/" + text)
		if err != nil {
			return nil, fmt.Errorf("package %s needs the licence text %s, which isn't here: put it into internal/debian/licences", p.Name, text)
		}
		out[commonFolder+text] = b
	}
	return out, nil
}

// Names are the licences of an SPDX expression.
func Names(expression string) []string {
	var out []string
	for _, part := range operator.Split(expression, -1) {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}
