package artifacts

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// dockerHub is the one registry that clients know by several names.
const dockerHub = "docker.io"

var (
	errNoSecret = errors.New("the Secret of the profile's pullSecretRef can't be read: it isn't there, or bootd has no copy of it yet")
	errNoConfig = errors.New("the Secret of the profile's pullSecretRef isn't a Docker config in JSON: make it anew, by kubectl create secret docker-registry")
)

// A login is what a server is told: a user and a password, or a token in their place.
type login struct{ user, password, token string }

// header is the value of Authorization (RFC 7617, RFC 6750).
func (l login) header() string {
	if l.token != "" {
		return "Bearer " + l.token
	}
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(l.user+":"+l.password))
}

// A place is where a login may be shown: a host, with its port unless that's HTTPS's own, and of what it has what's below a path; "": all.
type place struct{ host, path string }

// logins are those of one Secret. A nil one holds none.
type logins map[place]login

// loginsOf an artifact are read anew for each download: a password that was changed counts at once.
func (c *Cache) loginsOf(ctx context.Context, a boot.Artifact) (logins, error) {
	if a.PullSecret == "" {
		return nil, nil
	}
	if c.o.PullSecret == nil {
		return nil, errNoSecret
	}
	ctx, cancel := context.WithTimeout(ctx, registryPatience)
	defer cancel()
	b, err := c.o.PullSecret(ctx, a.PullSecret)
	if err != nil || len(b) == 0 {
		return nil, errNoSecret // The API's own words aren't for the tenant.
	}
	return parseLogins(b)
}

// parseLogins reads a Docker config. What in it names no host, as a pattern does, or has no password, counts for nothing.
func parseLogins(b []byte) (logins, error) {
	c := struct {
		Auths map[string]struct {
			Username string `json:"username"`
			Password string `json:"password"`
			Auth     string `json:"auth"`
			Token    string `json:"registrytoken"`
		} `json:"auths"`
	}{}
	if err := json.Unmarshal(b, &c); err != nil {
		return nil, errNoConfig
	}
	all := logins{}
	for _, key := range slices.Sorted(maps.Keys(c.Auths)) {
		x := c.Auths[key]
		l := login{user: x.Username, password: x.Password, token: x.Token}
		if d, err := base64.StdEncoding.DecodeString(x.Auth); err == nil && len(d) > 0 {
			l.user, l.password, _ = strings.Cut(string(d), ":")
		}
		at, ok := placeOf(key)
		if _, twice := all[at]; !ok || twice || l.password == "" && l.token == "" || !headerSafe(l.token) {
			continue
		}
		all[at] = l
	}
	return all, nil
}

// headerSafe says whether a token can be put into a header as it is.
func headerSafe(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

// placeOf a key of a Docker config: HOST, HOST:PORT, either with a path, or a URL such as https://index.docker.io/v1/.
func placeOf(key string) (place, bool) {
	if _, rest, ok := strings.Cut(key, "://"); ok {
		key = rest
	}
	host, below, _ := strings.Cut(key, "/")
	below = strings.Trim(below, "/")
	if below == "v1" || below == "v2" { // Of the registry's API, not of a repository.
		below = ""
	}
	host = canonical(host)
	if host == "" || strings.ContainsAny(host, "*?@ ") {
		return place{}, false
	}
	return place{host, below}, true
}

// canonical is a host as it's compared: in lower case, and without HTTPS's port.
func canonical(host string) string {
	host = strings.TrimSuffix(strings.ToLower(host), ":443")
	switch host {
	case "index.docker.io", "registry-1.docker.io", "auth.docker.io":
		return dockerHub
	}
	return host
}

// of gives the login for what a host has at a path: that of the longest path that it's below.
func (l logins) of(host, at string) (login, bool) {
	at = strings.Trim(at, "/")
	if "/"+at != path.Clean("/"+at) || strings.ContainsAny(at, "%\\") { // What a server makes of such a path isn't known.
		at = ""
	}
	host = canonical(host)
	for {
		if x, ok := l[place{host, at}]; ok {
			return x, true
		}
		if at == "" {
			return login{}, false
		}
		at = at[:max(strings.LastIndexByte(at, '/'), 0)]
	}
}

// confidential says whether a password may go to a URL: by HTTPS, or within this host.
func confidential(u *url.URL) bool {
	return u.Scheme == "https" || u.Scheme == "http" && loopback(u.Hostname())
}

func loopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.IsLoopback()
}

// file asks for a file by its plain URL.
func (c *Cache) file(ctx context.Context, a boot.Artifact, l logins, h http.Header) (*http.Response, error) {
	u, err := url.Parse(a.URL)
	if err != nil {
		return nil, errors.New("its URL can't be asked")
	}
	key, has := l.of(u.Host, u.EscapedPath())
	told := has && u.User == nil && confidential(u)
	if told {
		h = h.Clone()
		h.Set("Authorization", key.header())
	}
	resp, err := c.ask(ctx, a.URL, h)
	if err != nil {
		return nil, err
	}
	switch {
	case !barred(resp) || resp.Request.URL.Host != u.Host: // Who it redirected to was told no password.
		return resp, nil
	case told:
		err = wrongPassword("its server", resp)
	case has && u.User == nil:
		err = errors.New("its server wants a password, which is never sent by plain http: use an https URL")
	case l != nil:
		err = noPassword("its server", resp)
	case resp.StatusCode == http.StatusUnauthorized:
		err = wantsPassword(resp)
	default:
		return resp, nil
	}
	_ = resp.Body.Close()
	return nil, err
}

// barred says that a server wants another password, or one at all.
func barred(resp *http.Response) bool {
	return resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden
}

// wrongPassword says what a server answered that was told a password.
func wrongPassword(who string, resp *http.Response) error {
	if resp.StatusCode == http.StatusForbidden {
		return fmt.Errorf("%s doesn't let the user of the profile's pullSecretRef read it (403): have that user allowed to, or name another there", who)
	}
	return fmt.Errorf("%s doesn't take the password of the profile's pullSecretRef (%d): correct it in that Secret", who, resp.StatusCode)
}

// noPassword says that a Secret has none for the server that wants one.
func noPassword(who string, resp *http.Response) error {
	return fmt.Errorf("%s wants a password (%d), and the Secret of the profile's pullSecretRef has none for that host: add it there", who, resp.StatusCode)
}

// wantsPassword says that a profile names no Secret.
func wantsPassword(resp *http.Response) error {
	return fmt.Errorf("%w: name a Secret with its password in the profile's pullSecretRef", answered("its server", resp))
}
