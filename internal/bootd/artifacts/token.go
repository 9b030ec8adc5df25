package artifacts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// challengeWord is a scheme's name, or a parameter: its name, and its value in quotes or without.
var challengeWord = regexp.MustCompile(`([\w*-]+)(?:[ \t]*(=)[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s,"=]*)))?`)

// escaped is an octet in quotes that may be a quote itself.
var escaped = regexp.MustCompile(`\\(.)`)

// authorise finds out what a registry is to be shown that wants to know who asks: a token of its token service's, or the login itself.
func (p *pull) authorise(ctx context.Context, challenges []string) (string, error) {
	if p.known && p.login.token != "" {
		return p.login.header(), nil
	}
	realm, service, basic := challenge(challenges)
	u, err := url.Parse(realm)
	if err == nil && u.Host != "" && u.User == nil && scheme(u) == nil {
		t, err := p.fetchToken(ctx, u, service)
		return "Bearer " + t, err
	}
	switch {
	case p.known && basic:
		return p.login.header(), nil
	case p.logins != nil && !p.known:
		return "", errors.New("its registry wants a password, and the Secret of the profile's pullSecretRef has none for that host: add it there")
	case p.known:
		return "", errors.New("its registry takes neither a password nor a token of a token service")
	}
	return "", errors.New("its registry wants a password, and bootd has none: name a Secret that has it in the profile's pullSecretRef, or let everybody read the repository")
}

// challenge reads what a registry says (RFC 9110 §11.6.1), in one header or several: where its token service is, "" where it names none, and
// whether it takes passwords.
func challenge(challenges []string) (realm, service string, basic bool) {
	all, scheme := strings.Join(challenges, ", "), ""
	bearer := map[string]string(nil) // The first one's.
	for _, at := range challengeWord.FindAllStringSubmatchIndex(all, -1) {
		part := func(n int) string { return all[max(0, at[2*n]):max(0, at[2*n+1])] }
		name, before := strings.ToLower(part(1)), strings.TrimRight(all[:at[0]], " \t")
		switch {
		case part(2) == "" && (before == "" || strings.HasSuffix(before, ",")): // Else it's of a token68.
			scheme, basic = name, basic || name == "basic"
			switch {
			case name != "bearer":
			case bearer == nil:
				bearer = map[string]string{}
			default:
				scheme = "" // A second one.
			}
		case part(2) != "" && scheme == "bearer" && bearer[name] == "":
			bearer[name] = escaped.ReplaceAllString(part(3), "$1") + part(4)
		}
	}
	return bearer["realm"], bearer["service"], basic
}

// fetchToken asks a registry's token service for a token to read one repository. Where that service is, a stranger's header says: it's asked
// like any other server, only where the guard lets it, and told a password only where it's the registry's own host, or one that the Secret
// names, too.
func (p *pull) fetchToken(ctx context.Context, u *url.URL, service string) (string, error) {
	if u.Scheme != "https" && strings.HasPrefix(p.r.base(), "https:") {
		return "", errors.New("its registry's token service isn't an https URL")
	}
	h := http.Header{}
	key, told := p.login, p.known
	if canonical(u.Host) != canonical(p.r.host) {
		key, told = p.logins.of(u.Host, u.EscapedPath())
		told = told && p.known // What that password buys is shown to the registry.
	}
	if told = told && key.token == "" && confidential(u); told {
		h.Set("Authorization", key.header())
	}
	q := u.Query()
	q.Set("scope", "repository:"+p.r.repository+":pull")
	if service != "" {
		q.Set("service", service)
	}
	u.RawQuery = q.Encode()
	ctx, cancel := context.WithTimeout(ctx, registryPatience)
	defer cancel()
	resp, err := p.c.ask(ctx, u.String(), h)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	switch {
	case resp.StatusCode == http.StatusOK:
		return token(io.LimitReader(resp.Body, maxToken))
	case barred(resp) && told:
		return "", wrongPassword("its registry's token service", resp)
	case barred(resp) && p.logins != nil:
		return "", fmt.Errorf("its registry's token service wants a password (%d), and the Secret of the profile's pullSecretRef has none for that service's host: add it there", resp.StatusCode)
	}
	return "", answered("its registry's token service", resp)
}

// token reads a token service's answer.
func token(r io.Reader) (string, error) {
	t := struct {
		Token       string `json:"token"`
		AccessToken string `json:"access_token"` //nolint:tagliatelle // OAuth's word.
	}{}
	if err := json.NewDecoder(r).Decode(&t); err != nil {
		return "", errors.New("its registry's token service gave no token")
	}
	if t.Token == "" {
		t.Token = t.AccessToken
	}
	if t.Token == "" || strings.ContainsFunc(t.Token, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return "", errors.New("its registry's token service gave no token")
	}
	return t.Token, nil
}
