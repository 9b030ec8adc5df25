package bmc

import (
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	pathSessionService = "/redfish/v1/SessionService"
	pathSessions       = "/redfish/v1/SessionService/Sessions"
)

// session is one that is open.
type session struct {
	id   string
	used time.Time
}

// findSessions makes the sessions ours, whatever the tree has: those that were
// open at a capture aren't.
func (b *BMC) findSessions() {
	root := b.store.body(pathRoot)
	b.sessions = linkAt(root, "Links", "Sessions")
	if b.sessions == "" {
		b.sessions = linkAt(b.store.body(linkAt(root, "SessionService")), "Sessions")
	}
	if b.sessions == "" {
		b.sessions = pathSessions
	}
	b.sessions = strings.TrimRight(b.sessions, "/")
	for _, uri := range b.store.children(b.sessions) {
		b.store.remove(uri)
	}
	if b.cfg.NoSessions {
		b.store.remove(b.sessions)
		b.store.change(pathRoot, func(body object) {
			delete(body, "SessionService")
			if links, ok := body["Links"].(object); ok {
				delete(links, "Sessions")
			}
		})

		return
	}
	b.listSessions()
}

// listSessions shows the open ones. Called with the lock held, or before there
// is anybody else.
func (b *BMC) listSessions() {
	members := []object{}
	for _, s := range b.open {
		members = append(members, link(b.sessions+"/"+s.id))
	}
	b.store.put(b.sessions, object{
		"@odata.type": "#SessionCollection.SessionCollection", "Name": "Sessions", "Members": members, "Members@odata.count": len(members),
	})
}

func (b *BMC) isSessions(path string) bool {
	k := treeKey(path)

	return !b.cfg.NoSessions && (k == treeKey(b.sessions) || k == treeKey(b.sessions)+"/members")
}

// credentialsMatch checks a login, counts it, and locks the account after too
// many failures: a client that retries a wrong password is found out.
func (b *BMC) credentialsMatch(username, password string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failed >= b.cfg.LockoutAfter || username != b.cfg.Username || password != b.cfg.Password {
		b.failed++
		b.counters.FailedLogins++
		if b.failed == b.cfg.LockoutAfter {
			b.counters.Lockouts++
		}

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
	b.endSessions()
}

// ExpireSessions ends all sessions, as a timeout or a restart of the BMC does.
func (b *BMC) ExpireSessions() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.endSessions()
}

// FillSessions opens sessions until no more are left, as other clients do.
func (b *BMC) FillSessions() {
	for {
		if _, _, ok := b.openSession(false); !ok {
			return
		}
	}
}

// Sessions says how many sessions are open.
func (b *BMC) Sessions() int {
	b.mu.Lock()
	defer b.mu.Unlock()

	return len(b.open)
}

func (b *BMC) endSessions() {
	for token, s := range b.open {
		b.endSession(token, s)
	}
	b.hangUpOn("") // Who was let in without one.
	b.listSessions()
}

func (b *BMC) endSession(token string, s *session) {
	delete(b.open, token)
	b.hangUpOn(token)
	b.store.remove(b.sessions + "/" + s.id)
}

func (b *BMC) login(w http.ResponseWriter, r *http.Request) {
	body, bad := bodyOf(r)
	if bad.message != "" {
		b.fail(w, http.StatusBadRequest, bad)

		return
	}
	user, password := textAt(body, "UserName"), textAt(body, "Password")
	if !b.credentialsMatch(user, password) {
		if status := b.behaviour.LoginRefusal; status != 0 {
			b.fail(w, status, problem{message: "GeneralError"})

			return
		}
		b.unauthorized(w)

		return
	}
	id, token, ok := b.openSession(true)
	if !ok {
		status := b.behaviour.SessionsFull
		if status == 0 {
			status = http.StatusServiceUnavailable
		}
		b.fail(w, status, problem{message: "SessionLimitExceeded"})

		return
	}
	w.Header().Set("X-Auth-Token", token)
	w.Header().Set("Location", b.sessions+"/"+id)
	body = object{"@odata.id": b.sessions + "/" + id, "Id": id, "UserName": user}
	if p, first := b.firstPassword(); first {
		body["@Message.ExtendedInfo"] = []object{b.info(p)}
	}
	reply(w, http.StatusCreated, body)
}

// openSession opens one, ours to count or another client's.
func (b *BMC) openSession(ours bool) (id, token string, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.cfg.Now()
	for token, s := range b.open {
		if !b.lives(s, now) {
			b.endSession(token, s)
		}
	}
	if len(b.open) >= b.maxSessions() {
		return "", "", false
	}
	secret := make([]byte, 16)
	_, _ = rand.Read(secret)
	token = Secret + "-" + hex.EncodeToString(secret)
	b.nextSession++
	id = strconv.Itoa(b.nextSession)
	b.open[token] = &session{id: id, used: now}
	b.store.put(b.sessions+"/"+id, object{"Id": id, "Name": "Session " + id, "UserName": b.cfg.Username})
	b.listSessions()
	if ours {
		b.counters.Logins++
	}

	return id, token, true
}

func (b *BMC) maxSessions() int {
	if b.cfg.MaxSessions == 0 {
		return max(b.behaviour.Sessions, DefaultMaxSessions)
	}

	return b.cfg.MaxSessions
}

func (b *BMC) lives(s *session, now time.Time) bool {
	limit := b.behaviour.SessionTimeout

	return limit == 0 || now.Sub(s.used) < limit
}

func (b *BMC) logout(w http.ResponseWriter, path string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for token, s := range b.open {
		if treeKey(path) != treeKey(b.sessions+"/"+s.id) {
			continue
		}
		b.endSession(token, s)
		b.listSessions()
		b.counters.Logouts++
		w.WriteHeader(http.StatusNoContent)

		return
	}
	if b.store.get(path) != nil {
		w.Header().Set("Allow", b.allow(path))
		b.fail(w, http.StatusMethodNotAllowed, problem{message: msgNotAllowed})

		return
	}
	b.fail(w, http.StatusNotFound, problem{message: msgMissing})
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
	now := b.cfg.Now()
	s, ok := b.open[token]
	if !ok || !b.lives(s, now) {
		return false
	}
	s.used = now

	return true
}

func (b *BMC) unauthorized(w http.ResponseWriter) {
	b.count(func(c *Counters) { c.Unauthorized++ })
	b.fail(w, http.StatusUnauthorized, problem{message: "ResourceAtUriUnauthorized"})
}
