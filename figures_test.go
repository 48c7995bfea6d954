package bitextmine

import (
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const figuresFile = "bench/results/figures.tsv"

// A figure on a page has its name in a comment directly behind it: 90.1<!-- f:bucc.use-static.de.margin -->. The page
// may give it with fewer digits than the file.
var marked = regexp.MustCompile(`([-+]?[0-9][0-9,]*(?:\.[0-9]+)?)<!-- f:([a-z0-9.-]+) -->`)

// measured finds what must be a figure: a number with decimals, or one before a unit that is measured.
var measured = regexp.MustCompile(`[0-9][0-9,]*\.[0-9]+|[0-9][0-9,]*(?:%| (?:%|ms|s|h|min|seconds|minutes|hours|days|[kKMGT]i?B|points|times|percent)\b)|[0-9][0-9,]* [a-z]+(?: a second|/s)\b`)

// unmeasured are the kinds of such numbers that are no figures, each with its reason. A limit, a default or another
// number that a setting has is written as code, and code is not looked at.
var unmeasured = []struct {
	kind   *regexp.Regexp
	reason string
}{
	{regexp.MustCompile(`\b(?:[A-Z][A-Za-z-]+|glibc|version|python3-torch)[ -]v?[0-9]+(?:\.[0-9]+)+`), "versions of programs, formats and licences"},
	{regexp.MustCompile(`\bv?[0-9]+\.[0-9]+\.[0-9]+\b`), "versions"},
	{regexp.MustCompile(`\b95%`), "the level of confidence"},
}

// passages are parts of pages between <!-- NAME --> and <!-- end of NAME --> whose numbers are not of the file.
var passages = map[string]string{
	"labelled":    "written and compared by curate/filtering's test",
	"annotations": "written and compared by filter/annotate's test",
	"claims":      "written and compared by bench/reproduce from its rows",
	"published":   "figures of papers, by citation",
}

type quoted struct{ value, unit, date, command string }

// TestFigures: every figure on README.md, the pages of docs and the encoders' pages is the one of
// bench/results/figures.tsv, and every figure of that file is on a page. With -update the pages' figures are rewritten.
func TestFigures(t *testing.T) {
	figures := readFigures(t)
	used := map[string]bool{}
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "README.md", "fixtures/models/README.md") {
		lines := readLines(t, page)
		prose := proseOf(lines)
		for i, line := range lines {
			for _, m := range marked.FindAllStringSubmatch(line, -1) {
				used[m[2]] = true
				f, ok := figures[m[2]]
				if !ok {
					t.Errorf("%s:%d names the figure %s, which %s lacks", page, i+1, m[2], figuresFile)
					continue
				}
				if want := like(t, f.value, m[1]); want != m[1] {
					if *update {
						lines[i] = strings.Replace(lines[i], m[0], want+"<!-- f:"+m[2]+" -->", 1)
						continue
					}
					t.Errorf("%s:%d says %s, but %s is %s in %s: `go test -run Figures . -update` writes it into all pages", page, i+1, m[1], m[2], want, figuresFile)
				}
			}
			for _, number := range measured.FindAllString(prose[i], -1) {
				t.Errorf("%s:%d has %q without a figure of %s: add <!-- f:NAME --> behind a measured number, write a setting's number as code, or leave it out",
					page, i+1, number, figuresFile)
			}
		}
		if *update {
			writeLines(t, page, lines)
		}
	}
	checkCards(t, figures)
	for name := range figures {
		if !used[name] {
			t.Errorf("%s has %s, which no page quotes: delete its line", figuresFile, name)
		}
	}
}

// readFigures reads the file of figures: name, value, unit, date of the measurement and the command that gives it.
func readFigures(t *testing.T) map[string]quoted {
	t.Helper()
	lines := readLines(t, figuresFile)
	if want := "name\tvalue\tunit\tdate\tcommand"; lines[0] != want {
		t.Fatalf("%s:1 names the columns %q, want %q", figuresFile, lines[0], want)
	}
	if !slices.IsSorted(lines[1:]) {
		t.Errorf("%s: the figures are not sorted by name", figuresFile)
	}
	all := map[string]quoted{}
	for i, line := range lines[1:] {
		cells := strings.Split(line, "\t")
		if len(cells) != 5 || slices.Contains(cells, "") {
			t.Fatalf("%s:%d has not five columns with something in each", figuresFile, i+2)
		}
		if _, err := strconv.ParseFloat(cells[1], 64); err != nil {
			t.Errorf("%s:%d: the value of %s is no number: %v", figuresFile, i+2, cells[0], err)
		}
		if _, err := time.Parse(time.DateOnly, cells[3]); err != nil {
			t.Errorf("%s:%d: the date of %s: %v", figuresFile, i+2, cells[0], err)
		}
		if _, twice := all[cells[0]]; twice {
			t.Errorf("%s:%d: %s is there twice", figuresFile, i+2, cells[0])
		}
		all[cells[0]] = quoted{cells[1], cells[2], cells[3], cells[4]}
	}
	return all
}

// like writes a value with as many decimals as the number on the page has, and with its sign and separators.
func like(t *testing.T, value, shown string) string {
	t.Helper()
	x, err := strconv.ParseFloat(value, 64)
	if err != nil {
		t.Fatal(err)
	}
	_, decimals, _ := strings.Cut(shown, ".")
	scale := math.Pow10(len(decimals))
	text := strconv.FormatFloat(math.Round(x*scale)/scale, 'f', len(decimals), 64)
	whole, rest, point := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	sign := ""
	switch {
	case x < 0:
		sign = "-"
	case strings.HasPrefix(shown, "+"):
		sign = "+"
	}
	if point {
		return sign + whole + "." + rest
	}
	return sign + whole
}

var (
	inline  = regexp.MustCompile("``[^`]+``|`[^`]+`")
	target  = regexp.MustCompile(`\]\([^)]*\)`)
	comment = regexp.MustCompile(`<!--.*?-->`)
	passage = regexp.MustCompile(`^<!-- (end of )?([a-z]+) -->$`)
)

// proseOf is a page's lines without code, links' targets, figures, comments and passages.
func proseOf(lines []string) []string {
	prose := make([]string, len(lines))
	fenced, within := false, ""
	for i, line := range lines {
		if m := passage.FindStringSubmatch(line); m != nil && passages[m[2]] != "" {
			within = m[2]
			if m[1] != "" {
				within = ""
			}
		}
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		}
		if fenced || within != "" || strings.HasPrefix(line, "    ") {
			continue
		}
		for _, kind := range []*regexp.Regexp{inline, target, marked, comment} {
			line = kind.ReplaceAllString(line, " ")
		}
		for _, u := range unmeasured {
			line = u.kind.ReplaceAllString(line, " ")
		}
		prose[i] = line
	}
	return prose
}

// checkCards compares the figures of the cards that mine train and mine distill wrote beside the weights.
func checkCards(t *testing.T, figures map[string]quoted) {
	t.Helper()
	for encoder, cards := range map[string]map[string]*regexp.Regexp{
		"use-static": {"size": regexp.MustCompile(`([0-9.]+) MB\.$`)},
	} {
		page := "fixtures/models/" + encoder + "/README.md"
		for what, row := range cards {
			name := what + "." + encoder
			found := 0
			for i, line := range readLines(t, page) {
				if m := row.FindStringSubmatch(line); m != nil {
					found++
					if f, ok := figures[name]; !ok || like(t, f.value, m[1]) != m[1] {
						t.Errorf("%s:%d says %s, but %s is %q in %s: make figures", page, i+1, m[1], name, f.value, figuresFile)
					}
				}
			}
			if found != 1 {
				t.Errorf("%s has %s times what %s is compared with", page, fmt.Sprint(found), name)
			}
		}
	}
}

// TestFindsFigures: a changed or unmarked figure is found, and what is no figure is not.
func TestFindsFigures(t *testing.T) {
	for line, want := range map[string]int{
		"F1 is 90.1 here": 1, "it takes 12 s": 1, "99% of them": 1, "faster by 3.5 times": 1, "44,600 sentences/s": 1, "34 MB": 1, "50,000 sentences a second": 1,
		"`--share` 8 bits, `0.3`, and 4 threads": 0, "Go 1.26 on Debian 12, glibc 2.36, CC BY 3.0": 0, "[1.5](x)": 1, "[a](b1.5)": 0,
		"90.1<!-- f:a.b -->% of 4": 0, "    0.7 is code": 0, "Wilson's 95% interval": 0,
	} {
		prose := proseOf([]string{line})[0]
		if got := len(measured.FindAllString(prose, -1)); got != want {
			t.Errorf("%q: found %d figures in %q, want %d", line, got, prose, want)
		}
	}
	for _, c := range [][3]string{{"90.08", "91.5", "90.1"}, {"90.08", "91", "90"}, {"-3.26", "+1.0", "-3.3"}, {"44600", "1", "44,600"}, {"2.5", "+1.00", "+2.50"}} {
		if got := like(t, c[0], c[1]); got != c[2] {
			t.Errorf("%s as %s: %s, want %s", c[0], c[1], got, c[2])
		}
	}
}
