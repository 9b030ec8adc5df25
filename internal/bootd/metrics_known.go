package bootd

import (
	"maps"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
)

// knownMetrics are those of a request, found once: a vector looks for each of them by its labels' texts.
type knownMetrics struct {
	decisions   members[boot.Decision, prometheus.Counter]
	http        members[outcome, prometheus.Counter]
	bytes       members[string, prometheus.Counter]
	seconds     members[string, prometheus.Observer]
	dhcp, dhcp6 members[dhcpPacket, prometheus.Counter]
}

// dhcpPacket is one of DHCP, by words of ours: there are few kinds of them.
type dhcpPacket struct {
	kind   string
	client dhcp.Client
	reason dhcp.Reason
}

// outcome of a request.
type outcome struct {
	route  string
	status int
}

// members of a vector by what their labels are made from: words of ours, so that there are few. It's read without a lock.
type members[K comparable, M any] struct {
	mu sync.Mutex
	by atomic.Pointer[map[K]M]
}

func (k *members[K, M]) of(key K, find func() M) M {
	if by := k.by.Load(); by != nil {
		if m, ok := (*by)[key]; ok {
			return m
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	next := map[K]M{}
	if by := k.by.Load(); by != nil {
		next = maps.Clone(*by)
	}
	m := find()
	next[key] = m
	k.by.Store(&next)
	return m
}
