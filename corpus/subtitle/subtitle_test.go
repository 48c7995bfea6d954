package subtitle

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"bitextmine/corpus/input"
	"bitextmine/corpus/page"
)

// read returns the texts of a file as LINE ID TEXT, in place of the text why there is none.
func read(t *testing.T, data string, vtt bool) string {
	t.Helper()
	const longest = 80
	lines, err := input.NewLineReader(bufio.NewReaderSize(strings.NewReader(data), 4096), "a", longest)
	if err != nil {
		t.Fatal(err)
	}
	r := NewReader(lines, vtt)
	var all []string
	for {
		text, err := r.Next()
		if errors.Is(err, io.EOF) {
			return strings.Join(all, "|")
		}
		if err != nil {
			t.Fatal(err)
		}
		what := text.Text + text.Detail
		if text.Skip == page.TooLong {
			what = "too long"
		}
		all = append(all, fmt.Sprintf("%d %s %s", text.Number, text.Doc, what))
	}
}

const at = "00:00:01,000 --> 00:00:02,500\n"

func TestSRT(t *testing.T) {
	for name, c := range map[string]struct{ data, want string }{
		"cues":              {"1\n" + at + "One.\n\n2\n" + at + "Two.\n", "3 1 One.|7 2 Two."},
		"CRLF and no end":   {"1\r\n" + strings.TrimSpace(at) + "\r\nOne.\r\n\r\n2\r\n" + strings.TrimSpace(at) + "\r\nTwo.", "3 1 One.|7 2 Two."},
		"no empty lines":    {"1\n" + at + "One.\n2\n" + at + "Two.\n" + at + "Three.\n", "3 1 One.|6 2 Two.|8  Three."},
		"wrapped":           {"1\n" + at + "One line\nand another.\n", "3 1 One line and another."},
		"turns":             {"1\n" + at + "- One.\n- Two\nwords.\n", "3 1 - One.|4 1 - Two words."},
		"no turns":          {"1\n" + at + "It was\n-5 degrees\n--or less.\n", "3 1 It was -5 degrees --or less."},
		"tags":              {"1\n" + at + "{\\an8}<i>One</i> <font color=\"#fff\">two</font> 1 < 2 <b>\n", "3 1 One two 1 < 2"},
		"a line of tags":    {"1\n" + at + "<i></i>\nOne.\n", "4 1 One."},
		"entities stay":     {"1\n" + at + "R&amp;B\n", "3 1 R&amp;B"},
		"a number as text":  {"1\n" + at + "42\n\n2\n" + at + "Two.\n", "3 1 42|7 2 Two."},
		"settings":          {"1\n00:00:01,000 --> 00:00:02,500 X1:100 Y1:20\nOne.\n", "3 1 One."},
		"without text":      {"1\n" + at + "\n2\n" + at + "Two.\n", "1 1 |6 2 Two."},
		"no number":         {at + "One.\n\n" + at + "Two.\n", "2  One.|5  Two."},
		"no times":          {"1\nOne.\n\n2\n" + at + "Two.\n", "1  a cue without times|6 2 Two."},
		"times backwards":   {"1\n00:00:03,000 --> 00:00:02,999\nOne.\n\n2\n" + at + "Two.\n", "1 1 a cue that ends before it begins|7 2 Two."},
		"a long line":       {"1\n" + at + strings.Repeat("x", 81) + "\n\n2\n" + at + "Two.\n", "1 1 too long|7 2 Two."},
		"long together":     {"1\n" + at + strings.Repeat(strings.Repeat("x", 30)+"\n", 3) + "\n2\n" + at + "Two.\n", "1 1 too long|9 2 Two."},
		"more behind a gap": {"1\n" + at + "One.\n\n\nAnother.\nIt is\n\ngoing on.\n\n2\n" + at + "Two.\n", "3 1 One.|6 1 Another. It is going on.|13 2 Two."},
		"no times, with a gap": {"1\n" + at + "One.\n\n2\nTwo.\n\nMore.\n\n00:01 -> 00:02\nThree.\n",
			"3 1 One.|5  a cue without times|8  a cue without times|10  a cue without times"},
		"an odd number":           {"1\n" + at + "One.\n\n#2\n" + at + "Two.\n", "3 1 One.|5  a cue without times|7  Two."},
		"without numbers, gaps":   {strings.ReplaceAll(at+"One.\n"+at+"Two.\n", "\n", "\n\n"), "1  |3  One.|5  |7  Two."},
		"every second line empty": {strings.ReplaceAll("1\n"+at+"One.\n2\n"+at+"Two.\n", "\n", "\n\n"), "1 1 |5 1 One.|7 2 |11 2 Two."},
		"a number before a gap":   {at + "42\n\n" + at + "Two.\n", "2  42|5  Two."},
		"text before cues":        {"Made by Ann.\n\nIn 2020.\n\n1\n" + at + "One.\n", "1  a cue without times|3  a cue without times|7 1 One."},
		"a sentence goes on": {"1\n" + at + "One is\n\n2\n" + at + "not two\nand\n\n3\n" + at + "not three.\n\n4\n" + at + "four.\n",
			"3 1 One is not two and not three.|16 4 four."},
		"a turn goes not on":     {"1\n" + at + "One is\n\n2\n" + at + "- what\n", "3 1 One is|7 2 - what"},
		"all in lower case":      {"1\n" + at + "one is\n\n2\n" + at + "not two\n", "3 1 one is|7 2 not two"},
		"behind a quotation end": {"1\n" + at + "\"One.\"\n\n2\n" + at + "said he\n", "3 1 \"One.\"|7 2 said he"},
		"at most a line long": {"1\n" + at + "A" + strings.Repeat("x", 50) + "\n\n2\n" + at + strings.Repeat("y", 30) + "\n",
			"3 1 A" + strings.Repeat("x", 50) + "|7 2 " + strings.Repeat("y", 30)},
	} {
		if got := read(t, c.data, false); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestWebVTT(t *testing.T) {
	data := `WEBVTT - a title
X-TIMESTAMP-MAP=LOCAL:00:00:00.000

NOTE
a comment

STYLE
::cue { color: white }

REGION
id:r

intro-1
00:01.000 --> 00:02.000 align:start
<v Ann>One &amp; <c.loud>two</c></v> &lt;3>
<00:00:01.500>NOTE it.

01:00:02.000 --> 01:00:03.000
<ruby>three<rt>3</rt></ruby>
`
	data += "\nno cue\n"
	if got, want := read(t, data, true), "15 intro-1 One & two <3> NOTE it.|19  three|21  a cue without times"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestLooks(t *testing.T) {
	for name, c := range map[string]struct {
		head string
		want string
	}{
		"SRT":                       {"\xef\xbb\xbf\r\n\n 1\r\n" + at + "One.", "srt"},
		"SRT without a number":      {at + "One.", "srt"},
		"WebVTT":                    {"\xef\xbb\xbfWEBVTT\n\n00:01.000 --> 00:02.000\nOne.", "vtt"},
		"text":                      {"One.\n" + at, ""},
		"a number and text":         {"1\nOne.\n" + at, ""},
		"text that names WebVTT":    {"WEBVTT is a format.\nIt has cues.\n", ""},
		"a word that begins so":     {"WEBVTTX\n\n00:01.000 --> 00:02.000\nOne.", ""},
		"an arrow that is no times": {"1\na --> b\n", ""},
		"nothing":                   {"", ""},
	} {
		got := ""
		if LooksSRT([]byte(c.head)) {
			got += "srt"
		}
		if LooksVTT([]byte(c.head)) {
			got += "vtt"
		}
		if got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
