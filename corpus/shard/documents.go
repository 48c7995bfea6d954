package shard

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"bitextmine/corpus"
	"bitextmine/internal/atomicfile"
)

// Document is a run of sentences of a shard's input from one document. Unlike the shard it has every occurrence: a
// repetition has the row of the first.
type Document struct {
	Name string `json:"doc,omitempty"` // name in the input; empty: it is the record on Lines[0]
	URL  string `json:"url,omitempty"`
	File int    `json:"file,omitempty"` // place among Info.Files
	// Metadata of its first sentence or record, by corpus.Options.Metadata.
	Meta   []string       `json:"meta,omitempty"`
	Rows   []uint32       `json:"rows"`
	Lines  []uint64       `json:"lines"`
	Places []corpus.Place `json:"places,omitempty"` // places in divided records
}

// Goes reports whether next, the first document of the next shard of the same input, is more of the same document.
func (d *Document) Goes(next *Document) bool {
	return d.Name == next.Name && (d.Name != "" || d.Lines[len(d.Lines)-1] == next.Lines[0])
}

// DocumentsName is the file beside a shard that has its documents, one on each line, in JSON.
func DocumentsName(shard string) string { return strings.TrimSuffix(shard, ".parquet") + ".docs.jsonl" }

// documents collects those of a shard.
type documents []Document

// add adds an occurrence of a row in a file of the shard.
func (d *documents) add(row *Row, meta []string, at uint32, file int) {
	one := Document{Name: row.Doc, URL: row.URL, File: file, Meta: meta, Lines: []uint64{row.Line}}
	if n := len(*d); n == 0 || (*d)[n-1].File != file || !(*d)[n-1].Goes(&one) {
		one.Lines = nil
		*d = append(*d, one)
	}
	last := &(*d)[len(*d)-1]
	last.Rows, last.Lines = append(last.Rows, at), append(last.Lines, row.Line)
	if row.Place != nil {
		last.Places = append(last.Places, *row.Place)
	}
}

// write publishes the documents.
func (d *documents) write(path string) error {
	return atomicfile.Write(path, func(f *os.File) error {
		out := bufio.NewWriter(f)
		lines := json.NewEncoder(out)
		for i := range *d {
			if err := lines.Encode(&(*d)[i]); err != nil {
				return err
			}
		}
		return out.Flush()
	})
}

// ReadDocuments reads the documents of a shard of so many rows.
func ReadDocuments(path string, rows int) (all []Document, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open the documents of a shard: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	lines := json.NewDecoder(bufio.NewReader(f))
	for {
		var d Document
		err := lines.Decode(&d)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err == nil && (len(d.Rows) == 0 || len(d.Rows) != len(d.Lines) || len(d.Places) > 0 &&
			len(d.Places) != len(d.Rows)) {
			err = fmt.Errorf("document %d has %d rows, %d lines and %d places", len(all), len(d.Rows), len(d.Lines),
				len(d.Places))
		}
		for _, row := range d.Rows {
			if int(row) >= rows && err == nil {
				err = fmt.Errorf("document %d has row %d of %d", len(all), row, rows)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		all = append(all, d)
	}
}
