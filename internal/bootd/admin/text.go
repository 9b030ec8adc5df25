package admin

import (
	"fmt"
	"strings"
	"time"
)

// Text is an explanation for people.
func (e Explanation) Text() string {
	t := &text{}
	m := e.Machine
	t.linef("%s  %s  (bootd %s, %s)", m.Entry, strings.Join(m.MACs, " "), e.Server, when(e.At))
	t.itemf("plan", "mode %s, method %s, generation %d (installed %d), for %s, digest %s",
		m.Mode, m.Method, m.InstallGeneration, m.InstalledGeneration, orNone(strings.Join(m.Architectures, " and ")), m.PlanDigest)
	t.itemf("network", "%s, address %s, gateway %s", m.Network, orNone(m.Address), orNone(m.Gateway))
	if m.Address6 != "" {
		t.itemf("", "and address %s, gateway %s", m.Address6, orNone(m.Gateway6))
	}
	if m.Port != "" {
		t.itemf("port", "%s, behind which %s was seen", m.Port, orNone(m.BehindPort))
	}
	e.sessionLines(t)
	t.itemf("last asked", "%s", e.lastAsked())
	if e.OffersAfter != "" {
		t.itemf("turn", "another bootd offers first, and this one %s later", e.OffersAfter)
	}
	if len(e.NotServed) > 0 {
		t.itemf("not served", "%s", strings.Join(e.NotServed, ", "))
	}
	if e.Held != "" {
		t.itemf("held", "%s", e.Held)
	}
	if e.WaitsFor != "" {
		t.itemf("waits for", "%s", e.WaitsFor)
	}
	t.linef("\nDHCP: what it would get")
	for _, x := range e.DHCP {
		t.itemf(x.As, "%s", x.line())
	}
	for i, s := range e.Scripts {
		if i > 0 && s.same(e.Scripts[i-1]) {
			continue
		}
		t.linef("\nScript for %s: %s (%s)%s", s.As, s.Answer, s.Reason, after(": ", s.Because))
		if s.Message != "" {
			t.linef("  %s", s.Message)
		}
		for line := range strings.Lines(s.Text) {
			t.linef("  | %s", strings.TrimRight(line, "\n"))
		}
	}
	return t.String()
}

// same says whether a script has nothing to say that the one before it didn't.
func (s Script) same(before Script) bool {
	before.As = s.As
	return s == before
}

func (e Explanation) sessionLines(t *text) {
	s := e.Session
	if s == nil {
		t.itemf("session", "none")
		return
	}
	if s.Revocation != "" {
		t.itemf("session", "closed (%s)", s.Revocation)
	}
	if g := s.Grant; g != nil {
		fits := "for this plan"
		if !g.Fits {
			fits = "NOT for this plan"
		}
		t.itemf("grant", "%s, generation %d, %s, until %s; %d of %d scripts", g.ID, g.Generation, fits, when(g.Expires), s.Scripts, s.MaxScripts)
	} else {
		t.itemf("grant", "none")
	}
	if c := s.Consumed; c != nil {
		t.itemf("used", "grant %s, generation %d, %s%s", c.GrantID, c.Generation, when(c.At), after(" by ", c.By))
	}
	if r := s.Installed; r != nil {
		t.itemf("installed", "generation %d, %s%s", r.Generation, when(r.At), after(": ", r.Message))
	}
	if r := s.Failed; r != nil {
		t.itemf("failed", "generation %d, %s%s", r.Generation, when(r.At), after(": ", r.Message))
	}
	if len(s.Logged) > 0 {
		t.itemf("in the log", "generations %s were consumed", strings.Trim(fmt.Sprint(s.Logged), "[]"))
	}
}

func (e Explanation) lastAsked() string {
	x := e.LastAsked
	if x == nil || x.Asked == nil {
		return "nothing was heard of it since bootd started, or it's forgotten"
	}
	return fmt.Sprintf("%s ago as %s; now that would get: %s", e.At.Sub(*x.Asked).Round(time.Second), x.As, x.line())
}

// line says what an exchange comes to.
func (x Exchange) line() string {
	if x.Answer == silence {
		return fmt.Sprintf("silence (%s)%s [%s]", x.Reason, after(": ", x.Because), x.Via)
	}
	return fmt.Sprintf("%s%s%s%s to %s [%s]", x.Answer, after(" ", x.Address), after(", then ", x.File), after(", ", x.TFTP), x.To, x.Via)
}

type text struct{ strings.Builder }

func (t *text) linef(format string, args ...any) { _, _ = fmt.Fprintf(t, format+"\n", args...) }

func (t *text) itemf(name, format string, args ...any) {
	t.linef("  %-22s %s", name, fmt.Sprintf(format, args...))
}

// after gives something with what goes before it, and nothing where it's empty.
func after(before, s string) string {
	if s == "" {
		return ""
	}
	return before + s
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func when(t time.Time) string { return t.UTC().Format(time.RFC3339) }
