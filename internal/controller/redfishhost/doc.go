// Package redfishhost reconciles RedfishHost: one machine behind a BMC, its power, one-shot boot, identity and MACs.
//
// Every side effect is written into a journal (an annotation of the host)
// before the call and read back after it; next.go decides, one step per look,
// what comes next. Registering a host changes nothing on it.
package redfishhost
