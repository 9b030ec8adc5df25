package redfish

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/lenient"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/quirk"
)

const (
	pathAccountService = "/redfish/v1/AccountService"
	// propPassword is written and never shown (schema ManagerAccount v1.x).
	propPassword = "Password"
)

// An Account is the one that a Client logs in with, as the BMC lists it.
type Account struct {
	// MinLength and MaxLength of a password, 0 where the BMC doesn't say.
	MinLength, MaxLength int

	place place
}

// accountBody is a ManagerAccount, as far as it tells whose it is.
type accountBody struct {
	User    text          `json:"UserName"`
	Enabled *lenient.Flag `json:"Enabled"`
}

// on says whether one may log in with it, as far as is told.
func (b accountBody) on() bool { return b.Enabled == nil || !b.Enabled.Known || b.Enabled.True }

// Account finds the account that c logs in with. Where its password must be
// changed before anything else, that's the one that the BMC named. Unsupported:
// there's no account service, or no account of that name in it.
func (c *Client) Account(ctx context.Context) (Account, error) {
	service := string(c.root.AccountService)
	if service == "" {
		service = pathAccountService
	}
	var b struct {
		Accounts ref
		Min      lenient.Number `json:"MinPasswordLength"`
		Max      lenient.Number `json:"MaxPasswordLength"`
	}
	_, err := c.get(ctx, service, &b)
	if err != nil && !skippable(err) && KindOf(err) != PasswordChangeRequired {
		return Account{}, err
	}
	a := Account{MinLength: lengthOf(b.Min), MaxLength: lengthOf(b.Max)}
	if c.account == "" && b.Accounts != "" {
		var found place
		if found, err = c.accountIn(ctx, string(b.Accounts)); err == nil {
			a.place = found

			return a, nil
		}
	}
	if c.account != "" { // It may have been named just now.
		a.place, err = c.namedAccount(ctx)

		return a, err
	}
	if err == nil || IsNotFound(err) || KindOf(err) == Protocol {
		err = unsupported("AccountService")
	}

	return Account{}, err
}

// lengthOf is a length as a BMC tells it, 0 where that can't be one.
func lengthOf(n lenient.Number) int {
	const most = 1 << 10
	if !n.Known || n.Value < 1 || n.Value > most {
		return 0
	}

	return int(n.Value)
}

// accountIn finds our account in a collection: the one that has exactly our name
// (Dell lists slots, most of them without one), or the only one that has it in
// another spelling. Of two that have it, one isn't enabled, and that isn't ours.
func (c *Client) accountIn(ctx context.Context, collection string) (place, error) {
	uris, err := c.members(ctx, collection)
	if err != nil {
		return place{}, err
	}
	var off, like, likeOff []place
	for _, uri := range uris {
		var b accountBody
		a, err := c.get(ctx, uri, &b)
		if err != nil && !skippable(err) {
			return place{}, err
		}
		p := place{path: uri, etag: a.etag}
		switch {
		case err != nil: // It's somebody else's.
		case !strings.EqualFold(string(b.User), c.cfg.Username):
		case string(b.User) == c.cfg.Username && b.on():
			return p, nil
		case string(b.User) == c.cfg.Username:
			off = append(off, p)
		case b.on():
			like = append(like, p)
		default:
			likeOff = append(likeOff, p)
		}
	}
	for _, found := range [][]place{like, off, likeOff} {
		if len(found) == 1 {
			return found[0], nil
		}
	}

	return place{}, unsupported("an account of this user")
}

// namedAccount is the account that the BMC named as the one whose password must
// be changed. It may refuse to show it; one that is shown must be ours.
func (c *Client) namedAccount(ctx context.Context) (place, error) {
	var b accountBody
	a, err := c.get(ctx, c.account, &b)
	switch {
	case err != nil && !skippable(err) && KindOf(err) != PasswordChangeRequired:
		return place{}, err
	case err == nil && b.User != "" && !strings.EqualFold(string(b.User), c.cfg.Username):
		return place{}, unsupported("an account of this user")
	}

	return place{path: c.account, etag: a.etag}, nil
}

// SetPassword gives an account of the BMC of s another password; s may be the
// zero System, of a BMC that shows none before that. Whether it's the account's is
// told by TryPassword: a 202 is a promise, and some take a while without saying so.
func (c *Client) SetPassword(ctx context.Context, s System, a Account, password string) (Receipt, error) {
	var facts quirk.Facts
	if s.URI != "" {
		var err error
		if facts, _, err = c.quirks(ctx, s); err != nil {
			return Receipt{}, unsent(err)
		}
	}
	done, err := c.patched(ctx, a.place, map[string]string{propPassword: password}, facts)
	if err != nil {
		return Receipt{}, err
	}
	c.account, c.initial = "", false

	return receiptOf(done), nil
}

// TryPassword says whether the BMC lets our user in with another password: by one
// log-in, which is ended again. An error is that it didn't say; one that is
// Unauthorized, that it said no in words that others have for something else.
func (c *Client) TryPassword(ctx context.Context, password string) (bool, error) {
	defer changesNothing(ctx)()
	defer unhurried(ctx)() // Some delay the refusal: one that is broken off counts all the same, and nobody has heard it.
	cfg := c.cfg
	cfg.Password = password
	with := &Client{cfg: cfg, address: c.address, trust: c.trust, http: c.http, fence: c.fence, api: c.api, root: c.root}
	err := with.login(ctx)
	if KindOf(err) == SessionsFull && c.session != "" {
		// Ours is one of those, and was opened with a password that isn't the account's any more.
		c.leave(ctx, c.session, c.header)
		c.token, c.session, c.header, c.lost = false, "", nil, true
		err = with.login(ctx)
	}
	if err == nil && !with.token {
		if _, err = with.try(ctx, http.MethodGet, c.guarded(), nil, ""); KindOf(err) == Forbidden {
			err = nil // Who may not see it was let in.
		}
	}
	if with.session != "" {
		_, _ = with.try(ctx, http.MethodDelete, with.session, nil, "") // It ends by itself else.
	}
	switch KindOf(err) { //nolint:exhaustive // All others say nothing about the password.
	case Unauthorized:
		if !IsPlainRefusal(err) {
			return false, err
		}

		return false, nil
	case PasswordChangeRequired:
		return true, nil
	}

	return err == nil, err
}

// guarded is a resource for which one must be let in.
func (c *Client) guarded() string {
	for _, uri := range []string{c.system, string(c.root.Systems)} {
		if uri != "" {
			return uri
		}
	}

	return pathSystems
}

// accountNamed is the account that a message names as the one whose password must
// be changed, or "" (DSP0266, "Password change required handling").
func accountNamed(said infos) string {
	for _, info := range said {
		if !isNewPassword(string(info.ID)) {
			continue
		}
		if i := slices.IndexFunc(info.Args, isAccount); i >= 0 {
			return localPath(info.Args[i])
		}
	}

	return ""
}
