package bmc

import (
	"net/http"
	"slices"
	"strings"
)

// resettable is the System whose reset a path is, nil where it's none.
func (b *BMC) resettable(path string) *system {
	for _, s := range b.systems {
		if treeKey(path) == treeKey(s.reset) {
			return s
		}
	}

	return nil
}

// post carries out an action, a System's reset or another.
func (b *BMC) post(w http.ResponseWriter, r *http.Request, path string) {
	s := b.resettable(path)
	if s == nil {
		if !b.act(w, r, path) && !b.configJob(w, r, path) {
			b.noAction(w, path)
		}

		return
	}
	if r.Header.Get("If-Match") != "" && s.behaviour.NoIfMatchOnActions {
		b.fail(w, http.StatusPreconditionFailed, problem{message: "PreconditionFailed"})

		return
	}
	body, bad := bodyOf(r)
	if bad.message != "" {
		b.fail(w, http.StatusBadRequest, bad)

		return
	}
	name := s.behaviour.ResetParameter
	if name == "" {
		name = "ResetType"
	}
	kind, ok := body[name].(string)
	if !ok {
		b.fail(w, http.StatusBadRequest, problem{message: "ActionParameterMissing", property: name})

		return
	}
	b.mu.Lock()
	offered := b.resetTypes(s)
	b.mu.Unlock()
	if !slices.Contains(offered, kind) {
		b.fail(w, http.StatusBadRequest, problem{message: "ActionParameterNotSupported", property: name, value: kind})

		return
	}
	if b.later(w, s, kind) {
		return
	}
	if status, p := b.resets(s, kind); status != 0 {
		b.fail(w, status, p)

		return
	}
	b.done(w, s.behaviour)
}

// noAction answers a POST to something else.
func (b *BMC) noAction(w http.ResponseWriter, path string) {
	b.mu.Lock()
	there := b.store.get(path) != nil
	parent, _, isAction := strings.Cut(treeKey(path), "/actions/")
	known := isAction && b.store.get(parent) != nil
	b.mu.Unlock()
	switch {
	case there:
		b.notAllowed(w, path)
	case known:
		b.fail(w, http.StatusBadRequest, problem{message: "ActionNotSupported", value: path})
	default:
		b.fail(w, http.StatusNotFound, problem{message: msgMissing})
	}
}

// resetTypes are what a System advertises and what it takes besides. Called with
// the lock held.
func (b *BMC) resetTypes(s *system) []string {
	out := append(slices.Clone(s.behaviour.ResetTypes), b.offered(at(b.store.body(s.uri), "Actions", actionReset))...)
	if len(out) == 0 {
		return standardResets()
	}

	return out
}

// offered are the ResetTypes of an action, inline and in its ActionInfo.
func (b *BMC) offered(action any) []string {
	out := slices.Clone(textsAt(action, "ResetType"+allowable))
	var parameters []any
	switch list := at(b.store.body(linkAt(action, "@Redfish.ActionInfo")), "Parameters").(type) {
	case []any:
		parameters = list
	case []object:
		for _, o := range list {
			parameters = append(parameters, o)
		}
	}
	for _, p := range parameters {
		if textAt(p, "Name") == "ResetType" {
			out = append(out, textsAt(p, "AllowableValues")...)
		}
	}

	return out
}

// resets does what a ResetType says, or says why it can't.
func (b *BMC) resets(s *system, kind string) (int, problem) {
	on := s.machine.Powered()
	act := kind
	switch {
	case kind == "ForceOn":
		act = "On"
	case kind == "Off":
		act = "ForceOff"
	case kind == "PushPowerButton" && on:
		act = resetShutdown
	case kind == "PushPowerButton":
		act = "On"
	}
	off := act == "ForceOff" || act == resetShutdown
	if on == (act == "On") {
		return s.redundant(on, off)
	}
	deaf, soon := b.accepted(s, kind, on)
	if soon {
		return http.StatusBadRequest, problem{message: msgInUse}
	}
	var err error
	switch act {
	case "Nmi":
	case "On":
		err = s.machine.On(b.NextBoot(s.id))
	case "ForceOff":
		err = s.machine.Off(false)
	case resetShutdown:
		if !deaf {
			err = s.machine.Off(true)
		}
	default:
		if s.behaviour.RestartHangs && act == resetForce {
			err = s.machine.Off(false)

			break
		}
		if act != resetGraceful || !deaf {
			err = s.machine.Restart(b.NextBoot(s.id))
		}
	}
	if err != nil {
		return http.StatusInternalServerError, problem{message: "InternalError"}
	}

	return 0, problem{}
}

// redundant answers an action that the state leaves nothing to do for. What
// needs a running machine is refused by all.
func (s *system) redundant(on, off bool) (int, problem) {
	if s.behaviour.Redundant == 0 && (on || off) {
		return 0, problem{}
	}
	if s.behaviour.Redundant == 0 {
		return http.StatusConflict, problem{message: "NoOperation"}
	}

	return s.behaviour.Redundant, problem{message: "NoOperation"}
}

// accepted records a reset and says whether the OS is deaf to graceful ones. It
// isn't taken so soon after another.
func (b *BMC) accepted(s *system, kind string, wasOn bool) (deaf, soon bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.cfg.Now()
	if wait := s.behaviour.TooSoon; wait > 0 && !s.lastReset.IsZero() && now.Before(s.lastReset.Add(wait)) {
		return false, true
	}
	b.counters.Resets[kind]++
	s.lastReset = now
	if lag := max(b.lag, s.behaviour.Lag); lag > 0 {
		s.laggedOn, s.lagUntil = wasOn, now.Add(lag)
	}

	return b.ignoreGraceful, false
}
