package onlab

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// tryLogins with a password that is wrong, as often as locks the account.
func tryLogins(ctx context.Context, url string) error {
	c := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // An emulator of our own.
	defer c.CloseIdleConnections()
	for range bmc.DefaultLockoutAfter {
		body := strings.NewReader(fmt.Sprintf(`{"UserName":%q,"Password":"old"}`, lab.BMCUser))
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/redfish/v1/SessionService/Sessions", body)
		if err != nil {
			return fmt.Errorf("cannot ask the BMC: %w", err)
		}
		req.Header.Set("Content-Type", "application/json")
		res, err := c.Do(req)
		if err != nil {
			return fmt.Errorf("cannot try to log in: %w", err)
		}
		_ = res.Body.Close() // Its status says all.
		if res.StatusCode != http.StatusUnauthorized {
			return fmt.Errorf("a wrong password is answered with %s", res.Status)
		}
	}
	return nil
}

// errStill is something that isn't over yet.
var errStill = errors.New("it isn't so yet")

// lockAccount is another tool with an old password, which tries until the account is locked.
func (s *stage) lockAccount(ctx context.Context) error {
	h := s.host()
	if err := tryLogins(ctx, h.BMC.URL()); err != nil {
		return err
	}
	h.BMC.ExpireSessions()
	return s.Until(ctx, "the account to be refused", patience, func(ctx context.Context) error {
		u, err := s.Get(ctx, hostRef())
		if err != nil {
			return err
		}
		if lab.ConditionOf(u, "Reachable").Reason == "Unauthorized" {
			return nil
		}
		return errors.Join(errStill, s.poke(ctx))
	})
}
