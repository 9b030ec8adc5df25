package httpboot

import (
	"net/http"
	"net/url"
	"path"
	"strings"
)

// cleaned reads a path as if it had been written without double slashes and dots. http.ServeMux would answer 301 to such a one,
// and UEFI HTTP Boot follows no redirection.
func cleaned(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if plainPath(r.URL) {
			h.ServeHTTP(w, r)
			return
		}
		asked := r.URL.EscapedPath()
		if clean, ok := cleanPath(asked); ok && clean != asked {
			if plain, err := url.PathUnescape(clean); err == nil {
				r = r.Clone(r.Context())
				r.URL.Path, r.URL.RawPath = plain, clean
			}
		}
		h.ServeHTTP(w, r)
	})
}

// plainPath says that a path is written as it's meant, as far as can be seen at a glance.
func plainPath(u *url.URL) bool {
	return u.RawPath == "" && strings.HasPrefix(u.Path, "/") && !strings.Contains(u.Path, "//") && !strings.Contains(u.Path, "/.")
}

// cleanPath gives the path that is meant; false: it's none, as that of OPTIONS *.
func cleanPath(p string) (string, bool) {
	if !strings.HasPrefix(p, "/") {
		return "", false
	}
	clean := path.Clean(p)
	if strings.HasSuffix(p, "/") && clean != "/" {
		clean += "/"
	}
	return clean, true
}
