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

// Write reads the file once more and writes it with each pair's columns of these names: as further fields of a TSV's
// lines, as further keys of JSONL's objects, as <prop> of TMX's units. Line-aligned files become TSV without a header:
// source, target and the columns; a tab within a text becomes a space.
func (f *File) Write(w io.Writer, names []string, values Values) (err error) {
	out := bufio.NewWriter(w)
	switch f.format {
	case TMX:
		err = f.writeTMX(out, names, values)
	case aligned:
		err = f.writeAligned(out, names, values)
	default:
		err = f.writeLines(out, names, values)
	}
	return errors.Join(err, out.Flush())
}

// writeLines writes TSV and JSONL.
func (f *File) writeLines(out *bufio.Writer, names []string, values Values) (err error) {
	lines, err := corpus.OpenLines(f.inputs[0], maxLineBytes)
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
		if f.header && line.Number == 1 {
			fmt.Fprintf(out, "%s\t%s\n", line.Text, strings.Join(names, "\t"))
			i--
			continue
		}
		if i >= len(f.Sources) {
			return f.all(i + 1)
		}
		if f.format == JSONL {
			writeObject(out, line.Text, names, values(i))
			continue
		}
		if isBlank(line.Text) {
			line.Text = strings.Repeat("\t", f.width-1)
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
		if i >= len(f.Sources) {
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
	if pairs != len(f.Sources) {
		return badinput.Errorf("%s has changed since it was read: run again", f.inputs[0].Path)
	}
	return nil
}
