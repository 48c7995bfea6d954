package pairdocs

import (
	"context"

	"bitextmine/internal/spill"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/view"
)

// head is a document without its sentences.
type head struct {
	Name  string   `json:"doc,omitempty"` // empty: it is the record on Line
	URL   string   `json:"url,omitempty"`
	Meta  []string `json:"meta,omitempty"`
	File  int      `json:"file,omitempty"` // place among those that share the shard
	Line  uint64   `json:"line"`           // line of its first sentence
	Count int      `json:"n"`
}

// row is where a sentence's vector is: in which shard from the document's first on, and in which row.
type row struct{ Shard, Row uint32 }

const (
	rowSize    = 8
	digestSize = 16
	headsFile  = "documents.jsonl"
	meansFile  = "documents"
	meansMagic = 0x534e41454d434f44 // "DOCMEANS"
)

// meansHeader is the beginning of the file of a shard's documents of several sentences. Its sections are the place of
// each one's last row [documents], digests [documents], mean vectors [documents, dim], and the rows of all.
type meansHeader struct{ magic, documents, dim, rows uint64 }

func (w *meansWriter) write(path string) error {
	header := []meansHeader{{meansMagic, uint64(len(w.ends)), uint64(w.dim), uint64(len(w.rows))}}
	return writeSections(path, spill.Bytes(header), spill.Bytes(w.ends), spill.Bytes(w.digests), spill.Bytes(w.means), spill.Bytes(w.rows))
}

// documents are the documents of several sentences that begin in a shard, in a mapped file.
type documents struct {
	ends    []uint64
	digests [][digestSize]byte
	means   []float32
	rows    []row
	mapping
}

// openDocuments maps the documents of a shard.
func openDocuments(ctx context.Context, f *view.Files, s *plan.Shard) (*documents, error) {
	out, err := f.Output(ctx, Means.Name, s.Documents)
	if err != nil {
		return nil, err
	}
	return opened(out.Path(meansFile), func(data []byte) (*documents, bool) {
		return decodeDocuments(data, uint64(f.Plan.Settings.Dim))
	})
}

// decodeDocuments reads a file of documents with means of dim values, whose memory they share, and says whether it is
// one.
func decodeDocuments(data []byte, dim uint64) (*documents, bool) {
	d, in := &documents{mapping: mapping{data}}, spill.Sections{Rest: data}
	h := spill.TakeOne[meansHeader](&in)
	if h.magic != meansMagic || h.dim != dim {
		return d, false
	}
	d.ends, d.digests = spill.Take[uint64](&in, h.documents), spill.Take[[digestSize]byte](&in, h.documents)
	if in.Short { // the product below may be too large
		return d, false
	}
	d.means, d.rows = spill.Take[float32](&in, h.documents*dim), spill.Take[row](&in, h.rows)
	return d, !in.Short && ascendTo(d.ends, h.rows)
}

// rowsOf are the rows of a document.
func (d *documents) rowsOf(at int) []row { return d.rows[beginOf(d.ends, at):d.ends[at]] }

// eachHead reads the documents that begin in a shard.
func eachHead(ctx context.Context, f *view.Files, s *plan.Shard, do func(*head)) error {
	out, err := f.Output(ctx, Means.Name, s.Documents)
	if err != nil {
		return err
	}
	return stage.ReadLines(out.Path(headsFile), func(h *head) error {
		do(h)
		return nil
	})
}
