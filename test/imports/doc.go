// Package imports holds the rule of who may import whom, as ARCHITECTURE says it, against what go says of the source.
package imports
