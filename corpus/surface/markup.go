package surface

import (
	"html"
	"regexp"
	"strings"

	"bitextmine/corpus"
)

// tag is an HTML tag as it stands within sentences; what is between angle brackets otherwise is text.
var tag = regexp.MustCompile(`(?i)</?(?:a|abbr|b|big|br|center|code|del|div|em|font|h[1-6]|hr|i|img|ins|kbd|li|mark|nobr|ol|p|pre|q|s|small|span|strike|strong|sub|sup|t[dhrt]|u|ul|wbr)(?:\s+[\w:-]+\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>]+))*\s*/?>`)

// block finds the name of a tag that parts words.
var block = regexp.MustCompile(`(?i)^</?(?:br|div|h[1-6]|hr|li|ol|p|pre|t[dhr]|ul)\b`)

// entity is what may be an entity of HTML. HTML knows some without a semicolon, too, but so parameters in an address
// begin (&section=2).
var entity = regexp.MustCompile(`&(?:#\d+|#[xX][0-9a-fA-F]+|[A-Za-z][A-Za-z0-9]*);`)

// DecodeEntities has the characters that the entities of HTML in a text stand for.
func DecodeEntities(text string) string {
	return entity.ReplaceAllStringFunc(text, func(e string) string {
		decoded := html.UnescapeString(e)
		if len(decoded) > 1 && strings.HasSuffix(decoded, ";") { // only the beginning of its name is known
			return e
		}
		return decoded
	})
}

// WithoutMarkup removes HTML tags from a text and decodes its entities. What is left is normalised, as entities may be
// invisible or accents. A text of nothing else stays.
func WithoutMarkup(text string) string {
	if !strings.ContainsAny(text, "<&") {
		return text
	}
	plain := text
	if strings.Contains(text, "<") {
		plain = tag.ReplaceAllStringFunc(text, func(t string) string {
			if block.MatchString(t) {
				return " "
			}
			return ""
		})
	}
	if strings.Contains(plain, "&") {
		plain = DecodeEntities(plain)
	}
	if plain == text {
		return text
	}
	if plain = corpus.Normalise(plain); plain == "" {
		return text
	}
	return plain
}
