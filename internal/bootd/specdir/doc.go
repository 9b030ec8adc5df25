// Package specdir is bootd's source of plans where there is no Kubernetes API, for an edge site or a lab: a folder of the same YAML
// specs (BootNetwork, BootProfile, BootEntry, Secret), of which plans are resolved by the same code as in a cluster, and grants
// issued by the same rules.
//
// What a cluster's entry and host remember of a grant is kept here in two places: the state folder, and .bootd in the folder of the
// specs. Both missing is a new machine. One missing, or both saying different things, holds the machine until a person has said
// that it may go on: a state folder that was lost, a folder that was restored or copied to another host, must never install
// anything. A consumption is written into both, too, before the first byte that it allows.
package specdir
