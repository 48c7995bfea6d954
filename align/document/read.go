package document

import (
	"errors"
	"io"
	"slices"
	"strings"

	"bitextmine/corpus"

	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

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

// Read reads plain text with a sentence on each line. Empty lines are left out. A line that is not UTF-8 or longer than
// maxBytes is a badinput error: without it, its neighbours would seem to belong together.
func Read(path, language string, maxBytes int) (doc *Document, err error) {
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
		if line.Number == 1 && strings.HasPrefix(line.Text, "src_doc\ttgt_doc\t") {
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
