package bmc

import (
	"encoding/json"
	"strings"
	"time"
)

const propDateTime = "DateTime"

// SetClock makes the BMC's clock wrong: by so much ahead, or behind. It's the time
// that managers tell, which goes by the real one whatever Config.Now says.
func (b *BMC) SetClock(ahead time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ahead = ahead
}

// dated is a resource as it's answered now: a manager that tells the time tells
// that of the answer, and a capture's isn't the time any more. Called with the
// lock held.
func (b *BMC) dated(res *resource) []byte {
	if _, tells := at(res.body, propDateTime).(string); !tells || !strings.Contains(treeKey(res.uri), "/managers/") {
		return res.bytes()
	}
	body := copied(res.body)
	body[nameIn(body, propDateTime)] = time.Now().Add(b.ahead).UTC().Format(time.RFC3339)
	out, err := json.Marshal(body)
	if err != nil {
		return res.bytes()
	}

	return out
}
