package concordance

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"

	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/klauspost/compress/zstd"

	"bitextmine/bitext"
)

// perBlock is how many records a block has: more make it smaller, and a single record slower to read.
const perBlock = 128

// entrySize is the size of a block's entry: where it ends in the file, how many records it and those before have, and
// where its heads end.
const entrySize = 24

// The suffixes of the two files.
const (
	dataSuffix = ".data"
	listSuffix = ".blocks"
)

// BlockWriter adds records. It may be used by one goroutine.
type BlockWriter struct {
	data, list *os.File
	zip        *zstd.Encoder
	end        uint64 // end of the last block in data
	rows       uint64 // rows in all blocks
	heads      []byte
	bodies     []byte
	count      uint64 // number of pending records
}

// AppendBlocks opens the files of a name for more records, and makes them where they are missing.
func AppendBlocks(name string) (_ *BlockWriter, err error) {
	w := &BlockWriter{}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.closeFiles())
		}
	}()
	if w.data, err = os.OpenFile(name+dataSuffix, os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return nil, err
	}
	if w.list, err = os.OpenFile(name+listSuffix, os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return nil, err
	}
	entries, err := readList(w.list, w.data)
	if err != nil {
		return nil, err
	}
	if n := len(entries); n > 0 {
		w.end, w.rows = entries[n-1].end, entries[n-1].rows
	}
	listed := int64(len(entries)) * entrySize
	if err = w.list.Truncate(listed); err != nil {
		return nil, err
	}
	if _, err = w.list.Seek(listed, io.SeekStart); err != nil {
		return nil, err
	}
	w.zip, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	return w, err
}

// Len is the number of records.
func (w *BlockWriter) Len() uint64 { return w.rows + w.count }

// Add adds a record and returns its number.
func (w *BlockWriter) Add(head, body []byte) (row uint64, err error) {
	row = w.rows + w.count
	w.heads = append(binary.AppendUvarint(w.heads, uint64(len(head))), head...)
	w.bodies = append(binary.AppendUvarint(w.bodies, uint64(len(body))), body...)
	if w.count++; w.count == perBlock {
		err = w.block()
	}
	return row, err
}

// block writes the pending records as a block.
func (w *BlockWriter) block() error {
	if w.count == 0 {
		return nil
	}
	between := w.end + uint64(len(w.heads))
	block := w.zip.EncodeAll(w.bodies, w.heads)
	if _, err := w.data.WriteAt(block, int64(w.end)); err != nil {
		return fmt.Errorf("write the texts: %w", err)
	}
	w.end, w.rows = w.end+uint64(len(block)), w.rows+w.count
	w.heads, w.bodies, w.count = w.heads[:0], w.bodies[:0], 0
	var line []byte
	for _, v := range []uint64{w.end, w.rows, between} {
		line = binary.LittleEndian.AppendUint64(line, v)
	}
	if _, err := w.list.Write(line); err != nil {
		return fmt.Errorf("write the list of texts: %w", err)
	}
	return nil
}

// Flush brings all records to the disk.
func (w *BlockWriter) Flush() error {
	if err := w.block(); err != nil {
		return err
	}
	return errors.Join(w.data.Sync(), w.list.Sync())
}

// Close flushes and closes the files.
func (w *BlockWriter) Close() error { return errors.Join(w.Flush(), w.closeFiles()) }

func (w *BlockWriter) closeFiles() (err error) {
	for _, f := range []*os.File{w.data, w.list} {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	return err
}

// recorder writes pairs as they are kept beside the index. The head has for both sides the hashes of the terms, two
// bytes each: they tell most pairs that do not have a phrase without reading their texts. The body has both texts and
// About as JSON. Hashes and texts stand after their number.
type recorder struct {
	mapping    mapping.IndexMapping
	head, body []byte
}

// record returns a pair's record, which holds until the next call.
func (r *recorder) record(row *bitext.Row) (head, body []byte) {
	about, err := json.Marshal(aboutOf(row))
	if err != nil {
		panic(fmt.Sprintf("a pair's scores: %v", err)) // no NaN gets into a bitext
	}
	r.head, r.body = r.head[:0], r.body[:0]
	texts := [2]string{row.Source.Text, row.Target.Text}
	for side, text := range texts {
		stream := r.mapping.AnalyzerNamed(analyser(side)).Analyze([]byte(PlainOf(text).Text))
		r.head = binary.AppendUvarint(r.head, uint64(len(stream)))
		for _, token := range stream {
			r.head = binary.LittleEndian.AppendUint16(r.head, hash(token.Term))
		}
		r.body = append(binary.AppendUvarint(r.body, uint64(len(text))), text...)
	}
	r.body = append(r.body, about...)
	return r.head, r.body
}

// hash is a term's.
func hash(term []byte) uint16 {
	h := fnv.New32a()
	h.Write(term)
	sum := h.Sum32()
	return uint16(sum ^ sum>>16)
}

var errShort = errors.New("a pair is cut short")

// part takes a part with so many bytes for each that its number counts from the beginning of a record.
func part(record []byte, size uint64) (content, rest []byte, err error) {
	count, n := binary.Uvarint(record)
	if n <= 0 || count > uint64(len(record)-n)/size {
		return nil, nil, errShort
	}
	end := n + int(count*size)
	return record[n:end], record[end:], nil
}

// parseHead reads the hashes of both sides' terms.
func parseHead(head []byte) (terms [2][]byte, err error) {
	for side := range terms {
		if terms[side], head, err = part(head, 2); err != nil {
			return terms, err
		}
	}
	return terms, nil
}

// parseBody reads the texts and what is about them.
func parseBody(rest []byte) (hit Hit, err error) {
	for side := range hit.Texts {
		var text []byte
		if text, rest, err = part(rest, 1); err != nil {
			return hit, err
		}
		hit.Texts[side] = string(text)
	}
	return hit, json.Unmarshal(rest, &hit.About)
}

// anyTerm stands for a hash that may be any.
const anyTerm = -1

// mayHave says whether terms with these hashes may stand next to each other among a text's.
func mayHave(terms []byte, wanted []int32) bool {
	for at := 0; at+2*len(wanted) <= len(terms); at += 2 {
		found := true
		for i, w := range wanted {
			if w != anyTerm && int32(binary.LittleEndian.Uint16(terms[at+2*i:])) != w {
				found = false
				break
			}
		}
		if found {
			return len(wanted) > 0
		}
	}
	return false
}
