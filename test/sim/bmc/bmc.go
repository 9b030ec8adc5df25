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

const pathRoot = "/redfish/v1"

// BMC is one emulated BMC: an http.Handler that serves a tree of resources,
// owns the sessions, and does what its kind does with writes. Safe for
// concurrent use.
type BMC struct {
	cfg       Config
	behaviour Behaviour
	systems   []*system
	sessions  string // path of the collection

	mu             sync.Mutex
	store          *store
	open           map[string]*session // by token
	nextSession    int
	failed         int
	first          bool // the password must be changed
	faults         []*Fault
	lag            time.Duration
	ahead          time.Duration // of the real time
	ignoreGraceful bool
	restarting     time.Time
	stubborn       []string // BIOS attributes that stay as they are
	counters       Counters
	log            []Request
	writes         []Write
	tasks          []*task
	arriving       []arrival
	audience       audience
	told           int // events
	pushes         []push
	subscribed     int // ever
}

// New makes a BMC. It serves as soon as it is put behind a server.
func New(cfg Config) *BMC {
	cfg = cfg.withDefaults()
	b := &BMC{cfg: cfg, open: map[string]*session{}, counters: Counters{Resets: map[string]int{}}}
	tree := cfg.Tree
	if tree == nil {
		tree = ownTree(cfg)
	}
	b.store = newStore(tree)
	switch {
	case cfg.Behaviour != nil:
		b.behaviour = *cfg.Behaviour
	case cfg.Tree != nil:
		b.behaviour = BehaviourOf(tree)
	}
	b.first = cfg.FirstPassword
	b.findSystems()
	b.findSessions()

	return b
}

// Behaviour is the row that the BMC keeps to.
func (b *BMC) Behaviour() Behaviour { return b.behaviour }

// Systems are the ids of the Systems that can be reset, in the tree's order.
func (b *BMC) Systems() []string {
	out := make([]string, 0, len(b.systems))
	for _, s := range b.systems {
		out = append(out, s.id)
	}

	return out
}

// SystemURI is where a System is; "" where there is none.
func (b *BMC) SystemURI(id string) string {
	if s := b.system(id); s != nil {
		return s.uri
	}

	return ""
}

// ServeHTTP implements http.Handler.
func (b *BMC) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.record(r)
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	w, done := b.observe(w, r)
	defer done()
	serve := func(w http.ResponseWriter) { b.route(w, r) }
	if misbehave(b.fault(r), w, r, serve) {
		return
	}
	serve(w)
}

// route checks who asks and answers with a resource, an action or an error.
func (b *BMC) route(w http.ResponseWriter, r *http.Request) {
	b.finishTasks()
	if b.isRestarting() {
		b.fail(w, http.StatusServiceUnavailable, problem{message: "ServiceTemporarilyUnavailable"})

		return
	}
	if b.public(w, r) {
		return
	}
	path := strings.TrimRight(r.URL.Path, "/")
	if r.Method == http.MethodPost && treeKey(path) == treeKey(b.sessions) && b.cfg.NoSessions {
		b.fail(w, http.StatusNotFound, problem{message: msgMissing})

		return
	}
	if r.Method == http.MethodPost && b.isSessions(path) {
		b.login(w, r)

		return
	}
	if !b.authorized(w, r) || b.wantsPassword(w, r, path) {
		return
	}
	if does, streams := b.streams(r); streams {
		b.stream(w, r, does)

		return
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		b.get(w, r)
	case http.MethodPatch:
		b.patch(w, r, path)
	case http.MethodPost:
		if !b.subscribes(w, r, path) {
			b.post(w, r, path)
		}
	case http.MethodDelete:
		if !b.unsubscribes(w, path) {
			b.logout(w, path)
		}
	default:
		b.notAllowed(w, path)
	}
}

// public answers what needs no login: the service root, and what says that and
// how there is one (DSP0266, 13.2.3).
func (b *BMC) public(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	switch treeKey(r.URL.Path) {
	case "/redfish":
		reply(w, http.StatusOK, object{"v1": "/redfish/v1/"})
	case pathRoot:
		b.get(w, r)
	case pathRoot + "/odata":
		reply(w, http.StatusOK, object{"@odata.context": pathRoot + "/$metadata", "value": []object{{"name": "Service", "kind": "Singleton", "url": pathRoot + "/"}}})
	case pathRoot + "/$metadata":
		w.Header().Set("Content-Type", "application/xml")
		_, _ = w.Write([]byte(`<?xml version="1.0" encoding="UTF-8"?><edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"/>`))
	default:
		return false
	}

	return true
}

// object is a JSON object under construction.
type object = map[string]any

func link(uri string) object { return object{"@odata.id": uri} }

func reply(w http.ResponseWriter, status int, body any) {
	headers(w)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) //nolint:errchkjson // Our own maps of strings marshal; a client that hung up is gone.
}

func headers(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("OData-Version", "4.0")
}
