package web

import (
	"context"
	"errors"
	"io"

	"bitextmine/bitext/label"
	"bitextmine/web/overview"
	"bitextmine/web/page"
	"bitextmine/web/pairs"
)

// Report writes the overview of a run as one HTML file that refers to no other, with what the last night changed.
func Report(ctx context.Context, w io.Writer, dir, version string, progress pairs.Progress) (err error) {
	run, err := overview.Open(ctx, dir, progress)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, run.Close()) }()
	labels, err := label.Latest(run.Out)
	if err != nil {
		return err
	}
	all := run.Overview(labels)
	for _, night := range all.History {
		if night.Shown && night.Previous != "" {
			if all.Changes, err = run.Changes(ctx, night.Name); err != nil {
				return err
			}
		}
	}
	return page.WriteReport(w, PageOf(run, version, page.Overview, "Report", all))
}
