package multiway

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/corpus/shard"
	"bitextmine/corpus/split"
	"bitextmine/filter/language"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/internal/subtag"
	cutting "bitextmine/pipeline/stage/shard"
)

// sortedRow is a row of the output.
type sortedRow struct {
	Text     string  `json:"text"`
	Doc      string  `json:"doc"`
	URL      string  `json:"url"`
	File     string  `json:"file"`
	Line     uint64  `json:"line"`
	Language string  `json:"language"`
	Score    float64 `json:"score"`
	meta     []string
}

// SortedKeys are the keys of every row of the output, which no column of metadata may have.
var SortedKeys = []string{"text", "doc", "url", "file", "line", "language", "score"}

// Sorting says how text is divided by language.
type Sorting struct {
	Languages []string       // canonical codes; what is in none of them goes to the file of OtherLanguages
	Model     string         // a fastText model; empty: CLD2
	Column    string         // column that names the language, which is then not identified
	MinScore  float64        // probability of a language, or by CLD2 its share of the letters, from which it is believed
	Sentences bool           // records are divided, and each sentence goes to the file of its own language
	In        corpus.Options // how files are read; values of MetaColumns go along
	SkipBad   bool           // a file that cannot be used is left out, and damaged parts of an archive
}

// OtherLanguages is the name of the file of all languages that were not asked for.
const OtherLanguages = "other"

// Sorted is the result of sorting.
type Sorted struct {
	Rows    map[string]int // number of each language's rows
	Skipped map[corpus.Reason]uint64
	LeftOut int // lines of pages that stood on many pages of their site before
	// Warnings name what of files was damaged and left out.
	Warnings []string
}

// sorter sorts records.
type sorter struct {
	Sorting
	Sorted
	meta     []string   // names of the columns that go along
	site     shard.Site // the pages so far
	identify func(text string) (code string, score float64)
	outputs  map[string]*sortedFile
	found    []split.Sentence
}

// sortedFile is the output of a language.
type sortedFile struct {
	*bufio.Writer
	file *os.File
}

// CheckMetadata refuses a list of columns of metadata with names that are keys of the rows that are written of texts of
// one language, and leaves the names alone in it, with commas between them.
func CheckMetadata(list *string, keys []string) error {
	columns, err := corpus.MetadataColumns(*list)
	switch {
	case err != nil:
		return badinput.Errorf("--doc-meta: %w", err)
	case columns[0] != columns[1]:
		return badinput.Errorf("--doc-meta is %q: documents of one language have no target; name each column once", *list)
	}
	*list = columns[0]
	for name := range strings.SplitSeq(*list, ",") {
		if slices.Contains(keys, name) {
			return badinput.Errorf("--doc-meta names %q, which stands for something else in the output (%s); give the column "+
				"another name", name, strings.Join(keys, ", "))
		}
	}
	return nil
}

// Sort writes DIR/LANGUAGE.jsonl for every language. On an error no file appears.
func Sort(ctx context.Context, files []input.File, dir string, how Sorting) (*Sorted, error) {
	s := &sorter{Sorting: how, Sorted: Sorted{Rows: map[string]int{}, Skipped: map[corpus.Reason]uint64{}}, outputs: map[string]*sortedFile{}}
	for _, code := range append([]string{OtherLanguages}, how.Languages...) {
		s.outputs[code], s.Rows[code] = nil, 0
	}
	s.meta = s.In.Metadata()
	if s.Column != "" {
		s.In.LangColumn, s.In.MetaColumns = s.Column, strings.Join(append([]string{s.Column}, s.meta...), ",")
	}
	var err error
	if s.identify, err = identifier(how.Model); err != nil {
		return nil, err
	}
	var read []string
	for _, file := range files {
		read = append(read, file.Path)
	}
	for code := range s.outputs {
		if err := atomicfile.RefuseInput(filepath.Join(dir, code+".jsonl"), read...); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, badinput.Errorf("%s cannot be made (%w); name another directory with --out", dir, err)
	}
	var failed error // lacks the names of the outputs before it
	err = s.open(dir, slices.Sorted(maps.Keys(s.outputs)), func() error {
		for _, file := range files {
			if failed = s.fileOrNothing(ctx, file); failed != nil {
				break
			}
		}
		for _, out := range s.outputs { // a full disk is met here, where no file has appeared yet
			failed = cmp.Or(failed, out.Flush())
		}
		return failed
	})
	if badinput.IsDiskFull(failed) {
		failed = atomicfile.Explain(dir, failed)
	}
	return &s.Sorted, cmp.Or(failed, err)
}

// identifier identifies languages by CLD2, or by a model of fastText.
func identifier(path string) (func(text string) (string, float64), error) {
	if path == "" {
		of := language.For("")
		return func(text string) (string, float64) {
			guess := of.Identify(text)
			return guess.Code, float64(guess.Share)
		}, nil
	}
	model, err := language.OpenFastText(path)
	if err != nil {
		return nil, err
	}
	codes := map[string]string{}
	for _, label := range model.Labels() {
		if code, err := corpus.ParseLanguage(label); err == nil {
			codes[label] = code
		}
	}
	if len(codes) == 0 {
		return nil, badinput.Errorf("%s: none of its labels, such as %q, is a language; name a model that identifies languages", path, model.Labels()[0])
	}
	return func(text string) (string, float64) {
		best := model.Predict(text, 1)
		if len(best) == 0 {
			return "", 0
		}
		return codes[best[0].Label], min(float64(best[0].Probability), 1)
	}, nil
}

// open opens the outputs of languages, calls work, which flushes them, and publishes them all.
func (s *sorter) open(dir string, languages []string, work func() error) error {
	if len(languages) == 0 {
		return work()
	}
	return atomicfile.Write(filepath.Join(dir, languages[0]+".jsonl"), func(f *os.File) error {
		s.outputs[languages[0]] = &sortedFile{bufio.NewWriter(f), f}
		return s.open(dir, languages[1:], work)
	})
}

// leftOutFile is the warning of a file that cannot be used.
const leftOutFile = "a file is left out: %v"

// fileOrNothing sorts a file. With SkipBad a bad one leaves nothing in the outputs.
func (s *sorter) fileOrNothing(ctx context.Context, file input.File) error {
	if !s.SkipBad {
		err := s.file(ctx, file)
		if cutting.OfFile(err) && !strings.Contains(err.Error(), "--on-bad-file") {
			err = badinput.Errorf("%w; --on-bad-file skip leaves such files out", err)
		}
		return err
	}
	before, rows, left := map[string]int64{}, maps.Clone(s.Rows), s.LeftOut
	for code, out := range s.outputs {
		if err := out.Flush(); err != nil {
			return err
		}
		at, err := out.file.Seek(0, io.SeekCurrent)
		if err != nil {
			return fmt.Errorf("sort %s: %w", file.Path, err)
		}
		before[code] = at
	}
	bad := s.file(ctx, file)
	if !cutting.OfFile(bad) {
		return bad
	}
	s.Warnings, s.Rows, s.LeftOut = append(s.Warnings, fmt.Sprintf(leftOutFile, bad)), rows, left
	for code, out := range s.outputs {
		err := errors.Join(out.Flush(), out.file.Truncate(before[code]))
		if _, seek := out.file.Seek(before[code], io.SeekStart); err != nil || seek != nil {
			return fmt.Errorf("sort without %s: %w", file.Path, errors.Join(err, seek))
		}
	}
	return nil
}

func (s *sorter) file(ctx context.Context, file input.File) (err error) {
	in := s.In
	in.Salvage = s.SkipBad && in.Format == corpus.FormatAuto && corpus.NamedArchive(file.Path)
	r, err := corpus.Open(file, in)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for {
		record, err := r.NextContext(ctx)
		if errors.Is(err, io.EOF) || errors.Is(err, corpus.ErrEmpty) {
			break
		}
		if err == nil {
			if r.Format().Pages() {
				var left int
				record.Text, left = s.site.Strip(record.URL, record.Text)
				s.LeftOut += left
				if record.Normal = corpus.Normalise(record.Text); record.Normal == "" {
					continue // its site's lines were all that it had
				}
				record.URL = cmp.Or(record.URL, file.Path) // a file of one page
			}
			err = s.record(file.Path, record)
		}
		if err != nil {
			return err
		}
	}
	counts := r.Counts()
	for reason, n := range counts.Skipped {
		s.Skipped[reason] += n
	}
	if other := cutting.OtherCharset(file, counts, "", s.In.Encoding, s.Languages...); other != "" {
		s.Warnings = append(s.Warnings, other)
	}
	if n := counts.Skipped[corpus.ReasonDamaged]; n > 0 {
		s.Warnings = append(s.Warnings, fmt.Sprintf("%d parts of %s are damaged and left out", n, file.Path))
	}
	if tabs := counts.TabsWarning(file.Path); tabs != "" {
		s.Warnings = append(s.Warnings, tabs)
	}
	return nil
}

// anyRules is the language whose rules divide text of an unknown language: most languages share them.
const anyRules = "en"

// record writes a record, or its sentences, to the files of their languages.
func (s *sorter) record(path string, r corpus.Sentence) error {
	row := sortedRow{Text: r.Text, Doc: r.Doc, URL: r.URL, File: path, Line: r.Line}
	row.Language, row.Score = s.languageOf(r.Normal, r.Meta)
	if row.meta = r.Meta; s.Column != "" {
		row.meta = r.Meta[1:]
	} else if row.Language == "" {
		var err error
		if row.Language, row.Score, err = s.mostOf(r.Text); err != nil {
			return err
		}
	}
	if !s.Sentences {
		return s.write(row)
	}
	rules := cmp.Or(row.Language, anyRules)
	splitter, err := split.For(rules)
	if err != nil {
		return err
	}
	whole := row
	s.found = splitter.Append(s.found[:0], r.Text, split.Options{})
	for _, x := range s.found {
		row.Text = corpus.Normalise(r.Text[x.Start:x.End])
		row.Language, row.Score = whole.Language, whole.Score
		if s.Column == "" {
			if code, score := s.identify(row.Text); code != "" {
				row.Language, row.Score = code, score
			}
		}
		if row.Text == "" {
			continue
		}
		if err := s.write(row); err != nil {
			return err
		}
	}
	return nil
}

func (s *sorter) languageOf(text string, columns []string) (code string, score float64) {
	if s.Column == "" {
		return s.identify(text)
	}
	code, err := corpus.ParseLanguage(columns[0])
	if err != nil {
		return "", 0
	}
	return code, 1
}

// Of a text that as a whole is not identified, sentences of at least minIdentified of its bytes decide about the
// others, if minAgreed of these bytes are in one language: sentences of a language that is not known are taken for
// several.
const minIdentified, minAgreed = 0.25, 0.9

// mostOf is the language of most sentences of a text that as a whole is not identified, as CLD2 does with texts whose
// language has close relatives, and their share of the text. Where those that are identified agree, the others are
// identified again, with their language stated.
func (s *sorter) mostOf(text string) (most string, share float64, err error) {
	splitter, err := split.For(anyRules)
	if err != nil {
		return "", 0, err
	}
	s.found = splitter.Append(s.found[:0], text, split.Options{})
	if len(s.found) <= 1 {
		return "", 0, nil
	}
	of, all, known, scores := map[string]float64{}, 0.0, 0.0, 0.0
	var doubtful []string
	for _, x := range s.found {
		bytes := float64(x.End - x.Start)
		all += bytes
		if code, score := s.identify(text[x.Start:x.End]); code != "" {
			of[code] += score * bytes
			known, scores = known+bytes, scores+score*bytes
		} else {
			doubtful = append(doubtful, text[x.Start:x.End])
		}
	}
	for _, code := range slices.Sorted(maps.Keys(of)) {
		if of[code] > share {
			most, share = code, of[code]
		}
	}
	if s.Model == "" && known >= minIdentified*all && share >= minAgreed*scores {
		stated := language.For(most)
		for _, sentence := range doubtful {
			if guess := stated.Identify(sentence); guess.Code == most {
				share += float64(guess.Share) * float64(len(sentence))
			}
		}
	}
	return most, share / all, nil
}

func (s *sorter) write(row sortedRow) error {
	to := row.Language
	if _, wanted := s.outputs[to]; !wanted { // maybe another script: zh-Hant where zh is wanted
		to = subtag.Language(to)
	}
	if _, wanted := s.outputs[to]; !wanted || row.Score < s.MinScore {
		to = OtherLanguages
	}
	s.Rows[to]++
	lines := json.NewEncoder(s.outputs[to])
	lines.SetEscapeHTML(false)
	if len(s.meta) == 0 {
		return lines.Encode(row)
	}
	all := map[string]any{"text": row.Text, "doc": row.Doc, "url": row.URL, "file": row.File, "line": row.Line, "language": row.Language, "score": row.Score}
	for i, name := range s.meta {
		all[name] = row.meta[i]
	}
	return lines.Encode(all)
}
