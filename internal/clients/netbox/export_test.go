package netbox

import "time"

// WithLookPatience has looks at all addresses take no longer than this in all.
func WithLookPatience(d time.Duration) Option { return func(o *options) { o.patience = d } }
