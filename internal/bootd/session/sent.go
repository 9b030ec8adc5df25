package session

import "github.com/crossplane-contrib/provider-baremetal/internal/boot"

// Sent counts what a machine was sent. It's written with what is written next: by itself it's worth no write.
func (m *Manager) Sent(n boot.Name, bytes int64) {
	if !m.none(n) {
		m.count(n, bytes)
	}
}

// none says that a machine certainly has no session: a Holder knows that without asking anybody.
func (m *Manager) none(n boot.Name) bool {
	h, ok := m.o.Store.(Holder)
	return ok && !h.Has(n)
}

func (m *Manager) count(n boot.Name, bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sent[n] += bytes; m.sent[n] <= 0 { // A boot may have begun anew meanwhile.
		delete(m.sent, n)
	}
}

func (m *Manager) counted(n boot.Name) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sent[n]
}
