// Package proc runs other programs as children that never outlive their parent, with a log file each, and can stop, kill and
// start them again.
package proc
