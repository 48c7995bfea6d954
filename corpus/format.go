package corpus

import (
	"bufio"
	"bytes"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"

	"bitextmine/corpus/input"
	"bitextmine/corpus/page"
	"bitextmine/corpus/subtitle"
	"bitextmine/internal/badinput"
)

// kind is a format of input files.
type kind struct {
	name     Format
	suffixes []string                           // endings of names, before that of a compression
	suits    func(suffix string, h []byte) bool // reports that a file with such a name is in it; nil: always
	begins   func(head []byte, whole bool) bool // reports that a file of any name is in it; nil: never
	// open returns the decoder of a file. Only Parquet and books read the source itself.
	open func(r *Reader, br *bufio.Reader) (decoder, error)
	// plain formats have no columns that Options.MetaColumns could name; pages have those of package page, and each
	// record is a document.
	plain, pages bool
	// since is the version in Formats. It changes with the text that is found in such files. That of a format without
	// pages is "1" since files are detected to be in it, which changed nothing where the format was named.
	since string
}

// kinds are the formats. A file's name decides before its content, and an earlier format before a later one.
var kinds = []kind{
	{name: FormatTSV, suffixes: []string{".tsv"}, open: onLines(func(in *input.LineReader, o Options) (decoder, error) { return newTSVDecoder(in, o) })},
	{name: FormatCSV, suffixes: []string{".csv"}, since: "2",
		open: onLines(func(in *input.LineReader, o Options) (decoder, error) { return newCSVDecoder(in, o) })},
	{name: FormatJSON, suffixes: []string{".json"}, since: "3", open: openArray,
		suits: func(_ string, head []byte) bool { return firstByte(head) == '[' }},
	{name: FormatJSONL, suffixes: []string{".jsonl", ".ndjson", ".json"},
		suits: func(suffix string, head []byte) bool { return suffix != ".json" || firstByte(head) == '{' },
		open: onLines(func(in *input.LineReader, o Options) (decoder, error) {
			return &jsonlDecoder{in: in, opts: o, columns: o.columns()}, nil
		})},
	{name: FormatParquet, suffixes: []string{".parquet"}, open: openParquet,
		begins: func(head []byte, _ bool) bool { return bytes.HasPrefix(head, parquetMagic) }},
	{name: FormatPO, suffixes: []string{".po"}, since: "3", begins: func(head []byte, _ bool) bool { return page.LooksPO(head) },
		open: onLines(func(in *input.LineReader, o Options) (decoder, error) {
			if !slices.Contains(page.POColumns, o.TextColumn) {
				return nil, o.noColumn(in.Name, o.TextColumn, page.POColumns)
			}
			return newPageDecoder(page.NewPO(in, o.TextColumn), page.POColumns, in.Name, o)
		})},
	{name: FormatWARC, suffixes: []string{".warc", ".wet"}, pages: true, since: "4",
		begins: func(head []byte, _ bool) bool { return page.LooksWARC(head) },
		open: onPages(func(r *Reader, br *bufio.Reader) (page.Reader, error) {
			return page.NewWARC(br, r.src.Name, r.opts.Salvage), nil
		})},
	{name: FormatHTML, suffixes: []string{".html", ".htm", ".xhtml"}, pages: true, since: "4",
		begins: func(head []byte, _ bool) bool {
			return beginsPage(strings.TrimSpace(string(bytes.TrimPrefix(head[:min(len(head), 1024)], input.UTF8BOM))))
		},
		open: onPages(func(_ *Reader, br *bufio.Reader) (page.Reader, error) { return page.NewHTML(br), nil })},
	{name: FormatEPUB, suffixes: []string{".epub"}, pages: true, since: "4", open: openEPUB,
		begins: func(head []byte, _ bool) bool { return page.LooksEPUB(head) }},
	{name: FormatMan, pages: true, since: "2", begins: func(head []byte, _ bool) bool { return page.LooksMan(head) },
		open: onPages(func(_ *Reader, br *bufio.Reader) (page.Reader, error) { return page.NewMan(br), nil })},
	{name: FormatSRT, suffixes: []string{".srt"}, plain: true, since: "2", open: openSubtitles(false),
		suits:  func(_ string, head []byte) bool { return subtitle.HasCue(head) && !subtitle.LooksVTT(head) },
		begins: func(head []byte, _ bool) bool { return subtitle.LooksSRT(head) }},
	{name: FormatVTT, suffixes: []string{".vtt"}, plain: true, since: "2", open: openSubtitles(true),
		suits:  func(_ string, head []byte) bool { return subtitle.LooksVTT(head) || subtitle.HeadVTT(head) },
		begins: func(head []byte, _ bool) bool { return subtitle.LooksVTT(head) }},
	{name: FormatBUCC, plain: true,
		begins: func(head []byte, whole bool) bool { return looksBUCC(bytes.TrimPrefix(head, input.UTF8BOM), whole) },
		open:   onLines(func(in *input.LineReader, _ Options) (decoder, error) { return &buccDecoder{in}, nil })},
	{name: FormatText, plain: true, open: openText},
}

func kindOf(f Format) kind {
	for _, k := range kinds {
		if k.name == f {
			return k
		}
	}
	return kind{}
}

// Pages reports whether each record of a format is a document: its text is divided into sentences.
func (f Format) Pages() bool { return kindOf(f).pages }

// NamedPages reports whether files with such a name are pages or books.
func NamedPages(name string) bool {
	return slices.ContainsFunc(kinds, func(k kind) bool { return k.pages && slices.Contains(k.suffixes, path.Ext(formatName(name))) })
}

// NamedArchive reports whether files with such a name are web archives, in which damage ends less than the file.
func NamedArchive(name string) bool {
	return slices.Contains(kindOf(FormatWARC).suffixes, path.Ext(formatName(name)))
}

// Subtitles reports whether a format has the cues of one text, which is a document.
func (f Format) Subtitles() bool { return f == FormatSRT || f == FormatVTT }

// Formats is the version of what Open knows of a format, or of that of files with such a name where it is detected;
// empty: it was never another. It belongs in the key of a task, as outputs of before are of another reading.
func Formats(name string, format Format) string {
	if format != FormatAuto {
		if k := kindOf(format); k.pages || k.since > "1" {
			return k.since
		}
		return ""
	}
	for _, k := range kinds {
		if k.since != "" && slices.Contains(k.suffixes, path.Ext(formatName(name))) {
			return k.since
		}
	}
	return ""
}

// detect resolves FormatAuto from the file's name and the beginning of its text. whole means that head is the whole
// text.
//
// A format that is detected otherwise than before is in Formats.
func detect(name string, head []byte, whole bool) Format {
	suffix := path.Ext(formatName(name))
	for _, k := range kinds {
		if slices.Contains(k.suffixes, suffix) && (k.suits == nil || k.suits(suffix, head)) {
			return k.name
		}
	}
	for _, k := range kinds {
		if k.begins != nil && k.begins(head, whole) {
			return k.name
		}
	}
	return FormatText
}

func firstByte(head []byte) byte {
	if begin := bytes.TrimSpace(bytes.TrimPrefix(head, input.UTF8BOM)); len(begin) > 0 {
		return begin[0]
	}
	return 0
}

// onLines opens a format whose records are made of lines.
func onLines(open func(*input.LineReader, Options) (decoder, error)) func(*Reader, *bufio.Reader) (decoder, error) {
	return func(r *Reader, br *bufio.Reader) (decoder, error) {
		lines, err := input.NewLineReader(br, r.src.Name, r.opts.MaxLineBytes)
		if err != nil {
			return nil, err
		}
		return open(lines, r.opts)
	}
}

// onPages opens a format of package page.
func onPages(open func(*Reader, *bufio.Reader) (page.Reader, error)) func(*Reader, *bufio.Reader) (decoder, error) {
	return func(r *Reader, br *bufio.Reader) (decoder, error) {
		in, err := open(r, br)
		if err != nil {
			return nil, err
		}
		return newPageDecoder(in, page.Columns, r.src.Name, r.opts)
	}
}

// pairsBegin is how files begin that have pairs of texts between tags: a line of theirs is no sentence.
var pairsBegin = regexp.MustCompile(`^\s*(?:<\?xml[^>]*>\s*)?(?s:<!--.*?-->\s*)*(?:<!DOCTYPE[^>]*>\s*)?<(?:\w+:)?(tmx|xliff)[\s>]`)

func openText(r *Reader, br *bufio.Reader) (decoder, error) {
	if r.opts.Format == FormatAuto {
		head, _ := br.Peek(input.PeekBytes)
		if err := noText(r.src.Name, head); err != nil {
			return nil, err
		}
	}
	return onLines(func(in *input.LineReader, _ Options) (decoder, error) { return &textDecoder{in}, nil })(r, br)
}

// noText refuses a file that looks like text and is of a format whose lines are no sentences.
func noText(name string, head []byte) error {
	text := bytes.TrimPrefix(head, input.UTF8BOM)
	pairs := pairsBegin.FindSubmatch(text)
	switch {
	case pairs != nil:
		return badinput.Errorf("%s is %s, a file of pairs, not text; write its texts as lines (mine export %[1]s --src de --tgt en --format moses --out texts), "+
			"or read it with --format text if every line is a sentence with its tags", name, strings.ToUpper(string(pairs[1])))
	case htmlFile(name, strings.Split(string(text), "\n")):
		return badinput.Errorf("%s is HTML, not text; read it with --format html, with --format text if every line is a sentence with its tags, "+
			"or leave the file out", name)
	case input.Base64Lines(head):
		return badinput.Errorf("%s has lines in base64, not text; decode each (while read -r l; do echo \"$l\" | base64 -d; done), give the web archive, "+
			"or read it as it is with --format text", name)
	}
	return nil
}

func openSubtitles(vtt bool) func(*Reader, *bufio.Reader) (decoder, error) {
	return onLines(func(in *input.LineReader, o Options) (decoder, error) {
		return newPageDecoder(subtitle.NewReader(in, vtt), nil, in.Name, o)
	})
}

func openArray(r *Reader, br *bufio.Reader) (decoder, error) {
	if head, _ := br.Peek(len(input.UTF8BOM)); bytes.Equal(head, input.UTF8BOM) {
		_, _ = br.Discard(len(head))
	}
	return newArrayDecoder(br, r.src.Name, r.opts)
}

func openParquet(r *Reader, _ *bufio.Reader) (decoder, error) {
	return newParquetDecoder(r.src, r.opts)
}

func openEPUB(r *Reader, _ *bufio.Reader) (decoder, error) {
	if r.src.Size == 0 {
		return nil, io.EOF
	}
	book, err := page.NewEPUB(r.src, r.src.Size, r.src.Name)
	if err != nil {
		return nil, r.src.Explain(err, "the book")
	}
	return newPageDecoder(book, page.Columns, r.src.Name, r.opts)
}

// pageDecoder reads pages as records.
type pageDecoder struct {
	in    page.Reader
	names []string // Options.Metadata
	pages uint64
}

func newPageDecoder(in page.Reader, columns []string, name string, opts Options) (*pageDecoder, error) {
	d := &pageDecoder{in: in, names: opts.Metadata()}
	for _, column := range d.names {
		if !slices.Contains(columns, column) {
			return nil, opts.noColumn(name, column, columns)
		}
	}
	return d, nil
}

func (d *pageDecoder) lines() uint64 { return d.pages }

func (d *pageDecoder) next(rec *record) error {
	p, err := d.in.Next()
	if err != nil {
		return err
	}
	d.pages++
	rec.reset(p.Number, 0, 0)
	if rec.reason, rec.detail = Reason(p.Skip), p.Detail; rec.reason != "" {
		return nil
	}
	rec.text, rec.doc, rec.url = []byte(p.Text), []byte(p.Doc), []byte(p.URL)
	for i, column := range d.names {
		rec.meta[i] = []byte(page.Beginning(p.Columns[column], MaxMetadataBytes))
	}
	return nil
}
