package session

import "github.com/crossplane-contrib/provider-baremetal/internal/boot"

// uses notes that this bootd is about to write that a grant is used.
func (m *Manager) uses(n boot.Name, grant string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.unsaid[n] = grant
}

// tell says that a grant is used, once for each consumption that this bootd wrote: from now on the machine's disk may be written to. Of one whose
// answer was lost it's the boot's next question that shows it was written, and a boot asks several before the watch has heard of the first.
func (m *Manager) tell(p *boot.Plan, c boot.Consumption) {
	m.mu.Lock()
	unsaid := m.unsaid[p.Entry] == c.GrantID
	if unsaid {
		delete(m.unsaid, p.Entry)
	}
	m.mu.Unlock()
	if !unsaid || c.By != m.o.Name {
		return
	}
	m.o.Consumed()
	mac := boot.MAC("")
	if len(p.MACs) > 0 {
		mac = p.MACs[0]
	}
	m.o.Logger.Info("a grant is used", "entry", p.Entry.String(), "mac", string(mac), "grant", c.GrantID)
}
