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
	// accentsName takes accents off letters, which are often left out, as in ETAT, ΤΙΜΗ or еще.
	accentsName = "no_accents"
	// pointsName takes the points off Hebrew letters, which most text does without.
	pointsName = "no_points"
)

type spelling func(term []byte) []byte

// Filter writes each token otherwise.
func (s spelling) Filter(in analysis.TokenStream) analysis.TokenStream {
	for _, token := range in {
		token.Term = s(token.Term)
	}
	return in
}

var keyboard = strings.NewReplacer("’", "'", "ʼ", "'", "＇", "'", "œ", "oe", "Œ", "OE", "æ", "ae", "Æ", "AE", "״", `"`, "׳", "'")

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

func withoutPoints(term []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if unicode.Is(unicode.Hebrew, r) && unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, term)
}
