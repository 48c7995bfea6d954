package pipeline

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"bitextmine/encode/model"
)

// TestLanguages: text in a language that the encoder was not trained on is mined, with a warning.
func TestLanguages(t *testing.T) {
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	m := &model.Model{}
	m.Name, m.Languages = "bag", []string{"en", "zho_Hans"}
	of := [2]string{"zh-Hant", "sw"}
	CheckLanguages(logger, m, of)
	if told := log.String(); strings.Count(told, "\n") != 1 || !strings.Contains(told, "language=sw") {
		t.Errorf("log %q", told)
	}
	log.Reset()
	m.Languages = nil // a manifest that does not say
	if CheckLanguages(logger, m, of); log.Len() > 0 {
		t.Errorf("log %q", &log)
	}
}
