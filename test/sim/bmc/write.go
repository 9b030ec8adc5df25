package bmc

import (
	"encoding/json"
	"net/http"
	"slices"
)

// patch changes a boot override, the only thing that can be changed.
func (b *BMC) patch(w http.ResponseWriter, r *http.Request, path string) {
	s := b.patchable(path)
	if s == nil {
		fail(w, http.StatusMethodNotAllowed, "OperationNotAllowed")

		return
	}
	var body struct {
		Boot struct {
			Target  *string `json:"BootSourceOverrideTarget"`
			Enabled *string `json:"BootSourceOverrideEnabled"`
			Mode    *string `json:"BootSourceOverrideMode"`
		} `json:"Boot"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		fail(w, http.StatusBadRequest, "MalformedJSON")

		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if status := s.precondition(r.Header.Get("If-Match")); status != 0 {
		fail(w, status, "PreconditionFailed")

		return
	}
	next, bad := s.patched(body.Boot.Target, body.Boot.Enabled, body.Boot.Mode)
	if bad != "" {
		fail(w, http.StatusBadRequest, bad)

		return
	}
	s.override = next
	s.etag++
	b.counters.Patches++
	w.WriteHeader(http.StatusNoContent)
}

// patchable finds the System whose override is changed at path: the System
// itself, or the settings resource where the model has one.
func (b *BMC) patchable(path string) *system {
	for _, s := range b.systems {
		if s.cfg.Model == ModelActionInfo && path == s.settingsURI() {
			return s
		}
		if s.cfg.Model == ModelInline && path == s.uri() {
			return s
		}
	}

	return nil
}

// precondition compares If-Match with the ETag: 412 where it differs, 428
// where the model wants one and none came, 0 to go on.
func (s *system) precondition(ifMatch string) int {
	if ifMatch == "" && s.cfg.Model == ModelActionInfo {
		return http.StatusPreconditionRequired
	}
	if ifMatch != "" && ifMatch != "*" && ifMatch != s.etagHeader() {
		return http.StatusPreconditionFailed
	}

	return 0
}

// patched is the override after a PATCH, or what is wrong with it. Target None
// alone doesn't disable an override, as with many real BMCs.
func (s *system) patched(target, enabled, mode *string) (next override, bad string) {
	next = s.override
	if mode != nil {
		if s.cfg.Model == ModelActionInfo {
			return next, "PropertyUnknown"
		}
		next.mode = *mode
	}
	if target != nil {
		if !s.accepts(*target) {
			return next, "PropertyValueNotInList"
		}
		next.target = *target
	}
	if enabled != nil {
		if !slices.Contains([]string{"Once", "Continuous", "Disabled"}, *enabled) {
			return next, "PropertyValueNotInList"
		}
		next.enabled = *enabled
	}

	return next, ""
}

// post carries out the only action there is, a System's reset.
func (b *BMC) post(w http.ResponseWriter, r *http.Request, path string) {
	i := slices.IndexFunc(b.systems, func(s *system) bool { return path == s.resetURI() })
	if i < 0 {
		fail(w, http.StatusNotFound, "ResourceMissingAtURI")

		return
	}
	s := b.systems[i]
	if r.Header.Get("If-Match") != "" {
		fail(w, http.StatusPreconditionFailed, "PreconditionFailed")

		return
	}
	var body struct {
		ResetType string `json:"ResetType"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		fail(w, http.StatusBadRequest, "MalformedJSON")

		return
	}
	if !slices.Contains(s.resetTypes(), body.ResetType) {
		fail(w, http.StatusBadRequest, "ActionParameterNotSupported")

		return
	}
	if status, message := b.reset(s, body.ResetType); status != 0 {
		fail(w, status, message)

		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// reset does what resetType says, or says why it can't: a redundant power
// action is refused with 409, as with Dell.
func (b *BMC) reset(s *system, resetType string) (status int, message string) {
	m := s.cfg.Machine
	on := m.Powered()
	if on == (resetType == "On") {
		return http.StatusConflict, "NoOperation"
	}
	if resetType == "Nmi" {
		b.accepted(s, resetType, on)

		return 0, ""
	}
	deaf := b.accepted(s, resetType, on)
	var err error
	switch resetType {
	case "On":
		err = m.On(b.NextBoot(s.cfg.ID))
	case "ForceOff":
		err = m.Off(false)
	case "GracefulShutdown":
		if !deaf {
			err = m.Off(true)
		}
	default:
		err = m.Restart(b.NextBoot(s.cfg.ID))
	}
	if err != nil {
		return http.StatusInternalServerError, "InternalError"
	}

	return 0, ""
}

// accepted records a reset and says whether the OS is deaf to graceful ones.
func (b *BMC) accepted(s *system, resetType string, wasOn bool) (deaf bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counters.Resets[resetType]++
	now := b.cfg.Now()
	s.lastReset = now
	if b.lag > 0 {
		s.laggedOn, s.lagUntil = wasOn, now.Add(b.lag)
	}

	return b.ignoreGraceful
}

// NextBoot tells what the System boots now and uses up a Once override. The
// emulator calls it for every reset; a Machine that reboots by itself (its OS
// asked) calls it to do what firmware would.
func (b *BMC) NextBoot(systemID string) BootTarget {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(b.systems, func(s *system) bool { return s.cfg.ID == systemID })
	if i < 0 {
		return BootNormal
	}
	s := b.systems[i]
	target := BootTarget(s.override.target)
	if s.override.enabled == "Disabled" || target == "None" {
		return BootNormal
	}
	if s.override.enabled == "Once" {
		s.override.target, s.override.enabled = "None", "Disabled"
		s.etag++
	}

	return target
}

// Override tells a System's boot override as (target, enabled).
func (b *BMC) Override(systemID string) (target, enabled string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.systems {
		if s.cfg.ID == systemID {
			return s.override.target, s.override.enabled
		}
	}

	return "", ""
}
