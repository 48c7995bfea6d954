// Package shard writes and reads shards.
//
// A shard is one Parquet file of sentences, each once, with their provenance (document, URL, line). CutTogether makes
// the shards of one input file, so that the content of other files never changes them, or of several small files. Their
// bytes depend only on the files' bytes and on the options.
package shard

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/bits"
	"net/url"
	"os"
	"strings"
	"unicode"

	"github.com/cespare/xxhash/v2"

	"bitextmine/corpus"
	"bitextmine/internal/atomicfile"
)

// Document is a run of sentences of a shard's input from one document. Unlike the shard it has every occurrence: a
// repetition has the row of the first.
type Document struct {
	Name string `json:"doc,omitempty"` // name in the input; empty: it is the record on Lines[0], or Whole
	URL  string `json:"url,omitempty"`
	File int    `json:"file,omitempty"` // place among Info.Files
	// Whole says that it is all of the file.
	Whole bool `json:"whole,omitempty"`
	// Metadata of its first sentence or record, by corpus.Options.Metadata.
	Meta   []string       `json:"meta,omitempty"`
	Rows   []uint32       `json:"rows"`
	Lines  []uint64       `json:"lines"`
	Places []corpus.Place `json:"places,omitempty"` // places in divided records
}

// Goes reports whether next, the first document of the next shard of the same input, is more of the same document.
func (d *Document) Goes(next *Document) bool {
	return d.Name == next.Name && (d.Name != "" || d.Whole || d.Lines[len(d.Lines)-1] == next.Lines[0])
}

// Begins is the line that stands for the document in its file: that of its first sentence, or 1 if it is all of the
// file.
func (d *Document) Begins() uint64 {
	if d.Whole {
		return 1
	}
	return d.Lines[0]
}

// DocumentsName is the file beside a shard that has its documents, one on each line, in JSON.
func DocumentsName(shard string) string { return strings.TrimSuffix(shard, ".parquet") + ".docs.jsonl" }

// documents collects those of a shard.
type documents []Document

// add adds an occurrence of a row in a file of the shard, which may be one document.
func (d *documents) add(row *Row, meta []string, at uint32, file int, whole bool) {
	one := Document{Name: row.Doc, URL: row.URL, File: file, Whole: whole, Meta: meta, Lines: []uint64{row.Line}}
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

// Documents yields the documents of a shard of so many rows.
func Documents(path string, rows int) iter.Seq2[*Document, error] {
	return func(yield func(*Document, error) bool) {
		f, err := os.Open(path)
		if err != nil {
			yield(nil, fmt.Errorf("open the documents of a shard: %w", err))
			return
		}
		defer func() { _ = f.Close() }() // it is only read
		lines := json.NewDecoder(bufio.NewReader(f))
		for n := 0; ; n++ {
			d := &Document{}
			err := lines.Decode(d)
			if errors.Is(err, io.EOF) {
				return
			}
			if err == nil {
				err = d.check(n, rows)
			}
			if err != nil {
				yield(nil, fmt.Errorf("read %s: %w", path, err))
				return
			}
			if !yield(d, nil) {
				return
			}
		}
	}
}

// check refuses a document that a shard of so many rows cannot have.
func (d *Document) check(n, rows int) error {
	if len(d.Rows) == 0 || len(d.Rows) != len(d.Lines) || len(d.Places) > 0 && len(d.Places) != len(d.Rows) {
		return fmt.Errorf("document %d has %d rows, %d lines and %d places", n, len(d.Rows), len(d.Lines), len(d.Places))
	}
	for _, row := range d.Rows {
		if int(row) >= rows {
			return fmt.Errorf("document %d has row %d of %d", n, row, rows)
		}
	}
	return nil
}

// LastDocument reads the last document of a shard of so many rows, without those before it; nil: there is none.
func LastDocument(path string, rows int) (_ *Document, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open the documents of a shard: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("open the documents of a shard: %w", err)
	}
	var tail []byte
	for size := int64(64 << 10); ; size *= 4 {
		tail = make([]byte, min(size, info.Size()))
		if _, err := f.ReadAt(tail, info.Size()-int64(len(tail))); err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		tail = bytes.TrimSuffix(tail, []byte("\n"))
		if begin := bytes.LastIndexByte(tail, '\n'); begin >= 0 {
			tail = tail[begin+1:]
			break
		}
		if size >= info.Size() {
			break
		}
	}
	if len(tail) == 0 {
		return nil, nil
	}
	d := &Document{}
	if err = json.Unmarshal(tail, d); err == nil {
		err = d.check(-1, rows)
	}
	if err != nil {
		return nil, fmt.Errorf("read the last document of %s: %w", path, err)
	}
	return d, nil
}

const (
	// repeated is on how many pages of a site a line must have stood to be left out of the next.
	repeated = 5
	// maxRepeated is the length of such a line, in bytes: menus, notices and footers are shorter.
	maxRepeated = 400
	// maxLines and maxPages bound what is remembered of a file, or of files that are cut together: some 50 and 100 MB.
	maxLines, maxPages = 1 << 20, 100_000
)

// Site remembers the pages of files that are read together.
type Site struct {
	lines map[uint64]uint8 // pages on which a line of a site stood, up to repeated
	pages nearCopies
}

// Strip leaves out the lines of a page that stood on many pages of its site before, and reports how many. Spaces stand
// in their place, so that positions stay.
func (s *Site) Strip(address, text string) (string, int) {
	if s.lines == nil {
		s.lines = map[uint64]uint8{}
	}
	host := ""
	if u, err := url.Parse(address); err == nil {
		host = u.Hostname()
	}
	var out strings.Builder
	here, left := map[uint64]bool{}, 0
	for line := range strings.Lines(text) {
		words := strings.TrimSpace(line)
		if words == "" || len(words) > maxRepeated {
			out.WriteString(line)
			continue
		}
		h := xxhash.Sum64String(host + "\x00" + words)
		pages, known := s.lines[h]
		if pages >= repeated && !here[h] {
			left++
			out.WriteString(strings.Repeat(" ", len(strings.TrimRight(line, "\n"))) + line[len(strings.TrimRight(line, "\n")):])
			continue
		}
		out.WriteString(line)
		if !here[h] && (known || len(s.lines) < maxLines) {
			here[h] = true
			s.lines[h] = pages + 1
		}
	}
	return out.String(), left
}

const (
	// hashes is the length of a page's signature, in bands of bandRows: of pages that share half of their shingles
	// two thirds have an equal band.
	hashes, bandRows = 64, 4
	// shingle is the number of characters of a shingle: some two words.
	shingle = 12
	// minSame is the share of equal hashes from which two pages are near copies.
	minSame = 0.8
)

// signature is the MinHash of a page (Broder, 1997), by one permutation in as many parts (Li et al., 2012), whose empty
// parts take the next one's value.
type signature [hashes]uint32

// signatureOf is the signature of a text's letters and digits; ok is false for a text without a shingle.
func signatureOf(text string) (s signature, ok bool) {
	var window [shingle]rune
	for i := range s {
		s[i] = ^uint32(0)
	}
	n := 0
	var buf [shingle * 4]byte
	for _, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			continue
		}
		copy(window[:], window[1:])
		window[shingle-1] = unicode.ToLower(r)
		if n++; n < shingle {
			continue
		}
		for i, r := range window {
			binary.LittleEndian.PutUint32(buf[4*i:], uint32(r))
		}
		h := xxhash.Sum64(buf[:])
		part := h >> 58 // place among the 64 minima
		s[part] = min(s[part], uint32(h)&^1)
		ok = true
	}
	if ok {
		s.fill()
	}
	return s, ok
}

// fill gives parts without a shingle the value of the next part that has one.
func (s *signature) fill() {
	own := *s
	for i := range s {
		for k := i; s[i] == ^uint32(0); k++ {
			if v := own[(k+1)%hashes]; v != ^uint32(0) {
				s[i] = bits.RotateLeft32(v, k-i+1)
			}
		}
	}
}

// nearCopies finds pages that are near copies of earlier ones.
type nearCopies struct {
	pages []signature
	bands map[[2]uint64]int32 // number and hash of a band: the first page that has it
}

// add reports whether a page is a near copy of one that was added before. Such a page is not added.
func (n *nearCopies) add(text string) bool {
	s, ok := signatureOf(text)
	if !ok {
		return false
	}
	if n.bands == nil {
		n.bands = map[[2]uint64]int32{}
	}
	var keys [hashes / bandRows][2]uint64
	for b := range keys {
		var data [4 * bandRows]byte
		for i := range bandRows {
			binary.LittleEndian.PutUint32(data[4*i:], s[b*bandRows+i])
		}
		keys[b] = [2]uint64{uint64(b), xxhash.Sum64(data[:])}
		if page, found := n.bands[keys[b]]; found && s.same(&n.pages[page]) >= minSame {
			return true
		}
	}
	if len(n.pages) == maxPages {
		return false
	}
	for _, key := range keys {
		if _, found := n.bands[key]; !found {
			n.bands[key] = int32(len(n.pages))
		}
	}
	n.pages = append(n.pages, s)
	return false
}

// same estimates the share of shingles that two pages have in common.
func (s *signature) same(other *signature) float64 {
	n := 0
	for i := range s {
		if s[i] == other[i] {
			n++
		}
	}
	return float64(n) / hashes
}
