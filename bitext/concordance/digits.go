package concordance

import (
	"bytes"
	stdregexp "regexp"
	"unicode/utf8"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/tokenizer/regexp"
	"github.com/blevesearch/bleve/v2/analysis/tokenizer/unicode"
	"github.com/blevesearch/bleve/v2/registry"

	"bitextmine/corpus/surface"
)

// Tokenizers, to which digits of every script are those of ASCII: １１, ١١ and ११ are found by 11.
const (
	// wordsName is Unicode's tokenizer, which knows no full-width digits and would leave them out.
	wordsName = "words"
	// clustersName is a tokenizer that cuts scripts of South-East Asia, which have no spaces, into letters with their
	// marks, Korean, whose words end in particles, into syllables, and other text into words.
	clustersName = "clusters"
)

func init() {
	for name, words := range map[string]analysis.Tokenizer{
		wordsName:    unicode.NewUnicodeTokenizer(),
		clustersName: regexp.NewRegexpTokenizer(stdregexp.MustCompile(clusters)),
	} {
		err := registry.RegisterTokenizer(name,
			func(map[string]any, *registry.Cache) (analysis.Tokenizer, error) { return asciiDigits{words}, nil })
		if err != nil {
			panic(err) // the name is taken
		}
	}
}

// asciiDigits tokenizes text after its digits were replaced. Tokens' places are those in the text as it stands.
type asciiDigits struct{ words analysis.Tokenizer }

// Tokenize cuts a text into words.
func (t asciiDigits) Tokenize(text []byte) analysis.TokenStream {
	if !bytes.ContainsFunc(text, isOtherDigit) {
		return t.words.Tokenize(text)
	}
	var replaced []byte
	var places []int // where each byte of the replaced text is in the text
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if isOtherDigit(r) {
			replaced, places = append(replaced, byte('0'+surface.Digit(r))), append(places, i)
		} else {
			for n := range size {
				replaced, places = append(replaced, text[i+n]), append(places, i+n)
			}
		}
		i += size
	}
	places = append(places, len(text))
	tokens := t.words.Tokenize(replaced)
	for _, token := range tokens {
		token.Start, token.End = places[token.Start], places[token.End]
	}
	return tokens
}

func isOtherDigit(r rune) bool { return r >= utf8.RuneSelf && surface.IsDigit(r) }
