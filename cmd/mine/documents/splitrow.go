package documents

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"bitextmine/corpus"

	"bitextmine/corpus/split"
	"bitextmine/internal/badinput"
)

// sentenceRow is a sentence with where it stands.
type sentenceRow struct {
	Text      string `json:"text"`
	Doc       string `json:"doc"`
	URL       string `json:"url"`
	File      string `json:"file"`
	Line      uint64 `json:"line"`
	Paragraph int    `json:"paragraph"`
	Position  int    `json:"position"`
	Start     int    `json:"start"`
	End       int    `json:"end"`
}

// rowKeys are the keys of a sentenceRow.
var rowKeys = []string{"text", "doc", "url", "file", "line", "paragraph", "position", "start", "end"}

// metadata is a document's as JSON, to stand at the end of an object.
func (j *splitJob) metadata(values []string) ([]byte, error) {
	if len(values) == 0 {
		return nil, nil
	}
	named := make(map[string]string, len(values))
	for i, name := range j.in.Metadata() {
		named[name] = values[i]
	}
	data, err := encoded(named)
	return append([]byte{','}, data[1:]...), err
}

// encoded is an object of one key at least as JSON, on a line.
func encoded(object any) ([]byte, error) {
	var out bytes.Buffer
	lines := json.NewEncoder(&out)
	lines.SetEscapeHTML(false)
	err := lines.Encode(object)
	return out.Bytes(), err
}

// write writes a sentence as JSON, with its document's metadata.
func (j *splitJob) write(row sentenceRow, metadata []byte) error {
	data, err := encoded(row)
	if len(metadata) > 0 && err == nil {
		data = append(bytes.TrimSuffix(data, []byte("}\n")), metadata...)
	}
	if err == nil {
		_, err = j.out.Write(data)
	}
	return err
}

// lastDocument is the one that was written last.
type lastDocument struct{ id, path string }

// follow refuses a document that has the id of the last document of another file: the output would join both.
func (d *lastDocument) follow(s corpus.Sentence, path string) error {
	if s.Doc != "" && s.Doc == d.id && path != d.path {
		return badinput.Errorf("%s:%d: document %q is the last of %s, too, and in the output both would be one: give each "+
			"document an id of its own, or divide the files into outputs of their own", path, s.Line, s.Doc, d.path)
	}
	*d = lastDocument{s.Doc, path}
	return nil
}

// record writes the sentences of a record.
func (j *splitJob) record(ctx context.Context, path string, s corpus.Sentence) (err error) {
	if !j.pages && corpus.HTMLRecord(s.Normal) {
		j.aside["HTML, not text"]++
		return nil
	}
	if j.pages && s.Doc != "" && s.Doc == j.last.id {
		j.aside["a page with the address of the page before"]++
		return nil
	}
	j.records++
	if j.found, err = j.splitter.Divide(ctx, j.found[:0], s.Text, split.Options{Wrapped: j.wrapped}); err != nil {
		return fmt.Errorf("%s:%d: %w", path, s.Line, err)
	}
	j.sentences += len(j.found)
	if err := j.last.follow(s, path); err != nil {
		return err
	}
	metadata, err := j.metadata(s.Meta)
	if err != nil {
		return fmt.Errorf("%s:%d: %w", path, s.Line, err)
	}
	for _, x := range j.found {
		row := sentenceRow{corpus.Normalise(s.Text[x.Start:x.End]), s.Doc, s.URL, path, s.Line, x.Paragraph,
			x.Position, x.Start, x.End}
		if row.Text == "" { // it has only invisible characters
			continue
		}
		if j.format == "lines" {
			if _, err := j.out.WriteString(row.Text + "\n"); err != nil {
				return fmt.Errorf("write sentences: %w", err)
			}
			continue
		}
		if err := j.write(row, metadata); err != nil {
			return fmt.Errorf("write sentences: %w", err)
		}
	}
	return j.endDocument(!j.whole)
}

// endDocument writes the empty line behind a document, if there is one and sentences are written as lines.
func (j *splitJob) endDocument(ended bool) error {
	if !ended || j.format != "lines" {
		return nil
	}
	if err := j.out.WriteByte('\n'); err != nil {
		return fmt.Errorf("write sentences: %w", err)
	}
	return nil
}
