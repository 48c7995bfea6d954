package bitext

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"bitextmine/bitext/label"
	"bitextmine/cmd/mine/flags"
	"bitextmine/cmd/mine/program"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/scorer"
	"bitextmine/pipeline/view"
)

// labelOptions are the flags of mine reject and mine accept.
type labelOptions struct {
	rows     []uint
	keys     []string
	file     string
	accepted bool
}

// NewReject makes mine reject.
func NewReject() *cobra.Command {
	return newLabel(false, "reject", "Reject pairs of a run: no later run brings them back",
		`Reject pairs of a run. Every later run into the same output directory leaves them out before sentences are
matched, so that the next best pair of either sentence may take their place.`)
}

// NewAccept makes mine accept.
func NewAccept() *cobra.Command {
	return newLabel(true, "accept", "Accept pairs of a run: no rule rejects them in a later run",
		`Accept pairs of a run, also ones that were rejected before. In every later run into the same output
directory no rule rejects them; their score decides. Text that was not translated has none where a scorer decides:
the run needs --keep-copies, too.`)
}

func newLabel(accepted bool, name, short, long string) *cobra.Command {
	o := labelOptions{accepted: accepted}
	cmd := &cobra.Command{
		Use:   name + " RUN",
		Short: short,
		Long: long + ` A label is on the keys of two sentences, so it holds wherever the sentences stand. RUN is the
output directory. Labels are appended to its labels.jsonl, and the last label on a pair counts.`,
		Example: fmt.Sprintf("  mine %s mined --row 12 --row 40\n  mine %s mined --file checked.tsv", name, name),
		Args:    flags.Arguments("the output directory of a run", 1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args[0], cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.UintSliceVar(&o.rows, "row", nil, "row of the run's bitext, from 0")
	f.StringSliceVar(&o.keys, "key", nil, "src_key:tgt_key in hexadecimal digits")
	f.StringVar(&o.file, "file", "",
		"bitext file, all pairs of it: by its columns src_key and tgt_key or, without them, by its texts")
	return cmd
}

func (o *labelOptions) run(ctx context.Context, dir string, out io.Writer) error {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return badinput.Errorf("%s is a file: name the output directory of mine run, where labels stand", dir)
	}
	report, at, err := record.ReadLatest(dir)
	if err != nil {
		return err
	}
	languages := [2]string{report.Settings.Source, report.Settings.Target}
	var labels []label.Label
	for _, key := range o.keys {
		l, err := label.Key(key)
		if err != nil {
			return err
		}
		labels = append(labels, l)
	}
	if len(o.rows) > 0 {
		rows := make([]uint64, len(o.rows))
		for i, row := range o.rows {
			rows[i] = uint64(row)
		}
		some, err := label.Rows(ctx, report.BitextPath(at), rows, languages)
		if err != nil {
			return err
		}
		labels = append(labels, some...)
	}
	if o.file != "" {
		some, err := label.Rows(ctx, o.file, nil, languages)
		if err != nil {
			return err
		}
		labels = append(labels, some...)
	}
	if len(labels) == 0 {
		return badinput.Errorf("no pair is named: give --row, --key or --file")
	}
	seen := map[label.Label]bool{} // a file may have a pair twice
	labels = slices.DeleteFunc(labels, func(l label.Label) bool {
		twice := seen[l]
		seen[l] = true
		return twice
	})
	if len(o.keys) > 0 || o.file != "" {
		if err := checkLabels(ctx, dir, labels, o.accepted); err != nil {
			return err
		}
	}
	return o.give(dir, labels, out)
}

// give gives the labels.
func (o *labelOptions) give(dir string, labels []label.Label, out io.Writer) error {
	if !o.accepted {
		if _, err := label.Latest(dir); err != nil { // the next run could not obey
			return err
		}
		if err := label.Append(dir, labels); err != nil {
			return err
		}
		fmt.Fprintf(out, "%d pairs rejected; the next run obeys\n", len(labels))
		return nil
	}
	already, err := label.Accept(dir, labels)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("%d pairs accepted", len(labels)-already)
	if already > 0 {
		what += fmt.Sprintf(", %d were accepted already", already)
	}
	fmt.Fprintln(out, what+"; the next run obeys")
	return nil
}

// checkLabels refuses a directory without a run, and warns of labels on sentences that the run does not have, and of
// pairs that are accepted in vain.
func checkLabels(ctx context.Context, dir string, labels []label.Label, accepted bool) (err error) {
	run, err := view.Open(ctx, dir, program.Version, slog.Default())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, run.Close()) }()
	found, err := scorer.Find(ctx, run, labels)
	if err == nil && found.Missing > 0 {
		slog.Warn(fmt.Sprintf("%d of the %d pairs are not of sentences of the run in %s; their labels stay for "+
			"later runs", found.Missing, len(labels), dir))
	}
	if err != nil || !accepted {
		return err
	}
	copies, err := found.LeftOut(ctx)
	if err == nil && copies > 0 {
		slog.Warn(fmt.Sprintf("%d of the %d pairs are text that was not translated, which no scorer looks at, accepted or not: "+
			"give the next run --keep-copies to have it considered", copies, len(labels)))
	}
	return err
}
