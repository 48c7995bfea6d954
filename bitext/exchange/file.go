// Package exchange reads and writes bitext in the formats that programs exchange it in: TSV, CSV, TMX, XLIFF, JSON
// lines, gettext catalogues, and two line-aligned files (as Moses has them).
//
// A Reader gives one pair at a time, in memory that does not grow with the file, whatever the file claims of itself:
// lines and units have a maximum length, and elements of XML a maximum depth. Any file may be compressed. A File
// is a file that was read once, to be written again with columns added and nothing left out. ReadKnown reads pairs that
// are known to be translations.
package exchange

import (
	"bufio"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

// File holds all that a file of pairs needs to be written again, with columns added and nothing left out.
type File struct {
	Pairs int

	inputs [2]input.File // the second is for line-aligned files
	format Format
	opts   Options
	header uint64  // number of a TSV's line that names the columns, behind blank ones; 0: none does
	width  int     // column count of a TSV or CSV
	units  []int64 // offsets of the children of each TMX unit
}

// Each is called with every pair of a file, in order. A pair of which a text is missing has an empty text.
type Each func(source, target string) error

// Load reads a file of a format. A line that is not a pair, other than one without text, is a badinput error.
func Load(in input.File, format Format, opts Options, each Each) (*File, error) {
	if format == PO || format == XLIFF {
		return nil, badinput.Errorf("%s has no place for scores: write it as TSV by mine export first", in.Path)
	}
	r, err := Open(in, format, opts)
	if err != nil {
		return nil, err
	}
	f := &File{inputs: [2]input.File{in}, format: format, opts: opts}
	if err := f.read(r, each); err != nil {
		return nil, err
	}
	switch r := r.(type) {
	case *tsvReader:
		f.header, f.width = r.headerAt, r.row.width
	case *csvReader:
		f.width = r.row.width
	}
	return f, nil
}

// aligned is the format of two files in a File, which is written as TSV.
const aligned Format = "aligned"

// LoadAligned reads two line-aligned files.
func LoadAligned(source, target input.File, each Each) (*File, error) {
	r, err := OpenAligned(source, target)
	if err != nil {
		return nil, err
	}
	f := &File{inputs: [2]input.File{source, target}, format: aligned}
	return f, f.read(r, each)
}

// read reads r to its end and closes it.
func (f *File) read(r Reader, each Each) (err error) {
	defer func() { err = errors.Join(err, r.Close()) }()
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			WarnUnnamed(r, f.inputs[0].Path, "")
			return nil
		}
		if err != nil {
			return err
		}
		if t, ok := r.(*tmxReader); ok {
			f.units = append(f.units, t.at)
		} else if rec.Reason != "" && rec.Reason != corpus.ReasonEmpty {
			return refuse(f.inputs[0].Path, rec)
		}
		f.Pairs++
		if err := each(rec.Source, rec.Target); err != nil {
			return err
		}
	}
}

// Values returns the added columns of pair i, in order, or nil if it has none. A value that is empty is left out where
// the format can.
type Values func(i int) []string

// Write reads the file once more and writes it with each pair's columns of these names: as further fields of TSV and
// CSV, as further keys of JSONL's objects, as <prop> of TMX's units. Line-aligned files become TSV without a header:
// source, target and the columns; a tab within a text becomes a space.
func (f *File) Write(w io.Writer, names []string, values Values) (err error) {
	out := bufio.NewWriter(w)
	switch f.format {
	case TMX:
		err = f.writeTMX(out, names, values)
	case CSV:
		err = f.writeCSV(out, names, values)
	case aligned:
		err = f.writeAligned(out, names, values)
	default:
		err = f.writeLines(out, names, values)
	}
	return errors.Join(err, out.Flush())
}

// writeLines writes TSV and JSONL.
func (f *File) writeLines(out *bufio.Writer, names []string, values Values) (err error) {
	lines, err := corpus.OpenLines(f.inputs[0], MaxLineBytes)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lines.Close()) }()
	for i := 0; ; i++ {
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return f.all(i)
		}
		if err != nil {
			return err
		}
		if line.Number == f.header {
			fmt.Fprintf(out, "%s\t%s\n", line.Text, strings.Join(names, "\t"))
			i--
			continue
		}
		if i >= f.Pairs {
			return f.all(i + 1)
		}
		if f.format == JSONL {
			writeObject(out, line.Text, names, values(i))
			continue
		}
		if isBlank(line.Text) {
			line.Text = strings.Repeat("\t", max(f.width, 2)-1) // empty lines alone have no width
		}
		writeFields(out, line.Text, len(names), values(i))
	}
}

// writeFields writes a TSV line with n fields added.
func writeFields(out *bufio.Writer, line string, n int, values []string) {
	if values == nil {
		values = make([]string, n)
	}
	fmt.Fprintf(out, "%s\t%s\n", line, strings.Join(values, "\t"))
}

// writeObject writes an object with keys added. Values that are JSON numbers stay numbers.
func writeObject(out *bufio.Writer, line string, names, values []string) {
	object, found := strings.CutSuffix(strings.TrimSpace(line), "}")
	if !found { // an empty line
		fmt.Fprintln(out, line)
		return
	}
	_, _ = out.WriteString(object)
	for c, value := range values {
		if value == "" {
			continue
		}
		if !json.Valid([]byte(value)) {
			value = quoted(value)
		}
		fmt.Fprintf(out, ",%s:%s", quoted(names[c]), value)
	}
	_, _ = out.WriteString("}\n")
}

// quoted is a text as JSON.
func quoted(text string) string {
	data, _ := json.Marshal(text) // a string can always be encoded
	return string(data)
}

// writeAligned writes a line of TSV for each pair of lines.
func (f *File) writeAligned(out *bufio.Writer, names []string, values Values) (err error) {
	r, err := OpenAligned(f.inputs[0], f.inputs[1])
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	blank := strings.NewReplacer("\t", " ") // a tab in a TSV can only separate fields
	for i := 0; ; i++ {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return f.all(i)
		}
		if err != nil {
			return err
		}
		if i >= f.Pairs {
			return f.all(i + 1)
		}
		writeFields(out, blank.Replace(rec.Source)+"\t"+blank.Replace(rec.Target), len(names), values(i))
	}
}

// writeTMX copies the file and inserts properties at the beginning of units.
func (f *File) writeTMX(out *bufio.Writer, names []string, values Values) (err error) {
	in, err := input.OpenDecompressed(f.inputs[0])
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	from := int64(0)
	for i, at := range f.units {
		if _, err := io.CopyN(out, in, at-from); errors.Is(err, io.EOF) {
			return f.all(i)
		} else if err != nil {
			return err
		}
		from = at
		for c, text := range values(i) {
			if text != "" {
				fmt.Fprintf(out, `<prop type="x-%s">%s</prop>`, escaped(names[c]), escaped(text))
			}
		}
	}
	_, err = io.Copy(out, in)
	return err
}

// escaped is a text as XML.
func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a builder takes everything
	return b.String()
}

// all checks that writing saw as many pairs as reading did.
func (f *File) all(pairs int) error {
	if pairs != f.Pairs {
		return badinput.Errorf("%s has changed since it was read: run again", f.inputs[0].Path)
	}
	return nil
}
