// Package oncluster runs uptest over the examples, in a cluster as users have one.
package oncluster
