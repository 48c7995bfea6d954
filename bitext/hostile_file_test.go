// The tests of hostile files build Parquet byte by byte: damaged files, and files whose metadata is false, which no
// Parquet library would write. They do not use the library that reads them.

package bitext_test

import (
	"encoding/binary"
	"strings"
)

// Parquet's numbers for the types of values.
const (
	Boolean    = 0
	Int32      = 1
	Int64      = 2
	Float      = 4
	ByteArray  = 6
	FixedBytes = 7
)

// Parquet's numbers for the encodings of pages.
const (
	Plain           = 0
	PlainDictionary = 2
	RLE             = 3
	DeltaBinary     = 5
	DeltaLengths    = 6
	DeltaBytes      = 7
	RLEDictionary   = 8
)

// Parquet's numbers for the compression codecs.
const (
	Uncompressed = 0
	Snappy       = 1
	Gzip         = 2
	Brotli       = 4
	Zstd         = 6
	LZ4Raw       = 7
)

// Parquet's numbers for the kinds of pages.
const (
	DataPage       = 0
	DictionaryPage = 2
	DataPageV2     = 3
)

// Page is one page of a column. The sizes in its header default to the size of Body.
type Page struct {
	Kind           int32
	Values         int32 // value count in the header
	Encoding       int32
	Body           []byte // content as in the file, compressed or not
	ClaimsBytes    int32  // uncompressed size in the header; 0 means len(Body)
	ClaimsOnDisk   int32  // compressed size in the header; 0 means len(Body)
	LevelBytes     int32  // size of definition levels, in a DataPageV2
	WithoutDetails bool   // the header lacks the part for its kind of page
}

// Column is a leaf of the schema and its chunk. Name may be a path with dots, whose groups are required.
type Column struct {
	Name        string
	Type        int32
	Length      int32 // length of FixedBytes
	Nullable    bool
	Converted   int32 // converted type plus one; 0 means none
	Repeated    bool  // the second to last group of the path is repeated, as in a list
	Codec       int32
	Pages       []Page
	ClaimOffset int64 // offset of the first page in the metadata, added to the true one
	ClaimLength int64 // length of the chunk in the metadata, added to the true one
}

// File is a Parquet file of one row group.
type File struct {
	Rows      int64
	GroupRows int64 // number of rows in the row group's metadata; 0 means Rows
	Metadata  [][2]string
	Columns   []Column
	Schema    [][]byte // replaces the schema of the columns
	Chunks    int      // number of columns in the row group; 0 means all
}

// Bytes returns the whole file.
func (f File) Bytes() []byte {
	out := []byte("PAR1")
	var chunks [][]byte
	for _, c := range f.Columns {
		var chunk []byte
		out, chunk = c.write(out)
		chunks = append(chunks, chunk)
	}
	if f.Chunks > 0 {
		chunks = chunks[:f.Chunks]
	}
	groupRows := f.GroupRows
	if groupRows == 0 {
		groupRows = f.Rows
	}
	group := new(message).structs(1, chunks).int64(2, int64(len(out))).int64(3, groupRows).end()
	schema := f.Schema
	if schema == nil {
		schema = f.schema()
	}
	footer := new(message).int32(1, 2).structs(2, schema).int64(3, f.Rows).structs(4, [][]byte{group})
	if len(f.Metadata) > 0 {
		var pairs [][]byte
		for _, p := range f.Metadata {
			pairs = append(pairs, new(message).text(1, p[0]).text(2, p[1]).end())
		}
		footer.structs(5, pairs)
	}
	return WithFooter(out, footer.end())
}

// WithFooter appends a footer to a file.
func WithFooter(body, footer []byte) []byte {
	body = append(body, footer...)
	return append(binary.LittleEndian.AppendUint32(body, uint32(len(footer))), "PAR1"...)
}

func (f File) schema() [][]byte {
	elements := [][]byte{SchemaElement("schema", len(f.Columns))}
	for _, c := range f.Columns {
		path := strings.Split(c.Name, ".")
		for i, name := range path[:len(path)-1] {
			m := new(message)
			if c.Repeated && i == len(path)-2 {
				m.int32(3, 2)
			} else {
				m.int32(3, 0)
			}
			m.text(4, name).int32(5, 1)
			if c.Repeated && i == 0 {
				m.int32(6, 3) // converted type LIST
			}
			elements = append(elements, m.end())
		}
		leaf := new(message).int32(1, c.Type)
		if c.Length > 0 {
			leaf.int32(2, c.Length)
		}
		repetition := int32(0)
		if c.Nullable {
			repetition = 1
		}
		leaf.int32(3, repetition).text(4, path[len(path)-1])
		if c.Converted > 0 {
			leaf.int32(6, c.Converted-1)
		}
		elements = append(elements, leaf.end())
	}
	return elements
}

// SchemaElement is a required group with a given number of children.
func SchemaElement(name string, children int) []byte {
	return new(message).int32(3, 0).text(4, name).int32(5, int32(children)).end()
}

// write appends the column's pages and returns its entry for the footer.
func (c Column) write(out []byte) (_, chunk []byte) {
	start := int64(len(out))
	data, values := start, int64(0)
	for i, p := range c.Pages {
		if p.Kind == DictionaryPage {
			data = -1
		} else if i == 0 || data < 0 {
			data = int64(len(out))
		}
		if p.Kind != DictionaryPage {
			values += int64(p.Values)
		}
		out = append(append(out, p.header()...), p.Body...)
	}
	var path [][]byte
	for name := range strings.SplitSeq(c.Name, ".") {
		path = append(path, stringElement(name))
	}
	size := int64(len(out)) - start
	meta := new(message).int32(1, c.Type).
		list(2, typeI32, 1, binary.AppendVarint(nil, Plain)).
		list(3, typeBinary, len(path), path...).
		int32(4, c.Codec).int64(5, values).int64(6, size).int64(7, size+c.ClaimLength).int64(9, data+c.ClaimOffset)
	if data != start {
		meta.int64(11, start)
	}
	return out, new(message).int64(2, start).inner(3, meta).end()
}

func (p Page) header() []byte {
	claim := func(n int32) int32 {
		if n == 0 {
			return int32(len(p.Body))
		}
		return n
	}
	m := new(message).int32(1, p.Kind).int32(2, claim(p.ClaimsBytes)).int32(3, claim(p.ClaimsOnDisk))
	if p.WithoutDetails {
		return m.end()
	}
	switch p.Kind {
	case DataPage:
		m.inner(5, new(message).int32(1, p.Values).int32(2, p.Encoding).int32(3, RLE).int32(4, RLE))
	case DictionaryPage:
		m.inner(7, new(message).int32(1, p.Values).int32(2, p.Encoding))
	case DataPageV2:
		m.inner(8, new(message).int32(1, p.Values).int32(2, 0).int32(3, p.Values).int32(4, p.Encoding).int32(5,
			p.LevelBytes).int32(6, 0).bool(7, true))
	}
	return m.end()
}

// Texts encodes strings in plain encoding.
func Texts(values ...string) []byte {
	var out []byte
	for _, v := range values {
		out = append(binary.LittleEndian.AppendUint32(out, uint32(len(v))), v...)
	}
	return out
}

// Run encodes n times the same one-byte value, in RLE.
func Run(n int, value byte) []byte { return append(binary.AppendUvarint(nil, uint64(n)<<1), value) }

// Levels encodes the levels of a page of version 1, preceded by their length.
func Levels(runs ...[]byte) []byte {
	var all []byte
	for _, r := range runs {
		all = append(all, r...)
	}
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(all))), all...)
}
