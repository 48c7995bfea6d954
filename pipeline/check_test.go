package pipeline

import (
	"bytes"
	"log/slog"
	"regexp"
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
	told := UnknownLanguages(logger, m, of)
	if len(told) != 1 || !strings.Contains(told[0], "was not trained on sw (it knows en zho_Hans)") || !strings.Contains(log.String(), told[0]) {
		t.Errorf("%q, log %q", told, &log)
	}
	if _, silent, found := strings.Cut(told[0], "; these do not say what they know: "); !found || !strings.Contains(silent, "bge-m3") || strings.Contains(silent, "sonar") || !regexp.MustCompile(`these know it: .*\blabse\b.* sonar;`).MatchString(told[0]) {
		t.Errorf("%q", told)
	}
	if told := UnknownLanguages(logger, m, [2]string{"de", "fr"}); len(told) != 2 || !strings.Contains(told[0], "; these know it: ") {
		t.Errorf("%q", told)
	}
	log.Reset()
	m.Languages = nil // a manifest that does not say
	if told := UnknownLanguages(logger, m, of); len(told) > 0 || log.Len() > 0 {
		t.Errorf("log %q", &log)
	}
}
