// Package evaluation has the commands that measure encoders and explain scores.
package evaluation

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

	"bitextmine/cmd/mine/flags"
	"bitextmine/cmd/mine/program"
	"bitextmine/encode/embedding"
	"bitextmine/encode/model"
	"bitextmine/eval"
	"bitextmine/eval/report"
	"bitextmine/eval/testset"

	"bitextmine/internal/badinput"
)

// evalOptions are the flags of mine eval.
type evalOptions struct {
	engine
	protocol   string
	sources    []string
	target     string
	dir, split string
	splitGiven bool // --split was given
	sourceText string
	targetText string
	format     string
	dtype      string
	sourceEmb  string
	targetEmb  string
	dim        int
	embDType   string
	byText     bool
	negatives  string
	made       string // where --negatives-out writes negatives
	curve      string
	scorer     string
	pairs      string
	strong     *model.Model      // the encoder of --refine once it is open, else nil
	model      *model.Model      // the encoder once it is open; nil: that of the vectors in files is not known
	embedder   *testset.Embedder // nil: vectors are in files
	searcher   *measuredSearch
	parts      bool // says that the line-aligned sets have parts, of which split is evaluated
}

// Defaults that reports need not name.
const (
	defaultTarget = "en"
	defaultSplit  = "devtest"
	defaultScorer = "default"
)

// NewEval makes mine eval.
func NewEval() *cobra.Command {
	var o evalOptions
	cmd := &cobra.Command{
		Use:       "eval PROTOCOL...",
		ValidArgs: eval.ProtocolNames(func(*eval.Protocol) bool { return true }), // what completion offers
		Short:     "Evaluate an encoder with published protocols",
		Long: `Evaluate an encoder, or embeddings of any program, with the protocols that papers report. Each has its own
name and prints what it measures. Figures of different protocols are not comparable (docs/evaluation.md).

` + listProtocols() + `
Percentages are numbers from 0 to 100 in every format. Language codes may be ISO 639-1, ISO 639-3 or FLORES.`,
		Example: `  mine eval bucc-laser bucc-cosine --dir bucc2018 --src de,fr,ru,zh
  mine eval tatoeba --dir tatoeba/v1 --format json
  mine eval xsim xsim++ --dir flores200_dataset --src fra_Latn,hin_Deva
  mine eval bucc-refined --dir bucc2018 --src de --refine labse/model.yaml
  mine eval bucc-laser --dir bucc2018 --src de \
      --src-emb 'labse.{pair}.{half}.{src}.npy' --tgt-emb 'labse.{pair}.{half}.{tgt}.npy'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, c := range cmd.Commands() {
				if slices.Contains(args, c.Name()) {
					return badinput.Errorf("%[1]s is no protocol but a command: give `%[2]s` by itself", c.Name(), c.CommandPath())
				}
			}
			return runEval(cmd.Context(), o, args, cmd.Flags().Changed, cmd.OutOrStdout())
		},
	}
	cmd.AddCommand(newAER())
	o.Register(cmd, "refine", "refine_floor", "max_memory")
	f := cmd.Flags()
	f.StringVar(&o.protocol, "protocol", "", "the `PROTOCOL` of mine eval bucc: "+buccNames())
	f.StringSliceVar(&o.sources, "src", nil, "source languages (default: all of the set)")
	f.StringVar(&o.target, "tgt", defaultTarget, "target language")
	f.StringVar(&o.dir, "dir", "", "directory of the test set (default: where mine data get puts it)")
	f.StringVar(&o.split, "split", defaultSplit, "part of a FLORES set")
	f.StringVar(&o.sourceText, "src-text", "", "line-aligned source file, instead of --dir")
	f.StringVar(&o.targetText, "tgt-text", "", "its line-aligned target file")
	f.StringVar(&o.format, "format", "table", "table, json, tsv, markdown")
	f.StringVar(&o.dtype, "dtype", "float32", "precision of vectors: float32, or float16 as in a run")
	f.StringVar(&o.sourceEmb, "src-emb", "", "source embeddings (.npy, or LASER's without header) instead of an "+
		"encoder; {src} {tgt} {pair} {half}, and {dir} {file} of the text, are replaced")
	f.StringVar(&o.targetEmb, "tgt-emb", "", "target embeddings")
	f.IntVar(&o.dim, "emb-dim", 0, "values per row of embeddings without header")
	f.IntVar(&o.dim, "dim", 0, "the same as --emb-dim")
	f.Lookup("dim").Hidden = true
	f.StringVar(&o.embDType, "emb-dtype", "float32", "type of embeddings without header: float32, float16")
	f.BoolVar(&o.byText, "eval-text", false,
		"tatoeba, xsim, retrieval: an answer with the correct text is correct on any line")
	f.StringVar(&o.negatives, "negatives", "rules", "xsim++: rules (this program's), or a published errtype.json")
	f.StringVar(&o.made, "negatives-out", "", "xsim++: write the negatives to this file, one a line, to encode them elsewhere")
	f.StringVar(&o.scorer, "scorer", defaultScorer, "bucc-scored: default, or a file of mine fit-scorer")
	f.StringVar(&o.curve, "curve", "", "write the precision-recall curves to this TSV file")
	f.StringVar(&o.pairs, "pairs", "", "write the extracted and the missed pairs of the reported sets, or the missed lines, to this TSV file")
	flags.Replaced.Mark(f, "curve", "pairs")
	flags.Text.Mark(f, "negatives-out")
	return cmd
}

// protocols resolves the names; `bucc` means the one in --protocol.
func (o *evalOptions) protocols(args []string) ([]*eval.Protocol, error) {
	if len(args) == 0 {
		return nil, badinput.Errorf("mine eval: name a protocol; `mine eval --help` lists them")
	}
	if o.protocol != "" && !slices.Contains(args, "bucc") {
		return nil, badinput.Errorf("mine eval: --protocol is only for `bucc`; name %s instead of %s, or remove --protocol",
			o.protocol, args[0])
	}
	var out []*eval.Protocol
	for _, name := range args {
		if name == "bucc" {
			if o.protocol == "" {
				return nil, badinput.Errorf("mine eval bucc: several protocols have that name; add --protocol %s", buccNames())
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

// forProtocols are flags that only some protocols read.
var forProtocols = []struct {
	flags []string
	of    func(p *eval.Protocol) bool
	which string
}{
	{[]string{"src-text", "tgt-text", "split"}, func(p *eval.Protocol) bool { return p.Data() == eval.AlignedSets }, "line-aligned sets"},
	{[]string{"eval-text"}, func(p *eval.Protocol) bool { return p.ByText }, "tatoeba, xsim and retrieval"},
	{[]string{"src"}, func(p *eval.Protocol) bool { return p.Data() == eval.BUCCSets || p.Data() == eval.AlignedSets }, "BUCC sets and line-aligned sets"},
	{[]string{"tgt"}, func(p *eval.Protocol) bool { return p.Data() != eval.STSSets && p != eval.Pairs }, "sets of two languages, which those of sts and pairs name themselves"},
	{[]string{"curve"}, func(p *eval.Protocol) bool { return p.Data() == eval.BUCCSets }, "BUCC sets"},
	{[]string{"pairs"}, func(p *eval.Protocol) bool { return p.Sampled != "" }, "BUCC sets and line-aligned sets, less bitext-mteb"},
	{[]string{"negatives", "negatives-out"}, func(p *eval.Protocol) bool { return p == eval.XSimPlusPlus }, "xsim++"},
	{[]string{"scorer"}, func(p *eval.Protocol) bool { return p.Scorer }, "bucc-scored"},
}

// refuseUnread refuses a flag that none of the protocols reads: the figures would not be what it asks for.
func (o *evalOptions) refuseUnread(protocols []*eval.Protocol, given func(flag string) bool) error {
	for _, f := range forProtocols {
		for _, flag := range f.flags {
			if given(flag) && !slices.ContainsFunc(protocols, f.of) {
				return badinput.Errorf("mine eval: --%s is for %s; leave it out, or name such a protocol", flag, f.which)
			}
		}
	}
	if given("dir") && given("src-text") && !slices.ContainsFunc(protocols, func(p *eval.Protocol) bool { return p.Data() != eval.AlignedSets }) {
		return badinput.Errorf("mine eval: --dir is for sets, not for --src-text and --tgt-text; leave it out, or them")
	}
	for _, flag := range []string{"emb-dim", "dim", "emb-dtype"} {
		if given(flag) && o.sourceEmb == "" {
			return badinput.Errorf("mine eval: --%s is of the files of --src-emb and --tgt-emb; name them, or leave it out", flag)
		}
		if given(flag) && filepath.Ext(o.sourceEmb) == ".npy" && filepath.Ext(o.targetEmb) == ".npy" {
			return badinput.Errorf("mine eval: --%s is of files without a header, and .npy has one; leave it out", flag)
		}
	}
	return nil
}

func runEval(ctx context.Context, o evalOptions, args []string, given func(flag string) bool, out io.Writer) (err error) {
	protocols, err := o.protocols(args)
	if err == nil {
		o.splitGiven = given("split")
		err = o.refuseUnread(protocols, given)
	}
	if err != nil {
		return err
	}
	format, err := report.ParseFormat(o.format)
	if err != nil {
		return err
	}
	runner, closeEncoder, err := o.runner()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeEncoder()) }()
	closeStrong, err := o.openStrong(runner, protocols)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeStrong()) }()
	closeScoring, err := o.openScoring(runner, protocols)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeScoring()) }()
	reports, err := o.evaluate(ctx, runner, protocols)
	if err != nil {
		return err
	}
	if err := program.WriteReports(out, format, reports...); err != nil {
		return err
	}
	if o.curve != "" {
		if err := report.WriteCurves(o.curve, reports); err != nil {
			return err
		}
	}
	if o.pairs != "" {
		return report.WritePairs(o.pairs, reports)
	}
	return nil
}

// runner opens the encoder, or the embeddings that replace it.
func (o *evalOptions) runner() (*eval.Runner, func() error, error) {
	if err := o.Load(); err != nil {
		return nil, nil, err
	}
	narrow := embedding.DType(o.dtype) == embedding.Float16
	if !narrow && embedding.DType(o.dtype) != embedding.Float32 {
		return nil, nil, badinput.Errorf("--dtype %q is not known; choose float32 or float16", o.dtype)
	}
	search, err := program.OpenSearch(o.cfg)
	if err != nil {
		return nil, nil, err
	}
	o.searcher = &measuredSearch{Searcher: search}
	runner := &eval.Runner{Searcher: o.searcher, KeepPairs: o.pairs != "", Progress: func(what string) { slog.Info(what) }}
	if o.sourceEmb != "" || o.targetEmb != "" {
		if o.sourceEmb == "" || o.targetEmb == "" {
			return nil, nil, badinput.Errorf("--src-emb and --tgt-emb belong together: give both")
		}
		files := testset.VectorFiles{Source: o.sourceEmb, Target: o.targetEmb, Dim: o.dim,
			DType: embedding.DType(o.embDType), Narrow: narrow, MaxMemory: o.cfg.MemoryBound()}
		if o.named && o.cfg.Encoder != "" {
			if o.model, err = model.Load(o.cfg.Encoder); err != nil {
				return nil, nil, err
			}
			files.Encoder, files.Width = o.model.Name, o.model.Dim
		}
		runner.Vectors = files
		return runner, func() error { return nil }, nil
	}
	m, encoder, err := program.OpenEncoder(o.cfg)
	if err != nil {
		return nil, nil, err
	}
	o.model = m
	o.embedder = &testset.Embedder{Encoder: encoder, Narrow: narrow, MaxMemory: o.cfg.MemoryBound()}
	runner.Vectors = o.embedder
	return runner, encoder.Close, nil
}

// testSets are the kinds of test sets, as the help lists them and in the order in which they are evaluated.
var testSets = []struct {
	data  eval.Data
	files string
	run   func(*evalOptions, context.Context, *eval.Runner, []*eval.Protocol) ([]*report.Report, error)
}{
	{eval.BUCCSets, "BUCC sets: PAIR.{train,test}.{LANG,gold} in --dir or --dir/PAIR", (*evalOptions).evalBUCC},
	{eval.AlignedSets, "line-aligned sets: LASER's Tatoeba, FLORES, NTREX, or --src-text and --tgt-text",
		(*evalOptions).evalAligned},
	{eval.STSSets, "SemEval 2012-2017, STS benchmark, SICK and MTEB's STS17 and STS22 under --dir", (*evalOptions).evalSTS},
	{eval.LabelledSets, "pairs as of PAWS-X and XNLI, or texts as of MLDoc, under --dir", (*evalOptions).evalLabelled},
}

// listProtocols lists the protocols by the sets that they are for.
func listProtocols() string {
	var out strings.Builder
	for _, kind := range testSets {
		line := ""
		for _, name := range namesOn(kind.data) {
			if line != "" && len(line)+1+len(name) > 42 {
				fmt.Fprintf(&out, "  %s\n", line)
				line = ""
			}
			line = strings.TrimSpace(line + " " + name)
		}
		fmt.Fprintf(&out, "  %-42s %s\n", line, kind.files)
	}
	return out.String()
}

// namesOn lists the protocols for a kind of sets.
func namesOn(data eval.Data) []string {
	return eval.ProtocolNames(func(p *eval.Protocol) bool { return p.Data() == data })
}

// buccNames are the protocols that --protocol is for: those that published figures of BUCC mean.
func buccNames() string {
	names := eval.ProtocolNames(func(p *eval.Protocol) bool { return p.Data() == eval.BUCCSets && !p.Scorer && !p.Strong })
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// evaluate groups protocols by the set that they need, so that each set is read and encoded once. Without a named set
// each is evaluated on its own of those that mine data get puts into the cache.
func (o *evalOptions) evaluate(ctx context.Context, runner *eval.Runner,
	protocols []*eval.Protocol) ([]*report.Report, error) {
	var reports []*report.Report
	named := o.dir != "" || o.sourceText != ""
	for _, kind := range testSets {
		of := slices.DeleteFunc(slices.Clone(protocols), func(p *eval.Protocol) bool { return p.Data() != kind.data })
		for len(of) > 0 {
			var on, later []*eval.Protocol
			for _, p := range of {
				if named || p.Dataset == of[0].Dataset {
					on = append(on, p)
				} else {
					later = append(later, p)
				}
			}
			o.searcher.measured = false // the recall of other sets
			found, err := kind.run(o, ctx, runner, on)
			if err == nil {
				err = o.describe(found, on)
			}
			if err != nil {
				return nil, err
			}
			reports, of = append(reports, found...), later
		}
	}
	return reports, nil
}
