package program

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"bitextmine/eval/report"
)

// TestReportsInTSV: the encoder and the notes, which the table has no column for, are told beside it.
func TestReportsInTSV(t *testing.T) {
	before := slog.Default()
	defer slog.SetDefault(before)
	var out, logged bytes.Buffer
	slog.SetDefault(slog.New(slog.NewTextHandler(&logged, nil)))
	r := &report.Report{Protocol: "xsim", Encoder: "toy", Label: "language", Notes: []string{"one half only"}}
	for _, format := range []report.Format{report.JSON, report.TSV} {
		if logged.Len() > 0 {
			t.Errorf("beside JSON %q is logged", logged.String())
		}
		if err := WriteReports(&out, format, r); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(logged.String(), "encoder=toy") || !strings.Contains(logged.String(), "one half only") {
		t.Errorf("beside TSV %q is logged", logged.String())
	}
}
