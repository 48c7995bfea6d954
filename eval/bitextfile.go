package eval

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"bitextmine/corpus"
	"bitextmine/internal/badinput"
)

// BitextFile is existing bitext as it stands in a file: its pairs, and what is needed to write it again with columns added and
// nothing dropped. A pair with an empty side is kept and has no score.
type BitextFile struct {
	Sources, Targets []string

	lines  []string // TSV: each line as it stands
	header bool     // its first line names the columns
	tmx    []byte   // TMX: the whole file
	units  []int64  // where each unit's first child may stand
}

// ReadLineAligned reads two line-aligned files.
func ReadLineAligned(source, target string) (*BitextFile, error) {
	var b BitextFile
	var err error
	if b.Sources, err = readAllLines(source); err != nil {
		return nil, err
	}
	if b.Targets, err = readAllLines(target); err != nil {
		return nil, err
	}
	if n, m := len(b.Sources), len(b.Targets); n != m {
		return nil, badinput.Errorf("%s has %d lines but %s has %d: line-aligned files must have as many", source, n, target, m)
	}
	blank := strings.NewReplacer("\t", " ") // in TSV a tab can only part fields
	for i := range b.Sources {
		b.lines = append(b.lines, blank.Replace(b.Sources[i])+"\t"+blank.Replace(b.Targets[i]))
	}
	return &b, nil
}

// readAllLines reads every line of a file, empty ones too.
func readAllLines(path string) (lines []string, err error) {
	opts := corpus.DefaultOptions()
	opts.Format, opts.OnBadLine = corpus.FormatText, corpus.FailBadLine
	r, err := corpus.Open(corpus.Input{Path: path}, opts)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for {
		s, err := r.Next()
		if errors.Is(err, io.EOF) {
			return append(lines, make([]string, r.Counts().Lines-uint64(len(lines)))...), nil
		}
		if err != nil {
			return nil, err
		}
		for uint64(len(lines)) < s.Line-1 {
			lines = append(lines, "")
		}
		lines = append(lines, s.Text)
	}
}

// ReadPairsTSV reads a TSV whose first line names the columns source and target; where it does not, the first two columns are
// the texts and the first line is a pair.
func ReadPairsTSV(path, source, target string) (*BitextFile, error) {
	lines, err := readAllLines(path)
	if err != nil {
		return nil, err
	}
	b := &BitextFile{lines: lines}
	columns := strings.Split(lines[0], "\t")
	x, y := -1, -1
	for i, c := range columns {
		switch c {
		case source:
			x = i
		case target:
			y = i
		}
	}
	if b.header = x >= 0 && y >= 0; !b.header {
		x, y = 0, 1
	}
	for i, line := range lines {
		if i == 0 && b.header {
			continue
		}
		fields := strings.Split(line, "\t")
		switch {
		case len(columns) <= y || len(fields) != len(columns) && strings.TrimSpace(line) != "":
			return nil, badinput.Errorf("%s:%d: the line has %d tab-separated fields, but %s: correct it", path, i+1, len(fields), wantedFields(columns))
		case len(fields) != len(columns): // an empty line is a pair without text
			fields = make([]string, len(columns))
			b.lines[i] = strings.Join(fields, "\t")
		}
		b.Sources, b.Targets = append(b.Sources, fields[x]), append(b.Targets, fields[y])
	}
	return b, nil
}

// wantedFields says how many fields each line of a TSV must have.
func wantedFields(first []string) string {
	if len(first) < 2 {
		return "a pair needs two"
	}
	return fmt.Sprintf("the first line has %d", len(first))
}

// HasColumn reports whether the header of a TSV names a column.
func (b *BitextFile) HasColumn(name string) bool {
	return b.header && slices.Contains(strings.Split(b.lines[0], "\t"), name)
}

// ReadTMX reads translation units of two languages; codes in the file may be in any usual form.
func ReadTMX(path, source, target string) (*BitextFile, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, badinput.Errorf("open TMX: %w", err)
	}
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return nil, badinput.Errorf("%s is UTF-16: convert it to UTF-8 (iconv -f UTF-16 -t UTF-8), its first line too", path)
	}
	b := &BitextFile{tmx: data}
	d := xml.NewDecoder(bytes.NewReader(data))
	d.CharsetReader = func(string, io.Reader) (io.Reader, error) { return nil, errors.New("only UTF-8 is read, convert it") }
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, badinput.Errorf("%s is not well-formed XML (%w): mend the file", path, err)
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "tu" {
			at := d.InputOffset()
			var unit TMXUnit
			if err := d.DecodeElement(&unit, &start); err != nil {
				return nil, badinput.Errorf("%s: a translation unit cannot be read (%w): mend the file", path, err)
			}
			b.units = append(b.units, at)
			text, _ := unit.Text(source)
			b.Sources = append(b.Sources, text)
			text, _ = unit.Text(target)
			b.Targets = append(b.Targets, text)
		}
	}
	if len(b.units) == 0 {
		return nil, badinput.Errorf("%s holds no translation unit: give a TMX file", path)
	}
	return b, nil
}

// TMXUnit is a <tu>, as encoding/xml decodes it.
type TMXUnit struct {
	Variants []struct {
		Attributes []xml.Attr `xml:",any,attr"`
		Segment    struct {
			Inner string `xml:",innerxml"`
		} `xml:"seg"`
	} `xml:"tuv"`
}

// Text is the unit's segment in a language, without markup; ok is false if it has none.
func (u TMXUnit) Text(language string) (text string, ok bool) {
	for _, v := range u.Variants {
		for _, a := range v.Attributes {
			if a.Name.Local == "lang" && sameLanguage(a.Value, language) {
				return plainText(v.Segment.Inner), true
			}
		}
	}
	return "", false
}

// markup are TMX's inline elements that hold native formatting codes; the others hold text.
var markup = map[string]bool{"bpt": true, "ept": true, "ph": true, "it": true, "ut": true}

func plainText(inner string) string {
	d := xml.NewDecoder(strings.NewReader(inner))
	d.Strict = false
	var b strings.Builder
	for {
		token, err := d.Token()
		if err != nil {
			return strings.TrimSpace(b.String())
		}
		switch t := token.(type) {
		case xml.StartElement:
			if markup[t.Name.Local] {
				_ = d.Skip() // the segment ends with what cannot be skipped
			}
		case xml.CharData:
			b.Write(t)
		}
	}
}

// ScoreColumns are the columns that scoring adds, in order.
var ScoreColumns = []string{"score", "cosine", "src_mean", "tgt_mean", "src_rank", "tgt_rank"}

// fields are a score's columns as text; a rank outside the list is empty, and so is everything of a pair without a score.
func (s PairScore) fields() []string {
	rank := func(r uint8) string {
		if r == 255 {
			return ""
		}
		return fmt.Sprint(r)
	}
	return []string{fmt.Sprint(s.Score), fmt.Sprint(s.Cosine), fmt.Sprint(s.SourceMean), fmt.Sprint(s.TargetMean), rank(s.SourceRank), rank(s.TargetRank)}
}

// Write writes the file again with each pair's columns, their names after prefix: as further fields of a TSV line, or as
// <prop> of a TMX unit. A nil score is a pair without one.
func (b *BitextFile) Write(w io.Writer, scores []*PairScore, prefix string) error {
	out := bufio.NewWriter(w)
	if b.tmx != nil {
		b.writeTMX(out, scores, prefix)
		return out.Flush()
	}
	pair := 0
	for i, line := range b.lines {
		fields := make([]string, len(ScoreColumns))
		if i == 0 && b.header {
			for c, name := range ScoreColumns {
				fields[c] = prefix + name
			}
		} else {
			if s := scores[pair]; s != nil {
				fields = s.fields()
			}
			pair++
		}
		fmt.Fprintf(out, "%s\t%s\n", line, strings.Join(fields, "\t"))
	}
	return out.Flush()
}

// writeTMX leaves errors to the writer, which keeps its first one for Flush.
func (b *BitextFile) writeTMX(out *bufio.Writer, scores []*PairScore, prefix string) {
	from := int64(0)
	for i, at := range b.units {
		_, _ = out.Write(b.tmx[from:at])
		from = at
		if scores[i] == nil {
			continue
		}
		for c, text := range scores[i].fields() {
			if text != "" {
				fmt.Fprintf(out, `<prop type="x-%s%s">%s</prop>`, prefix, ScoreColumns[c], text)
			}
		}
	}
	_, _ = out.Write(b.tmx[from:])
}
