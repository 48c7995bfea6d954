package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bitextmine/corpus"
	"bitextmine/encode/embedding"
	"bitextmine/eval"
	"bitextmine/eval/testset"
	"bitextmine/internal/badinput"
)

// evalOptions are the flags of mine eval.
type evalOptions struct {
	engine
	protocol         string
	sources          []string
	target           string
	dir, split       string
	sourceText       string
	targetText       string
	format           string
	dtype            string
	sourceEmb        string
	targetEmb        string
	dim              int
	embDType         string
	byText           bool
	negatives        string
	curve, curvePlot string
	scorer           string
}

func newEval() *cobra.Command {
	var o evalOptions
	cmd := &cobra.Command{
		Use:   "eval PROTOCOL...",
		Short: "Evaluate an encoder with published protocols",
		Long: `Evaluate an encoder, or embeddings of any program, with the protocols that papers report. Each has its own name and prints
what it measures. Figures of different protocols are not comparable (docs/evaluation.md).

  bucc-laser bucc-st bucc-cosine bucc-mteb
  bucc-scored                                BUCC sets: PAIR.{train,test}.{LANG,gold} in --dir or --dir/PAIR
  tatoeba xsim xsim++ retrieval              line-aligned sets: LASER's Tatoeba, FLORES, NTREX, or --src-text and --tgt-text
  sts                                        SemEval 2012-2017 and SICK under --dir

Percentages are numbers from 0 to 100 in every format. Language codes may be ISO 639-1, ISO 639-3 or FLORES.`,
		Example: `  mine eval bucc-laser bucc-cosine --dir bucc2018 --src de,fr,ru,zh
  mine eval tatoeba --dir tatoeba/v1 --format json
  mine eval xsim xsim++ --dir flores200_dataset --src fra_Latn,hin_Deva
  mine eval bucc-laser --dir bucc2018 --src de --src-emb 'labse.{pair}.{half}.{src}.npy' --tgt-emb 'labse.{pair}.{half}.{tgt}.npy'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runEval(cmd.Context(), o, args, cmd.OutOrStdout())
		},
	}
	o.register(cmd)
	f := cmd.Flags()
	f.StringVar(&o.protocol, "protocol", "", "the `PROTOCOL` of mine eval bucc: bucc-laser, bucc-st, bucc-cosine or bucc-mteb")
	f.StringSliceVar(&o.sources, "src", nil, "source languages (default: all in a line-aligned set)")
	f.StringVar(&o.target, "tgt", "en", "target language")
	f.StringVar(&o.dir, "dir", "", "directory of the test set (default: where mine data get puts it)")
	f.StringVar(&o.split, "split", "devtest", "part of a FLORES set")
	f.StringVar(&o.sourceText, "src-text", "", "line-aligned source file, instead of --dir")
	f.StringVar(&o.targetText, "tgt-text", "", "its line-aligned target file")
	f.StringVar(&o.format, "format", "table", "table, json, tsv, markdown")
	f.StringVar(&o.dtype, "dtype", "float32", "precision of vectors: float32, or float16 as in a run")
	f.StringVar(&o.sourceEmb, "src-emb", "", "source embeddings (.npy, or LASER's without header) instead of an encoder; {src} {tgt} {pair} {half} are replaced")
	f.StringVar(&o.targetEmb, "tgt-emb", "", "target embeddings")
	f.IntVar(&o.dim, "dim", 0, "values per row of embeddings without header")
	f.StringVar(&o.embDType, "emb-dtype", "float32", "type of embeddings without header: float32, float16")
	f.BoolVar(&o.byText, "eval-text", false, "tatoeba, xsim, retrieval: an answer with the correct text is correct on any line")
	f.StringVar(&o.negatives, "negatives", "rules", "xsim++: rules (this program's), or a published errtype.json")
	f.StringVar(&o.scorer, "scorer", "default", "bucc-scored: default, or a file of mine fit-scorer")
	f.StringVar(&o.curve, "curve", "", "write the precision-recall curves to this TSV file")
	f.StringVar(&o.curvePlot, "plot", "", "plot the precision-recall curves to this .svg or .png file")
	return cmd
}

// protocols resolves the names; `bucc` stands for the one in --protocol.
func (o evalOptions) protocols(args []string) ([]eval.Protocol, error) {
	if len(args) == 0 {
		return nil, badinput.Errorf("mine eval: name a protocol; `mine eval --help` lists them")
	}
	if o.protocol != "" && !slices.Contains(args, "bucc") {
		return nil, badinput.Errorf("mine eval: --protocol is only for `bucc`; name %s instead of %s, or remove --protocol", o.protocol, args[0])
	}
	var out []eval.Protocol
	for _, name := range args {
		if name == "bucc" {
			if o.protocol == "" {
				return nil, badinput.Errorf("mine eval bucc: four protocols have that name; add --protocol bucc-laser, bucc-st, bucc-cosine or bucc-mteb")
			}
			name = o.protocol
		}
		p, err := eval.ParseProtocol(name)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out, nil
}

func runEval(ctx context.Context, o evalOptions, args []string, out io.Writer) (err error) {
	protocols, err := o.protocols(args)
	if err != nil {
		return err
	}
	format, err := eval.ParseFormat(o.format)
	if err != nil {
		return err
	}
	if ext := filepath.Ext(o.curvePlot); o.curvePlot != "" && ext != ".svg" && ext != ".png" {
		return badinput.Errorf("%s: the file name of a plot must end in .svg or .png", o.curvePlot)
	}
	runner, closeEncoder, err := o.runner()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeEncoder()) }()
	closeScoring, err := o.openScoring(runner, protocols)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeScoring()) }()
	reports, err := o.evaluate(ctx, runner, protocols)
	if err != nil {
		return err
	}
	for _, r := range reports {
		if err := r.Write(out, format); err != nil {
			return err
		}
	}
	if o.curve != "" {
		if err := eval.WriteCurves(o.curve, reports); err != nil {
			return err
		}
	}
	if o.curvePlot != "" {
		return eval.PlotCurves(o.curvePlot, strings.TrimPrefix(filepath.Ext(o.curvePlot), "."), reports)
	}
	return nil
}

// runner opens the encoder, or the embeddings that replace it.
func (o *evalOptions) runner() (*eval.Runner, func() error, error) {
	if err := o.load(); err != nil {
		return nil, nil, err
	}
	narrow := embedding.DType(o.dtype) == embedding.Float16
	if !narrow && embedding.DType(o.dtype) != embedding.Float32 {
		return nil, nil, badinput.Errorf("--dtype %q is not known; choose float32 or float16", o.dtype)
	}
	search, err := searcher(o.cfg)
	if err != nil {
		return nil, nil, err
	}
	runner := &eval.Runner{Searcher: search, Progress: func(what string) { slog.Debug(what) }}
	if o.sourceEmb != "" || o.targetEmb != "" {
		if o.sourceEmb == "" || o.targetEmb == "" {
			return nil, nil, badinput.Errorf("--src-emb and --tgt-emb belong together: give both")
		}
		runner.Vectors = eval.Precomputed{Source: o.sourceEmb, Target: o.targetEmb, Dim: o.dim, DType: embedding.DType(o.embDType), Narrow: narrow}
		return runner, func() error { return nil }, nil
	}
	encoder, err := openEncoder(o.cfg)
	if err != nil {
		return nil, nil, err
	}
	runner.Vectors = &eval.Embedder{Encoder: encoder, Narrow: narrow}
	return runner, encoder.Close, nil
}

// evaluate groups protocols by the kind of set that they need, so that each set is read and encoded once.
func (o evalOptions) evaluate(ctx context.Context, runner *eval.Runner, protocols []eval.Protocol) ([]*eval.Report, error) {
	var bucc, aligned, sts []eval.Protocol
	for _, p := range protocols {
		switch p {
		case eval.BUCCLaser, eval.BUCCST, eval.BUCCCosine, eval.BUCCScored, eval.BUCCMTEB:
			bucc = append(bucc, p)
		case eval.STS:
			sts = append(sts, p)
		default:
			aligned = append(aligned, p)
		}
	}
	var reports []*eval.Report
	for _, kind := range []struct {
		protocols []eval.Protocol
		run       func(context.Context, *eval.Runner, []eval.Protocol) ([]*eval.Report, error)
	}{{bucc, o.evalBUCC}, {aligned, o.evalAligned}, {sts, o.evalSTS}} {
		if len(kind.protocols) == 0 {
			continue
		}
		found, err := kind.run(ctx, runner, kind.protocols)
		if err != nil {
			return nil, err
		}
		reports = append(reports, found...)
	}
	return reports, nil
}

func (o evalOptions) evalBUCC(ctx context.Context, runner *eval.Runner, protocols []eval.Protocol) ([]*eval.Report, error) {
	if len(o.sources) == 0 {
		return nil, badinput.Errorf("%s: name the source languages with --src", protocols[0].Name)
	}
	var pairs []testset.LanguagePair
	for _, source := range o.sources {
		pair, err := testset.ParsePair(source, o.target)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, pair)
	}
	dir, err := o.directory("bucc2018")
	if err != nil {
		return nil, err
	}
	return runner.BUCC(ctx, protocols, dir, pairs)
}

func (o evalOptions) evalAligned(ctx context.Context, runner *eval.Runner, protocols []eval.Protocol) ([]*eval.Report, error) {
	sets, err := o.alignedSets(protocols)
	if err != nil {
		return nil, err
	}
	if err := o.checkRules(protocols, sets); err != nil {
		return nil, err
	}
	opts := eval.AlignedOptions{ByText: o.byText, Negatives: testset.RuleNegatives, NegativesNote: testset.RuleNegativesNote}
	if o.negatives != "rules" {
		negatives, err := testset.ReadNegatives(o.negatives)
		if err != nil {
			return nil, err
		}
		opts.Negatives = func([]string) ([]testset.Negative, error) { return negatives, nil }
		opts.NegativesNote = fmt.Sprintf("%d published negatives of %s", len(negatives), o.negatives)
	}
	return runner.Aligned(ctx, protocols, sets, opts)
}

// checkRules returns an error if rules for English would have to make negatives of another language.
func (o evalOptions) checkRules(protocols []eval.Protocol, sets []testset.AlignedFiles) error {
	if !slices.Contains(protocols, eval.XSimPlusPlus) || o.negatives != "rules" {
		return nil
	}
	for _, set := range sets {
		if set.Pair.Target != "en" {
			return badinput.Errorf("xsim++: the rules make negatives only of English targets, not of %s: remove --tgt, or give negatives with --negatives", set.Pair.Target)
		}
	}
	return nil
}

func (o evalOptions) alignedSets(protocols []eval.Protocol) ([]testset.AlignedFiles, error) {
	target, err := corpus.ParseLanguage(o.target)
	if err != nil {
		return nil, err
	}
	var sources []string
	for _, code := range o.sources {
		pair, err := testset.ParsePair(code, o.target)
		if err != nil {
			return nil, err
		}
		sources = append(sources, pair.Source)
	}
	if o.sourceText != "" || o.targetText != "" {
		if o.sourceText == "" || o.targetText == "" || len(sources) != 1 {
			return nil, badinput.Errorf("--src-text and --tgt-text are two files of one pair: give both, and one language with --src")
		}
		return []testset.AlignedFiles{{Label: o.sources[0], Pair: testset.LanguagePair{Source: sources[0], Target: target}, Source: o.sourceText, Target: o.targetText}}, nil
	}
	name := "flores200"
	if protocols[0] == eval.Tatoeba {
		name = "tatoeba"
	}
	dir, err := o.directory(name)
	if err != nil {
		return nil, err
	}
	return testset.FindAligned(dir, o.split, sources, target)
}

func (o evalOptions) evalSTS(ctx context.Context, runner *eval.Runner, _ []eval.Protocol) ([]*eval.Report, error) {
	if o.dir == "" {
		return nil, badinput.Errorf("sts: name the directory of the sets with --dir")
	}
	sets, err := testset.FindSTS(o.dir)
	if err != nil {
		return nil, err
	}
	report, err := runner.STS(ctx, sets)
	return []*eval.Report{report}, err
}

// directory is --dir, or the directory in which mine data puts the set.
func (o evalOptions) directory(name string) (string, error) {
	if o.dir != "" {
		return o.dir, nil
	}
	return dataDirectory(name)
}
