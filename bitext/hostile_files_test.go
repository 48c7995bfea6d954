package bitext_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// bomb is the decompressed size of a page in files that expand to more than their metadata says.
const bomb = 256 << 20

// Hostile returns files that every reader must refuse, by what is wrong with them. good is a file that the reader
// accepts if it has one row; at is the string column of it that is replaced. No file is larger than 1 MB unless its
// name says so.
func Hostile(good File, at int) map[string][]byte {
	files := map[string][]byte{}
	with := func(name string, rows int64, change func(f *File, c *Column)) {
		f := good
		f.Columns = slices.Clone(f.Columns)
		f.Rows, f.GroupRows = rows, rows
		c := &f.Columns[at]
		change(&f, c)
		files[name] = f.Bytes()
	}
	pages := func(name string, rows int64, codec int32, pages ...Page) {
		with(name, rows, func(_ *File, c *Column) { c.Codec, c.Pages = codec, pages })
	}
	compressed(pages)
	encoded(pages)
	for name, nullable := range map[string][]Page{
		"levels end early": {{Values: 100,
			Body: append(Levels(Run(10, 1)), Texts(strings.Split("abcdefghij", "")...)...)}},
		"levels end early, version 2": {{Kind: DataPageV2, Values: 100, LevelBytes: 2,
			Body: append(Run(10, 1), Texts(strings.Split("abcdefghij", "")...)...)}},
		"levels end early, second page": {{Values: 1, Body: append(Levels(Run(1, 1)), Texts("a")...)},
			{Values: 99, Body: Levels(Run(9, 0))}},
		"a literal run of levels cut":      {{Values: 100, Body: Levels([]byte{25<<1 | 1, 0xff})}},
		"levels longer than the page":      {{Values: 100, Body: binary.LittleEndian.AppendUint32(nil, 1<<30)}},
		"levels above the schema's":        {{Values: 100, Body: append(Levels(Run(100, 7)), Texts("a")...)}},
		"levels longer than a page of two": {{Kind: DataPageV2, Values: 100, LevelBytes: 1 << 30, Body: Run(100, 1)}},
		"fewer values than levels":         {{Values: 100, Body: append(Levels(Run(100, 1)), Texts("a")...)}},
	} {
		with(name, 100, func(_ *File, c *Column) { c.Nullable, c.Codec, c.Pages = true, Uncompressed, nullable })
	}
	footers(files, with)
	return files
}

func compressed(pages func(string, int64, int32, ...Page)) {
	body := Texts("one")
	packed := packZstd(body)
	zeros := make([]byte, bomb)
	binary.LittleEndian.PutUint32(zeros, bomb-4)
	big, streamed, bigGzip := packZstd(zeros), packZstdStream(zeros), packGzip(zeros[:bomb/2])
	pages("a zstd page larger than it says", 1, Zstd, Page{Values: 1, Body: big, ClaimsBytes: 1000})
	pages("a zstd page larger than it says, without its size", 1, Zstd,
		Page{Values: 1, Body: streamed, ClaimsBytes: 1000})
	pages("a zstd page of 256 MiB", 1, Zstd, Page{Values: 1, Body: big, ClaimsBytes: bomb})
	pages("a gzip page larger than it says", 1, Gzip, Page{Values: 1, Body: bigGzip, ClaimsBytes: 1000})
	pages("a zstd page that says 2 GiB", 1, Zstd, Page{Values: 1, Body: packed, ClaimsBytes: math.MaxInt32})
	pages("a zstd page smaller than it says", 1, Zstd, Page{Values: 1, Body: packed, ClaimsBytes: 1000})
	pages("a page of 2 GiB on disk", 1, Uncompressed,
		Page{Values: 1, Body: body, ClaimsBytes: 7, ClaimsOnDisk: math.MaxInt32})
	pages("a page of 2 GiB, both sizes", 1, Uncompressed,
		Page{Values: 1, Body: body, ClaimsBytes: math.MaxInt32, ClaimsOnDisk: math.MaxInt32})
	pages("negative sizes", 1, Uncompressed, Page{Values: 1, Body: body, ClaimsBytes: -1, ClaimsOnDisk: -1})
	pages("a snappy page that says 4 GiB", 1, Snappy,
		Page{Values: 1, Body: append(binary.AppendUvarint(nil, math.MaxUint32), 0, 0), ClaimsBytes: 7})
	pages("an LZ4 page larger than it says", 1, LZ4Raw,
		Page{Values: 1, Body: bytes.Repeat([]byte{0xff}, 1000), ClaimsBytes: 10})
	pages("a brotli page of nothing", 1, Brotli, Page{Values: 1, Body: []byte{0x06}, ClaimsBytes: 10})
	pages("levels larger than the page, version 2", 1, Zstd,
		Page{Kind: DataPageV2, Values: 1, Body: packed, ClaimsBytes: 7, LevelBytes: 1 << 20})

	var many []Page
	const size = 50 << 20
	binary.LittleEndian.PutUint32(zeros, size-4)
	body = packZstd(zeros[:size])
	for range 100 {
		many = append(many, Page{Values: 1, Body: body, ClaimsBytes: size})
	}
	pages("a hundred pages of 50 MiB", 100, Zstd, many...)
}

func encoded(pages func(string, int64, int32, ...Page)) {
	uvarints := func(values ...uint64) (out []byte) {
		for _, v := range values {
			out = binary.AppendUvarint(out, v)
		}
		return out
	}
	dictionary := Page{Kind: DictionaryPage, Values: 2, Body: Texts("one", "two")}
	for name, p := range map[string][]Page{
		"a dictionary of 2^31 values": {{Kind: DictionaryPage, Values: math.MaxInt32, Body: Texts("one")},
			{Values: 100, Encoding: RLEDictionary, Body: append([]byte{1}, Run(100, 0)...)}},
		"a dictionary that ends early": {{Kind: DictionaryPage, Values: 2, Body: append(Texts("one"), 0, 0, 0,
			0x70)}, {Values: 100, Encoding: RLEDictionary, Body: append([]byte{1}, Run(100, 1)...)}},
		"an entry the dictionary lacks": {dictionary,
			{Values: 100, Encoding: RLEDictionary, Body: append([]byte{8}, Run(100, 200)...)}},
		"indices that end early": {dictionary,
			{Values: 100, Encoding: RLEDictionary, Body: append([]byte{1}, Run(10, 1)...)}},
		"a literal run of indices cut": {dictionary,
			{Values: 100, Encoding: RLEDictionary, Body: []byte{1, 25<<1 | 1, 0xff}}},
		"indices of 63 bits": {dictionary,
			{Values: 100, Encoding: RLEDictionary, Body: []byte{63, 25<<1 | 1, 0xff}}},
		"indices of 200 bits": {dictionary,
			{Values: 100, Encoding: RLEDictionary, Body: []byte{200, 200, 1, 1}}},
		"indices without a dictionary": {{Values: 100, Encoding: RLEDictionary,
			Body: append([]byte{1}, Run(100, 1)...)}},
		"two dictionaries": {dictionary, dictionary,
			{Values: 100, Encoding: RLEDictionary, Body: append([]byte{1}, Run(100, 1)...)}},
		"2^40 delta lengths": {{Values: 100, Encoding: DeltaLengths,
			Body: uvarints(128, 4, 1<<40, 0)}},
		"delta blocks of 2^40 values": {{Values: 100, Encoding: DeltaLengths,
			Body: uvarints(1<<40, 4, 100, 0, 0)}},
		"2^40 delta miniblocks": {{Values: 100, Encoding: DeltaLengths,
			Body: uvarints(1<<40, 1<<40, 100, 0, 0)}},
		"delta miniblocks of no value": {{Values: 100, Encoding: DeltaLengths,
			Body: uvarints(2, 4, 100, 0, 0, 0, 0, 0, 0)}},
		"delta lengths past the page": {{Values: 100, Encoding: DeltaLengths,
			Body: uvarints(128, 4, 1, 1<<20)}},
		"a negative delta length": {{Values: 100, Encoding: DeltaLengths, Body: uvarints(128, 4, 1, 1)}},
		"2^31 delta prefixes": {{Values: math.MaxInt32, Encoding: DeltaBytes,
			Body: uvarints(128, 4, math.MaxInt32, 0)}},
		"an unknown encoding":               {{Values: 100, Encoding: 77, Body: Texts("one")}},
		"bit-packed booleans as text":       {{Values: 100, Encoding: RLE, Body: Texts("one")}},
		"a text longer than its page":       {{Values: 100, Body: binary.LittleEndian.AppendUint32(nil, 1<<30)}},
		"a text of negative length":         {{Values: 100, Body: binary.LittleEndian.AppendUint32(nil, 1<<31)}},
		"fewer texts than values":           {{Values: 100, Body: Texts("one", "two")}},
		"pages of no values":                slices.Repeat([]Page{{Body: Texts("one")}}, 1000),
		"a page of unknown kind":            {{Kind: 9, Values: 100, Body: Texts("one")}},
		"a page header without its details": {{Values: 100, Body: Texts("one"), WithoutDetails: true}},
		"a dictionary header without details": {{Kind: DictionaryPage, Values: 100, Body: Texts("one"),
			WithoutDetails: true}},
		"a version 2 header without details": {{Kind: DataPageV2, Values: 100, Body: Texts("one"),
			WithoutDetails: true}},
		"fewer pages than the row group's rows": {{Values: 1, Body: Texts("one")}},
		"no pages":                              nil,
	} {
		pages(name, 100, Uncompressed, p...)
	}
	pages("prefixes that make 50 GB of 1 MB", 1<<17, Uncompressed, prefixes())
}

// prefixes is a page in DELTA_BYTE_ARRAY in which each text shares all but one byte with the previous one. The first
// has 400,000 bytes, and each of the 2^17 others is one byte longer.
func prefixes() Page {
	const n, first = 1 << 17, 400_000
	increments := func(start, second, step uint64) []byte { // start, second, second+step, ...
		out := binary.AppendUvarint(nil, 128)
		out = binary.AppendUvarint(out, 4)
		out = binary.AppendUvarint(out, n)
		out = binary.AppendVarint(out, int64(start))
		for block := range (n - 1 + 127) / 128 {
			delta := int64(step)
			if block == 0 {
				delta = min(int64(second)-int64(start), delta)
			}
			out = binary.AppendVarint(out, delta)
			if block > 0 {
				out = append(out, 0, 0, 0, 0)
				continue
			}
			out = append(out, 32, 0, 0, 0) // the first miniblock has the jump
			out = binary.LittleEndian.AppendUint32(out, uint32(int64(second)-int64(start)-delta))
			for range 31 {
				out = binary.LittleEndian.AppendUint32(out, uint32(int64(step)-delta))
			}
		}
		return out
	}
	body := increments(0, first, 1)
	lengths := increments(first, 1, 0)
	body = append(append(body, lengths...), bytes.Repeat([]byte("x"), first+n)...)
	return Page{Values: n, Encoding: DeltaBytes, Body: body}
}

func footers(files map[string][]byte, with func(string, int64, func(*File, *Column))) {
	for name, n := range map[string]int64{"2^62 rows": 1 << 62, "2^31 rows": 1 << 31, "a negative number of rows": -5} {
		with(name, n, func(*File, *Column) {})
	}
	with("a row group of another number of rows", 1, func(f *File, _ *Column) { f.GroupRows = 1 << 40 })
	with("a chunk past the file", 1, func(_ *File, c *Column) { c.ClaimOffset = 1 << 40 })
	with("a chunk before the file", 1, func(_ *File, c *Column) { c.ClaimOffset = -1 << 40 })
	with("a chunk of 2^60 bytes", 1, func(_ *File, c *Column) { c.ClaimLength = 1 << 60 })
	with("a chunk of negative length", 1, func(_ *File, c *Column) { c.ClaimLength = -1 << 60 })
	with("fewer chunks than columns", 1, func(f *File, _ *Column) {
		f.Columns = append(f.Columns, Column{Name: "more", Type: Int32})
		f.Chunks = len(f.Columns) - 1
	})
	with("a codec that is not known", 1, func(_ *File, c *Column) { c.Codec = 99 })
	nested := make([][]byte, 1<<16)
	for i := range nested {
		nested[i] = SchemaElement("g", 1)
	}
	with("nested groups", 1, func(f *File, _ *Column) { f.Schema = nested })
	with("2^31 children", 1, func(f *File, _ *Column) {
		f.Schema = [][]byte{SchemaElement("schema", math.MaxInt32), SchemaElement("text", math.MaxInt32)}
	})
	with("names of 100 GB", 1, func(f *File, _ *Column) {
		const leaves = 1 << 17
		f.Schema = [][]byte{SchemaElement("schema", 1), SchemaElement(strings.Repeat("n", 400_000), leaves)}
		for range leaves {
			f.Schema = append(f.Schema, new(message).int32(1, Int32).int32(3, 0).text(4, "").end())
		}
	})
	with("no schema", 1, func(f *File, _ *Column) { f.Schema = [][]byte{} })
	files["a footer of 2^26 schema elements"] = WithFooter([]byte("PAR1"),
		new(message).int32(1, 2).list(2, typeStruct, 1<<26).end())
	files["a footer of 2^26 row groups"] = WithFooter([]byte("PAR1"),
		new(message).int32(1, 2).structs(2, [][]byte{SchemaElement("schema", 0)}).int64(3, 1).list(4, typeStruct,
			1<<26).end())
	files["a footer longer than the file"] = []byte("PAR1\xff\xff\xff\x7fPAR1")
	files["an empty footer"] = []byte("PAR1\x00\x00\x00\x00PAR1")
}

// NestedFooter is a file with a footer of about n bytes that has only nested groups.
func NestedFooter(n int) []byte {
	element := SchemaElement("g", 1)
	elements := make([][]byte, n/len(element))
	for i := range elements {
		elements[i] = element
	}
	return File{Rows: 1, Schema: elements}.Bytes()
}

// Nulls is a file with one nullable string column of rows nulls, which take a few bytes per page.
func Nulls(name string, pages int) []byte {
	const rows = math.MaxInt32
	c := Column{Name: name, Type: ByteArray, Nullable: true}
	for range pages {
		c.Pages = append(c.Pages, Page{Values: rows, Body: Levels(Run(rows, 0))})
	}
	return File{Rows: int64(pages) * rows, Columns: []Column{c}}.Bytes()
}

// Large is a file with one string column of one page, which has size bytes and is compressed to a few thousand.
func Large(name string, size int) []byte {
	const length = 1 << 15
	text := append(binary.LittleEndian.AppendUint32(nil, length-4), bytes.Repeat([]byte("ab c"), length/4-1)...)
	rows := size / length
	page := Page{Values: int32(rows), Body: packZstd(bytes.Repeat(text, rows)), ClaimsBytes: int32(rows * length)}
	return File{Rows: int64(rows), GroupRows: int64(rows),
		Columns: []Column{{Name: name, Type: ByteArray, Codec: Zstd, Pages: []Page{page}}}}.Bytes()
}

// ManyFields is the base64 form, as in Parquet files, of an Arrow schema of a few kilobytes in which each of 60 fields
// has the next field twice as a child. It describes 2^60 fields.
func ManyFields() string {
	return base64.StdEncoding.EncodeToString(laughingSchema(60))
}

func packZstd(data []byte) []byte {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		panic(fmt.Sprint("zstd: ", err))
	}
	packed := w.EncodeAll(data, nil)
	if err := w.Close(); err != nil {
		panic(fmt.Sprint("zstd: ", err))
	}
	return packed
}

// packZstdStream omits the size from the header of the frame.
func packZstdStream(data []byte) []byte {
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out)
	if err != nil {
		panic(fmt.Sprint("zstd: ", err))
	}
	for part := range slices.Chunk(data, 1<<20) {
		if _, err := w.Write(part); err != nil {
			panic(fmt.Sprint("zstd: ", err))
		}
	}
	if err := w.Close(); err != nil {
		panic(fmt.Sprint("zstd: ", err))
	}
	return out.Bytes()
}

func packGzip(data []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(data); err != nil {
		panic(fmt.Sprint("gzip: ", err))
	}
	if err := w.Close(); err != nil {
		panic(fmt.Sprint("gzip: ", err))
	}
	return out.Bytes()
}
