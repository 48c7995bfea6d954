package concordance

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/lang/ca"
	"github.com/blevesearch/bleve/v2/analysis/lang/fr"
	"github.com/blevesearch/bleve/v2/analysis/lang/ga"
	"github.com/blevesearch/bleve/v2/analysis/lang/it"
	"github.com/blevesearch/bleve/v2/registry"
)

// partsName is a token filter that cuts tokens of Unicode's tokenizer into words. It must be the first filter, as it
// takes tokens for parts of the text.
const partsName = "parts_of_words"

func init() {
	if err := registry.RegisterTokenFilter(partsName, newParts); err != nil {
		panic(err) // the name is taken
	}
}

// Marks that Unicode's tokenizer keeps inside words.
const (
	apostrophes = "'’‘ʼ＇"
	fullStops   = ".․﹒．"
	colons      = ":：︓﹕"
	lowLines    = "_＿‿⁀⁔︳︴﹍﹎﹏"
	joints      = apostrophes + fullStops + colons + lowLines
)

// conjunctions are French words that end in an apostrophe, without it. They are words of their own: qu'il is que il.
var conjunctions = []string{"qu", "jusqu", "lorsqu", "puisqu", "quoiqu"}

// articles are the lists of what the filters of elisions take off: l'eau is found by eau.
var articles = map[string]string{"ca": ca.ArticlesName, "fr": fr.ArticlesName, "ga": ga.ArticlesName, "it": it.ArticlesName}

// apostropheIsLetter lists languages that spell with an apostrophe inside words.
var apostropheIsLetter = []string{"br", "gn", "ha", "haw", "qu", "so", "uz"}

// parts cuts tokens into words.
type parts struct {
	language string
	whole    analysis.TokenMap // what stays with the word behind its apostrophe
}

func newParts(config map[string]any, cache *registry.Cache) (analysis.TokenFilter, error) {
	p := parts{whole: analysis.NewTokenMap()}
	p.language, _ = config["language"].(string)
	if name, known := articles[p.language]; known {
		all, err := cache.TokenMapNamed(name)
		if err != nil {
			return nil, fmt.Errorf("articles of %s: %w", p.language, err)
		}
		maps.Copy(p.whole, all)
	}
	if p.language == "fr" {
		p.whole["aujourd"] = true
	}
	return p, nil
}

// Filter cuts tokens at marks that join words. A token of such marks alone is none.
func (p parts) Filter(in analysis.TokenStream) analysis.TokenStream {
	if !slices.ContainsFunc(in, func(t *analysis.Token) bool { return strings.ContainsAny(string(t.Term), joints) }) {
		return in
	}
	out := make(analysis.TokenStream, 0, 2*len(in))
	for _, token := range in {
		term := string(token.Term)
		for _, s := range p.words(term) {
			word := *token
			word.Term = token.Term[s.Start:s.End]
			word.Start, word.End = token.Start+s.Start, token.Start+s.End
			out = append(out, &word)
		}
	}
	for i, token := range out {
		token.Position = i + 1
	}
	return out
}

// words are the places of the words in a term.
func (p parts) words(term string) (words []Span) {
	last := Span{} // the run of characters before, between two marks
	for at := 0; at < len(term); {
		end := len(term)
		if n := strings.IndexAny(term[at:], joints); n >= 0 {
			end = at + n
		}
		if run := (Span{at, end}); at < end {
			if n := len(words); n > 0 && p.joins(term[last.Start:last.End], term[last.End:at], term[at:end]) {
				words[n-1].End = end
			} else {
				words = append(words, run)
			}
			last = run
		}
		_, size := utf8.DecodeRuneInString(term[end:])
		at = end + size
	}
	return words
}

// joins reports whether a mark between two runs of characters makes them one word: those of numbers, as in 3.14,
// of letters that stand for words, as in z.B, and apostrophes unless there is a word behind them.
func (p parts) joins(before, mark, after string) bool {
	last, size := utf8.DecodeLastRuneInString(before)
	first, width := utf8.DecodeRuneInString(after)
	switch {
	case utf8.RuneCountInString(mark) != 1 || strings.Contains(lowLines, mark):
		return false
	case isNumber(last) && isNumber(first):
		return true
	case strings.Contains(fullStops, mark):
		return size == len(before) && width == len(after)
	case !strings.Contains(apostrophes, mark):
		return false
	}
	before = strings.ToLower(before)
	switch {
	case p.language == "fr" && slices.Contains(conjunctions, before):
		return false
	case p.whole[before] || slices.Contains(apostropheIsLetter, p.language):
		return true
	case p.language == "tr" || p.language == "az": // names have their endings behind it
		return size != len(before)
	}
	const shortest = 3 // endings have fewer letters: we'll
	return !unicode.Is(unicode.Latin, last) || !unicode.Is(unicode.Latin, first) || utf8.RuneCountInString(after) < shortest
}

func isNumber(r rune) bool { return '0' <= r && r <= '9' }
