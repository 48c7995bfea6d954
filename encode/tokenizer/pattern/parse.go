package pattern

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxDepth bounds groups in groups, and maxCopies the copies of a repeated group.
const (
	maxDepth  = 50
	maxCopies = 1000
)

// parser reads an expression. Its trees know no next node yet: compile gives it to them.
type parser struct {
	text  string
	at    int
	fold  bool
	depth int
}

// Parse reads an expression, or says what in it is not computed.
func Parse(text string) (*Pattern, error) {
	refuse := func(err error) (*Pattern, error) {
		return nil, fmt.Errorf("it has the regular expression %q, which cannot be computed: %w", text, err)
	}
	p := &parser{text: text}
	whole, err := p.alternatives()
	if err == nil && p.at < len(text) {
		err = fmt.Errorf("a bracket is closed that is not open")
	}
	if err != nil {
		return refuse(err)
	}
	if whole.empty() {
		return refuse(fmt.Errorf("it matches the empty text"))
	}
	copies := 0
	compiled := &Pattern{start: compile(whole, accept, &copies)}
	if copies > maxCopies {
		return refuse(fmt.Errorf("its repetitions are too large"))
	}
	compiled.prepare()
	return compiled, nil
}

// Literal is the pattern of a text.
func Literal(text string) *Pattern {
	sequence := &tree{kind: 's'}
	for _, r := range text {
		sequence.parts = append(sequence.parts, letterSet([][2]rune{{r, r}}))
	}
	copies := 0
	p := &Pattern{start: compile(sequence, accept, &copies)}
	p.prepare()
	return p
}

func (p *parser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

// accepts reads a text if it is next.
func (p *parser) accepts(text string) bool {
	if strings.HasPrefix(p.text[p.at:], text) {
		p.at += len(text)
		return true
	}
	return false
}

func (p *parser) alternatives() (*tree, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, fmt.Errorf("its groups are too deep")
	}
	defer func() { p.depth-- }()
	all := &tree{kind: 'a'}
	for {
		sequence := &tree{kind: 's'}
		for p.at < len(p.text) && p.peek() != '|' && p.peek() != ')' {
			part, err := p.repeated()
			if err != nil {
				return nil, err
			}
			sequence.parts = append(sequence.parts, part)
		}
		if p.fold && severalFold(sequence.parts) {
			return nil, fmt.Errorf("letters without regard to case that one letter stands for")
		}
		all.parts = append(all.parts, sequence)
		if !p.accepts("|") {
			break
		}
	}
	if len(all.parts) == 1 {
		return all.parts[0], nil
	}
	return all, nil
}

// severalFold reports whether two letters side by side are one without regard to case: ß is ss.
func severalFold(parts []*tree) bool {
	has := func(t *tree, r rune) bool { return t.kind == 'n' && t.node.op == opSet && t.node.set.Has(r) }
	for i := 1; i < len(parts); i++ {
		for _, pair := range []string{"ss", "ff", "fi", "fl", "st"} {
			if has(parts[i-1], rune(pair[0])) && has(parts[i], rune(pair[1])) {
				return true
			}
		}
	}
	return false
}

// repeated reads an atom and its repetition.
func (p *parser) repeated() (*tree, error) {
	atom, err := p.atom()
	if err != nil {
		return nil, err
	}
	for {
		t := &tree{kind: 'r', parts: []*tree{atom}, max: -1}
		interval := false
		switch {
		case p.accepts("*"):
		case p.accepts("+"):
			t.min = 1
		case p.accepts("?"):
			t.max = 1
		case p.peek() == '{':
			if interval, err = p.interval(t); err != nil {
				return nil, err
			}
			if !interval {
				return atom, nil
			}
		default:
			return atom, nil
		}
		switch {
		case interval && (p.peek() == '?' && t.min == t.max || p.peek() == '+'):
			return nil, fmt.Errorf("%q after a number of times", p.peek())
		case p.accepts("?"):
			t.how = lazy
		case p.accepts("+"):
			t.how = possessive
		}
		if atom.kind != 'n' && atom.empty() || atom.kind == 'n' && atom.node.op != opSet {
			return nil, fmt.Errorf("the repetition of what can be empty")
		}
		if atom.kind == 'r' && (t.how != greedy || atom.how != greedy) {
			return nil, fmt.Errorf("the repetition of a repetition")
		}
		atom = t
	}
}

// interval reads {n}, {n,}, {,m} or {n,m}; false if the bracket is a letter.
func (p *parser) interval(t *tree) (bool, error) {
	body, _, ok := strings.Cut(p.text[p.at+1:], "}")
	if !ok || strings.Trim(body, "0123456789,") != "" || strings.Count(body, ",") > 1 || strings.Trim(body, ",") == "" {
		return false, fmt.Errorf("the bracket {")
	}
	low, high, several := strings.Cut(body, ",")
	number := func(digits string, without int) int {
		if digits == "" {
			return without
		}
		n, err := strconv.Atoi(digits)
		if err != nil || n > maxCopies {
			n = maxCopies + 1
		}
		return n
	}
	t.min, t.max = number(low, 0), number(high, -1)
	if !several {
		t.max = t.min
	}
	if t.min > maxCopies || t.max > maxCopies || t.max >= 0 && t.max < t.min || t.max == 0 {
		return false, fmt.Errorf("the number of times {%s}", body)
	}
	p.at += len(body) + 2
	return true, nil
}

// atom reads a letter, a set or a group.
func (p *parser) atom() (*tree, error) {
	switch c := p.peek(); c {
	case '(':
		return p.group()
	case '[':
		ranges, err := p.set()
		if err != nil {
			return nil, err
		}
		return letterSet(ranges), nil
	case '.':
		p.at++
		return letterSet(Negated([][2]rune{{'\n', '\n'}})), nil
	case '^', '$':
		p.at++
		return &tree{kind: 'n', node: node{op: map[byte]operation{'^': opBegin, '$': opEnd}[c], line: true}}, nil
	case '\\':
		if p.accepts(`\A`) {
			return &tree{kind: 'n', node: node{op: opBegin}}, nil
		}
		if p.accepts(`\z`) {
			return &tree{kind: 'n', node: node{op: opEnd}}, nil
		}
		ranges, err := p.escape()
		if err != nil {
			return nil, err
		}
		return letterSet(p.cases(ranges)), nil
	case '*', '+', '?':
		return nil, fmt.Errorf("a %q that repeats nothing", c)
	}
	r, n := utf8.DecodeRuneInString(p.text[p.at:])
	p.at += n
	return letterSet(p.cases([][2]rune{{r, r}})), nil
}

// cases adds the other case.
func (p *parser) cases(ranges [][2]rune) [][2]rune {
	if p.fold {
		return folded(ranges)
	}
	return ranges
}

// group reads a group in brackets.
func (p *parser) group() (*tree, error) {
	t := &tree{}
	fold := p.fold
	defer func() { p.fold = fold }()
	switch {
	case p.accepts("(?:"):
	case p.accepts("(?i:"):
		p.fold = true
	case p.accepts("(?="):
		t.kind = 'l'
	case p.accepts("(?!"):
		t.kind, t.not = 'l', true
	case p.accepts("(?>"):
		t.kind = 't'
	case strings.HasPrefix(p.text[p.at:], "(?"):
		return nil, fmt.Errorf("the group %.4s", p.text[p.at:])
	default:
		p.at++
	}
	inside, err := p.alternatives()
	if err != nil {
		return nil, err
	}
	if !p.accepts(")") {
		return nil, fmt.Errorf("a bracket is not closed")
	}
	if t.kind == 0 {
		return inside, nil
	}
	t.parts = []*tree{inside}
	return t, nil
}

// escape reads what follows a backslash: a Class or a letter.
func (p *parser) escape() ([][2]rune, error) {
	p.at++
	c := p.peek()
	p.at++
	switch c {
	case 's':
		return spaceRanges, nil
	case 'S':
		return Negated(spaceRanges), nil
	case 'd':
		return digitRanges, nil
	case 'D':
		return Negated(digitRanges), nil
	case 'w':
		return wordRanges, nil
	case 'W':
		return Negated(wordRanges), nil
	case 'n', 'r', 't', 'f', 'v':
		r := map[byte]rune{'n': '\n', 'r': '\r', 't': '\t', 'f': '\f', 'v': '\v'}[c]
		return [][2]rune{{r, r}}, nil
	case 'p', 'P':
		name, _, ok := strings.Cut(p.text[p.at:], "}")
		if !ok || !strings.HasPrefix(name, "{") {
			return nil, fmt.Errorf(`\%c without a name in brackets`, c)
		}
		p.at += len(name) + 1
		name, not := strings.CutPrefix(name[1:], "^")
		ranges, ok := property(name)
		if !ok {
			return nil, fmt.Errorf(`\p{%s}`, name)
		}
		if not != (c == 'P') {
			ranges = Negated(ranges)
		}
		return ranges, nil
	case 'u', 'x':
		return p.code(c)
	}
	if c == 0 || c >= utf8.RuneSelf || c >= '0' && c <= '9' || unicode.IsLetter(rune(c)) {
		return nil, fmt.Errorf(`\%c`, c)
	}
	return [][2]rune{{rune(c), rune(c)}}, nil
}

// code reads the number of a letter: \u0041 or \x{41}.
func (p *parser) code(kind byte) ([][2]rune, error) {
	digits := ""
	if rest := p.text[p.at:]; kind == 'u' && len(rest) >= 4 {
		digits = rest[:4]
		p.at += 4
	} else if inside, ok := strings.CutPrefix(rest, "{"); ok && kind == 'x' {
		digits, _, _ = strings.Cut(inside, "}")
		p.at = min(p.at+len(digits)+2, len(p.text))
	}
	n, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || n > unicode.MaxRune || n >= 0xd800 && n < 0xe000 {
		return nil, fmt.Errorf(`\%c%s`, kind, digits)
	}
	return [][2]rune{{rune(n), rune(n)}}, nil
}

// set reads a Class in square brackets.
func (p *parser) set() ([][2]rune, error) {
	p.at++
	not := p.accepts("^")
	var ranges [][2]rune
	for first := true; ; first = false {
		switch {
		case p.at >= len(p.text):
			return nil, fmt.Errorf("a square bracket is not closed")
		case p.peek() == ']' && first:
			return nil, fmt.Errorf("an empty set")
		case p.accepts("]"):
			if ranges = p.cases(ranges); not {
				ranges = Negated(ranges)
			}
			return ranges, nil
		case p.peek() == '[', strings.HasPrefix(p.text[p.at:], "&&"):
			return nil, fmt.Errorf("a set in a set")
		}
		one, err := p.member()
		if err != nil {
			return nil, err
		}
		if p.peek() == '-' && p.at+1 < len(p.text) && p.text[p.at+1] != ']' {
			p.at++
			if p.peek() == '[' {
				return nil, fmt.Errorf("a set in a set")
			}
			last, err := p.member()
			if err != nil {
				return nil, err
			}
			if len(one) != 1 || one[0][0] != one[0][1] || len(last) != 1 || last[0][0] != last[0][1] ||
				last[0][0] < one[0][0] {
				return nil, fmt.Errorf("a range without two letters")
			}
			one = [][2]rune{{one[0][0], last[0][0]}}
		}
		ranges = append(ranges, one...)
	}
}

// member reads a letter or a Class in a set.
func (p *parser) member() ([][2]rune, error) {
	if p.peek() == '\\' {
		return p.escape()
	}
	r, n := utf8.DecodeRuneInString(p.text[p.at:])
	p.at += n
	return [][2]rune{{r, r}}, nil
}

// Words are the words of the pre-tokeniser Whitespace, which Rust's regular expressions find: \w+|[^\w\s]+.
var Words = func() *Pattern {
	word := &node{op: opSet, set: RustWord, min: 1, max: -1, next: accept}
	rest := &node{op: opSet, set: NewClass(Negated(slices.Concat(RustWord.ranges, Spaces.ranges))), min: 1, max: -1,
		next: accept}
	p := &Pattern{start: &node{op: opEither, branches: []*node{word, rest}}}
	p.prepare()
	return p
}()
