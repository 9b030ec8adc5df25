package netbox

import (
	"reflect"
	"sync"
	"time"
)

// A Pool keeps one Client per connection, so that all resources of one ProviderConfig share its rate
// limit and its knowledge of the marker field. It is safe for concurrent use.
type Pool struct {
	opts []Option
	now  func() time.Time

	mu      sync.Mutex
	entries map[string]entry
	closed  bool
}

type entry struct {
	cfg    Config
	client *Client
	used   time.Time
}

// NewPool returns an empty pool whose clients get opts.
func NewPool(opts ...Option) *Pool {
	o := options{now: time.Now}
	for _, opt := range opts {
		opt(&o)
	}
	return &Pool{opts: opts, now: o.now, entries: map[string]entry{}}
}

// Client returns the connection named key (a ProviderConfig's UID), made anew when its settings or its
// token differ from those it was made with.
func (p *Pool) Client(key string, cfg Config) (*Client, error) { return p.get(key, cfg, p.now()) }

// Borrow is Client for whoever looks only now and then: the connection doesn't count as used by it.
func (p *Pool) Borrow(key string, cfg Config) (*Client, error) { return p.get(key, cfg, time.Time{}) }

func (p *Pool) get(key string, cfg Config, used time.Time) (*Client, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	old, ok := p.entries[key]
	if old.used.After(used) {
		used = old.used
	}
	if ok && reflect.DeepEqual(old.cfg, cfg) {
		old.used = used
		p.entries[key] = old
		return old.client, nil
	}
	c, err := New(cfg, p.opts...)
	if err != nil {
		return nil, err
	}
	if ok {
		old.client.Close()
	}
	if p.closed {
		c.Close()
	}
	p.entries[key] = entry{cfg: cfg, client: c, used: used}
	return c, nil
}

// Close closes all connections, also those that are made later: what goes on without anybody who waits for it ends. Calls go on.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, e := range p.entries {
		e.client.Close()
	}
}

// Used returns the connections that were asked for within a time, by their keys, and lets go of the others: nobody keeps the token of a
// ProviderConfig that is gone.
func (p *Pool) Used(within time.Duration) map[string]*Client {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := map[string]*Client{}
	for key, e := range p.entries {
		if p.now().Sub(e.used) > within {
			e.client.Close()
			delete(p.entries, key)
			continue
		}
		out[key] = e.client
	}
	return out
}
