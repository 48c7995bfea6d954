package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// TestTraces: a configured run sends spans of its tasks to the collector, and one whose collector is away ends well all
// the same.
func TestTraces(t *testing.T) {
	stages := []string{"run", "shard", "encode", "search", "merge", "match"}
	var mu sync.Mutex
	seen := map[string]bool{}
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, stage := range stages { // a span's name is its field 5
			name := protowire.AppendString(protowire.AppendTag(nil, 5, protowire.BytesType), stage)
			seen[stage] = seen[stage] || bytes.Contains(body, name)
		}
	}))
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	args := []string{"run", "--src", "de", "--tgt", "en", "--out", filepath.Join(t.TempDir(), "out")}
	if code := execute(t.Context(), args); code != 0 {
		t.Errorf("exit code %d", code)
	}
	collector.Close() // after the last request
	for _, stage := range stages {
		if !seen[stage] {
			t.Errorf("no span is called %s", stage)
		}
	}
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "100")
	if code := execute(t.Context(), args); code != 0 {
		t.Errorf("exit code %d without a collector", code)
	}
}
