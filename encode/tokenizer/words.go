package tokenizer

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"bitextmine/encode/tokenizer/pattern"
)

// piece is a part of a text: letters, or an added token.
type piece struct {
	text  string
	id    int32 // added token, or -1
	start bool  // stands at the beginning of the original text
}

// step is a pre-tokeniser: it splits the pieces that are letters. It adds its own to m.
type step func(m *memory, p piece)

// splitPieces applies a step to all pieces.
func (m *memory) splitPieces(s step) {
	m.pieces, m.before = m.before[:0], m.pieces
	for _, p := range m.before {
		if p.id >= 0 {
			m.pieces = append(m.pieces, p)
		} else {
			s(m, p)
		}
	}
}

// add adds a piece that is not empty.
func (m *memory) add(text string, start bool) {
	if text != "" {
		m.pieces = append(m.pieces, piece{text, -1, start})
	}
}

// wordSettings are the settings of a pre-tokenizer, of whatever type.
type wordSettings struct {
	All        []*part         `json:"pretokenizers"`
	Pattern    expression      `json:"pattern"`
	Behaviour  string          `json:"behavior"`
	Invert     bool            `json:"invert"`
	Individual bool            `json:"individual_digits"`
	Delimiter  string          `json:"delimiter"`
	Prefix     bool            `json:"add_prefix_space"`
	Regex      *bool           `json:"use_regex"`
	Length     json.RawMessage `json:"length"`
}

// addWords adds the steps of a pre-tokeniser.
func (t *HuggingFace) addWords(p *part, depth int) error {
	if p == nil {
		return nil
	}
	var o wordSettings
	if err := json.Unmarshal(p.raw, &o); err != nil {
		return fmt.Errorf("its pre_tokenizer cannot be read: %w", err)
	}
	add := func(steps ...step) error {
		t.words = append(t.words, steps...)
		return nil
	}
	b := behaviour(strings.ToLower(strings.ReplaceAll(o.Behaviour, "_", "")))
	switch p.Type {
	case "Sequence":
		return inTurn(o.All, depth, t.addWords)
	case "WhitespaceSplit":
		return add(cutter{letters: pattern.Spaces.Has}.step(removed))
	case "Whitespace":
		return add(cutter{pattern: pattern.Words, invert: true}.step(removed))
	case "BertPreTokenizer":
		return add(bertSplit)
	case "Punctuation":
		if b == "" {
			b = isolated
		}
		if !b.known() {
			return unknownBehaviour(o.Behaviour)
		}
		return add(cutter{letters: pattern.Punctuation.Has}.step(b))
	case "Digits":
		if o.Individual {
			return add(cutter{letters: pattern.Numbers.Has}.step(isolated))
		}
		return add(cutter{letters: pattern.Numbers.Has}.step(contiguous))
	case "CharDelimiterSplit":
		if utf8.RuneCountInString(o.Delimiter) != 1 {
			return fmt.Errorf("its pre_tokenizer splits at %q, which is not a letter", o.Delimiter)
		}
		return add(cutter{pattern: pattern.Literal(o.Delimiter)}.step(removed))
	case "Split":
		if !b.known() {
			return unknownBehaviour(o.Behaviour)
		}
		found, err := o.Pattern.compile()
		if err != nil {
			return fmt.Errorf("its pre_tokenizer splits a text: %w", err)
		}
		return add(cutter{pattern: found, invert: o.Invert}.step(b))
	case "ByteLevel":
		return add(byteLevel(o.Prefix, o.Regex == nil || *o.Regex))
	case "Metaspace":
		return t.addMetaspace(p.raw)
	}
	return fmt.Errorf("its pre_tokenizer has a step of type %q, which cannot be computed", p.Type)
}

func unknownBehaviour(name string) error {
	return fmt.Errorf("its pre_tokenizer has the behavior %q, which cannot be computed", name)
}

// addMetaspace adds SentencePiece's way of writing spaces: a sign in their place, and one before the text.
func (t *HuggingFace) addMetaspace(raw json.RawMessage) error {
	m := struct {
		Sign   string `json:"replacement"`
		Prefix *bool  `json:"add_prefix_space"` // field of old files
		Scheme string `json:"prepend_scheme"`
		Split  *bool  `json:"split"`
	}{}
	if err := json.Unmarshal(raw, &m); err != nil {
		return fmt.Errorf("its pre_tokenizer cannot be read: %w", err)
	}
	if m.Scheme == "" {
		m.Scheme = "always"
		if m.Prefix != nil && !*m.Prefix {
			m.Scheme = "never"
		}
	}
	if m.Scheme != "always" && m.Scheme != "first" && m.Scheme != "never" {
		return fmt.Errorf("its pre_tokenizer has the prepend_scheme %q, which cannot be computed", m.Scheme)
	}
	if utf8.RuneCountInString(m.Sign) != 1 {
		return fmt.Errorf("its pre_tokenizer has the replacement %q, which is not one letter", m.Sign)
	}
	split := cutter{pattern: pattern.Literal(m.Sign)}.step(withNext)
	t.words = append(t.words, func(all *memory, p piece) {
		p.text = strings.ReplaceAll(p.text, " ", m.Sign)
		if (m.Scheme == "always" || m.Scheme == "first" && p.start) && !strings.HasPrefix(p.text, m.Sign) {
			p.text = m.Sign + p.text
		}
		if m.Split != nil && !*m.Split {
			all.add(p.text, p.start)
		} else {
			split(all, p)
		}
	})
	return nil
}

// expression is a pattern of a file: a text or a regular expression.
type expression struct {
	String *string `json:"String"`
	Regex  *string `json:"Regex"`
}

func (e expression) compile() (*pattern.Pattern, error) {
	switch {
	case e.String != nil && *e.String != "":
		return pattern.Literal(*e.String), nil
	case e.Regex != nil:
		return pattern.Parse(*e.Regex)
	}
	return nil, fmt.Errorf("it has no pattern")
}

// behaviour says where the matches go that a text is split at.
type behaviour string

// The names stand in the files, in lower case.
const (
	removed      behaviour = "removed"
	isolated     behaviour = "isolated"
	contiguous   behaviour = "contiguous"
	withPrevious behaviour = "mergedwithprevious"
	withNext     behaviour = "mergedwithnext"
)

func (b behaviour) known() bool {
	return b == removed || b == isolated || b == contiguous || b == withPrevious || b == withNext
}

// cutter finds matches: letters of a kind, one by one, or a pattern.
type cutter struct {
	letters func(rune) bool
	pattern *pattern.Pattern
	invert  bool // text between matches counts as the match
}

// span is a part of a text.
type span struct {
	begin, end int
	match      bool
}

// spans covers a text with matches and what is between them.
func (s cutter) spans(m *memory, text string) []span {
	all := m.spans[:0]
	last := 0
	add := func(begin, end int) {
		if begin > last {
			all = append(all, span{last, begin, s.invert})
		}
		all = append(all, span{begin, end, !s.invert})
		last = end
	}
	if s.pattern != nil {
		m.matcher.Text = text
		for begin, end := s.pattern.Find(&m.matcher, 0); begin >= 0; begin, end = s.pattern.Find(&m.matcher, end) {
			add(begin, end)
		}
	} else {
		for at := 0; at < len(text); {
			r, n := pattern.LetterAt(text, at)
			if s.letters(r) {
				add(at, at+n)
			}
			at += n
		}
	}
	if last < len(text) {
		all = append(all, span{last, len(text), s.invert})
	}
	m.spans = all
	return all
}

// step splits at the matches.
func (s cutter) step(b behaviour) step {
	return func(m *memory, p piece) {
		all := s.spans(m, p.text)
		join := func(i int) bool { // reports that spans i and i+1 are one piece
			left, right := all[i].match, all[i+1].match
			switch b {
			case contiguous:
				return left == right
			case withPrevious:
				return right && !left
			case withNext:
				return left && !right
			}
			return false
		}
		for i := 0; i < len(all); i++ {
			if b == removed && all[i].match {
				continue
			}
			begin := all[i].begin
			for i+1 < len(all) && join(i) {
				i++
			}
			m.add(p.text[begin:all[i].end], p.start && begin == 0)
		}
	}
}

// Moses writes a text's punctuation as LASER's program does: characters that cannot be printed become spaces, and the
// rules of Moses' normalize-punctuation.perl for English follow, as of its release 4.0.
func Moses(text string) string {
	printable := printable()
	text = mapped(text, func(r rune) rune {
		if printable.Has(r) {
			return r
		}
		return ' '
	})
	for _, rule := range mosesRules {
		if strings.Contains(text, rule.old) {
			if rule.pattern != nil {
				text = rule.pattern.ReplaceAllString(text, rule.new)
			} else {
				text = strings.ReplaceAll(text, rule.old, rule.new)
			}
		}
	}
	return strings.TrimSpace(text)
}

// printable are the letters of all categories but C.
var printable = sync.OnceValue(func() pattern.Class {
	return pattern.NewClass(pattern.RangesOf(unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z))
})

// mosesRule replaces a text, or what a pattern finds if the text has old.
type mosesRule struct {
	old, new string
	pattern  *regexp.Regexp
}

// mosesRules stand in the order of the program. The rule of numbers writes a point between digits that a no-break space
// parts.
var mosesRules = func() []mosesRule {
	const space = "\u00a0"
	var all []mosesRule
	plain := func(pairs ...string) {
		for i := 0; i < len(pairs); i += 2 {
			all = append(all, mosesRule{old: pairs[i], new: pairs[i+1]})
		}
	}
	found := func(old, expression, new string) {
		all = append(all, mosesRule{old, new, regexp.MustCompile(expression)})
	}
	plain("(", " (", ")", ") ")
	found("  ", " +", " ")
	found(") ", `\) ([.!:?;,])`, ")$1")
	plain("( ", "(", " )", ")")
	found(" %", `(\p{Nd}) %`, "$1%")
	plain(" :", ":", " ;", ";", "`", "'", "''", ` " `)
	plain("„", `"`, "“", `"`, "”", `"`, "–", "-", "—", " - ")
	found("  ", " +", " ")
	plain("´", "'")
	found("‘", "([a-zA-Z])‘([a-zA-Z])", "$1'$2")
	found("’", "([a-zA-Z])’([a-zA-Z])", "$1'$2")
	plain("‘", `"`, "‚", `"`, "’", `"`, "''", `"`, "…", "...")
	plain(space+"«"+space, ` "`, "«"+space, `"`, "«", `"`, space+"»"+space, `" `, space+"»", `"`, "»", `"`)
	plain(space+"%", "%", "nº"+space, "nº ", space+":", ":", space+"ºC", " ºC", space+"cm", " cm", space+"?", "?",
		space+"!", "!", space+";", ";", ","+space, ", ")
	found("  ", " +", " ")
	found(`"`, `"([,.]+)`, `$1"`)
	found(space, `(\p{Nd})`+space+`(\p{Nd})`, "$1.$2")
	return all
}()
