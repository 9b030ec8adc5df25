package main

import (
	"strings"
	"testing"

	"github.com/go-logr/logr"
)

func TestTraced(t *testing.T) {
	cases := map[string]struct {
		reason string
		env    map[string]string
		want   bool
	}{
		"Nothing":  {"Nothing is traced unless somebody asks for it.", nil, false},
		"Endpoint": {"A collector for all.", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4317"}, true},
		"Traces":   {"A collector for traces.", map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c:4317"}, true},
		"Disabled": {"OpenTelemetry's own switch.", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4317", "OTEL_SDK_DISABLED": "true"}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := traced(func(k string) string { return tc.env[k] }); got != tc.want {
				t.Errorf("%s: got %t", tc.reason, got)
			}
		})
	}
}

func TestTracing(t *testing.T) {
	for _, k := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_SDK_DISABLED"} {
		t.Setenv(k, "")
	}
	tracer, end, err := tracing(t.Context(), logr.Discard())
	if tracer != nil || err != nil {
		t.Errorf("without a collector: %v, %v", tracer, err)
	}
	end()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1") // Nobody listens: nothing waits for that.
	if tracer, end, err = tracing(t.Context(), logr.Discard()); tracer == nil || err != nil {
		t.Fatalf("with a collector: %v", err)
	}
	_, span := tracer.Start(t.Context(), "x")
	if !span.IsRecording() {
		t.Error("nothing is recorded")
	}
	end()
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
	if _, _, err := tracing(t.Context(), logr.Discard()); err == nil || !strings.Contains(err.Error(), "4317") {
		t.Errorf("a protocol that isn't built in: %v", err)
	}
}
