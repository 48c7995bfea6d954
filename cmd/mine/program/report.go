package program

import (
	"io"
	"log/slog"

	"bitextmine/eval/report"
)

// WriteReports writes the reports of an evaluation, and to the log what a table of TSV has no place for.
func WriteReports(out io.Writer, format report.Format, reports ...*report.Report) error {
	if err := report.Write(out, format, reports); err != nil || format != report.TSV {
		return err
	}
	for _, r := range reports {
		slog.Info(r.Protocol, "encoder", r.Encoder)
		for _, note := range r.Notes {
			slog.Info("note: " + note)
		}
	}
	return nil
}
