package composition

import (
	"context"
	"fmt"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/crossplane/function-sdk-go/response"

	platform "github.com/crossplane-contrib/provider-baremetal/apis/platform/v1alpha1"
)

// A Function answers Crossplane's calls for every composite of this project, in both flavours.
type Function struct {
	fnv1.UnimplementedFunctionRunnerServiceServer

	log logging.Logger
}

// New returns a Function that logs to log.
func New(log logging.Logger) *Function {
	return &Function{log: log}
}

// RunFunction composes one composite. A request that it can't read is a fatal result, after which Crossplane changes nothing;
// an error is never returned.
func (f *Function) RunFunction(_ context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	rsp := response.To(req, response.DefaultTTL)
	out, err := compose(req)
	if err == nil {
		err = out.write(rsp)
	}
	if err != nil {
		f.log.Info("Cannot compose", "tag", req.GetMeta().GetTag(), "error", err)
		response.Fatal(rsp, err)
	}
	return rsp, nil
}

// compose reads the request and hands it to the composer of its kind.
func compose(req *fnv1.RunFunctionRequest) (*output, error) {
	in, err := read(req)
	if err != nil {
		return nil, err
	}
	switch strings.TrimPrefix(in.kind, platform.CompositePrefix) {
	case platform.BareMetalNodeKind:
		n, err := readNode(in)
		if err != nil {
			return nil, err
		}
		return composeNode(n)
	case platform.RackPoolKind:
		p, err := readPool(in)
		if err != nil {
			return nil, err
		}
		return composePool(p)
	}
	return nil, fmt.Errorf("cannot compose kind %q: this function serves %s and %s", in.kind, platform.BareMetalNodeKind, platform.RackPoolKind)
}
