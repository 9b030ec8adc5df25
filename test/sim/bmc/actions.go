package bmc

import (
	"net/http"
	"path"
	"slices"
	"strings"
	"time"
)

const (
	actionInsert   = "#VirtualMedia.InsertMedia"
	actionEject    = "#VirtualMedia.EjectMedia"
	actionResetBMC = "#Manager.Reset"
)

// bmcBoot is how long a BMC is away that restarts, where its kind doesn't say.
const bmcBoot = time.Minute

// actionAt is the action whose target a path is, with the resource that offers
// it. Called with the lock held.
func (b *BMC) actionAt(target string) (name, uri string) {
	parent, _, found := strings.Cut(treeKey(target), "/actions/")
	if !found {
		return "", ""
	}
	actions, _ := b.store.body(parent)["Actions"].(object)
	for name := range actions {
		if treeKey(textAt(actions, name, "target")) == treeKey(target) {
			return name, b.store.get(parent).uri
		}
	}

	return "", ""
}

// act carries out an action that isn't a System's reset; false is none that is
// emulated.
func (b *BMC) act(w http.ResponseWriter, r *http.Request, target string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	name, uri := b.actionAt(target)
	does := map[string]func(*http.Request, string) (int, problem){actionInsert: b.insert, actionEject: b.eject, actionResetBMC: b.resetBMC}[name]
	if does == nil {
		return false
	}
	status, p := does(r, uri)
	if status != 0 {
		b.fail(w, status, p)
	} else {
		b.done(w, b.behaviour)
	}

	return true
}

// insert puts an image into a slot that is empty.
func (b *BMC) insert(r *http.Request, slot string) (int, problem) {
	body, bad := bodyOf(r)
	if bad.message != "" {
		return http.StatusBadRequest, bad
	}
	known := []string{"Image", "Inserted", "WriteProtected", "TransferProtocolType", "TransferMethod", "MediaType", "UserName", "Password"}
	for name := range body {
		if !slices.Contains(known, name) {
			return http.StatusBadRequest, problem{message: "ActionParameterUnknown", property: name}
		}
	}
	image := textAt(body, "Image")
	switch {
	case image == "":
		return http.StatusBadRequest, problem{message: "ActionParameterMissing", property: "Image"}
	case b.behaviour.MediaProtocol && textAt(body, "TransferProtocolType") == "":
		return http.StatusBadRequest, problem{message: "ActionParameterMissing", property: "TransferProtocolType"}
	case at(b.store.body(slot), "Inserted") == true:
		return http.StatusBadRequest, problem{message: msgInUse}
	}
	protected, said := body["WriteProtected"].(bool)
	b.arriving = append(b.arriving, arrival{slot: slot, due: b.cfg.Now().Add(b.behaviour.MediaTakes), fill: func(o object) { fill(o, image, protected || !said) }})
	b.arrive()

	return 0, problem{}
}

// eject takes an image out.
func (b *BMC) eject(r *http.Request, slot string) (int, problem) {
	if _, bad := bodyOf(r); bad.message == msgMalformed || bad.message == "EmptyJSON" && b.behaviour.EjectBody && r.ContentLength <= 0 {
		return http.StatusBadRequest, problem{message: msgMalformed}
	}
	if at(b.store.body(slot), "Inserted") != true && b.behaviour.Redundant != 0 {
		return http.StatusBadRequest, problem{message: "NoOperation"}
	}
	b.store.change(slot, empty)

	return 0, problem{}
}

// ejectable lists the action to eject at a slot that shows only the one to insert
// while it's empty (Supermicro X13).
func ejectable(slot object) {
	actions, _ := slot["Actions"].(object)
	target := textAt(actions, actionInsert, "target")
	if parent, ok := strings.CutSuffix(target, actionInsert[1:]); ok && actions[actionEject] == nil {
		actions[actionEject] = object{"target": parent + actionEject[1:]}
	}
}

// fill is what a slot shows with an image in it, and empty without.
func fill(slot object, image string, protected bool) {
	slot["Inserted"], slot["Image"], slot["ImageName"] = true, image, path.Base(image)
	slot["WriteProtected"], slot["ConnectedVia"] = protected, "URI"
	ejectable(slot)
}

func empty(slot object) {
	slot["Inserted"], slot["Image"], slot["ImageName"], slot["ConnectedVia"] = false, nil, nil, "NotConnected"
}

// resetBMC restarts the BMC, which loses its sessions, tasks and images.
func (b *BMC) resetBMC(r *http.Request, manager string) (int, problem) {
	body, bad := bodyOf(r)
	if bad.message == msgMalformed {
		return http.StatusBadRequest, bad
	}
	offered := b.offered(at(b.store.body(manager), "Actions", actionResetBMC))
	if len(offered) == 0 {
		offered = []string{"", resetGraceful, resetForce}
	}
	if kind := textAt(body, "ResetType"); !slices.Contains(offered, kind) {
		return http.StatusBadRequest, problem{message: "ActionParameterNotSupported", property: "ResetType", value: kind}
	}
	for _, uri := range b.slots() {
		if at(b.store.body(uri), "Inserted") == true {
			b.store.change(uri, empty)
		}
	}
	if tellsResets(b.store.body(manager)) {
		now := b.cfg.Now().UTC().Format(time.RFC3339)
		b.store.change(manager, func(o object) { o["LastResetTime"] = now })
	}
	b.counters.BMCResets++
	b.endSessions()
	b.forget()
	b.dropTasks()
	b.restarting = b.cfg.Now().Add(bmcBoot)

	return 0, problem{}
}

// slots are the virtual media of all managers and Systems.
func (b *BMC) slots() []string {
	root := b.store.body(pathRoot)
	var out []string
	for _, owner := range append(b.store.members(linkAt(root, "Managers"), pathManagers), b.store.systemURIs()...) {
		out = append(out, linksAt(b.store.body(linkAt(b.store.body(owner), "VirtualMedia")), "Members")...)
	}

	return out
}

// slotTarget is what a slot takes that has no action to insert (XCC): the image
// itself is written.
func (b *BMC) slotTarget(uri string) *writeTarget {
	if !strings.Contains(treeKey(uri), "/virtualmedia/") {
		return nil
	}
	body := b.store.body(uri)
	if _, slot := body["Inserted"]; !slot || at(body, "Actions", actionInsert) != nil {
		return nil
	}
	orNull := func(rule valueRule) valueRule {
		return func(v any) problem {
			if v == nil {
				return problem{}
			}

			return rule(v)
		}
	}
	t := &writeTarget{behaviour: b.behaviour, uri: uri, body: body, rules: map[string]valueRule{"Inserted": anyFlag, "WriteProtected": anyFlag}}
	for _, name := range []string{"Image", "UserName", "Password"} {
		t.rules[name] = orNull(anyText)
	}
	t.after = func(o object) {
		image := textAt(o, "Image")
		if image == "" || o["Inserted"] == false && at(body, "Inserted") == true {
			empty(o)

			return
		}
		protected, _ := o["WriteProtected"].(bool)
		fill(o, image, protected)
		o["UserName"], o["Password"] = nil, nil
	}

	return t
}

func anyFlag(v any) problem {
	if _, ok := v.(bool); !ok {
		return problem{message: msgType, value: shown(v)}
	}

	return problem{}
}
