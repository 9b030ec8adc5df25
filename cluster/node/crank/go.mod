module github.com/crossplane-contrib/provider-baremetal/cluster/node/crank

go 1.26.0

require github.com/crossplane/crossplane/v2 v2.2.1
