package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// TestTraces: a configured run sends spans of its tasks to the collector, and one whose collector is away ends well all
// the same.
func TestTraces(t *testing.T) {
	var spans atomic.Int64
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		for _, stage := range []string{"run", "shard", "encode", "search", "merge", "match"} {
			if strings.Contains(string(body), stage) {
				spans.Add(1)
			}
		}
	}))
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	args := []string{"run", "--src", "de", "--tgt", "en", "--out", filepath.Join(t.TempDir(), "out")}
	if code := execute(t.Context(), args); code != 0 || spans.Load() < 6 {
		t.Errorf("exit code %d, %d of 6 kinds of spans", code, spans.Load())
	}
	collector.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "100")
	if code := execute(t.Context(), args); code != 0 {
		t.Errorf("exit code %d without a collector", code)
	}
}
