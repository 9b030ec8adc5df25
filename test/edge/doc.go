// Package edge runs bootd as an edge site does: the program itself, a folder of specs, a simulated machine, and no cluster.
package edge
