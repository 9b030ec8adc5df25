// Package netconfig says a machine's network to its system in the languages that systems have for it: cloud-init's network config, nmstate's
// desired state, and the network of a Talos machine config. It's of a plan alone, and asks nobody.
package netconfig
