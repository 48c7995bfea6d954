package exporting

import (
	"cmp"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"bitextmine/bitext/table"
	"bitextmine/internal/badinput"
)

// units writes a format that has a unit for each row: both texts with their languages, and notes, which are the other
// columns. Notes that are null or empty are left out.
type units struct {
	to      io.Writer
	opts    FormatOptions
	form    form
	buffer  []byte
	value   []byte
	one     unit
	started bool
}

// form is how a format writes units.
type form struct {
	header func(dst []byte, opts *FormatOptions, languages [2]string) []byte
	unit   func(dst []byte, u *unit) []byte
	end    string
	pair   bool // all units are of one pair of languages, which the header names
}

// unit is a row.
type unit struct {
	number           uint64 // units count from 1
	languages, texts [2]string
	notes            []note
}

type note struct{ name, value string }

func newUnits(form form) func(to []io.Writer, opts FormatOptions) Writer {
	return func(to []io.Writer, opts FormatOptions) Writer { return &units{to: to[0], opts: opts, form: form} }
}

func (w *units) Write(b *table.Batch) error {
	cells, err := b.Cells()
	if err != nil {
		return err
	}
	languages, err := w.languages(b)
	if err != nil {
		return err
	}
	var texts [2]func(i int) (string, bool)
	for side, name := range []string{w.opts.SourceColumn, w.opts.TargetColumn} {
		if texts[side], err = b.Texts(name); err != nil {
			return err
		}
	}
	skip := []string{w.opts.SourceColumn, w.opts.TargetColumn, table.SourceLanguage, table.TargetLanguage}
	dst, first := w.buffer[:0], w.one.languages
	for i := range b.Len() {
		u := &w.one
		for side := range texts {
			u.languages[side], _ = languages[side](i)
			u.texts[side], _ = texts[side](i)
		}
		if u.languages[0] == "" || u.languages[1] == "" {
			return badinput.Errorf("the format names the languages of its texts, and row %d does not say them: give them with --src and --tgt", b.Row(i))
		}
		if !w.started {
			w.started, first = true, u.languages
			dst = w.form.header(dst, &w.opts, u.languages)
		}
		if w.form.pair && u.languages != first {
			return badinput.Errorf("row %d is %s-%s, and the format has one pair of languages in a file (%s-%s): choose the rows with --where",
				b.Row(i), u.languages[0], u.languages[1], first[0], first[1])
		}
		u.number, u.notes = u.number+1, u.notes[:0]
		for c := range cells {
			if slices.Contains(skip, cells[c].Name) || cells[c].Null(i) {
				continue
			}
			if cells[c].List != nil { // a note for each
				for _, value := range cells[c].List(i) {
					u.notes = append(u.notes, note{cells[c].Name, value})
				}
				continue
			}
			if w.value = cells[c].Append(w.value[:0], i); len(w.value) > 0 {
				u.notes = append(u.notes, note{cells[c].Name, string(w.value)})
			}
		}
		if dst, err = buffered(w.to, w.form.unit(dst, u)); err != nil {
			return err
		}
	}
	w.buffer = dst
	return flush(w.to, dst)
}

// languages gives both languages of a row: those of the options, or of the columns.
func (w *units) languages(b *table.Batch) (of [2]func(i int) (string, bool), err error) {
	for side, s := range []struct{ stated, column string }{{w.opts.Source, table.SourceLanguage}, {w.opts.Target, table.TargetLanguage}} {
		if s.stated != "" {
			of[side] = func(int) (string, bool) { return s.stated, true }
		} else if of[side], err = b.Texts(s.column); err != nil {
			return of, badinput.Errorf("the format names the languages of its texts, and there is no column %s: give them with --src and --tgt", s.column)
		}
	}
	return of, nil
}

// Close writes the end. A file without rows is one without units.
func (w *units) Close() error {
	var dst []byte
	if !w.started {
		dst = w.form.header(dst, &w.opts, [2]string{w.opts.Source, w.opts.Target})
	}
	return flush(w.to, append(dst, w.form.end...))
}

// tmx is TMX 1.4. Notes are properties of the unit, of the type x-NAME. What the table says of itself are properties of
// the header.
var tmx = form{header: tmxHeader, unit: tmxUnit, end: "</body>\n</tmx>\n"}

func tmxUnit(dst []byte, u *unit) []byte {
	dst = append(dst, "<tu>"...)
	for _, n := range u.notes {
		dst = tmxProperty(dst, n.name, n.value)
	}
	for side := range u.texts {
		dst = append(dst, `<tuv xml:lang="`...)
		dst = escape(dst, u.languages[side])
		dst = append(dst, `"><seg>`...)
		dst = escape(dst, u.texts[side])
		dst = append(dst, "</seg></tuv>"...)
	}
	return append(dst, "</tu>\n"...)
}

func tmxProperty(dst []byte, name, value string) []byte {
	dst = append(dst, `<prop type="x-`...)
	dst = escape(dst, name)
	dst = append(dst, `">`...)
	dst = escape(dst, value)
	return append(dst, "</prop>"...)
}

func tmxHeader(dst []byte, opts *FormatOptions, languages [2]string) []byte {
	dst = append(dst, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<tmx version=\"1.4\">\n"...)
	dst = append(dst, `<header creationtool="mine" creationtoolversion="`...)
	dst = escape(dst, cmp.Or(opts.Version, opts.Metadata["mine.version"], "unknown"))
	dst = append(dst, `" segtype="sentence" o-tmf="mine" adminlang="en" srclang="`...)
	dst = escape(dst, cmp.Or(languages[0], "*all*"))
	dst = append(dst, `" datatype="plaintext">`...)
	for _, key := range slices.Sorted(maps.Keys(opts.Metadata)) {
		if value := opts.Metadata[key]; value != "" && utf8.ValidString(value) {
			dst = tmxProperty(dst, key, value)
		}
	}
	return append(dst, "</header>\n<body>\n"...)
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
		case c == '\r': // a reader makes a line feed of it as it stands
			put(i, 1, "&#13;")
		case c < ' ' && c != '\t' && c != '\n':
			put(i, 1, " ")
		}
		i++
	}
	return append(dst, text[from:]...)
}

// xliff is XLIFF 2.0. Notes are notes of the unit, of the category NAME.
var xliff = form{header: xliffHeader, unit: xliffUnit, end: "</file>\n</xliff>\n", pair: true}

func xliffHeader(dst []byte, _ *FormatOptions, languages [2]string) []byte {
	dst = append(dst, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"...)
	dst = append(dst, `<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" srcLang="`...)
	dst = escape(dst, languages[0])
	dst = append(dst, `" trgLang="`...)
	dst = escape(dst, languages[1])
	return append(dst, "\">\n<file id=\"bitext\">\n"...)
}

func xliffUnit(dst []byte, u *unit) []byte {
	dst = append(dst, `<unit id="`...)
	dst = strconv.AppendUint(dst, u.number, 10)
	dst = append(dst, `">`...)
	for i, n := range u.notes {
		if i == 0 {
			dst = append(dst, "<notes>"...)
		}
		dst = append(dst, `<note category="`...)
		dst = escape(dst, n.name)
		dst = append(dst, `">`...)
		dst = escape(dst, n.value)
		dst = append(dst, "</note>"...)
		if i == len(u.notes)-1 {
			dst = append(dst, "</notes>"...)
		}
	}
	dst = append(dst, "<segment><source>"...)
	dst = escape(dst, u.texts[0])
	dst = append(dst, "</source><target>"...)
	dst = escape(dst, u.texts[1])
	return append(dst, "</target></segment></unit>\n"...)
}

// po is gettext's catalogue of messages. Notes are comments. A catalogue has a message once, and texts may repeat, so
// the context of each is its number.
var po = form{header: poHeader, unit: poUnit, pair: true}

func poHeader(dst []byte, _ *FormatOptions, languages [2]string) []byte {
	dst = append(dst, "msgid \"\"\nmsgstr \"\"\n"...)
	for _, line := range []string{"Language: " + languages[1], "MIME-Version: 1.0", "Content-Type: text/plain; charset=UTF-8",
		"Content-Transfer-Encoding: 8bit"} {
		dst = append(poText(dst, line+"\n"), '\n')
	}
	return dst
}

func poUnit(dst []byte, u *unit) []byte {
	dst = append(dst, '\n')
	for _, n := range u.notes {
		dst = append(dst, "#. "...)
		dst = append(dst, strings.Join(strings.Fields(n.name+": "+n.value), " ")...)
		dst = append(dst, '\n')
	}
	dst = append(dst, "msgctxt \""...)
	dst = strconv.AppendUint(dst, u.number, 10)
	dst = append(dst, "\"\nmsgid "...)
	dst = poText(dst, u.texts[0])
	dst = append(dst, "\nmsgstr "...)
	dst = poText(dst, framed(u.texts[0], u.texts[1]))
	return append(dst, '\n')
}

// framed gives a translation a line break at its beginning and its end where the original has one, and none elsewhere:
// msgfmt refuses pairs that differ there.
func framed(original, translation string) string {
	switch {
	case translation == "":
		return "" // it has none
	case !strings.HasPrefix(original, "\n"):
		translation = strings.TrimLeft(translation, "\n")
	case !strings.HasPrefix(translation, "\n"):
		translation = "\n" + translation
	}
	switch {
	case !strings.HasSuffix(original, "\n"):
		translation = strings.TrimRight(translation, "\n")
	case !strings.HasSuffix(translation, "\n"):
		translation += "\n"
	}
	return translation
}

var poEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\r", `\r`)

func poText(dst []byte, text string) []byte {
	dst = append(dst, '"')
	dst = append(dst, poEscapes.Replace(text)...)
	return append(dst, '"')
}
