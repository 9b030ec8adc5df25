package controller

import (
	"context"
	"net"
	"path/filepath"
	"testing"
	"time"

	changelogs "github.com/crossplane/crossplane-runtime/v2/apis/changelogs/proto/v1alpha1"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"google.golang.org/grpc"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// A sidecar writes down what it's sent.
type sidecar struct {
	changelogs.UnimplementedChangeLogServiceServer

	entries chan *changelogs.ChangeLogEntry
}

func (s *sidecar) SendChangeLog(_ context.Context, r *changelogs.SendChangeLogRequest) (*changelogs.SendChangeLogResponse, error) {
	s.entries <- r.GetEntry()
	return &changelogs.SendChangeLogResponse{}, nil
}

// TestChangeLogs holds that a sidecar at the socket is told of a change, and by whom.
func TestChangeLogs(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "changelogs.sock")
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	side, server := &sidecar{entries: make(chan *changelogs.ChangeLogEntry, 1)}, grpc.NewServer()
	changelogs.RegisterChangeLogServiceServer(server, side)
	go func() { _ = server.Serve(l) }() // Ends with the test.
	t.Cleanup(server.Stop)

	o, err := changeLogs(Settings{Version: "v1.2.3", ChangeLogsSocket: socket})
	if err != nil {
		t.Fatal(err)
	}
	host := &v1alpha1.RedfishHost{}
	host.SetGroupVersionKind(v1alpha1.RedfishHostGroupVersionKind)
	host.Namespace, host.Name = "infra", "r7-u12"
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := o.ChangeLogger.Log(ctx, host, changelogs.OperationType_OPERATION_TYPE_UPDATE, nil, managed.AdditionalDetails{"step": "power"}); err != nil {
		t.Fatal(err)
	}
	e := <-side.entries
	if e.GetProvider() != "provider-baremetal:v1.2.3" || e.GetName() != "r7-u12" || e.GetKind() != v1alpha1.RedfishHostKind ||
		e.GetOperation() != changelogs.OperationType_OPERATION_TYPE_UPDATE || e.GetAdditionalDetails()["step"] != "power" {
		t.Errorf("the sidecar was told %v", e)
	}
}
