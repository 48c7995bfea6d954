package concordance

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/bleve/v2/analysis"
	"golang.org/x/text/unicode/norm"
)

// Token filters by which other spellings of a word are the same term.
const (
	// lettersName writes apostrophes and ligatures as keyboards have them.
	lettersName = "letters_of_keyboards"
	// accentsName takes accents off letters, which are often left out, as in ETAT or еще.
	accentsName = "no_accents"
	// conjunctionsName cuts French conjunctions that end in an apostrophe off their word: qu'il is que il.
	conjunctionsName = "french_conjunctions"
)

type spelling func(term []byte) []byte

// Filter writes each token otherwise.
func (s spelling) Filter(in analysis.TokenStream) analysis.TokenStream {
	for _, token := range in {
		token.Term = s(token.Term)
	}
	return in
}

var keyboard = strings.NewReplacer("’", "'", "ʼ", "'", "＇", "'", "œ", "oe", "Œ", "OE", "æ", "ae", "Æ", "AE")

func lettersOfKeyboards(term []byte) []byte { return []byte(keyboard.Replace(string(term))) }

// Marks that make no other letter, as those of ñ and й do.
const accents = "\u0300\u0301\u0302\u0308\u0327"

func withoutAccents(term []byte) []byte {
	if !slices.ContainsFunc(term, func(b byte) bool { return b >= utf8.RuneSelf }) {
		return term
	}
	bare := strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Mn) && strings.ContainsRune(accents, r) {
			return -1
		}
		return r
	}, norm.NFD.String(string(term)))
	return norm.NFC.Bytes([]byte(bare))
}

// conjunctions are what is cut off, without the apostrophe.
var conjunctions = []string{"qu", "jusqu", "lorsqu", "puisqu", "quoiqu"}

type frenchConjunctions struct{}

// Filter makes two tokens of a conjunction with a word. It must be the first filter: tokens are parts of the text.
func (frenchConjunctions) Filter(in analysis.TokenStream) analysis.TokenStream {
	out := make(analysis.TokenStream, 0, len(in))
	for _, token := range in {
		at := bytes.IndexAny(token.Term, "'’ʼ＇")
		if at > 0 && slices.Contains(conjunctions, strings.ToLower(string(token.Term[:at]))) {
			_, size := utf8.DecodeRune(token.Term[at:])
			if rest := token.Term[at+size:]; len(rest) > 0 {
				first := *token
				first.Term, first.End = token.Term[:at], token.Start+at
				token.Term, token.Start = rest, token.Start+at+size
				out = append(out, &first)
			}
		}
		out = append(out, token)
	}
	for i, token := range out {
		token.Position = i + 1
	}
	return out
}
