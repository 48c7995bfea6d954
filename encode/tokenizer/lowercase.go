package tokenizer

import (
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// Lowercase applies Unicode's full lower-casing, as Python's str.lower does, which the published models were trained
// with. strings.ToLower maps letter by letter and differs at İ (two letters in lower case) and at a final Σ.
func Lowercase(s string) string {
	if strings.ContainsAny(s, "İΣ") {
		return cases.Lower(language.Und).String(s)
	}
	return strings.ToLower(s)
}

// LowercaseLetters lower-cases letter by letter, as Hugging Face's library does for WordPiece: a final Σ becomes σ.
func LowercaseLetters(s string) string {
	if !strings.Contains(s, "İ") {
		return strings.ToLower(s)
	}
	return strings.ToLower(strings.ReplaceAll(s, "İ", "i\u0307"))
}
