package document

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"bitextmine/align/match"
	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/corpus/surface"
	"bitextmine/encode/embedding"
	"bitextmine/internal/badinput"
)

// Collection is documents of a language.
type Collection struct {
	Documents []*Document
	Repeated  int // documents whose id stood before, which are left out, as a run leaves them out
	byName    map[string]*Document
	last      string // id of the line before
	again     bool   // its document stood before
	path      string
	lines     uint64 // line count of the file with one sentence per line
	header    uint64 // lines before them
}

// ReadCollection reads sentences of documents as mine split writes them in JSON lines, or TSV and Parquet with the
// same columns: text, doc and, if there is one, url. The sentences of a document follow each other; the first has its
// metadata, in columns as of corpus.Options.MetaColumns. Of documents of one id the first counts: a crawl has
// captures of a page again.
func ReadCollection(ctx context.Context, path, language, metaColumns string, maxBytes int) (c *Collection, err error) {
	opts := corpus.DefaultOptions()
	opts.MetaColumns, opts.MadeBy = metaColumns, "mine split --format jsonl --doc-column NAME"
	opts.DocColumn, opts.URLColumn, opts.MaxLineBytes, opts.OnBadLine = "doc", "url", maxBytes, corpus.FailBadLine
	opts.OptionalURL = true
	r, err := corpus.Open(input.File{Path: path}, opts)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	c = &Collection{byName: map[string]*Document{}, path: path}
	if r.Format() == corpus.FormatTSV || r.Format() == corpus.FormatCSV {
		c.header = 1
	}
	for {
		s, err := r.NextContext(ctx)
		if errors.Is(err, io.EOF) {
			c.lines = r.Counts().Lines
			return c, nil
		}
		if err != nil {
			return nil, err
		}
		if err := c.add(path, language, s); err != nil {
			return nil, err
		}
	}
}

func (c *Collection) add(path, language string, s corpus.Sentence) error {
	if s.Doc == "" {
		return badinput.Errorf("%s:%d: the sentence is of no document: make the file with mine split --doc-column NAME",
			path, s.Line)
	}
	d := c.byName[s.Doc]
	if s.Doc != c.last {
		if c.last, c.again = s.Doc, d != nil; c.again {
			c.Repeated++
		}
	}
	if c.again {
		return nil
	}
	if d == nil {
		d = &Document{Name: s.Doc, URL: s.URL, Metadata: s.Meta, Language: language}
		c.Documents, c.byName[s.Doc] = append(c.Documents, d), d
	}
	d.Sentences, d.Lines = append(d.Sentences, s.Normal), append(d.Lines, s.Line)
	return nil
}

// Note says how many documents of a file are left out; empty: none.
func (c *Collection) Note() string {
	if c.Repeated == 0 {
		return ""
	}
	return fmt.Sprintf("%s: %d documents whose id stood before are left out\n", c.path, c.Repeated)
}

// Find returns the document of a name.
func (c *Collection) Find(name string) (*Document, error) {
	if d := c.byName[name]; d != nil {
		return d, nil
	}
	return nil, badinput.Errorf("there is no document %q: correct the pairs, or name the collection that has it", name)
}

// side is the documents, whose vectors are still zeros.
func (c *Collection) side(dim int) *match.Side {
	s := &match.Side{Dim: dim}
	n := 0
	for _, d := range c.Documents {
		s.Documents = append(s.Documents,
			match.Document{Name: d.Name, URL: d.URL, Metadata: d.Metadata, First: n, Count: len(d.Sentences)})
		n += len(d.Sentences)
	}
	s.Vectors = make([]float32, n*dim)
	return s
}

// SideOf takes the vectors of all sentences from those that another program made of the collection's lines, a row for
// each line. name is the vectors' file, and raw the type of its values if it has no header.
func (c *Collection) SideOf(vectors embedding.Matrix, name string, raw embedding.DType) (*match.Side, error) {
	if uint64(vectors.N) != c.lines {
		return nil, embedding.RowsError(name, vectors.N, raw, c.path, c.lines)
	}
	s := c.side(vectors.Dim)
	n := 0
	for _, d := range c.Documents {
		for _, line := range d.Lines {
			at, row := int(line-1-c.header), s.Vectors[n*s.Dim:][:s.Dim]
			vectors.Float32(row, at, at+1)
			if err := embedding.Normalise(row); err != nil {
				return nil, badinput.Errorf("%s: row %d, of line %d of %s, %w: make the vector of that line again",
					name, at, line, c.path, err)
			}
			n++
		}
	}
	return s, nil
}

// Side encodes the sentences of all documents, as a run does.
func (c *Collection) Side(ctx context.Context, e Encoder) (*match.Side, error) {
	s := c.side(e.Dim())
	var texts []string
	language := ""
	for _, d := range c.Documents {
		language = d.Language
		for _, text := range d.Sentences {
			calm, _ := surface.Calm(text, language)
			texts = append(texts, calm)
		}
	}
	if err := e.Encode(ctx, language, texts, s.Vectors); err != nil {
		return nil, fmt.Errorf("encode documents: %w", err)
	}
	return s, nil
}

// Document is the sentences of a text in order.
type Document struct {
	Name      string
	URL       string   // may be empty
	Metadata  []string // values of the columns that ReadCollection was given
	Language  string
	Sentences []string // normalised, none empty
	Lines     []uint64 // line numbers in the file, from 1
}

// New makes a document of normalised sentences.
func New(name, language string, sentences []string) *Document {
	d := &Document{Name: name, Language: language, Sentences: sentences, Lines: make([]uint64, len(sentences))}
	for i := range d.Lines {
		d.Lines[i] = uint64(i + 1)
	}
	return d
}

// Read reads plain text with a sentence on each line, or subtitles. Empty lines are left out. A line that is not UTF-8
// or longer than maxBytes, or a damaged cue, is a badinput error: without it, its neighbours would seem to belong
// together.
func Read(path, language string, maxBytes int) (doc *Document, err error) {
	opts := corpus.DefaultOptions()
	opts.MaxLineBytes, opts.OnBadLine = maxBytes, corpus.FailBadLine
	if format, err := corpus.Detect(input.File{Path: path}, opts); err == nil && format.Subtitles() {
		return readSubtitles(path, language, opts)
	}
	lines, err := corpus.OpenLines(input.File{Path: path}, maxBytes)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lines.Close()) }()
	doc = &Document{Name: path, Language: language}
	for {
		line, err := lines.Next()
		switch {
		case errors.Is(err, io.EOF):
			return doc, doc.check()
		case err != nil:
			return nil, err
		case line.Reason != "":
			return nil, badinput.Errorf("%s:%d: %s (%s): correct the line or remove it", path, line.Number, line.Reason,
				line.Detail)
		}
		if text := corpus.Normalise(line.Text); text != "" {
			doc.Sentences, doc.Lines = append(doc.Sentences, text), append(doc.Lines, line.Number)
		}
	}
}

// readSubtitles reads the texts of the cues of subtitles.
func readSubtitles(path, language string, opts corpus.Options) (*Document, error) {
	doc := &Document{Name: path, Language: language}
	for s, err := range corpus.Sentences(input.File{Path: path}, opts) {
		if err != nil {
			return nil, err
		}
		doc.Sentences, doc.Lines = append(doc.Sentences, s.Normal), append(doc.Lines, s.Line)
	}
	return doc, nil
}

// check refuses a document without text, and HTML.
func (d *Document) check() error {
	if len(d.Sentences) == 0 {
		return badinput.Errorf("%s: every line is empty; name a document with sentences", d.Name)
	}
	if corpus.HTMLLines(d.Sentences) {
		return badinput.Errorf("%s is HTML: extract its text, one sentence a line", d.Name)
	}
	return nil
}

// Pair is the files of two documents, or their names in collections.
type Pair struct{ Source, Target string }

// escapes are the characters of a document's id that would end its column or its line.
var escapes = [...]string{`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`}

// Escape writes a document's id as one column of TSV.
func Escape(id string) string { return strings.NewReplacer(escapes[:]...).Replace(id) }

// unescape is the reverse of Escape.
func unescape(column string) string {
	reverse := slices.Clone(escapes[:])
	slices.Reverse(reverse)
	return strings.NewReplacer(reverse...).Replace(column)
}

// ReadPairs reads a TSV with a source and a target on each line: files relative to the working directory, or names. If
// the first line begins with src_doc and tgt_doc, it is the header that mine docs writes: ids are of a collection's
// documents, as Escape writes them, and further columns are ignored.
func ReadPairs(path string, maxBytes int) (pairs []Pair, ids bool, err error) {
	lines, err := corpus.OpenLines(input.File{Path: path}, maxBytes)
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, lines.Close()) }()
	seen := map[Pair]uint64{}
	columns := 0
	for {
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, false, err
		}
		if strings.TrimSpace(line.Text) == "" && line.Reason == "" {
			continue
		}
		source, target, found := strings.Cut(line.Text, "\t")
		if line.Number == 1 && strings.HasPrefix(line.Text+"\t", "src_doc\ttgt_doc\t") {
			ids, columns = true, strings.Count(line.Text, "\t")
			continue
		}
		if ids {
			if strings.Count(line.Text, "\t") != columns {
				return nil, false, badinput.Errorf("%s:%d: the line has %d columns and the header %d: make the file again with mine docs",
					path, line.Number, strings.Count(line.Text, "\t")+1, columns+1)
			}
			target, _, _ = strings.Cut(target, "\t")
			source, target = unescape(source), unescape(target)
		}
		p := Pair{source, target}
		if !found || source == "" || target == "" || !ids && strings.Contains(target, "\t") {
			return nil, false, badinput.Errorf("%s:%d: give a source and a target document, separated by one tab", path,
				line.Number)
		}
		if before, ok := seen[p]; ok {
			return nil, false, badinput.Errorf("%s:%d: the pair stands on line %d already: remove one of them", path,
				line.Number, before)
		}
		seen[p] = line.Number
		pairs = append(pairs, p)
	}
	if len(pairs) == 0 {
		return nil, false, badinput.Errorf("%s: every line is empty; give a source file and a target file on each", path)
	}
	return pairs, ids, nil
}
