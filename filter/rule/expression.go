package rule

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"bitextmine/internal/badinput"
)

// Row holds the values of the columns that a set of rules uses, in the order of Set.Columns. Numbers are NaN and Known
// is false where a value is null. Only one of Numbers and Texts is meaningful for a column, as its kind says.
type Row struct {
	Numbers []float64
	Texts   []string
	Known   []bool
}

// expression is a node of a condition. Truth is 1, falsehood 0, and what is unknown NaN.
type expression interface {
	number(row *Row) float64
	// text returns the value of an expression of texts.
	text(row *Row) (value string, known bool)
	// check is called once the kinds of columns are known. It reports whether the expression is a text.
	check(texts []bool) (isText bool, err error)
}

var unknown = math.NaN()

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// constant is a number.
type constant float64

func (c constant) number(*Row) float64        { return float64(c) }
func (c constant) text(*Row) (string, bool)   { return "", false }
func (c constant) check([]bool) (bool, error) { return false, nil }

// literal is a text in quotation marks.
type literal string

func (l literal) number(*Row) float64        { return unknown }
func (l literal) text(*Row) (string, bool)   { return string(l), true }
func (l literal) check([]bool) (bool, error) { return true, nil }

// column is a column by its number in Set.Columns.
type column int

func (c column) number(row *Row) float64 { return row.Numbers[c] }

func (c column) text(row *Row) (string, bool) { return row.Texts[c], row.Known[c] }

func (c column) check(texts []bool) (bool, error) { return texts[c], nil }

// numeral is a column of texts that are numbers, as formats without types have them. Another text is unknown.
type numeral column

func (n numeral) number(row *Row) float64 {
	value, err := strconv.ParseFloat(strings.TrimSpace(row.Texts[n]), 64)
	if err != nil || !row.Known[n] {
		return unknown
	}
	return value
}

func (n numeral) text(*Row) (string, bool)   { return "", false }
func (n numeral) check([]bool) (bool, error) { return false, nil }

// operation is an operator or a function with its operands.
type operation struct {
	name     string
	operands []expression
	texts    bool // it compares texts
}

func (o *operation) text(*Row) (string, bool) { return "", false }

func (o *operation) check(texts []bool) (bool, error) {
	count := 0
	for i, operand := range o.operands {
		isText, err := operand.check(texts)
		if err != nil {
			return false, err
		}
		if isText {
			count++
		}
		if c, ok := operand.(column); ok && isText && o.takesNumbers(texts) {
			o.operands[i] = numeral(c)
			count--
		}
	}
	if count > 0 && (o.name != "==" && o.name != "!=" || count < len(o.operands)) {
		return false, badinput.Errorf("%s takes numbers, but was given a text; texts can be compared with texts by == and !=", o.name)
	}
	o.texts = count > 0
	return false, nil
}

// takesNumbers reports whether a column of texts is read as one of numbers beside the other operands: in sums and
// comparisons by size, and beside a number.
func (o *operation) takesNumbers(texts []bool) bool {
	switch o.name {
	case "and", "or", "not":
		return false
	case "==", "!=":
		return slices.ContainsFunc(o.operands, func(operand expression) bool {
			isText, err := operand.check(texts)
			return err == nil && !isText
		})
	}
	return true
}

func (o *operation) number(row *Row) float64 {
	if o.texts {
		a, knownA := o.operands[0].text(row)
		b, knownB := o.operands[1].text(row)
		if !knownA || !knownB {
			return unknown
		}
		return truth((a == b) == (o.name == "=="))
	}
	a := o.operands[0].number(row)
	if len(o.operands) == 1 {
		return unary(o.name, a)
	}
	return binary(o.name, a, o.operands[1].number(row))
}

func unary(name string, a float64) float64 {
	switch {
	case math.IsNaN(a):
		return a
	case name == "not":
		return truth(a == 0)
	case name == "abs":
		return math.Abs(a)
	}
	return -a
}

func binary(name string, a, b float64) float64 {
	unknownOne := math.IsNaN(a) || math.IsNaN(b)
	switch {
	case name == "and" && (a == 0 || b == 0):
		return 0
	case name == "or" && (!math.IsNaN(a) && a != 0 || !math.IsNaN(b) && b != 0):
		return 1
	case unknownOne:
		return unknown
	}
	switch name {
	case "and":
		return 1
	case "or":
		return 0
	case "==":
		return truth(a == b)
	case "!=":
		return truth(a != b)
	case "<":
		return truth(a < b)
	case "<=":
		return truth(a <= b)
	case ">":
		return truth(a > b)
	case ">=":
		return truth(a >= b)
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	case "/":
		return a / b
	case "min":
		return min(a, b)
	}
	return max(a, b)
}

// parser reads a condition by precedence: or, and, not, comparisons, sums, products.
type parser struct {
	tokens  []string
	at      int
	depth   int
	columns *[]string
}

// maxDepth limits how deep parentheses and signs stand inside each other.
const maxDepth = 100

func parse(condition string, columns *[]string) (expression, error) {
	tokens, err := tokenize(condition)
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: tokens, columns: columns}
	e, err := p.level(0)
	if err == nil && p.at < len(p.tokens) {
		err = p.unexpected()
	}
	return e, err
}

// levels are the operators with two operands, from the ones that bind least.
var levels = [][]string{{"or"}, {"and"}, {"==", "!=", "<", "<=", ">", ">="}, {"+", "-"}, {"*", "/"}}

const (
	notLevel        = 2 // "not" binds more than and, and less than comparisons
	comparisonLevel = 2
)

func (p *parser) level(n int) (expression, error) {
	if p.depth++; p.depth > maxDepth*len(levels) {
		return nil, badinput.Errorf("it is more than %d deep", maxDepth)
	}
	defer func() { p.depth-- }()
	if n == len(levels) {
		return p.operand()
	}
	if n == notLevel && p.next("not") {
		operand, err := p.level(notLevel)
		return &operation{name: "not", operands: []expression{operand}}, err
	}
	begin := p.at
	left, err := p.level(n + 1)
	for before := -1; err == nil; {
		operator := p.at
		name := p.anyOf(levels[n])
		if name == "" {
			return left, nil
		}
		var right expression
		right, err = p.level(n + 1)
		if err == nil && n == comparisonLevel && before >= 0 {
			return nil, p.chained(begin, before, operator)
		}
		before = operator
		left = &operation{name: name, operands: []expression{left, right}}
	}
	return nil, err
}

// chained is the error of a comparison with what a comparison gives, 0 or 1, which nobody means. Its operators are the
// tokens first and second, and it goes to the token at which the parser is.
func (p *parser) chained(begin, first, second int) error {
	text := func(from, to int) string { return strings.Join(p.tokens[from:to], " ") }
	return badinput.Errorf("%q compares twice: write %q", text(begin, p.at),
		text(begin, second)+" and "+text(first+1, p.at))
}

func (p *parser) operand() (expression, error) {
	if p.at == len(p.tokens) {
		return nil, badinput.Errorf("it ends where a value is expected")
	}
	token := p.tokens[p.at]
	p.at++
	switch first, _ := utf8.DecodeRuneInString(token); {
	case token == "(":
		inner, err := p.level(0)
		if err == nil && !p.next(")") {
			err = p.missing(")")
		}
		return inner, err
	case token == "-":
		operand, err := p.level(len(levels))
		return &operation{name: "minus", operands: []expression{operand}}, err
	case first == '"' || first == '\'':
		return literal(token[1 : len(token)-1]), nil
	case unicode.IsDigit(first) || first == '.':
		value, err := strconv.ParseFloat(token, 64)
		if err != nil {
			return nil, badinput.Errorf("%q is not a number", token)
		}
		return constant(value), nil
	case arity[token] > 0 && p.next("("):
		return p.call(token)
	case isName(first) && token != "and" && token != "or" && token != "not":
		return p.column(token), nil
	}
	p.at--
	return nil, p.unexpected()
}

// arity is the number of a function's operands.
var arity = map[string]int{"abs": 1, "min": 2, "max": 2}

func (p *parser) call(name string) (expression, error) {
	call := &operation{name: name}
	for i := range arity[name] {
		if i > 0 && !p.next(",") {
			return nil, p.missing(",")
		}
		operand, err := p.level(0)
		if err != nil {
			return nil, err
		}
		call.operands = append(call.operands, operand)
	}
	if !p.next(")") {
		return nil, p.missing(")")
	}
	return call, nil
}

func (p *parser) column(name string) expression {
	for i, known := range *p.columns {
		if known == name {
			return column(i)
		}
	}
	*p.columns = append(*p.columns, name)
	return column(len(*p.columns) - 1)
}

func (p *parser) next(token string) bool {
	if p.at < len(p.tokens) && p.tokens[p.at] == token {
		p.at++
		return true
	}
	return false
}

func (p *parser) anyOf(tokens []string) string {
	for _, token := range tokens {
		if p.next(token) {
			return token
		}
	}
	return ""
}

func (p *parser) unexpected() error {
	return badinput.Errorf("%q is not expected after %q", p.tokens[p.at], strings.Join(p.tokens[:p.at], " "))
}

func (p *parser) missing(token string) error {
	return badinput.Errorf("%q is missing after %q", token, strings.Join(p.tokens[:p.at], " "))
}

func isName(r rune) bool { return r == '_' || unicode.IsLetter(r) }

// signedExponent is the number of bytes after a number with an e at its end that are its exponent with a sign.
func signedExponent(number, after string) int {
	digits := strings.TrimLeft(after, "+-")
	if !strings.HasSuffix(strings.ToLower(number), "e") || len(after)-len(digits) != 1 {
		return 0
	}
	n := len(digits) - len(strings.TrimLeft(digits, "0123456789"))
	if n == 0 {
		return 0
	}
	return n + 1
}

// tokenize divides a condition into names, numbers, texts with their quotation marks, and operators.
func tokenize(text string) (tokens []string, err error) {
	for i := 0; i < len(text); {
		c, width := utf8.DecodeRuneInString(text[i:])
		end := i + width
		switch {
		case unicode.IsSpace(c):
			i = end
			continue
		case c == '"' || c == '\'':
			close := strings.IndexRune(text[i+1:], c)
			if close < 0 {
				return nil, badinput.Errorf("the quotation mark before %q has no second one", text[i+1:])
			}
			end = i + 1 + close + 1
		case isName(c) || unicode.IsDigit(c) || c == '.':
			end += len(text[end:]) - len(strings.TrimLeftFunc(text[end:], func(r rune) bool {
				return isName(r) || unicode.In(r, unicode.Nd, unicode.M) || r == '.'
			}))
			if c == '.' || unicode.IsDigit(c) {
				end += signedExponent(text[i:end], text[end:])
			}
		case strings.ContainsRune("=!<>", c) && end < len(text) && text[end] == '=':
			end++
		case !strings.ContainsRune("<>+-*/(),", c):
			return nil, badinput.Errorf("%q is no operator; there are == != < <= > >= + - * / and or not", fmt.Sprintf("%c", c))
		}
		tokens = append(tokens, text[i:end])
		i = end
	}
	if len(tokens) == 0 {
		return nil, badinput.Errorf("it is empty")
	}
	return tokens, nil
}
