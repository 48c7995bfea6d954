package concordance

import (
	stdregexp "regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/lang/cjk"
	"github.com/blevesearch/bleve/v2/analysis/tokenizer/regexp"
	"github.com/blevesearch/bleve/v2/registry"
)

// turkishLowerName is a token filter that lowercases as Turkish and Azerbaijani do: I to ı, İ to i.
const turkishLowerName = "to_lower_turkish"

// clustersName is a tokenizer that cuts scripts of South-East Asia, which have no spaces, into letters with their
// marks, Korean, whose words end in particles, into syllables, and other text into words.
const (
	clustersName   = "clusters"
	clusterScripts = `\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}`
	clusters       = `[` + clusterScripts + `]\p{M}*|(?:[^\P{L}` + clusterScripts + `]|\p{M}|\p{N})+`
)

// pairsName is a token filter that joins each such letter with the next.
const pairsName = "pairs_of_clusters"

func init() {
	for name, filter := range map[string]analysis.TokenFilter{
		turkishLowerName: turkishLower{}, pairsName: pairs{},
		lettersName: spelling(lettersOfKeyboards), accentsName: spelling(withoutAccents),
		pointsName: spelling(withoutPoints),
	} {
		err := registry.RegisterTokenFilter(name,
			func(map[string]any, *registry.Cache) (analysis.TokenFilter, error) { return filter, nil })
		if err != nil {
			panic(err) // the name is taken
		}
	}
	err := registry.RegisterTokenizer(clustersName,
		func(map[string]any, *registry.Cache) (analysis.Tokenizer, error) {
			return regexp.NewRegexpTokenizer(stdregexp.MustCompile(clusters)), nil
		})
	if err != nil {
		panic(err)
	}
}

type turkishLower struct{}

// Filter lowercases tokens.
func (turkishLower) Filter(in analysis.TokenStream) analysis.TokenStream {
	for _, token := range in {
		token.Term = []byte(strings.ToLowerSpecial(unicode.TurkishCase, string(token.Term)))
	}
	return in
}

// lower is a word of a language in small letters.
func lower(language, word string) string {
	if slices.Contains(filtersOf(language), turkishLowerName) {
		return strings.ToLowerSpecial(unicode.TurkishCase, word)
	}
	return strings.ToLower(word)
}

type pairs struct{}

// Filter joins letters that touch. A word, and a letter that touches none, stays as it is.
func (pairs) Filter(in analysis.TokenStream) analysis.TokenStream {
	out := make(analysis.TokenStream, 0, len(in))
	joins := func(i int) bool { // a token with the next
		return i >= 0 && i+1 < len(in) && in[i].End == in[i+1].Start && isLetter(in[i].Term) && isLetter(in[i+1].Term)
	}
	for i, token := range in {
		if joins(i) {
			next := in[i+1]
			out = append(out, &analysis.Token{
				Start: token.Start, End: next.End, Term: append(append([]byte{}, token.Term...), next.Term...),
				Position: token.Position, Type: token.Type,
			})
		} else if !joins(i - 1) {
			out = append(out, token)
		}
	}
	return out
}

// oneLetter is a letter of the scripts that are indexed by pairs of letters, with its marks.
var oneLetter = stdregexp.MustCompile(`^[\p{Han}\p{Hiragana}\p{Katakana}` + clusterScripts + `]\p{M}*$`)

func isLetter(term []byte) bool { return oneLetter.Match(term) }

// spaceless finds letters of scripts that are written without spaces, or indexed as if they were.
var spaceless = stdregexp.MustCompile(`[\p{Han}\p{Hiragana}\p{Katakana}` + clusterScripts + `]`)

// inPairs says whether the terms of a language are pairs of letters.
func inPairs(language string) bool {
	names := filtersOf(language)
	last := names[len(names)-1]
	return last == cjk.BigramName || last == pairsName
}

// withNeighbours is a regular expression of the terms that a letter may be in: alone or, with up to two marks each,
// in a pair.
func withNeighbours(letter string) string { return ".{0,3}" + stdregexp.QuoteMeta(letter) + ".{0,3}" }
