package exporting

import (
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"bitextmine/bitext/table"
	"bitextmine/internal/badinput"
)

// tmx is TMX 1.4: a unit for each row. Columns other than the texts and their languages are properties of the unit, of
// the type x-NAME; those that are null or empty are left out. What the table says of itself are properties of the
// header.
type tmx struct {
	to      io.Writer
	opts    FormatOptions
	buffer  []byte
	value   []byte
	started bool
}

func newTMX(to []io.Writer, opts FormatOptions) Writer { return &tmx{to: to[0], opts: opts} }

func (w *tmx) Write(b *table.Batch) error {
	cells, err := b.Cells()
	if err != nil {
		return err
	}
	languages, err := w.languages(b)
	if err != nil {
		return err
	}
	dst := w.buffer[:0]
	if !w.started {
		w.started = true
		source, _ := languages[0](0)
		dst = w.header(dst, source)
	}
	var texts [2]func(i int) (string, bool)
	for side, name := range []string{w.opts.SourceColumn, w.opts.TargetColumn} {
		if texts[side], err = b.Texts(name); err != nil {
			return err
		}
	}
	skip := []string{w.opts.SourceColumn, w.opts.TargetColumn, table.SourceLanguage, table.TargetLanguage}
	for i := range b.Len() {
		dst = append(dst, "<tu>"...)
		for c := range cells {
			if !slices.Contains(skip, cells[c].Name) && !cells[c].Null(i) {
				dst = w.property(dst, &cells[c], i)
			}
		}
		for side := range texts {
			language, _ := languages[side](i)
			text, _ := texts[side](i)
			dst = append(dst, `<tuv xml:lang="`...)
			dst = escape(dst, language)
			dst = append(dst, `"><seg>`...)
			dst = escape(dst, text)
			dst = append(dst, "</seg></tuv>"...)
		}
		if dst, err = buffered(w.to, append(dst, "</tu>\n"...)); err != nil {
			return err
		}
	}
	w.buffer = dst
	return flush(w.to, dst)
}

func (w *tmx) property(dst []byte, c *table.Cells, i int) []byte {
	if w.value = plain(w.value[:0], c, i); len(w.value) == 0 {
		return dst
	}
	dst = append(dst, `<prop type="x-`...)
	dst = escape(dst, c.Name)
	dst = append(dst, `">`...)
	dst = escape(dst, string(w.value))
	return append(dst, "</prop>"...)
}

// languages gives both languages of a row: those of the options, or of the columns.
func (w *tmx) languages(b *table.Batch) (of [2]func(i int) (string, bool), err error) {
	for side, s := range []struct{ stated, column string }{{w.opts.Source, table.SourceLanguage}, {w.opts.Target, table.TargetLanguage}} {
		if s.stated != "" {
			of[side] = func(int) (string, bool) { return s.stated, true }
		} else if of[side], err = b.Texts(s.column); err != nil {
			return of, badinput.Errorf("TMX names the languages of its texts, and there is no column %s: give them with --src and --tgt", s.column)
		}
	}
	return of, nil
}

func (w *tmx) header(dst []byte, source string) []byte {
	dst = append(dst, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<tmx version=\"1.4\">\n"...)
	dst = append(dst, `<header creationtool="mine" creationtoolversion="`...)
	dst = escape(dst, orUnknown(w.opts.Metadata["mine.version"]))
	dst = append(dst, `" segtype="sentence" o-tmf="mine" adminlang="en" srclang="`...)
	dst = escape(dst, source)
	dst = append(dst, `" datatype="plaintext">`...)
	for _, key := range slices.Sorted(maps.Keys(w.opts.Metadata)) {
		if value := w.opts.Metadata[key]; value != "" && utf8.ValidString(value) {
			dst = append(dst, `<prop type="x-`...)
			dst = escape(dst, key)
			dst = append(dst, `">`...)
			dst = escape(dst, value)
			dst = append(dst, "</prop>"...)
		}
	}
	return append(dst, "</header>\n<body>\n"...)
}

func orUnknown(version string) string {
	if version == "" {
		return "unknown"
	}
	return version
}

// Close writes the end. A file without rows is one without units.
func (w *tmx) Close() error {
	var dst []byte
	if !w.started {
		source := w.opts.Source
		if source == "" {
			source = "*all*"
		}
		dst = w.header(dst, source)
	}
	return flush(w.to, append(dst, "</body>\n</tmx>\n"...))
}

// escape appends a text as XML. A character that XML cannot have becomes a space.
func escape(dst []byte, text string) []byte {
	from := 0
	put := func(i, width int, as string) {
		dst = append(dst, text[from:i]...)
		dst = append(dst, as...)
		from = i + width
	}
	for i := 0; i < len(text); {
		c := text[i]
		if c >= utf8.RuneSelf {
			r, width := utf8.DecodeRuneInString(text[i:])
			if r == utf8.RuneError && width == 1 || r == 0xfffe || r == 0xffff {
				put(i, width, " ")
			}
			i += width
			continue
		}
		switch {
		case c == '&':
			put(i, 1, "&amp;")
		case c == '<':
			put(i, 1, "&lt;")
		case c == '>':
			put(i, 1, "&gt;")
		case c == '"':
			put(i, 1, "&quot;")
		case c < ' ' && !strings.ContainsRune("\t\n\r", rune(c)):
			put(i, 1, " ")
		}
		i++
	}
	return append(dst, text[from:]...)
}
