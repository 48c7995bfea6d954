// Package multiway is a run over many pairs of languages. Each pair is a run of its own into OUT/SRC-TGT, and all share
// one work directory, where shards, vectors and neighbours go by their content: a language is cut and encoded once,
// whichever pair comes first, and a pair's bitext does not depend on the others. What was kept of all pairs is then
// joined into one table of sentences in three and more languages.
//
// # The table
//
// A table joins the bitexts of several pairs of languages into one table: sentences of three and more
// languages that are translations of each other.
package multiway

import (
	"bufio"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"bitextmine/bitext"
	"bitextmine/bitext/table"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/internal/lockfile"
	"bitextmine/pipeline/config"
	"bitextmine/pipeline/record"
)

// The names in the output directory of a run over many pairs.
const (
	ReportName    = "pairs.json"
	TableName     = "parallel.parquet"
	ConflictsName = "conflicts.tsv"
)

// Report is pairs.json.
type Report struct {
	Pairs     []PairReport `json:"pairs"`
	Languages []string     `json:"languages"`
	// Rows of parallel.parquet: sentences of so many languages and more, from three on.
	Rows      map[int]int `json:"rows"`
	Conflicts int         `json:"conflicts"` // lines of conflicts.tsv
	// Stale says that this run wrote neither file, as a pair failed: both, and their counts, are of an earlier one.
	Stale bool `json:"stale,omitempty"`
	// Stages are the tasks that were done for all pairs together, in place of each pair's own.
	Stages []record.StageReport `json:"stages,omitempty"`
}

// PairReport is the result of mining a pair.
type PairReport struct {
	Pair   string `json:"pair"`
	Bitext string `json:"bitext,omitempty"`
	Kept   int    `json:"kept"`
	Failed string `json:"failed,omitempty"` // why; empty: it did not
}

// Mine runs one pair.
type Mine func(ctx context.Context, cfg config.Config) (*record.Report, error)

// Together does the tasks of all pairs' runs, as far as they can be done together. The engine's logs go to out.
type Together func(ctx context.Context, cfgs []config.Config, out string) (*Done, error)

// Done is what was done for all pairs together.
type Done struct {
	Stages []record.StageReport
	Took   []bool       // pairs whose tasks are among them
	Free   func() error // called when the pairs have what they need of it, which may be swept from then on
}

// of does the tasks of the pairs that lack no text. If it cannot, none of them took part.
func (t Together) of(ctx context.Context, cfgs []config.Config, lacking []error, out string, log *slog.Logger) *Done {
	none := &Done{Took: make([]bool, len(cfgs)), Free: func() error { return nil }}
	var whole []config.Config
	var places []int
	for i, cfg := range cfgs {
		if lacking[i] == nil {
			whole, places = append(whole, cfg), append(places, i)
		}
	}
	if t == nil || len(whole) < 2 {
		return none
	}
	log.Info("doing the tasks of all pairs together", "pairs", len(whole))
	done, err := t(ctx, whole, out)
	if err != nil {
		if ctx.Err() == nil {
			log.Warn("the tasks of all pairs could not be done together, so each pair goes on by itself", "reason", err)
		}
		return none
	}
	for i, took := range done.Took {
		none.Took[places[i]] = took
	}
	return &Done{Stages: done.Stages, Took: none.Took, Free: done.Free}
}

// Run mines every pair, then joins what was kept. A pair that fails does not hold up the others; the error is then that
// of every pair that failed, and nothing is joined. Where all failed, the report of the run before stays. together is
// for engines whose tasks run elsewhere, nil for others: if it fails, each pair goes on by itself. Text that cannot be
// found is refused before the first pair; at night it is the failure of its language's pairs.
func Run(ctx context.Context, cfg config.Config, nightly bool, log *slog.Logger, together Together, mine Mine) (_ *Report, err error) {
	pairs, err := Pairs(&cfg)
	if err != nil {
		return nil, err
	}
	configs, lacking, err := configsOf(cfg, pairs)
	if first := cmp.Or(lacking...); err == nil && !nightly {
		err = first
	}
	if err != nil {
		return nil, err
	}
	for _, warning := range cfg.SortWarnings {
		log.Warn(warning)
	}
	report := &Report{Languages: languages(pairs), Rows: map[int]int{}}
	if n := len(report.Languages); n > maxLanguages {
		log.Warn(fmt.Sprintf("%s is not written: a table has %d languages at most, and this run has %d", TableName, maxLanguages, n))
	}
	done := together.of(ctx, configs, lacking, cfg.Out, log)
	defer func() { err = errors.Join(err, done.Free()) }()
	report.Stages = done.Stages
	var failed []error
	var bitexts []string
	for i, p := range pairs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if cfg.DryRun != nil && done.Took[i] {
			continue // its scripts are among those of all
		}
		log.Info("mining a pair", "pair", p, "number", i+1, "of", len(pairs))
		of := PairReport{Pair: p.String()}
		if r, err := mine(ctx, configs[i]); err != nil {
			of.Failed = err.Error()
			failed = append(failed, fmt.Errorf("%s: %w", p, err))
		} else {
			of.Bitext, of.Kept = r.Bitext.Path, r.Counts.Kept
			bitexts = append(bitexts, r.Bitext.Path)
		}
		report.Pairs = append(report.Pairs, of)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(bitexts) > 0 && cfg.DryRun == nil {
		err = report.publish(ctx, cfg.Out, bitexts, log)
	}
	return report, errors.Join(err, joined(failed, len(pairs)))
}

// publish writes the report, and the table if every pair was mined and there is one of so many languages.
func (r *Report) publish(ctx context.Context, out string, bitexts []string, log *slog.Logger) error {
	if n := len(r.Languages); len(bitexts) == len(r.Pairs) && n >= MinLanguages && n <= maxLanguages {
		if err := r.join(ctx, out, bitexts); err != nil {
			return err
		}
	} else if _, err := os.Stat(filepath.Join(out, TableName)); err == nil && len(bitexts) == len(r.Pairs) {
		log.Info(fmt.Sprintf("%s and %s in %s are removed: they are of %d to %d languages, and this run has %d", TableName, ConflictsName,
			out, MinLanguages, maxLanguages, n))
		for _, name := range []string{TableName, ConflictsName} {
			if err := os.Remove(filepath.Join(out, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("remove a table of an earlier run: %w", err)
			}
		}
	} else if err == nil {
		r.Stale = true
		if earlier, err := ReadReport(out); err == nil {
			r.Rows, r.Conflicts = earlier.Rows, earlier.Conflicts
		}
		log.Warn(fmt.Sprintf("%s and %s in %s are those of an earlier run, as this one has not mined all of their pairs",
			TableName, ConflictsName, out))
	}
	if err := config.MakeOut(out); err != nil {
		return err
	}
	return atomicfile.WriteJSON(filepath.Join(out, ReportName), r)
}

// ReadReport reads the report in the output directory of a run over many pairs.
func ReadReport(out string) (*Report, error) {
	data, err := os.ReadFile(filepath.Join(out, ReportName))
	if err != nil {
		return nil, err
	}
	r := &Report{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, badinput.Errorf("%s is no report of a run over many pairs: %w", filepath.Join(out, ReportName), err)
	}
	return r, nil
}

// joined is the error of a run whose pairs failed: bad input, or of a lock, if all of them did for that; else it is
// worth a retry, which those that failed for another reason want.
func joined(failed []error, pairs int) error {
	if len(failed) == 0 {
		return nil
	}
	err := fmt.Errorf("%d of %d pairs failed: %w", len(failed), pairs, errors.Join(failed...))
	isLocked := func(err error) bool { return errors.As(err, new(*lockfile.Locked)) }
	for _, is := range []func(error) bool{badinput.Is, isLocked} {
		if !slices.ContainsFunc(failed, func(err error) bool { return !is(err) }) {
			return err
		}
	}
	return errors.New(err.Error())
}

// languages returns the languages of the pairs, sorted.
func languages(pairs []Pair) (all []string) {
	for _, p := range pairs {
		all = append(all, p.Source, p.Target)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// join writes the table of three and more languages, and what did not fit into it.
func (r *Report) join(ctx context.Context, out string, bitexts []string) error {
	t, err := ReadTable(ctx, r.Languages, bitexts)
	if err != nil {
		return err
	}
	for n := MinLanguages; n <= len(r.Languages); n++ {
		r.Rows[n] = t.Rows(n)
	}
	r.Conflicts = t.Conflicts()
	for name, write := range map[string]func(io.Writer) error{TableName: t.WriteParquet, ConflictsName: t.WriteConflicts} {
		if err := atomicfile.Write(filepath.Join(out, name), func(f *os.File) error { return write(f) }); err != nil {
			return err
		}
	}
	return nil
}

// Table is the closure of several bitexts. It holds the texts of their kept pairs in memory.
type Table struct {
	Languages []string
	sentences []sentence
	texts     []string // text of each sentence
	groups    []group
	conflicts []conflict
}

// MinLanguages is the number of languages from which a group stands in the table: with two it is a pair of a bitext.
const MinLanguages = 3

// ReadTable joins the kept pairs of bitexts, whose sentences are of the languages. A pair's score is its probability,
// or its margin where no scorer decided.
func ReadTable(ctx context.Context, languages []string, paths []string) (*Table, error) {
	if len(languages) > maxLanguages {
		return nil, badinput.Errorf("%d languages are too many for one table; join at most %d", len(languages), maxLanguages)
	}
	t := &Table{Languages: languages}
	var links []link
	places := map[sentence]int32{}
	for _, path := range paths {
		var err error
		if links, err = t.read(ctx, path, places, links); err != nil {
			return nil, err
		}
	}
	t.groups, t.conflicts = closure(t.sentences, links)
	return t, nil
}

// read adds the kept pairs of a bitext.
func (t *Table) read(ctx context.Context, path string, places map[sentence]int32, links []link) (_ []link, err error) {
	file, err := bitext.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	for row, err := range file.Rows(ctx) {
		if err != nil {
			return nil, err
		}
		if !row.Keep {
			continue
		}
		score := row.Score
		if row.Prob != nil {
			score = *row.Prob
		}
		l := link{score: score}
		if l.a, err = t.place(&row.Source, places); err == nil {
			l.b, err = t.place(&row.Target, places)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		links = append(links, l)
	}
	return links, nil
}

// place returns a sentence's place, adding it where it is new.
func (t *Table) place(s *bitext.Sentence, places map[sentence]int32) (int32, error) {
	language := slices.Index(t.Languages, s.Lang)
	if language < 0 {
		return 0, badinput.Errorf("it has a sentence of %q, which is none of %v", s.Lang, t.Languages)
	}
	of := sentence{language, s.Key}
	if at, ok := places[of]; ok {
		return at, nil
	}
	at := int32(len(t.sentences))
	places[of] = at
	t.sentences, t.texts = append(t.sentences, of), append(t.texts, s.Text)
	return at, nil
}

// Rows is how many groups have at least so many languages.
func (t *Table) Rows(languages int) int {
	n := 0
	for _, g := range t.groups {
		if len(g.members) >= languages {
			n++
		}
	}
	return n
}

// Conflicts is how many kept pairs would bring two sentences of one language together.
func (t *Table) Conflicts() int { return len(t.conflicts) }

// WriteParquet writes the groups of three and more languages, those of most languages first, then the best. It has
// for each language the sentence and its key, null where the group has none, and then the number of languages, of links
// and the lowest score of a link that joined it, which others of its links may be below.
func (t *Table) WriteParquet(w io.Writer) error {
	out := table.NewParquetWriter(w, map[string]string{"mine.languages": fmt.Sprint(t.Languages)})
	rows := t.groups[:t.Rows(MinLanguages)] // they stand first
	for first := 0; first == 0 || first < len(rows); first += table.BatchRows {
		b, err := t.batch(rows[first:min(first+table.BatchRows, len(rows))])
		if err == nil {
			err = out.Write(b)
		}
		if err != nil {
			return err
		}
	}
	return out.Close()
}

func (t *Table) batch(groups []group) (*table.Batch, error) {
	n := len(groups)
	texts, keys := make([]table.Values, len(t.Languages)), make([]table.Values, len(t.Languages))
	for l, code := range t.Languages {
		known := make([]bool, n)
		texts[l] = table.Values{Name: code, Text: make([]string, n), Known: known}
		keys[l] = table.Values{Name: code + "_key", Text: make([]string, n), Known: known}
	}
	languages, links := table.Values{Name: "languages", Uint32: make([]uint32, n)}, table.Values{Name: "links", Uint32: make([]uint32, n)}
	score := table.Values{Name: "score", Float32: make([]float32, n)}
	for i, g := range groups {
		for _, m := range g.members {
			l := t.sentences[m].language
			texts[l].Text[i], keys[l].Text[i], texts[l].Known[i] = t.texts[m], t.keyOf(m), true
		}
		languages.Uint32[i], links.Uint32[i], score.Float32[i] = uint32(len(g.members)), uint32(g.links), g.score
	}
	return table.NewBatch(n, 0, slices.Concat(texts, keys, []table.Values{languages, links, score})...)
}

func (t *Table) keyOf(m int32) string { return hex.EncodeToString(t.sentences[m].key[:]) }

// oneCell puts spaces in place of what would end a cell of TSV.
var oneCell = strings.NewReplacer("\t", " ", "\n", " ", "\r", " ")

// WriteConflicts writes a line for each kept pair that is in no group: its score, its sides as language:key, and the
// two sentences of one language that it would have brought together, the same way.
func (t *Table) WriteConflicts(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, "score\tsrc\ttgt\tfirst\tsecond\tfirst_text\tsecond_text")
	for _, c := range t.conflicts {
		fmt.Fprintf(out, "%.4f", c.score)
		for _, m := range []int32{c.a, c.b, c.first, c.second} {
			fmt.Fprintf(out, "\t%s:%s", t.Languages[t.sentences[m].language], t.keyOf(m))
		}
		fmt.Fprintf(out, "\t%s\t%s\n", oneCell.Replace(t.texts[c.first]), oneCell.Replace(t.texts[c.second]))
	}
	return out.Flush()
}
