package bmc

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"
)

// maxBody bounds what a client may send.
const maxBody = 64 << 10

// BMC is one emulated BMC: an http.Handler that owns sessions, ETags and the
// boot override of its Systems. Safe for concurrent use.
type BMC struct {
	cfg     Config
	systems []*system

	mu             sync.Mutex
	sessions       map[string]string // token → session id
	nextSession    int
	failed         int
	faults         []*Fault
	lag            time.Duration
	ignoreGraceful bool
	counters       Counters
	log            []Request
}

// New makes a BMC. It serves as soon as it is put behind a server.
func New(cfg Config) *BMC {
	cfg = cfg.withDefaults()
	b := &BMC{cfg: cfg, sessions: map[string]string{}, counters: Counters{Resets: map[string]int{}}}
	for _, s := range cfg.Systems {
		b.systems = append(b.systems, &system{cfg: s, override: idle(), etag: 1})
	}

	return b
}

// ServeHTTP implements http.Handler.
func (b *BMC) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.record(r)
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	serve := func(w http.ResponseWriter) { b.route(w, r) }
	if misbehave(b.fault(r), w, r, serve) {
		return
	}
	serve(w)
}

// route checks who asks and answers with a resource, an action or an error.
func (b *BMC) route(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimRight(r.URL.Path, "/")
	if path == pathRoot && r.Method == http.MethodGet {
		reply(w, http.StatusOK, b.root())

		return
	}
	if path == pathSessions && r.Method == http.MethodPost {
		b.login(w, r)

		return
	}
	if !b.authorized(w, r) {
		return
	}
	switch r.Method {
	case http.MethodGet:
		b.get(w, path)
	case http.MethodPatch:
		b.patch(w, r, path)
	case http.MethodPost:
		b.post(w, r, path)
	case http.MethodDelete:
		b.logout(w, path)
	default:
		fail(w, http.StatusMethodNotAllowed, "OperationNotAllowed")
	}
}

func (b *BMC) get(w http.ResponseWriter, path string) {
	for _, s := range b.systems {
		if path == s.uri() || (path == s.settingsURI() && s.cfg.Model == ModelActionInfo) {
			body, etag := b.systemResource(s, path)
			w.Header().Set("ETag", etag)
			reply(w, http.StatusOK, body)

			return
		}
	}
	if body, ok := b.tree()[path]; ok {
		body["@odata.id"] = path
		reply(w, http.StatusOK, body)

		return
	}
	fail(w, http.StatusNotFound, "ResourceMissingAtURI")
}

// object is a JSON object under construction.
type object = map[string]any

func link(uri string) object { return object{"@odata.id": uri} }

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("OData-Version", "4.0")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) //nolint:errchkjson // Our own maps of strings marshal; a client that hung up is gone.
}

// fail answers with the error body of the Redfish specification (DSP0266, 8.6).
func fail(w http.ResponseWriter, status int, message string) {
	id := "Base.1.18." + message
	reply(w, status, object{"error": object{
		"code":    id,
		"message": "See @Message.ExtendedInfo.",
		"@Message.ExtendedInfo": []object{{
			"MessageId": id, "Message": "The emulated BMC refused: " + message + ".", "Severity": "Warning",
		}},
	}})
}
