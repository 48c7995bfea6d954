package bitext

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"bitextmine/bitext/label"
	"bitextmine/bitext/table"
	"bitextmine/cmd/mine/flags"
	"bitextmine/cmd/mine/program"
	"bitextmine/corpus"
	"bitextmine/corpus/shard"
	"bitextmine/internal/badinput"
	"bitextmine/internal/textfile"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/stage/align"
	"bitextmine/pipeline/view"
)

// restOptions are the flags of mine rest.
type restOptions struct{ side, bitext, out string }

// NewRest makes mine rest.
func NewRest() *cobra.Command {
	var o restOptions
	cmd := &cobra.Command{
		Use:   "rest RUN",
		Short: "Write the sentences of a side that are in no kept pair, for back-translation",
		Long: `Write the distinct sentences of one side of a run that are in no kept pair, in the order of the input: text for
back-translation or language models. A file .jsonl has text, doc, url, file and line; any other a sentence a line.
--bitext names the run's bitext after mine filter, whose rejected pairs give their sentences back.`,
		Example: `  mine rest mined --side tgt --out rest.en.txt
  mine rest mined --side src --bitext filtered.parquet --out rest.de.jsonl`,
		Args: flags.Arguments("a run", 1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args[0], cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.side, "side", "", "src or tgt")
	f.StringVar(&o.bitext, "bitext", "", "bitext file with the pairs that count as kept (default: the run's)")
	f.StringVar(&o.out, "out", "", "file to write")
	flags.Text.Mark(f, "out")
	return cmd
}

func (o *restOptions) run(ctx context.Context, dir string, stdout io.Writer) error {
	side := map[string]int{"src": 0, "tgt": 1}
	number, ok := side[o.side]
	if !ok {
		return badinput.Errorf("--side is %q: give src or tgt", o.side)
	}
	if o.out == "" {
		return badinput.Errorf("mine rest: name the file to write with --out")
	}
	return withRun(ctx, dir, o.bitext, func(p *view.Pair, kept *align.Kept) error {
		n := 0
		err := textfile.Write(o.out, func(f io.Writer) error {
			out := bufio.NewWriter(f)
			lines := json.NewEncoder(out)
			lines.SetEscapeHTML(false)
			err := align.Rest(ctx, p, kept, number, func(of *plan.Shard, at uint32, row shard.Row) error {
				n++
				text := corpus.Normalise(row.Text)
				if !strings.HasSuffix(textfile.Stem(o.out), ".jsonl") {
					_, err := fmt.Fprintln(out, text)
					return err
				}
				return lines.Encode(restRow{text, row.Doc, row.URL, of.OriginPath(at), row.Line})
			})
			return errors.Join(err, out.Flush())
		})
		if err == nil {
			fmt.Fprintf(program.Told(stdout, o.out), "%d of %d sentences are in no kept pair: %s\n", n, p.Sentences[number].Len(), o.out)
		}
		return err
	})
}

type restRow struct {
	Text string `json:"text"`
	Doc  string `json:"doc"`
	URL  string `json:"url"`
	File string `json:"file"`
	Line uint64 `json:"line"`
}

// withRun opens a run and the pairs that it, or another bitext file, keeps.
func withRun(ctx context.Context, dir, file string, do func(p *view.Pair, kept *align.Kept) error) (err error) {
	run, err := view.Open(ctx, dir, program.Version, slog.Default())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, run.Close()) }()
	labels, err := label.Latest(run.Dir)
	if err != nil {
		return err
	}
	kept, err := align.ReadKept(ctx, cmp.Or(file, run.Bitext), labels)
	if err != nil {
		return err
	}
	pair, err := run.Pair(0)
	if err != nil {
		return err
	}
	return errors.Join(do(pair, kept), pair.Close())
}

// blockFlags are the flags of blocks in mine export.
type blockFlags struct {
	blocks, bitext string
	missing        int
}

func (o *blockFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.blocks, "blocks", "", "of aligned documents: document, paragraph, or the most words of a block on either side")
	f.IntVar(&o.missing, "max-missing", 3, "sentences in a row without a translation that a block goes on over")
	f.StringVar(&o.bitext, "bitext", "", "with --blocks or --dedup-urls: bitext file with the pairs that count as kept (default: the run's)")
}

// options reads --blocks.
func (o *blockFlags) options() (align.BlockOptions, error) {
	opts := align.BlockOptions{Missing: o.missing}
	switch n, err := strconv.Atoi(o.blocks); {
	case o.blocks == "document":
		opts.Missing = -1
	case o.blocks == "paragraph":
		opts.Paragraphs = true
	case err != nil || n < 1:
		return opts, badinput.Errorf("--blocks is %q: give document, paragraph or a number of words", o.blocks)
	default:
		opts.Words = n
	}
	if o.missing < 0 {
		return opts, badinput.Errorf("--max-missing is %d: give a number from 0", o.missing)
	}
	return opts, nil
}

// write writes the blocks of a run to a temporary Parquet file in a directory.
func (o *blockFlags) write(ctx context.Context, run, dir string, stdout io.Writer) (path string, err error) {
	opts, err := o.options()
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "blocks.parquet")
	f, err := os.Create(path)
	if err != nil {
		return "", fmt.Errorf("make a temporary file of blocks: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return path, withRun(ctx, run, o.bitext, func(p *view.Pair, kept *align.Kept) error {
		w := table.NewParquetWriter(f, map[string]string{"mine.version": program.Version, "mine.blocks": o.blocks})
		c, err := align.Blocks(ctx, p, kept, opts, w.Write)
		if err != nil {
			return err
		}
		if c.Blocks == 0 {
			return badinput.Errorf("no pair of documents in %s has a kept pair of sentences: mine with --documents on, or lower --bead-score", run)
		}
		if err := w.Close(); err != nil {
			return err
		}
		fmt.Fprintf(stdout, "%d blocks of %d pairs of documents, with %d aligned pairs of sentences", c.Blocks, c.Documents, c.Beads)
		if c.Long > 0 {
			fmt.Fprintf(stdout, "; %d pairs longer than a block are left out", c.Long)
		}
		fmt.Fprintln(stdout)
		return nil
	})
}
