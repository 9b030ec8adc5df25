package redfish

import "testing"

// TestPlainRefusal: a word that means a wrong password is one, whatever its status.
func TestPlainRefusal(t *testing.T) {
	cases := map[string]struct {
		reason, body string
		status       int
		want         bool
	}{
		"Status":  {reason: "The standard's.", status: 401, want: true},
		"ILO":     {reason: "HPE iLO 5's, by a 400.", status: 400, body: `{"error":{"@Message.ExtendedInfo":[{"MessageId":"iLO.2.15.UnauthorizedLoginAttempt"}]}}`, want: true},
		"Full":    {reason: "No session is left.", status: 403, body: `{"error":{"@Message.ExtendedInfo":[{"MessageId":"Base.1.18.SessionLimitExceeded"}]}}`},
		"General": {reason: "Whatever that means.", status: 400, body: `{"error":{"@Message.ExtendedInfo":[{"MessageId":"Base.1.18.GeneralError"}]}}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := connectTo(t, aBMC{
				"GET /redfish/v1/":                         {body: `{"Links":{"Sessions":{"@odata.id":"/redfish/v1/SessionService/Sessions"}},"SessionService":{"@odata.id":"/redfish/v1/SessionService"}}`},
				"POST /redfish/v1/SessionService/Sessions": {status: tc.status, body: tc.body},
			})
			c.cfg.Auth = AuthSession
			err := c.login(t.Context())
			if got := IsPlainRefusal(err); got != tc.want {
				t.Errorf("%s\nIsPlainRefusal(%v): %t, want %t", tc.reason, err, got, tc.want)
			}
		})
	}
}
