package surface

import (
	"html"
	"regexp"
	"strings"
)

// tag is an HTML tag as it stands within sentences; what is between angle brackets otherwise is text.
var tag = regexp.MustCompile(`(?i)</?(?:a|abbr|b|big|br|center|code|del|div|em|font|h[1-6]|hr|i|img|ins|kbd|li|mark|nobr|ol|p|pre|q|s|small|span|strike|strong|sub|sup|t[dhrt]|u|ul|wbr)(?:\s+[\w:-]+\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>]+))*\s*/?>`)

// block finds the name of a tag that parts words.
var block = regexp.MustCompile(`(?i)^</?(?:br|div|h[1-6]|hr|li|ol|p|pre|t[dhr]|ul)\b`)

// WithoutMarkup removes HTML tags from a text and decodes its entities. A text of nothing else stays.
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
		plain = html.UnescapeString(plain)
	}
	if plain == text {
		return text
	}
	if plain = strings.Join(strings.Fields(plain), " "); plain == "" {
		return text
	}
	return plain
}
