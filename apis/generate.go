// Package apis holds every kind of the project, one folder a group, and the one place that says how their code and manifests are
// generated. Tools are pinned by go.mod.
package apis

// Deep copies of every kind.
//go:generate go tool controller-gen object paths=./...

// CRDs of the provider's own group.
//go:generate rm -rf ../package/provider/crds
//go:generate go tool controller-gen crd:crdVersions=v1 paths=./v1alpha1 output:crd:artifacts:config=../package/provider/crds

// Crossplane's accessors of managed resources.
//go:generate go tool angryjet generate-methodsets ./v1alpha1

// Those of lists are the provider's alone: their types would link all of Kubernetes' kinds into bootd (docs/adr/0047).
//go:generate sed -i -e "1i //go:build !bootd\\n" -e "/^.*go:build/,+1d" v1alpha1/zz_generated.managedlist.go v1alpha1/zz_generated.pculist.go

// XRDs of both flavours of the composites.
//go:generate go run ./xrdgen --types ./platform/v1alpha1 --out ../package
