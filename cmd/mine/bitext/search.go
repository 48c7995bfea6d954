package bitext

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"

	"bitextmine/bitext/concordance"
	"bitextmine/bitext/exchange"
	"bitextmine/bitext/label"
	"bitextmine/cmd/mine/program"
	"bitextmine/corpus"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/record"
)

// searchOptions are the flags of mine search.
type searchOptions struct {
	run, bitext, index    string
	in                    string
	phrase, fuzzy, regexp bool
	limit, skip           int
	collocates            int
	asJSON                bool
}

// NewSearch makes mine search.
func NewSearch() *cobra.Command {
	o := searchOptions{}
	cmd := &cobra.Command{
		Use:   "search QUERY",
		Short: "Look words up in mined text, in context and with their translation",
		Long: `Look words up in mined text. Every pair that has them is shown with the words in their context, its
translation, its probability or margin, and where it is from, the best first. Words are found in all their forms
and in any order; a phrase in quotation marks stands together, and a word after a minus stands on neither side.
--phrase wants all words next to each other, --fuzzy also finds other spellings, --regexp matches Go's regular
expressions against the text as it stands. The first search of a run makes an index in its output directory, later ones
bring it up to date.`,
		Example: `  mine search Haus --run mined
  mine search "renewable energy" --in en --phrase
  mine search '"erneuerbare Energie" -Gas'
  mine search Netzentgelt --in de --collocates 10`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return badinput.Errorf("mine search takes one query, not %d: put all its words between '...'", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.collocates < 0 {
				return badinput.Errorf("mine search: --collocates %d must be at least 0", o.collocates)
			}
			if o.bitext != "" && cmd.Flags().Changed("run") {
				return badinput.Errorf("mine search: --run and --bitext both name what is searched; give one")
			}
			for _, f := range []string{"skip", "limit"} {
				if o.collocates > 0 && cmd.Flags().Changed(f) {
					return badinput.Errorf("mine search: --%s is of pairs, and --collocates shows words: leave one out", f)
				}
			}
			if o.regexp && o.index != "" {
				return badinput.Errorf("mine search: --regexp reads the text itself: leave --index out")
			}
			return runSearch(cmd.Context(), o, args[0], cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.run, "run", "mined", "output directory of a run, or of nightly runs, whose latest is taken")
	f.StringVar(&o.bitext, "bitext", "", "or: a bitext file")
	f.StringVar(&o.index, "index", "",
		"directory of the index (default: concordance/ in the run's directory, or FILE.concordance)")
	f.StringVar(&o.in, "in", "", "language of the words (default: either)")
	f.BoolVar(&o.phrase, "phrase", false, "the words stand next to each other, in this order")
	f.BoolVar(&o.fuzzy, "fuzzy", false, "also other spellings")
	f.BoolVar(&o.regexp, "regexp", false, "the query is a regular expression")
	f.IntVar(&o.limit, "limit", 20, "pairs to show")
	f.IntVar(&o.skip, "skip", 0, "pairs to leave out before those")
	f.IntVar(&o.collocates, "collocates", 0,
		"show so many words that stand with the query more often than elsewhere, of either language")
	f.BoolVar(&o.asJSON, "json", false, "print JSON, a line a pair")
	return cmd
}

func runSearch(ctx context.Context, o searchOptions, text string, out io.Writer) (err error) {
	mode, err := o.mode()
	if err != nil {
		return err
	}
	file, dir, err := o.files()
	if err != nil {
		return err
	}
	x, err := open(ctx, dir, file, mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	q := concordance.Query{Text: text, Mode: mode, Skip: o.skip, Limit: o.limit}
	if q.Sides, err = sides(o.in, x.Languages); err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	if o.collocates > 0 {
		of, from, err := x.Collocates(ctx, q, o.collocates)
		if err != nil {
			return err
		}
		return errors.Join(printCollocates(w, of, from, x, o.asJSON), w.Flush())
	}
	result, err := x.Best(ctx, q)
	if err != nil {
		return err
	}
	var decided label.Index
	if o.bitext == "" {
		labels, err := label.Latest(o.run)
		if err != nil {
			return err
		}
		decided = label.IndexOf(labels)
	}
	if o.asJSON {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		for _, hit := range result.Hits {
			if err := enc.Encode(known(hit, decided)); err != nil {
				return err
			}
		}
		return w.Flush()
	}
	p := newPrinter(w, out)
	for _, hit := range result.Hits {
		p.hit(known(hit, decided))
	}
	least := ""
	if result.More {
		least = "at least "
	}
	if _, err := fmt.Fprintf(w, "%d of %s%d pairs with %s in %s\n", len(result.Hits), least, result.Total,
		text, file); err != nil {
		return err
	}
	return w.Flush()
}

// knownHit is a hit with the pair's key, as mine reject --key takes it, and what a person decided on it.
type knownHit struct {
	concordance.Hit
	Key     string       `json:"key"`
	Decided *label.Label `json:"label,omitempty"`
}

func known(hit concordance.Hit, labels label.Index) knownHit {
	pair := label.Of(hit.Texts[0], hit.Texts[1])
	k := knownHit{Hit: hit, Key: pair.Source + ":" + pair.Target}
	if l, ok := labels.Find(pair); ok {
		k.Decided = &l
	}
	return k
}

func (o searchOptions) mode() (mode concordance.Mode, err error) {
	mode = concordance.Words
	n := 0
	for _, m := range []struct {
		set  bool
		mode concordance.Mode
	}{{o.phrase, concordance.Phrase}, {o.fuzzy, concordance.Fuzzy}, {o.regexp, concordance.Regexp}} {
		if m.set {
			mode = m.mode
			n++
		}
	}
	if n > 1 {
		return mode, badinput.Errorf("--phrase, --fuzzy and --regexp are three ways to read a query; give one")
	}
	return mode, nil
}

// files are the bitext and the directory of its index.
func (o searchOptions) files() (file, dir string, err error) {
	if o.bitext != "" {
		if !exchange.IsParquet(o.bitext) {
			return "", "", badinput.Errorf("--bitext is %s: name the Parquet file of a run", o.bitext)
		}
		file, dir = o.bitext, o.bitext+".concordance"
	} else {
		if file, err = record.BitextAt(o.run); err != nil {
			return "", "", err
		}
		if file == o.run {
			return "", "", badinput.Errorf("--run is the file %s: name it with --bitext", file)
		}
		dir = concordance.Directory(o.run, file)
	}
	if o.index != "" {
		dir = o.index
	}
	return file, dir, nil
}

// open opens the index of a bitext, with a bar where it has to be made. A regular expression needs none.
func open(ctx context.Context, dir, file string, mode concordance.Mode) (*concordance.Index, error) {
	if mode == concordance.Regexp {
		return concordance.Unindexed(ctx, file)
	}
	told, end := counting("index")
	x, err := concordance.Open(ctx, dir, file, told)
	end()
	if err == nil && x.Damage != nil {
		slog.Warn("the index was damaged and is made anew", "folder", dir, "reason", x.Damage)
	}
	return x, err
}

// sides returns the sides of the bitext that are in a language.
func sides(in string, languages [2]string) (of [2]bool, err error) {
	if in == "" {
		return [2]bool{true, true}, nil
	}
	code, err := corpus.ParseLanguage(in)
	if err != nil {
		return of, badinput.Errorf("--in: %w", err)
	}
	for side, language := range languages {
		of[side] = language == code
	}
	if languages == [2]string{} { // a bitext without pairs does not say them
		return [2]bool{true, true}, nil
	}
	if of == [2]bool{} {
		return of, badinput.Errorf("--in %s: the bitext is of %s and %s", in, languages[0], languages[1])
	}
	return of, nil
}

// printer shows hits on a terminal or in a file.
type printer struct {
	out         *bufio.Writer
	width       int
	bold, plain string // terminal codes around what matched
}

func newPrinter(w *bufio.Writer, out io.Writer) *printer {
	p := &printer{out: w, width: 100}
	if t, ok := out.(*program.Terminal); ok {
		if width, err := t.Columns(); err == nil && width >= 40 {
			p.width = width
		}
		if os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" {
			p.bold, p.plain = program.Bold, program.Plain
		}
	}
	return p
}

// hit shows what matched in its context, under it the translation and where both are from.
func (p *printer) hit(h knownHit) {
	side := 0
	if len(h.Marks[0]) == 0 {
		side = 1
	}
	score := "    -" // its place in aligned documents found it
	switch {
	case h.Probability != nil:
		score = fmt.Sprintf("%.3f", *h.Probability)
	case h.Score != 0:
		score = fmt.Sprintf("%.3f", h.Score)
	}
	p.keyword(score, h.Texts[side], h.Marks[side])
	fmt.Fprintf(p.out, "       %s\n", p.marked(h.Texts[1-side], h.Marks[1-side]))
	if origin := origins(h.About); origin != "" {
		fmt.Fprintf(p.out, "       %s\n", origin)
	}
	if l := h.Decided; l != nil {
		fmt.Fprintf(p.out, "       %s\n", strings.TrimSuffix(l.Decision()+" by "+l.By, " by "))
		if l.Edited() {
			fmt.Fprintf(p.out, "       %s\n       %s\n", l.SourceText, l.TargetText)
		}
	}
	fmt.Fprintln(p.out)
}

// keyword shows a text with its first match in the middle of the line.
func (p *printer) keyword(score, text string, marks []concordance.Span) {
	if len(marks) == 0 {
		fmt.Fprintf(p.out, "%s  %s\n", score, text)
		return
	}
	first := marks[0]
	room := (p.width - len(score) - 2 - uniseg.StringWidth(text[first.Start:first.End])) / 2
	left, right := lastOf(text[:first.Start], room), firstOf(text[first.End:], room)
	pad := strings.Repeat(" ", max(0, room-uniseg.StringWidth(left)))
	fmt.Fprintf(p.out, "%s  %s%s%s%s%s%s\n", score, pad, left, p.bold, text[first.Start:first.End], p.plain, right)
}

// marked is a text with what matched in bold.
func (p *printer) marked(text string, marks []concordance.Span) string {
	var b strings.Builder
	at := 0
	for _, m := range marks {
		b.WriteString(text[at:m.Start] + p.bold + text[m.Start:m.End] + p.plain)
		at = m.End
	}
	return b.String() + text[at:]
}

// firstOf is the beginning of a text that is at most so many columns wide, cut between letters with their marks.
func firstOf(text string, columns int) string {
	if uniseg.StringWidth(text) <= columns {
		return text
	}
	width, end := 0, 0
	for graphemes := uniseg.NewGraphemes(text); graphemes.Next(); {
		if width += graphemes.Width(); width > columns-1 {
			break
		}
		_, end = graphemes.Positions()
	}
	return text[:end] + "…"
}

// lastOf is the end of a text that is at most so many columns wide.
func lastOf(text string, columns int) string {
	over := uniseg.StringWidth(text) - columns
	if over <= 0 {
		return text
	}
	width, start := 0, len(text)
	for graphemes := uniseg.NewGraphemes(text); graphemes.Next(); {
		width += graphemes.Width()
		if _, end := graphemes.Positions(); width > over {
			start = end
			break
		}
	}
	return "…" + text[start:]
}

// origins is where both sentences are from, as far as the bitext says.
func origins(a concordance.About) string {
	var of []string
	for side := range a.Doc {
		at := a.URL[side]
		if at == "" {
			at = a.Doc[side]
		}
		switch {
		case at != "":
		case a.File[side] != "":
			at = fmt.Sprintf("%s:%d", a.File[side], a.Line[side])
		default:
			at = fmt.Sprintf("line %d", a.Line[side])
		}
		of = append(of, at)
	}
	return strings.Join(of, " | ")
}

// printCollocates shows the words of both sides, most telling first.
func printCollocates(w io.Writer, of [2][]concordance.Collocate, from int, x *concordance.Index, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(map[string]any{"pairs": from, x.Languages[0]: of[0], x.Languages[1]: of[1]})
	}
	fmt.Fprintf(w, "of %d pairs with the query, %d in all\n", from, x.Pairs)
	for side, list := range of {
		fmt.Fprintf(w, "\n%s\n  %-24s  %8s  %8s  %14s\n", x.Languages[side], "word", "here", "in all", "log-likelihood")
		for _, c := range list {
			pad := strings.Repeat(" ", max(0, 24-uniseg.StringWidth(c.Word)))
			if _, err := fmt.Fprintf(w, "  %s%s  %8d  %8d  %14.1f\n", c.Word, pad, c.Pairs, c.All, c.Score); err != nil {
				return err
			}
		}
	}
	return nil
}
