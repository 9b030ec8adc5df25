package bmc

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
)

const (
	pathRoot     = "/redfish/v1"
	pathSessions = "/redfish/v1/SessionService/Sessions"
)

// credentialsMatch checks a login, counts it, and locks the account after too
// many failures: a client that retries a wrong password is found out.
func (b *BMC) credentialsMatch(username, password string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failed >= b.cfg.LockoutAfter || username != b.cfg.Username || password != b.cfg.Password {
		b.failed++
		b.counters.FailedLogins++

		return false
	}
	b.failed = 0

	return true
}

// Unlock forgets failed logins.
func (b *BMC) Unlock() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failed = 0
}

// SetPassword changes the account's password and ends all sessions.
func (b *BMC) SetPassword(password string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cfg.Password = password
	clear(b.sessions)
}

// ExpireSessions ends all sessions, as a timeout or a restart of the BMC does.
func (b *BMC) ExpireSessions() {
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.sessions)
}

// Sessions says how many sessions are open.
func (b *BMC) Sessions() int {
	b.mu.Lock()
	defer b.mu.Unlock()

	return len(b.sessions)
}

func (b *BMC) login(w http.ResponseWriter, r *http.Request) {
	if b.cfg.NoSessions {
		fail(w, http.StatusNotFound, "ResourceMissingAtURI")

		return
	}
	var body struct {
		UserName string `json:"UserName"`
		Password string `json:"Password"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		fail(w, http.StatusBadRequest, "MalformedJSON")

		return
	}
	if !b.credentialsMatch(body.UserName, body.Password) {
		b.unauthorized(w)

		return
	}
	id, token, ok := b.openSession()
	if !ok {
		fail(w, http.StatusServiceUnavailable, "SessionLimitExceeded")

		return
	}
	w.Header().Set("X-Auth-Token", token)
	w.Header().Set("Location", pathSessions+"/"+id)
	reply(w, http.StatusCreated, object{"@odata.id": pathSessions + "/" + id, "Id": id, "UserName": body.UserName})
}

func (b *BMC) openSession() (id, token string, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.sessions) >= b.cfg.MaxSessions {
		return "", "", false
	}
	secret := make([]byte, 16)
	_, _ = rand.Read(secret)
	token = hex.EncodeToString(secret)
	b.nextSession++
	id = strconv.Itoa(b.nextSession)
	b.sessions[token] = id
	b.counters.Logins++

	return id, token, true
}

func (b *BMC) logout(w http.ResponseWriter, path string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for token, id := range b.sessions {
		if strings.TrimPrefix(path, pathSessions+"/") == id {
			delete(b.sessions, token)
			b.counters.Logouts++
			w.WriteHeader(http.StatusNoContent)

			return
		}
	}
	fail(w, http.StatusNotFound, "ResourceMissingAtURI")
}

// authorized lets a request with a live token or the account's basic
// authentication pass, and answers every other one with 401.
func (b *BMC) authorized(w http.ResponseWriter, r *http.Request) bool {
	if b.liveToken(r.Header.Get("X-Auth-Token")) {
		return true
	}
	if user, password, ok := r.BasicAuth(); ok && b.credentialsMatch(user, password) {
		return true
	}
	b.unauthorized(w)

	return false
}

func (b *BMC) liveToken(token string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, ok := b.sessions[token]

	return ok
}

func (b *BMC) unauthorized(w http.ResponseWriter) {
	b.count(func(c *Counters) { c.Unauthorized++ })
	fail(w, http.StatusUnauthorized, "ResourceAtUriUnauthorized")
}
