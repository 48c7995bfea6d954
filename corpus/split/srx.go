package split

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the shipped rules
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"bitextmine/internal/badinput"
)

// SRX is the rules of a file.
type SRX struct {
	name    string
	cascade bool
	rules   map[string][]rule // rules by the name of a language rule
	spaces  map[string]*SpaceModel
	maps    []languageMap
}

// languageMap says which rules languages have.
type languageMap struct {
	pattern *regexp.Regexp
	rules   string
}

// document is the XML of a file.
type document struct {
	XMLName xml.Name `xml:"srx"`
	Version string   `xml:"version,attr"`
	Header  struct {
		Cascade string `xml:"cascade,attr"`
	} `xml:"header"`
	Languages []struct {
		Name   string `xml:"languagerulename,attr"`
		Spaces string `xml:"spaces,attr"` // no part of SRX: the model that says which spaces end a sentence
		Rules  []struct {
			Break  string `xml:"break,attr"`
			Before string `xml:"beforebreak"`
			After  string `xml:"afterbreak"`
		} `xml:"rule"`
	} `xml:"body>languagerules>languagerule"`
	Maps []struct {
		Pattern string `xml:"languagepattern,attr"`
		Rules   string `xml:"languagerulename,attr"`
	} `xml:"body>maprules>languagemap"`
}

// maxFile is the size of a file of rules, at most.
const maxFile = 16 << 20

// Load reads a file of rules.
func Load(path string) (*SRX, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, badinput.Errorf("segmentation rules: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("read segmentation rules: %w", err)
	}
	if len(data) > maxFile {
		return nil, badinput.Errorf("%s is larger than %d MiB: name a file of segmentation rules", path, maxFile>>20)
	}
	return Parse(path, data)
}

// Parse reads rules. A rule that cannot be used is a badinput error that names it.
func Parse(name string, data []byte) (*SRX, error) {
	var d document
	if err := xml.NewDecoder(bytes.NewReader(data)).Decode(&d); err != nil {
		return nil, badinput.Errorf("%s is not SRX (%w): give segmentation rules in SRX 2.0", name, err)
	}
	if d.Version != "2.0" {
		return nil, badinput.Errorf("%s has version %q of SRX: convert it to 2.0", name, d.Version)
	}
	s := &SRX{name: name, cascade: d.Header.Cascade == "yes", rules: map[string][]rule{},
		spaces: map[string]*SpaceModel{}}
	size := 0
	for _, l := range d.Languages {
		if _, twice := s.rules[l.Name]; twice || l.Name == "" {
			return nil, badinput.Errorf("%s: the language rule %q has no name, or stands twice: give each its own",
				name, l.Name)
		}
		s.rules[l.Name] = nil
		switch l.Spaces {
		case "":
		case "thai":
			s.spaces[l.Name] = Thai()
		default:
			return nil, badinput.Errorf(
				"%s: the language rule %q has spaces=%q, but there is only the model \"thai\": correct or remove it",
				name, l.Name, l.Spaces)
		}
		for i, r := range l.Rules {
			made, err := newRule(r.Break != "no", r.Before, r.After)
			switch {
			case err != nil:
			case r.Break != "" && r.Break != "yes" && r.Break != "no":
				err = fmt.Errorf("break is %q, and must be yes or no", r.Break)
			case r.Break != "no" && r.Before == "" && r.After == "":
				err = errors.New("it has neither beforebreak nor afterbreak, and would break between all characters")
			}
			if err != nil {
				return nil, badinput.Errorf("%s: rule %d of %q: %w: correct the rule or remove it", name, i+1, l.Name,
					err)
			}
			if size += made.before.size + made.after.size + 1; size > maxSize {
				return nil, badinput.Errorf("%s: rule %d of %q: the rules have more than %d states: remove some", name, i+1,
					l.Name, maxSize)
			}
			s.rules[l.Name] = append(s.rules[l.Name], made)
		}
	}
	for _, m := range d.Maps {
		pattern, err := regexp.Compile("(?i)^(?:" + m.Pattern + ")$")
		if err != nil {
			return nil, badinput.Errorf("%s: language pattern %q: %w: correct it", name, m.Pattern, err)
		}
		if _, known := s.rules[m.Rules]; !known {
			return nil, badinput.Errorf("%s: the languages %q have the rules %q, which do not exist: add them", name,
				m.Pattern, m.Rules)
		}
		s.maps = append(s.maps, languageMap{pattern, m.Rules})
	}
	return s, nil
}

// Splitter returns the rules of a language: of the first pattern that matches it, or of all that do, in order, if the
// file says cascade. A language without rules is a badinput error.
func (s *SRX) Splitter(language string) (*Splitter, error) {
	var rules []rule
	var spaces *SpaceModel
	for _, m := range s.maps {
		if !m.pattern.MatchString(strings.ReplaceAll(language, "_", "-")) {
			continue
		}
		rules, spaces = append(rules, s.rules[m.rules]...), s.spaces[m.rules]
		if !s.cascade || spaces != nil { // the model decides what the rules leave open
			break
		}
	}
	if rules == nil && spaces == nil {
		return nil, badinput.Errorf("%s has no rules for the language %q: add a languagemap", s.name, language)
	}
	made := newSplitter(rules)
	made.spaces = spaces
	return made, nil
}

//go:embed rules.srx
var shipped []byte

// Shipped returns the rules that are part of the program. They have rules for every language: at least those for full
// stops of its script.
var Shipped = sync.OnceValues(func() (*SRX, error) { return Parse("the shipped rules", shipped) })

// version is one more whenever the same rules divide a text otherwise.
const version = 2

// ShippedDigest stands for what divides a text by the shipped rules: it changes with them.
var ShippedDigest = sync.OnceValue(func() string {
	sum := sha256.Sum256(slices.Concat([]byte{version}, shipped, thai))
	return hex.EncodeToString(sum[:8])
})

// made are the splitters of For by language: there may be thousands of files, and making one takes as long as reading
// a page.
var made sync.Map

// For returns the splitter of a language by the shipped rules.
func For(language string) (*Splitter, error) {
	if s, ok := made.Load(language); ok {
		return s.(*Splitter), nil
	}
	rules, err := Shipped()
	if err != nil {
		return nil, err
	}
	s, err := rules.Splitter(language)
	if err == nil {
		made.Store(language, s)
	}
	return s, err
}

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
