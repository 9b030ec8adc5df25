package netbox

import (
	"reflect"
	"sync"
)

// A Pool keeps one Client per connection, so that all resources of one ProviderConfig share its rate
// limit and its knowledge of the marker field. It is safe for concurrent use.
type Pool struct {
	opts []Option

	mu      sync.Mutex
	entries map[string]entry
}

type entry struct {
	cfg    Config
	client *Client
}

// NewPool returns an empty pool whose clients get opts.
func NewPool(opts ...Option) *Pool {
	return &Pool{opts: opts, entries: map[string]entry{}}
}

// Client returns the connection named key (a ProviderConfig's UID), made anew when its settings or its
// token differ from those it was made with.
func (p *Pool) Client(key string, cfg Config) (*Client, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	old, ok := p.entries[key]
	if ok && reflect.DeepEqual(old.cfg, cfg) {
		return old.client, nil
	}
	c, err := New(cfg, p.opts...)
	if err != nil {
		return nil, err
	}
	if ok {
		old.client.Close()
	}
	p.entries[key] = entry{cfg: cfg, client: c}
	return c, nil
}
