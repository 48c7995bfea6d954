package evaluation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"bitextmine/bitext/exchange"
	"bitextmine/bitext/table"
	"bitextmine/cmd/mine/flags"
	"bitextmine/cmd/mine/program"
	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/eval"
	"bitextmine/eval/testset"
	"bitextmine/index/exact"
	"bitextmine/index/ivf"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/internal/textfile"
	"bitextmine/mine"
)

// scoreOptions are the flags of mine score.
type scoreOptions struct {
	engine
	source, target             string
	sourceText, targetText     string
	sourceColumn, targetColumn string
	sourceCorpus, targetCorpus []string
	prefix, out                string
	run                        string
}

// NewScore makes mine score.
func NewScore() *cobra.Command {
	var o scoreOptions
	cmd := &cobra.Command{
		Use:   "score [FILE.tsv | FILE.csv | FILE.tmx | FILE.jsonl | FILE.parquet]",
		Short: "Score existing bitext with true margins",
		Long: `Score existing bitext: two line-aligned files, TSV, CSV, TMX, JSON lines or any Parquet with two text columns.
A margin sets a pair's cosine against both sentences' neighbourhoods: those of the bitext's own sentences, together
with the corpora of --src-corpus and --tgt-corpus if given. With --run they are those of a finished run, whose vectors
and neighbours are read: nothing is encoded. What is read is written again with the columns score, cosine, src_mean,
tgt_mean, src_rank and tgt_rank added (in TMX as <prop>); no pair is dropped. A rank counts from 0; it is empty (255
in Parquet) when the partner is not among the k nearest. A pair with an empty side, or with a sentence that the run
lacks, has no score. Line-aligned files become TSV without a header, a line a pair: source, target and the columns in
that order; a tab within a text becomes a space. Above 150,000 pairs the neighbours are found with inverted lists, which miss a
few; --search exact finds all.`,
		Example: `  mine score --src de --tgt en --src-text a.de --tgt-text a.en --out scored.tsv
  mine score --src de --tgt en mined/de-en.parquet --prefix own_ --out scored.parquet
  mine score pairs.tsv --run mined --out scored.tsv`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.run != "" {
				return scoreByRun(cmd.Context(), o, args, cmd.OutOrStdout())
			}
			return runScore(cmd.Context(), o, args, cmd.OutOrStdout())
		},
	}
	o.Register(cmd, "k", "margin", "max_memory",
		// of corpora
		"format", "src_format", "tgt_format", "text_column", "src_text_column", "tgt_text_column", "on_bad_line",
		"max_line_bytes")
	f := cmd.Flags()
	f.Lookup("search").DefValue = fmt.Sprintf("exact, or ivf above %d pairs", many) // what the help shows
	f.StringVar(&o.source, "src", "", "source language")
	f.StringVar(&o.target, "tgt", "", "target language")
	f.StringVar(&o.sourceText, "src-text", "", "line-aligned source file")
	f.StringVar(&o.targetText, "tgt-text", "", "line-aligned target file")
	f.StringVar(&o.sourceColumn, "src-column", "src_text", "source column, key of JSON; in TSV and CSV its number from 1, too")
	f.StringVar(&o.targetColumn, "tgt-column", "tgt_text", "target column")
	f.StringArrayVar(&o.sourceCorpus, "src-corpus", nil,
		"source text whose sentences are neighbours too: files, directories, globs")
	f.StringArrayVar(&o.targetCorpus, "tgt-corpus", nil, "target text whose sentences are neighbours too")
	f.StringVar(&o.run, "run", "", "output directory of a finished run, whose sentences alone are the neighbours")
	f.StringVar(&o.prefix, "prefix", "", "beginning of the new columns' names")
	f.StringVar(&o.out, "out", "", "file to write, in the format of what is read; line-aligned files become TSV "+
		"(default: standard output, not for Parquet)")
	flags.Text.Mark(f, "out")
	return cmd
}

func runScore(ctx context.Context, o scoreOptions, args []string, stdout io.Writer) (err error) {
	if o.source == "" || o.target == "" {
		return badinput.Errorf("mine score: name both languages with --src and --tgt")
	}
	pair, err := testset.ParsePair(o.source, o.target)
	if err != nil {
		return err
	}
	if err := o.Load(); err != nil {
		return err
	}
	margin, err := mine.ParseMargin(o.cfg.Margin)
	if err != nil {
		return badinput.Mark(err)
	}
	bound, err := o.bound()
	if err != nil {
		return err
	}
	_, encoder, err := program.OpenEncoder(o.cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, encoder.Close()) }()
	var in *exchange.File
	var parquet string
	var rows [2][]int32
	languages := [2]string{pair.Source, pair.Target}
	pool, err := eval.NewPool(ctx, encoder, eval.PoolOptions{Languages: languages, Dir: o.folder(), K: o.cfg.K, MaxMemory: bound},
		func(add func(side int, text string) (int32, error)) (err error) {
			in, parquet, err = o.read(ctx, pair, args, func(source, target string) error {
				for side, text := range [2]string{source, target} {
					row, err := add(side, text)
					if err != nil {
						return err
					}
					rows[side] = append(rows[side], row)
				}
				return ctx.Err()
			})
			if err != nil {
				return err
			}
			return o.readCorpora(ctx, add)
		})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	if err := o.searchPool(ctx, pool, margin); err != nil {
		return err
	}
	warnOfLacking(rows, in.Pairs)
	return o.write(ctx, in, parquet, func(i int) *mine.Candidate {
		if rows[0][i] < 0 || rows[1][i] < 0 {
			return nil
		}
		c := pool.Score(rows[0][i], rows[1][i])
		return &c
	}, stdout)
}

// warnOfLacking warns of pairs of which a side has no text, and so no row.
func warnOfLacking(rows [2][]int32, pairs int) {
	n := 0
	for i := range rows[0] {
		if rows[0][i] < 0 || rows[1][i] < 0 {
			n++
		}
	}
	if n > 0 {
		slog.Warn("pairs without a text on one side have no score", "pairs", n, "of", pairs)
	}
}

// readCorpora adds the sentences that are neighbours, too.
func (o *scoreOptions) readCorpora(ctx context.Context, add func(side int, text string) (int32, error)) error {
	for side, patterns := range [2][]string{o.sourceCorpus, o.targetCorpus} {
		err := eachOfCorpus(patterns, o.cfg.CorpusOptions()[side], func(text string) error {
			_, err := add(side, text)
			return errors.Join(err, ctx.Err())
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// searchPool finds the neighbours of all sentences; by lists, if there are many.
func (o *scoreOptions) searchPool(ctx context.Context, pool *eval.Pool, margin mine.Margin) error {
	listed := o.searchMany(min(pool.Len()))
	find := func() error {
		search, err := program.OpenSearch(o.cfg)
		if err != nil {
			return err
		}
		return pool.Search(ctx, search, o.cfg.K, margin)
	}
	err := find()
	if listed && badinput.Is(err) { // there are fewer different vectors than lists
		o.cfg.Search = exact.Name
		err = find()
	}
	return err
}

// bound is the memory for sentences; 0: any.
func (o *scoreOptions) bound() (int64, error) {
	bound := o.cfg.MemoryBound()
	if bound > 0 && bound <= scoreBase {
		return 0, badinput.Errorf("mine score: --max-memory is %s, and the program with an encoder takes %d MiB: raise it", o.cfg.MaxMemory, scoreBase>>20)
	}
	return max(bound-scoreBase, 0), nil
}

// scoreBase is about the memory of mine score beside its sentences: the program, an encoder and a search.
const scoreBase = 200 << 20

// folder is where the vectors are until all is scored: beside the output, which may be larger than what is temporary,
// unless that is a stream, beside which are devices.
func (o *scoreOptions) folder() string {
	if o.out == "" || atomicfile.IsStream(o.out) {
		return os.TempDir()
	}
	return filepath.Dir(o.out)
}

// many is the number of texts of a side above which the neighbours are found with inverted lists, unless a search is
// set: the time of an exact search grows with the square. With so many it takes a minute on two cores of a server.
const many = 150_000

// searchMany sets a search with inverted lists if the smaller side has so many texts that it takes one.
func (o *scoreOptions) searchMany(texts int) bool {
	if texts <= many || o.search != flags.ByDefault {
		return false
	}
	lists := 1
	for lists*lists < texts {
		lists *= 2
	}
	o.cfg.Search = ivf.Prefix + strconv.Itoa(lists)
	slog.Warn("inverted lists find the neighbours of so many texts, with a few missing; --search exact finds all",
		"texts", texts, "search", o.cfg.Search)
	return true
}

// read gives each pair; from is the name of a Parquet file, or empty.
func (o scoreOptions) read(
	ctx context.Context, pair testset.LanguagePair, args []string, each exchange.Each,
) (in *exchange.File, from string, err error) {
	if o.sourceText != "" || o.targetText != "" {
		if o.sourceText == "" || o.targetText == "" || len(args) > 0 {
			return nil, "", badinput.Errorf("mine score: give --src-text and --tgt-text together, or one file alone")
		}
		if err := o.checkOut(""); err != nil {
			return nil, "", err
		}
		in, err = exchange.LoadAligned(input.File{Path: o.sourceText}, input.File{Path: o.targetText}, each)
		return in, "", err
	}
	if len(args) != 1 {
		return nil, "", badinput.Errorf("mine score: name one .tsv, .csv, .tmx, .jsonl or .parquet file, or two " +
			"line-aligned ones with --src-text and --tgt-text")
	}
	path := args[0]
	if err := o.checkOut(path); err != nil {
		return nil, "", err
	}
	if exchange.IsParquet(path) {
		if o.out == "" {
			return nil, "", badinput.Errorf("mine score: Parquet cannot go to the terminal; name a file with --out")
		}
		in = &exchange.File{}
		err = table.EachPair(ctx, path, o.sourceColumn, o.targetColumn, func(source, target string) error {
			in.Pairs++
			return each(source, target)
		})
		return in, path, err
	}
	opts := exchange.Options{
		SourceLanguage: pair.Source, TargetLanguage: pair.Target, SourceColumn: o.sourceColumn, TargetColumn: o.targetColumn,
		MustName: o.Changed("src-column") || o.Changed("tgt-column"), Added: o.added(),
	}
	if opts.SourceAt, opts.TargetAt, err = flags.ColumnNumbers(o.sourceColumn, o.targetColumn); err != nil {
		return nil, "", err
	}
	opts.MustName = opts.MustName && opts.SourceAt == 0
	in, err = exchange.Load(input.File{Path: path}, exchange.FormatOf(path), opts, each)
	return in, "", err
}

// scoreColumns are the columns that scoring adds to bitext, in order.
var scoreColumns = []string{"score", "cosine", "src_mean", "tgt_mean", "src_rank", "tgt_rank"}

// fieldsOf are the values of scoreColumns as text; a rank outside the list is empty.
func fieldsOf(c *mine.Candidate) []string {
	rank := func(r uint8) string {
		if r == mine.Unranked {
			return ""
		}
		return fmt.Sprint(r)
	}
	return []string{
		fmt.Sprint(c.Score), fmt.Sprint(min(c.Cosine,
			1)), fmt.Sprint(c.SourceMean), fmt.Sprint(c.TargetMean), rank(c.SourceRank), rank(c.TargetRank),
	}
}

// added are the names of the new columns.
func (o scoreOptions) added() []string {
	names := make([]string, len(scoreColumns))
	for c, name := range scoreColumns {
		names[c] = o.prefix + name
	}
	return names
}

// checkOut refuses a name that promises another format than that of the file in, in which the output will be; empty:
// line-aligned files are read, which become TSV.
func (o scoreOptions) checkOut(in string) error {
	out := textfile.Stem(o.out)
	if o.out == "" || exchange.IsParquet(out) == exchange.IsParquet(in) && exchange.FormatOf(out) == exchange.FormatOf(in) {
		return nil
	}
	return badinput.Errorf("mine score: the output is in the format of what is read, which %s does not say: give "+
		"--out another ending", o.out)
}

// eachOfCorpus calls do with the sentences of corpora.
func eachOfCorpus(patterns []string, opts corpus.Options, do func(text string) error) error {
	if len(patterns) == 0 {
		return nil
	}
	inputs, err := input.Expand(nil, patterns)
	if err != nil {
		return err
	}
	for _, in := range inputs {
		for s, err := range corpus.Sentences(in, opts) {
			if err == nil {
				err = do(s.Normal)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// write writes the file with the score of every pair; nil: it has none.
func (o scoreOptions) write(
	ctx context.Context, in *exchange.File, parquet string, score func(i int) *mine.Candidate, stdout io.Writer,
) error {
	values := func(i int) []string {
		if c := score(i); c != nil {
			return fieldsOf(c)
		}
		return nil
	}
	switch {
	case parquet != "":
		columns := table.Options{SourceColumn: o.sourceColumn, TargetColumn: o.targetColumn}
		return table.AddColumns(ctx, parquet, o.out, columns, in.Pairs, columnsOf(in.Pairs, score, o.added())...)
	case o.out == "":
		return in.Write(stdout, o.added(), values)
	}
	return textfile.Write(o.out, func(f io.Writer) error { return in.Write(f, o.added(), values) })
}

// columnsOf are the scores as Parquet has them. A pair without a score has nulls.
func columnsOf(pairs int, score func(i int) *mine.Candidate, names []string) []table.Values {
	floats, ranks, known := [4][]float32{}, [2][]uint8{}, make([]bool, pairs)
	for i := range pairs {
		s := score(i)
		if known[i] = s != nil; s == nil {
			nan := float32(math.NaN())
			s = &mine.Candidate{Score: nan, Cosine: nan, SourceMean: nan, TargetMean: nan}
		}
		for c, v := range []float32{s.Score, min(s.Cosine, 1), s.SourceMean, s.TargetMean} {
			floats[c] = append(floats[c], v)
		}
		ranks[0], ranks[1] = append(ranks[0], s.SourceRank), append(ranks[1], s.TargetRank)
	}
	columns := make([]table.Values, len(names))
	for c, name := range names {
		columns[c] = table.Values{Name: name}
		if c < len(floats) {
			columns[c].Float32 = floats[c]
		} else {
			columns[c].Uint8, columns[c].Known = ranks[c-len(floats)], known
		}
	}
	return columns
}
