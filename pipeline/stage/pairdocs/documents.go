package pairdocs

import (
	"context"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"bitextmine/corpus"
	"bitextmine/corpus/shard"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/view"
)

// Sentence is an occurrence of a sentence in a document.
type Sentence struct {
	Number int32 // number among the language's distinct sentences
	Shard  int32
	File   int32  // place among those that share the shard
	Row    uint32 // row in the shard
	Line   uint64
	Place  *corpus.Place // place in a record that was divided
}

// Document is the sentences of a document, in order: those of one id that follow each other in a file, or those of one
// record that was divided. Documents of one sentence, and documents whose id came before, are set aside.
type Document struct {
	Name      string   // its id, or file and line of the record that was divided
	ID, URL   string   // the input's own; may be empty
	Meta      []string // values in the order of corpus.Options.Metadata
	Sentences []Sentence
	file      string // the input file that has it
}

// Aside are documents that are not used.
type Aside struct {
	Short    int `json:"short,omitempty"`    // documents of one sentence
	Repeated int `json:"repeated,omitempty"` // whose id stood before
}

// Collection is the documents of a language.
type Collection struct {
	Documents []Document
	ByName    map[string]int // places among Documents
	Aside     Aside
	inFile    map[string]int // documents of each file
}

// minSentences is the smallest number of a document.
const minSentences = 2

// ReadDocuments reads the documents of a language of a plan.
func ReadDocuments(ctx context.Context, f *view.Files, language int) (*Collection, error) {
	c := &Collection{ByName: map[string]int{}, inFile: map[string]int{}}
	numbered, err := f.Sentences(language)
	if err != nil {
		return nil, err
	}
	var open *Document
	var last *shard.Document // the document of the input that is open
	input := ""
	for s := range f.Plan.Languages[language].Shards {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		of := &f.Plan.Languages[language].Shards[s]
		file, err := documentsPath(ctx, f, of)
		if err != nil {
			return nil, err
		}
		first := true
		for d, err := range shard.Documents(file, of.Rows) {
			if err != nil {
				return nil, err
			}
			from := of.FilePath(d.File)
			if !first || from != input || open == nil || !last.Goes(d) {
				c.add(open)
				open = newDocument(from, d)
			}
			for k, row := range d.Rows {
				one := Sentence{Number: numbered.Rows[s][row], Shard: int32(s), File: int32(d.File), Row: row, Line: d.Lines[k]}
				if len(d.Places) > 0 {
					one.Place = &d.Places[k]
				}
				open.Sentences = append(open.Sentences, one)
			}
			last, input, first = d, from, false
		}
	}
	c.add(open)
	c.addresses()
	return c, nil
}

// addresses gives the documents their addresses.
func (c *Collection) addresses() {
	address := addressOf(c.inFile)
	for i := range c.Documents {
		d := &c.Documents[i]
		d.URL = address(d.file, d.ID, d.URL)
	}
}

// addressOf gives a document without an address the path of its file, if it is the file's only document: names of
// translated files often differ in the language alone. Folders that all files are in are left out. inFile is the number
// of documents of each file.
func addressOf(inFile map[string]int) func(file, id, url string) string {
	common, first := "", true
	for file := range inFile {
		dir := path.Dir(filepath.ToSlash(file)) + "/"
		if first {
			common, first = dir, false
		}
		for !strings.HasPrefix(dir, common) {
			common = common[:strings.LastIndexByte(strings.TrimSuffix(common, "/"), '/')+1]
		}
	}
	return func(file, id, address string) string {
		if address == "" && id == "" && inFile[file] == 1 {
			return (&url.URL{Path: strings.TrimPrefix(filepath.ToSlash(file), common)}).EscapedPath()
		}
		return address
	}
}

// nameOf is the name of a document that begins on a line of a file: its id, or where it begins.
func nameOf(id, file string, line uint64) string {
	if id == "" {
		return fmt.Sprintf("%s:%d", file, line)
	}
	return id
}

func newDocument(input string, d *shard.Document) *Document {
	return &Document{Name: nameOf(d.Name, input, d.Begins()), ID: d.Name, URL: d.URL, Meta: d.Meta, file: input}
}

// documentsPath is the file of a shard's documents.
func documentsPath(ctx context.Context, f *view.Files, s *plan.Shard) (string, error) {
	out, err := f.Output(ctx, view.Shard, s.Task)
	if err != nil {
		return "", err
	}
	return out.Path(shard.DocumentsName(s.File)), nil
}

// add takes in a document that is complete; nil: there is none.
func (c *Collection) add(d *Document) {
	if d == nil {
		return
	}
	c.inFile[d.file]++
	if _, again := c.ByName[d.Name]; again {
		c.Aside.Repeated++
		return
	}
	if len(d.Sentences) < minSentences {
		c.Aside.Short++
		c.ByName[d.Name] = -1
		return
	}
	c.ByName[d.Name] = len(c.Documents)
	c.Documents = append(c.Documents, *d)
}

// Sentences is the number of occurrences in all documents.
func (c *Collection) Sentences() int {
	n := 0
	for i := range c.Documents {
		n += len(c.Documents[i].Sentences)
	}
	return n
}
