package corpus

import (
	"errors"
	"io"
	"unicode/utf8"

	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

// Line is one line of a text file.
type Line struct {
	Number uint64 // line number from 1
	Text   string // text without its line end; empty if Reason is set
	Reason Reason // why it cannot be used: ReasonTooLong or ReasonNotUTF8; "" if it can
	Detail string // details of the error, for messages
}

// LineFile reads every line of a file, empty ones too, in constant memory, for a reader of a format that corpus does
// not have. It may be used by one goroutine. Close must be called last.
type LineFile struct {
	file  io.Closer
	lines *input.LineReader
	rec   record
}

// OpenLines opens an input, decompressed, whose lines have at most maxBytes bytes.
func OpenLines(in input.File, maxBytes int) (*LineFile, error) {
	lines, f, err := input.OpenLines(in, maxBytes)
	if err != nil {
		return nil, err
	}
	return &LineFile{file: f, lines: lines}, nil
}

// Next returns the next line, or io.EOF after the last. A file without a line is a badinput error.
func (f *LineFile) Next() (Line, error) {
	text, excess, err := f.lines.Next()
	switch {
	case errors.Is(err, io.EOF) && f.lines.Number == 0:
		return Line{}, badinput.Errorf("%s: %w; give it content or name another", f.lines.Name, ErrEmpty)
	case err != nil:
		return Line{}, err
	}
	rec := &f.rec
	if rec.reset(f.lines.Number, excess, f.lines.Max) && !utf8.Valid(text) {
		rec.reason, rec.detail = ReasonNotUTF8, invalidAt(text)
	}
	line := Line{Number: rec.line, Reason: rec.reason, Detail: rec.detail}
	if line.Reason == "" {
		line.Text = string(text)
	}
	return line, nil
}

// Close closes the file.
func (f *LineFile) Close() error { return f.file.Close() }
