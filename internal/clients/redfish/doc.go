// Package redfish talks to one BMC: power, one-shot boot override, identity and MACs of one ComputerSystem.
//
// It is tolerant by design: whatever BMCs disagree about (null where a number
// belongs, a string where a list belongs, trailing slashes, ResetTypes inline
// or in an ActionInfo) is decoded leniently, and what a vendor does differently
// is a row of a table (package quirk), not a branch. Sessions and transport are
// gofish's; resources are decoded here, since gofish's types refuse drift.
//
// A Client isn't safe for concurrent use: package gate owns one per BMC.
package redfish
