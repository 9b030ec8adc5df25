package node

import (
	"net"
	"strconv"
)

// Addresses inside. Each cluster has namespaces of its own, so all may have the same ones.
const (
	// Name of the node.
	Name = "node1"
	// Address of the node, outside 10.96.0.0/12, where clusters have their Services and which examples deny to tenants' URLs.
	Address = "10.120.0.1"
	// SegmentLink is the bridge of the node that machines are connected to; see Join.
	SegmentLink = "segment0"
	// SegmentAddress is the node's on SegmentLink.
	SegmentAddress = "10.50.0.1"
	// SegmentPrefix is what SegmentLink's addresses are of.
	SegmentPrefix = "10.50.0.0/24"
	// Registry is where the node pulls images from, over plain HTTP. Pods and packages may name it too.
	Registry = Address + ":5000"

	nodeLink     = "node0"
	prefix       = "/24"
	podRange     = "10.244.0.0/16" // The controller manager gives the first node the first /24 of it.
	podSubnet    = "10.244.0.0/24"
	serviceRange = "10.96.0.0/16"
	serviceIP    = "10.96.0.1"
	dnsIP        = "10.96.0.10"
	domain       = "cluster.local"
	etcdPort     = 2379
	etcdPeerPort = 2380
	apiPort      = 6443
)

func at(host string, port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }
