// Word alignments in the format of the decoder Pharaoh: one line per sentence pair, with links i-j of source word i and
// target word j separated by spaces, counted from 0. A pair without links has an empty line.
//
// A score may follow a link, i-j:0.93. In gold standards, i-j is a sure link and ipj (or i?j) a possible one; some
// count from 1.

package word

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"bitextmine/internal/badinput"
)

// Link joins source word Source and target word Target, which count from 0.
type Link struct {
	Source, Target int
	Score          float32 // 0 to 1; 1 if the file has no scores
	Possible       bool    // a link of a gold standard that is not sure
}

// CompareLinks orders links by source word, then by target word.
func CompareLinks(a, b Link) int {
	return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Target, b.Target))
}

// maxWord is the maximum number of a word. It is far more than any sentence has.
const maxWord = 1<<20 - 1

// ParseLinks appends the links of a line to links. base is the number of the first word: 0, or 1 in some gold
// standards.
func ParseLinks(links []Link, line string, base int) ([]Link, error) {
	for field := range strings.FieldsSeq(line) {
		link, err := parseLink(field, base)
		if err != nil {
			return links, err
		}
		links = append(links, link)
	}
	return links, nil
}

func parseLink(field string, base int) (link Link, err error) {
	at := strings.IndexAny(field, "-p?")
	if at < 0 {
		return link, fmt.Errorf("%q is not a link such as 0-1", field)
	}
	target, score, scored := strings.Cut(field[at+1:], ":")
	link = Link{Score: 1, Possible: field[at] != '-'}
	if link.Source, err = parseWord(field[:at], base); err != nil {
		return link, fmt.Errorf("%q: %w", field, err)
	}
	if link.Target, err = parseWord(target, base); err != nil {
		return link, fmt.Errorf("%q: %w", field, err)
	}
	if scored {
		value, err := strconv.ParseFloat(score, 32)
		if err != nil || math.IsNaN(value) || value < 0 || value > 1 {
			return link, fmt.Errorf("%q: the score %q is not a number from 0 to 1", field, score)
		}
		link.Score = float32(value)
	}
	return link, nil
}

func parseWord(text string, base int) (int, error) {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || n > maxWord {
		return 0, fmt.Errorf("%q is not the number of a word", text)
	}
	if int(n) < base {
		return 0, fmt.Errorf("word %d does not exist where words count from %d", n, base)
	}
	return int(n) - base, nil
}

// CheckLinks returns an error if a link is outside a pair of n source and m target words.
func CheckLinks(links []Link, n, m int) error {
	for _, l := range links {
		if l.Source >= n || l.Target >= m {
			return fmt.Errorf("the link %d-%d is outside its sentences, which have %d and %d words", l.Source, l.Target,
				n, m)
		}
	}
	return nil
}

// LinkReader reads lines of links.
type LinkReader struct {
	name  string
	base  int
	lines *bufio.Scanner
	line  int
}

// maxLine is the maximum length of a line in bytes.
const maxLine = 1 << 20

// NewLinkReader reads in; name is for messages.
func NewLinkReader(in io.Reader, name string, base int) *LinkReader {
	r := &LinkReader{name: name, base: base, lines: bufio.NewScanner(in)}
	r.lines.Buffer(make([]byte, 0, 4096), maxLine)
	return r
}

// Next returns the links of the next line, or io.EOF after the last.
func (r *LinkReader) Next() ([]Link, error) {
	if !r.lines.Scan() {
		if err := r.lines.Err(); err != nil {
			return nil, badinput.Errorf("%s:%d: %w", r.name, r.line+1, err)
		}
		return nil, io.EOF
	}
	r.line++
	links, err := ParseLinks(nil, r.lines.Text(), r.base)
	if err != nil {
		return nil, badinput.Errorf("%s:%d: %w: correct the line", r.name, r.line, err)
	}
	return links, nil
}

// Line is the number of the line that Next returned last, from 1.
func (r *LinkReader) Line() int { return r.line }

// AppendLinks appends a line of links, with their scores if scored is set, and a line feed.
func AppendLinks(line []byte, links []Link, scored bool) []byte {
	for i, l := range links {
		if i > 0 {
			line = append(line, ' ')
		}
		line = strconv.AppendInt(line, int64(l.Source), 10)
		line = append(line, '-')
		line = strconv.AppendInt(line, int64(l.Target), 10)
		if scored {
			line = append(line, ':')
			line = strconv.AppendFloat(line, float64(l.Score), 'g', 4, 32)
		}
	}
	return append(line, '\n')
}
