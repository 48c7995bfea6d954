package train

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"bitextmine/corpus"
	"bitextmine/encode/embedding"
	"bitextmine/eval"
	"bitextmine/eval/report"
	"bitextmine/eval/testset"

	"bitextmine/index"
	"bitextmine/internal/badinput"
)

// DevSet is a test set and the protocol that an encoder in training is evaluated with.
type DevSet struct {
	Protocol string   `yaml:"protocol"` // tatoeba, xsim, sts, bucc-laser, bucc-cosine ...
	Dir      string   `yaml:"dir"`
	Split    string   `yaml:"split"` // split of FLORES
	Src      []string `yaml:"src"`
	Tgt      string   `yaml:"tgt"`
}

// Validate refuses an unknown protocol, one that needs more than vectors, and a set without dir or tgt.
func (s DevSet) Validate() error {
	p, err := eval.ParseProtocol(s.Protocol)
	switch {
	case err != nil:
		return badinput.Errorf("dev: %w", err)
	case p.Scorer, p.Strong, p.Data() == eval.LabelledSets:
		return badinput.Errorf("dev: %s needs more than vectors of sentences; take another protocol", p.Name)
	case p.Data() == eval.STSSets && s.Dir != "":
	case s.Dir == "" || s.Tgt == "":
		return badinput.Errorf("dev: %s needs dir and tgt", p.Name)
	}
	return nil
}

// published is the published test set that a set is, by the names of its files, or empty.
func (s DevSet) published() string {
	has := func(pattern string) bool {
		found, err := fs.Glob(os.DirFS(s.Dir), pattern)
		return err == nil && len(found) > 0
	}
	p, err := eval.ParseProtocol(s.Protocol)
	switch {
	case err != nil:
		return ""
	case p.Data() == eval.STSSets:
		return "an STS test"
	case p.Data() == eval.BUCCSets && has("??-en.test.gold"):
		return "BUCC's test half"
	case s.Split == "devtest":
		return "FLORES devtest"
	case has("tatoeba.*-eng.eng"):
		return "LASER's Tatoeba test"
	case has("newstest2019-*"):
		return "NTREX"
	}
	return ""
}

// testWarning is the warning for a preset whose checkpoint is chosen on a test set; empty for others.
func (c Config) testWarning() string {
	if c.Stop.Metric == "" {
		return ""
	}
	for _, s := range c.Dev {
		if test := s.published(); test != "" && DevGives([]DevSet{s}, c.Stop.Metric) {
			return fmt.Sprintf("warning: stop.metric chooses the checkpoint on %s, so its figure there is too good to report: "+
				"take a development set, such as FLORES dev (dir: flores, split: dev)", test)
		}
	}
	return ""
}

// DevGives reports whether the figures of any of the sets may have a metric's name.
func DevGives(sets []DevSet, metric string) bool {
	for _, s := range sets {
		if strings.HasPrefix(metric, s.Protocol+" ") {
			return true
		}
	}
	return false
}

// isError reports whether a figure is an error rate, which is better when it is lower.
func isError(metric string) bool { return strings.HasSuffix(metric, "error") }

// CheckDev refuses dev sets that cannot be read, and a metric that they do not give. It evaluates vectors that follow
// from each text and mean nothing, so that nothing has to be trained. An empty metric is none.
func CheckDev(ctx context.Context, sets []DevSet, metric string, searcher index.Searcher) error {
	_, err := checkDev(ctx, sets, metric, searcher)
	return err
}

// checkDev is CheckDev that also returns the keys of the sets' texts.
func checkDev(ctx context.Context, sets []DevSet, metric string, searcher index.Searcher) (map[corpus.Key]struct{}, error) {
	source := drawn{texts: map[corpus.Key]struct{}{}}
	figures, err := EvaluateDev(ctx, sets, source, searcher)
	if err == nil && metric != "" {
		err = checkMetric(figures, metric)
	}
	return source.texts, err
}

// checkMetric refuses a metric that is not among the figures, or an error rate.
func checkMetric(figures map[string]float64, metric string) error {
	names := slices.Sorted(maps.Keys(figures))
	names = slices.DeleteFunc(names, isError)
	if !slices.Contains(names, metric) {
		return badinput.Errorf("the metric %q is none of the figures of the dev sets that are better when higher: name one of %s",
			metric, strings.Join(names, ", "))
	}
	return nil
}

// drawn is a VectorSource of vectors that follow from each text alone and mean nothing.
type drawn struct {
	texts map[corpus.Key]struct{} // those that it was asked for
}

func (drawn) Name() string { return "drawn" }

func (d drawn) Vectors(_ context.Context, side testset.Side, _ testset.Role) (testset.EncodedSide, error) {
	const dim = 8
	rows := make([]float32, 0, dim*len(side.Texts))
	for _, text := range side.Texts {
		d.texts[corpus.KeyOf(corpus.Normalise(text))] = struct{}{}
		sum, row := sha256.Sum256([]byte(text)), [dim]float32{}
		for i := range row {
			row[i] = float32(sum[i]) - 127.5 // never 0, so there is a length
		}
		if err := embedding.Normalise(row[:]); err != nil {
			return testset.EncodedSide{}, err
		}
		rows = append(rows, row[:]...)
	}
	return testset.EncodedSide{Side: side, Rows: embedding.FromFloat32(rows, dim)}, nil
}

// EvaluateDev returns the percentages of every set under the names of eval's rows and columns, such as "bucc-laser
// de-en f1". Two sets that give a figure of one name are refused.
func EvaluateDev(ctx context.Context, sets []DevSet, source testset.VectorSource,
	searcher index.Searcher) (map[string]float64, error) {
	reports, err := Reports(ctx, sets, source, searcher)
	figures := map[string]float64{}
	for _, r := range reports {
		for _, row := range append(r.Rows, r.Means...) {
			for i, column := range r.Columns {
				x, ok := row.Cells[i].(float64)
				if !ok || column.Kind != report.Percentage {
					continue
				}
				name := r.Protocol + " " + row.Name + " " + column.Name
				if _, twice := figures[name]; twice {
					return nil, badinput.Errorf("dev: two sets give a figure of the name %q: leave out one of them, or take another protocol for it", name)
				}
				figures[name] = x
			}
		}
	}
	return figures, err
}

// Reports evaluates on every set, in order. Protocols on the same sentences that follow each other encode them once.
func Reports(ctx context.Context, sets []DevSet, source testset.VectorSource,
	searcher index.Searcher) (all []*report.Report, err error) {
	runner := &eval.Runner{Vectors: source, Searcher: searcher}
	for len(sets) > 0 {
		n := 1 // number of protocols with the same sentences, which are encoded once
		for n < len(sets) && sets[n].shares(sets[0]) {
			n++
		}
		reports, err := sets[0].reports(ctx, runner, sets[:n])
		if err != nil {
			return nil, err
		}
		all, sets = append(all, reports...), sets[n:]
	}
	return all, nil
}

// shares reports whether two protocols have the same sentences.
func (s DevSet) shares(other DevSet) bool {
	p, err := eval.ParseProtocol(s.Protocol)
	q, also := eval.ParseProtocol(other.Protocol)
	return err == nil && also == nil && p.Data() == q.Data() && s.Dir == other.Dir && s.Split == other.Split &&
		s.Tgt == other.Tgt && slices.Equal(s.Src, other.Src)
}

// reports evaluates with the protocols of all, which have the same sentences as s.
func (s DevSet) reports(ctx context.Context, runner *eval.Runner, all []DevSet) ([]*report.Report, error) {
	protocols := make([]*eval.Protocol, len(all))
	for i, one := range all {
		var err error
		if protocols[i], err = eval.ParseProtocol(one.Protocol); err != nil {
			return nil, err
		}
	}
	switch protocols[0].Data() {
	case eval.STSSets:
		found, err := testset.FindSTS(s.Dir)
		if err != nil {
			return nil, err
		}
		return runner.STS(ctx, protocols, found)
	case eval.AlignedSets:
		target, sources, err := s.languages()
		if err != nil {
			return nil, err
		}
		found, err := testset.FindAligned(s.Dir, s.Split, sources, target)
		if err != nil {
			return nil, err
		}
		if s.Split != "" && !testset.HasSplit(found, s.Split) {
			return nil, badinput.Errorf("dev: %s has no part %q: correct split, or remove it", s.Dir, s.Split)
		}
		return runner.Aligned(ctx, protocols, found, eval.AlignedOptions{})
	}
	pairs, err := s.pairs()
	if err != nil {
		return nil, err
	}
	return runner.BUCC(ctx, protocols, s.Dir, pairs)
}

// pairs returns the language pairs of BUCC sets: those with src, or all that are there.
func (s DevSet) pairs() ([]testset.LanguagePair, error) {
	if len(s.Src) == 0 {
		return testset.BUCCPairs(s.Dir, s.Tgt)
	}
	pairs := make([]testset.LanguagePair, len(s.Src))
	for i, source := range s.Src {
		var err error
		if pairs[i], err = testset.ParsePair(source, s.Tgt); err != nil {
			return nil, err
		}
	}
	return pairs, nil
}

// languages returns the names by which line-aligned sets are found.
func (s DevSet) languages() (target string, sources []string, err error) {
	if target, err = corpus.ParseLanguage(s.Tgt); err != nil {
		return "", nil, badinput.Errorf("dev: tgt: %w", err)
	}
	for _, code := range s.Src {
		source, err := corpus.ParseLanguage(code)
		if err != nil {
			return "", nil, badinput.Errorf("dev: src: %w", err)
		}
		sources = append(sources, source)
	}
	return target, sources, nil
}
