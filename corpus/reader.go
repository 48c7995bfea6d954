// Package corpus reads text as sentences.
//
// A corpus is all text of one language that a run is given. It is in files of several formats (plain text, BUCC, TSV,
// JSON lines, Parquet), compressed or not. A sentence is one record of such a file: a line or a Parquet row.
//
// Two sentences are the same if their normalised texts are equal. Normalise defines the normalised text, which is also
// the encoder's input. KeyOf hashes it to the sentence key, the identity across shards and runs.
//
// Package input finds and opens the files, package shard cuts their sentences into the files that a run works with.
//
// Every input line is counted: for every file, lines = kept + duplicates + skipped, and skipped is counted by reason.
package corpus

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path"
	"strings"
	"unicode/utf8"

	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

// Sentence is one usable record of an input.
type Sentence struct {
	Text   string // text of the input, without trailing line ends
	Normal string // Normalise(Text), empty under Options.KeepEmpty alone
	Doc    string // document or id; "" if the input names none
	URL    string
	Line   uint64   // line number from 1; the row number in Parquet
	Meta   []string // values by Options.Metadata; a missing value is empty
}

// Reader reads one input's sentences in constant memory, however long the file or its lines are. It may be used by one
// goroutine. Close must be called last.
type Reader struct {
	src          *input.Source
	closeDecoder func()
	decoder      decoder // nil if the file ended before its first record
	format       Format
	decoded      bool // Options.Encoding was decoded
	opts         Options
	rec          record
	counts       Counts
	err          error
}

// Open opens an input and reads just enough to know its format and columns.
func Open(in input.File, opts Options) (*Reader, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	src, err := input.Open(in)
	if err != nil {
		return nil, err
	}
	r := &Reader{src: src, opts: opts, closeDecoder: func() {}}
	if err := r.open(); err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// Detect returns the format that Open would read an input in, without its columns.
func Detect(in input.File, opts Options) (format Format, err error) {
	src, err := input.Open(in)
	if err != nil {
		return "", err
	}
	r := &Reader{src: src, opts: opts, closeDecoder: func() {}}
	_, err = r.begin()
	return r.format, errors.Join(err, r.Close())
}

// begin decompresses the stream and determines the format. It may peek at the stream but consumes nothing.
func (r *Reader) begin() (*bufio.Reader, error) {
	r.src.Salvage = r.opts.Salvage
	plain, kind, closeDecoder, err := r.src.Decompress()
	if err != nil {
		return nil, err
	}
	r.closeDecoder = closeDecoder
	// The longest line and its line end must fit, or input.LineReader treats the line as too long. No line is longer
	// than the file.
	longest := int64(r.opts.MaxLineBytes + len("\r\n"))
	if r.decoded = r.opts.Encoding != "" && !r.saysEncoding(); r.decoded {
		if plain, err = input.Decoded(plain, r.opts.Encoding); err != nil {
			return nil, err
		}
	} else if kind == "" {
		longest = min(longest, r.src.Size+1)
	}
	buffer := 4 * input.PeekBytes
	if kind == "" && r.src.Size < input.PeekBytes { // one of many small files
		buffer = input.PeekBytes
	}
	br := bufio.NewReaderSize(plain, max(buffer, int(longest)))
	if r.format = r.opts.Format; r.format == FormatAuto && r.opts.Salvage {
		r.format = FormatWARC
	} else if r.format == FormatAuto {
		head, err := br.Peek(input.PeekBytes)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		r.format = detect(r.src.Name, head, errors.Is(err, io.EOF))
	}
	if r.format == FormatEPUB && kind != "" {
		return nil, badinput.Errorf("%s: a book inside %s cannot be read in place; decompress it first", r.src.Name, kind)
	}
	if r.format == FormatParquet && kind != "" {
		return nil, badinput.Errorf("%s: Parquet inside %s cannot be read in place; decompress it first", r.src.Name,
			kind)
	}
	return br, nil
}

// saysEncoding reports whether a file is in a format with its own way to say an encoding: Parquet, or a web archive,
// each page of which may have another one and whose records are counted in bytes.
func (r *Reader) saysEncoding() bool {
	switch r.opts.Format {
	case FormatParquet, FormatWARC:
		return true
	case FormatAuto:
		return r.opts.Salvage || NamedArchive(r.src.Name) || path.Ext(formatName(r.src.Name)) == ".parquet"
	}
	return false
}

func (r *Reader) open() error {
	br, err := r.begin()
	if err != nil {
		return err
	}
	r.rec.meta = make([][]byte, len(r.opts.Metadata()))
	of := kindOf(r.format)
	setting := "--doc-meta"
	if r.opts.LangColumn != "" {
		setting = "--lang-column"
	}
	if len(r.rec.meta) > 0 && of.plain {
		return badinput.Errorf(
			"%[1]s is plain text, without columns that %[2]s could name; leave %[2]s out, or give the text as JSON lines, TSV or Parquet",
			r.src.Name, setting)
	}
	d, err := of.open(r, br)
	if err == nil {
		r.decoder = d
	}
	return err
}

// Format is the format in which the input is read, never FormatAuto.
func (r *Reader) Format() Format { return r.format }

// Counts returns the counts of the lines so far. Kept is the number of sentences returned; duplicates are not detected.
func (r *Reader) Counts() Counts { return r.counts.clone() }

// Read returns the number of bytes read from the file so far.
func (r *Reader) Read() int64 { return r.src.Seen }

// Close closes the file.
func (r *Reader) Close() error {
	r.closeDecoder()
	return r.src.Close()
}

// Next returns the next usable sentence, or io.EOF after the last. A file that is empty, damaged or without any usable
// sentence is a badinput error that names it. So is a bad line under FailBadLine. After an error, Next returns the same
// error again.
func (r *Reader) Next() (Sentence, error) { return r.NextContext(context.Background()) }

// contextEvery is the number of lines between two checks of the context: some milliseconds.
const contextEvery = 8192

// NextContext is Next that ends with the context's error: there may be any number of lines before the next usable one.
func (r *Reader) NextContext(ctx context.Context) (Sentence, error) {
	if r.err != nil {
		return Sentence{}, r.err
	}
	s, err := r.next(ctx)
	r.err = err
	return s, err
}

func (r *Reader) next(ctx context.Context) (Sentence, error) {
	rec := &r.rec
	for {
		if r.counts.Lines%contextEvery == 0 {
			if err := ctx.Err(); err != nil {
				return Sentence{}, err
			}
		}
		err := io.EOF
		if r.decoder != nil {
			err = r.decoder.next(rec)
		}
		if errors.Is(err, io.EOF) {
			return Sentence{}, r.finish()
		}
		if err != nil {
			return Sentence{}, err
		}
		r.counts.Lines++
		r.counts.Leave(LeftForeign, rec.left)
		if s, ok := r.accept(rec); ok {
			r.counts.Kept++
			if r.format == FormatText && r.opts.Format == FormatAuto && strings.Contains(strings.TrimSpace(s.Text), "\t") {
				r.counts.Tabbed++
			}
			return s, nil
		}
		if rec.reason == ReasonNotUTF8 && r.decoded {
			rec.detail = "cannot be read as " + r.opts.Encoding
		}
		r.counts.Skip(rec.line, rec.reason, rec.detail)
		if r.opts.OnBadLine == FailBadLine && rec.reason != ReasonEmpty {
			advice := "correct the line or remove it"
			if rec.reason == ReasonNotUTF8 {
				advice = r.inUTF8Advice()
			}
			return Sentence{}, badinput.Errorf("%s:%d: %s (%s); %s", r.src.Name, rec.line, rec.reason, rec.detail, advice)
		}
	}
}

// accept turns a record into a sentence, or sets the record's reason.
func (r *Reader) accept(rec *record) (Sentence, bool) {
	if rec.reason != "" {
		return Sentence{}, false
	}
	for _, field := range [...][]byte{rec.text, rec.doc, rec.url} {
		if len(field) > r.opts.MaxLineBytes {
			rec.reason, rec.detail = ReasonTooLong,
				fmt.Sprintf("%d bytes, at most %d are read", len(field), r.opts.MaxLineBytes)
			return Sentence{}, false
		}
		if !utf8.Valid(field) {
			rec.reason, rec.detail = ReasonNotUTF8, invalidAt(field)
			return Sentence{}, false
		}
	}
	meta, ok := rec.metadata(r.opts)
	if !ok {
		return Sentence{}, false
	}
	text := string(bytes.TrimRight(rec.text, "\r\n"))
	normal := Normalise(text)
	if normal == "" && !r.opts.KeepEmpty {
		rec.reason = ReasonEmpty
		return Sentence{}, false
	}
	return Sentence{Text: text, Normal: normal, Doc: string(rec.doc), URL: string(rec.url), Meta: meta, Line: rec.line},
		true
}

var (
	// ErrEmpty is in the error for a file without any text.
	ErrEmpty = errors.New("the file holds no line")
	// ErrNotUTF8 is in the error for a file whose lines are in another encoding.
	ErrNotUTF8 = errors.New("its text is not UTF-8")
)

// foreignError is ErrEmpty for a file of so many lines that are all in another language.
type foreignError uint64

func (lines foreignError) Error() string {
	return fmt.Sprintf("all %d lines of its documents are said to be in another language (%s); name that language, or leave the file out",
		uint64(lines), segmentLanguages)
}

func (foreignError) Is(target error) bool { return target == ErrEmpty }

func (r *Reader) inUTF8Advice() string {
	if r.decoded {
		return fmt.Sprintf("name another encoding than %s with --encoding", r.opts.Encoding)
	}
	return "convert it to UTF-8 or, for mine run and mine encode, name its encoding with --encoding"
}

// finish checks the counts of the whole file. It returns io.EOF if the file had a usable sentence.
func (r *Reader) finish() error {
	var passed uint64
	if r.decoder != nil {
		passed = r.decoder.lines()
	}
	if passed != r.counts.Lines {
		return fmt.Errorf("read %s: lines were lost: %d passed, %d counted", r.src.Name, passed, r.counts.Lines)
	}
	if err := r.counts.Check(); err != nil {
		return fmt.Errorf("read %s: %w", r.src.Name, err)
	}
	switch {
	case r.counts.Lines == 0:
		return badinput.Errorf("%s: %w; remove it from the inputs or give it content", r.src.Name, ErrEmpty)
	case r.counts.Kept == 0 && r.counts.Skipped[ReasonEmpty] == r.counts.Lines && r.counts.LeftOut[LeftForeign] > 0:
		return badinput.Errorf("%s: %w", r.src.Name, foreignError(r.counts.LeftOut[LeftForeign]))
	case r.counts.Kept == 0 && r.counts.Skipped[ReasonEmpty] == r.counts.Lines:
		return badinput.Errorf("%s: %w but blank ones; remove it from the inputs or give it content", r.src.Name, ErrEmpty)
	case r.counts.Kept == 0 && 2*r.counts.Skipped[ReasonNotUTF8] > r.counts.Lines:
		return badinput.Errorf("%s: none of its %d lines is a usable sentence (%s): %w; %s", r.src.Name, r.counts.Lines, r.counts.skippedText(), ErrNotUTF8, r.inUTF8Advice())
	case r.counts.Kept == 0:
		return badinput.Errorf("%s: none of its %d lines is a usable sentence (%s); check the file and the format (%s)",
			r.src.Name, r.counts.Lines, r.counts.skippedText(), r.format)
	}
	return io.EOF
}

// formatName is the name of a file without what says that it is compressed, in small letters.
func formatName(name string) string {
	base := strings.ToLower(path.Base(name))
	for _, suffix := range []string{".gz", ".zst", ".bz2", ".xz"} {
		base = strings.TrimSuffix(base, suffix)
	}
	return base
}

// looksBUCC reports whether each of the first lines has exactly one tab, after an id without white space.
func looksBUCC(head []byte, whole bool) bool {
	const maxLines = 10
	seen := 0
	for seen < maxLines && len(head) > 0 {
		line, rest, ended := bytes.Cut(head, []byte("\n"))
		if !ended && !whole {
			break
		}
		head = rest
		line = bytes.TrimSuffix(line, []byte("\r"))
		id, text, found := bytes.Cut(line, []byte("\t"))
		if !found || len(id) == 0 || bytes.ContainsAny(id, " \v\f\u00a0\u3000") || bytes.IndexByte(text, '\t') >= 0 {
			return false
		}
		seen++
	}
	return seen > 0
}

// Sentences opens an input, yields its sentences to the end and closes it. It yields an error last; the error may come
// from opening or closing.
func Sentences(in input.File, opts Options) iter.Seq2[Sentence, error] {
	return func(yield func(Sentence, error) bool) {
		r, err := Open(in, opts)
		if err != nil {
			yield(Sentence{}, err)
			return
		}
		for s, err := range r.All() {
			if err != nil {
				yield(Sentence{}, errors.Join(err, r.Close()))
				return
			}
			if !yield(s, nil) {
				_ = r.Close() // a caller that stops early does not need the error
				return
			}
		}
		if err := r.Close(); err != nil {
			yield(Sentence{}, err)
		}
	}
}

// All yields the remaining sentences. It yields an error last.
func (r *Reader) All() iter.Seq2[Sentence, error] {
	return func(yield func(Sentence, error) bool) {
		for {
			s, err := r.Next()
			if errors.Is(err, io.EOF) || !yield(s, err) || err != nil {
				return
			}
		}
	}
}
