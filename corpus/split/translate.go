package split

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// classes of Java and ICU, with and without brackets around them; there they hold for all of Unicode.
var classes = map[byte][2]string{
	's': {`[\s\p{Z}\x{85}\x{b}]`, `\s\p{Z}\x{85}\x{b}`},
	'S': {`[^\s\p{Z}\x{85}\x{b}]`, ""},
	'h': {`[\t\p{Zs}]`, `\t\p{Zs}`},
	'v': {`[\n\x{b}\f\r\x{85}\x{2028}\x{2029}]`, `\n\x{b}\f\r\x{85}\x{2028}\x{2029}`},
	'w': {`[\p{L}\p{M}\p{N}_]`, `\p{L}\p{M}\p{N}_`},
	'W': {`[^\p{L}\p{M}\p{N}_]`, ""},
	'd': {`\p{Nd}`, `\p{Nd}`},
	'D': {`\P{Nd}`, `\P{Nd}`},
}

// Boundaries of words, which hold for all of Unicode. At the beginning of a pattern and at its end a character stands
// for what is beside the word.
const (
	wordBegins = `(?:^|[^\p{L}\p{M}\p{N}_])`
	wordEnds   = `(?:$|[^\p{L}\p{M}\p{N}_])`
)

// translate writes a pattern of Java's or ICU's dialect in Go's.
func translate(p string) (string, error) {
	var out strings.Builder
	depth := 0 // nesting of classes
	for i := 0; i < len(p); {
		rest := p[i:]
		switch {
		case strings.HasPrefix(rest, `\Q`):
			end := strings.Index(rest, `\E`)
			if end < 0 {
				end = len(rest)
			}
			for _, c := range rest[2:end] {
				fmt.Fprintf(&out, `\x{%x}`, c)
			}
			i += min(end+2, len(rest))
			continue
		case rest[0] == '\\':
			n, err := escape(&out, p, i, depth > 0)
			if err != nil {
				return "", err
			}
			i += n
			continue
		case depth == 0 && strings.HasPrefix(rest, "(?") && !strings.HasPrefix(rest, "(?:") && !isFlags(rest):
			return "", fmt.Errorf("%q looks around or names a group, which Go's expressions cannot", clip(rest))
		case strings.HasPrefix(rest, "&&") && depth > 0:
			return "", errors.New("it intersects classes (&&), which Go's expressions cannot")
		case rest[0] == '[' && depth > 0 && !strings.HasPrefix(rest, "[:"):
			return "", errors.New("a class stands in a class, which Go's expressions cannot have")
		case rest[0] == '[' && depth == 0:
			depth++
			// A bracket that comes first is a character of the class.
			head := "["
			if strings.HasPrefix(rest, "[^") {
				head = "[^"
			}
			out.WriteString(head)
			i += len(head)
			if strings.HasPrefix(p[i:], "]") {
				out.WriteString(`\]`)
				i++
			}
			continue
		case rest[0] == ']' && depth > 0:
			depth--
		case rest[0] == '+' && i > 0 && depth == 0 && strings.ContainsRune("+*?}", rune(p[i-1])) &&
			(i < 2 || p[i-2] != '\\'):
			i++ // a possessive quantifier matches no more than a greedy one
			continue
		}
		_, width := utf8.DecodeRuneInString(rest)
		out.WriteString(rest[:width])
		i += width
	}
	return out.String(), nil
}

// escape writes the escape sequence at i and returns its length.
func escape(out *strings.Builder, p string, i int, inClass bool) (int, error) {
	if i+1 == len(p) {
		return 0, errors.New("it ends in a backslash")
	}
	c := p[i+1]
	if known, ok := classes[c]; ok {
		text := known[0]
		if inClass {
			if text = known[1]; text == "" {
				return 0, fmt.Errorf(`\%c stands in a class, which has no equivalent`, c)
			}
		}
		out.WriteString(text)
		return 2, nil
	}
	switch {
	case c == 'u' && i+6 <= len(p):
		out.WriteString(`\x{` + p[i+2:i+6] + `}`)
		return 6, nil
	case c == 'b' && inClass:
		return 0, errors.New(`\b stands in a class`)
	case c == 'b' && i == 0:
		out.WriteString(wordBegins)
		return 2, nil
	case c == 'b' && i+2 == len(p):
		out.WriteString(wordEnds)
		return 2, nil
	case c == 'b' || c == 'B' || c == 'G' || c == 'X' || c == 'R':
		return 0, fmt.Errorf(`\%c cannot stand there`, c)
	case '1' <= c && c <= '9' || c == 'k':
		return 0, fmt.Errorf(`\%c refers to a group, which Go's expressions cannot`, c)
	case c < utf8.RuneSelf:
		out.WriteString(p[i : i+2])
		return 2, nil
	}
	_, width := utf8.DecodeRuneInString(p[i+1:])
	out.WriteString(p[i+1 : i+1+width])
	return 1 + width, nil
}

// isFlags reports whether a group sets flags that Go has, too: (?i) or (?i:.
func isFlags(rest string) bool {
	end := strings.IndexAny(rest, ":)")
	return end > 2 && strings.Trim(rest[2:end], "ims-") == ""
}

// clip is the beginning of a text, for messages.
func clip(text string) string {
	for i := range text {
		if i >= 12 {
			return text[:i]
		}
	}
	return text
}
