package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// tracingEnd is how long the last spans may take to be sent.
const tracingEnd = 3 * time.Second

// tracing returns what traces calls to OpenTelemetry's collector, and what ends that. Nil, which traces none, where the environment
// names no collector. All of its settings are OpenTelemetry's own OTEL_… variables; of protocols only gRPC is built in.
func tracing(ctx context.Context, log logr.Logger) (t trace.Tracer, end func(), err error) {
	if !traced(os.Getenv) {
		return nil, func() {}, nil
	}
	if p := cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"), os.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL"), "grpc"); p != "grpc" {
		return nil, nil, fmt.Errorf("cannot trace by protocol %q: set OTEL_EXPORTER_OTLP_PROTOCOL to grpc, and the endpoint to the collector's port for that, such as http://collector:4317", p)
	}
	exporter, err := otlptracegrpc.New(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot trace to OTEL_EXPORTER_OTLP_ENDPOINT: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.V(1).Info("Cannot send traces", "error", err.Error()) }))
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(resource.NewSchemaless(
		attribute.String("service.name", cmp.Or(os.Getenv("OTEL_SERVICE_NAME"), "provider-baremetal")),
		attribute.String("service.version", version),
	)))
	return provider.Tracer("github.com/crossplane-contrib/provider-baremetal"), func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tracingEnd)
		defer cancel()
		if err := provider.Shutdown(ctx); err != nil {
			log.V(1).Info("Cannot send the last traces", "error", err.Error())
		}
	}, nil
}

// traced says whether the environment asks for traces.
func traced(env func(string) string) bool {
	return env("OTEL_SDK_DISABLED") != "true" && cmp.Or(env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), env("OTEL_EXPORTER_OTLP_ENDPOINT")) != ""
}
