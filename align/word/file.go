package word

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"strings"
	"sync"

	"bitextmine/bitext/exchange"
	rows "bitextmine/bitext/table"
	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

// FileInput is bitext in any format: one file, or two line-aligned ones.
type FileInput struct {
	File           string // TSV, TMX, JSON lines or Parquet, by its name
	Source, Target string // line-aligned files, instead of File
	// as exchange.Options has them; the columns are also those of Parquet
	Exchange exchange.Options
}

// Each calls do with the texts of every pair, in order: of every line, row or unit. One that is no pair has empty
// texts, and is warned of unless it is an empty line.
func (in FileInput) Each(ctx context.Context, do func(source, target string) error) error {
	if exchange.IsParquet(in.File) {
		return rows.EachPair(ctx, in.File, in.Exchange.SourceColumn, in.Exchange.TargetColumn, do)
	}
	r, err := in.open()
	if err != nil {
		return err
	}
	return errors.Join(in.each(ctx, r, do), r.Close())
}

func (in FileInput) open() (exchange.Reader, error) {
	if in.File != "" {
		return exchange.Open(input.File{Path: in.File}, exchange.FormatOf(in.File), in.Exchange)
	}
	return exchange.OpenAligned(input.File{Path: in.Source}, input.File{Path: in.Target})
}

func (in FileInput) each(ctx context.Context, r exchange.Reader, do func(source, target string) error) error {
	unread, first := 0, ""
	defer func() {
		if unread > 0 {
			slog.Warn("lines that are no pair have no links", "lines", unread, "first", first)
		}
		exchange.WarnUnnamed(r, in.name(), "")
	}()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		rec, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case rec.Reason != "":
			rec.Pair = exchange.Pair{}
			if rec.Reason == corpus.ReasonEmpty {
				break
			}
			if unread++; unread == 1 {
				first = fmt.Sprintf("%s:%d: %s (%s)", in.name(), rec.Number, rec.Reason, rec.Detail)
			}
		}
		if err := do(rec.Source, rec.Target); err != nil {
			return err
		}
	}
}

// FileAligner is the settings of a word alignment.
type FileAligner struct {
	Splitter Splitter
	Symmetry Symmetry
	Model    Options
	Scores   bool // write each link's score
}

// DefaultFileAligner are the default settings.
func DefaultFileAligner() FileAligner {
	return FileAligner{Splitter: Text, Symmetry: GrowDiagFinalAnd, Model: DefaultOptions()}
}

// FileSummary counts what was aligned.
type FileSummary struct {
	Pairs    int // lines of the output
	Skipped  int // pairs without words on a side, or with more than word.MaxWords
	Links    int
	Unlinked int // pairs that have words but no link
}

// Write aligns the words of in and writes a line of links for each pair. tokens, if it is not nil, gets a line of each
// pair's words, "source ||| target", which the links count.
func (w FileAligner) Write(ctx context.Context, in FileInput, links, tokens io.Writer,
	report func(Progress)) (FileSummary, error) {
	pairs := Pairs{Cased: w.Model.Similarity != nil}
	var sum FileSummary
	err := in.Each(ctx, func(source, target string) error {
		a, b := w.Splitter.Words(source), w.Splitter.Words(target)
		if !pairs.Add(a, b) {
			sum.Skipped++
		}
		if tokens == nil {
			return nil
		}
		_, err := io.WriteString(tokens, strings.ToLower(strings.Join(a, " ")+" ||| "+strings.Join(b, " "))+"\n")
		return err
	})
	if err != nil {
		return sum, err
	}
	sum.Pairs = pairs.Len()
	if sum.Skipped == sum.Pairs {
		return sum, badinput.Errorf("%s: none of the %d pairs has words on both sides, at most %d each", in.name(),
			sum.Pairs, MaxWords)
	}
	found, err := Align(ctx, &pairs, w.Model, report)
	if err != nil {
		return sum, err
	}
	sum.Unlinked = -sum.Skipped
	err = w.write(found, links, &sum)
	return sum, err
}

// linesAtOnce is the number of pairs whose lines a thread makes before they are written.
const linesAtOnce = 4096

// write writes all lines of links and counts what they have.
func (w FileAligner) write(found *Alignments, links io.Writer, sum *FileSummary) error {
	n, parts := found.pairs.Len(), make([]linesPart, cmp.Or(w.Model.Threads, runtime.GOMAXPROCS(0)))
	for lo := 0; lo < n; lo += len(parts) * linesAtOnce {
		var wait sync.WaitGroup
		for i := range parts {
			from := min(lo+i*linesAtOnce, n)
			wait.Go(func() { parts[i].fill(w, found, from, min(from+linesAtOnce, n)) })
		}
		wait.Wait()
		for _, part := range parts {
			sum.Links, sum.Unlinked = sum.Links+part.links, sum.Unlinked+part.unlinked
			if _, err := links.Write(part.lines); err != nil {
				return err
			}
		}
	}
	return nil
}

// linesPart is the lines of consecutive pairs.
type linesPart struct {
	lines           []byte
	links, unlinked int
}

// fill replaces the lines by those of the pairs from one to before another.
func (p *linesPart) fill(w FileAligner, found *Alignments, from, to int) {
	*p = linesPart{lines: p.lines[:0]}
	var g grid
	for i := from; i < to; i++ {
		of := found.of(&g, i, w.Symmetry)
		p.links += len(of)
		if len(of) == 0 {
			p.unlinked++
		}
		p.lines = AppendLinks(p.lines, of, w.Scores)
	}
}

func (in FileInput) name() string {
	if in.File != "" {
		return in.File
	}
	return in.Source
}
