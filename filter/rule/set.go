// Package rule decides on pairs by rules that a person can read. A rule has a name, which is the reason it gives, and a
// condition on columns; a pair is rejected by the rules whose condition is true.
//
//	rules:
//	  long_word: longest_word > 60
//	  identical: identical and words_src >= 4
//	  language:  lid_src != src_lang and lid_src_p > 0.9
//
// A condition has comparisons (== != < <= > >=), and, or, not, parentheses, + - * /, abs(x), min(x, y), max(x, y),
// numbers, texts in quotation marks and the names of columns. A column of numbers alone is true if it is not 0. Where
// a number is expected, the texts of a column are read as numbers, and others are null. A null is unknown, and so are
// conditions that depend on it (unknown or true is true, unknown and false is false): a rule rejects only for known
// values.
package rule

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"bitextmine/internal/badinput"
	"bitextmine/internal/spelling"
	"bitextmine/internal/yamlbound"
)

// Rule rejects the pairs for which its condition is true.
type Rule struct {
	Name      string // the reason
	Condition string

	expression expression
}

// Set is the rules of one file, in its order. After Bind it may be used by several goroutines.
type Set struct {
	File    string // name in messages
	Rules   []Rule
	Columns []string // columns that the rules use
}

// Parse reads rules as YAML. file is their name in messages.
func Parse(data []byte, file string) (*Set, error) {
	var document struct {
		Rules yaml.Node `yaml:"rules"`
	}
	if err := yamlbound.Check(data, "rules "+file); err != nil {
		return nil, err
	}
	var top map[string]yaml.Node
	if err := yaml.Unmarshal(data, &top); err != nil {
		return nil, badinput.Errorf("rules %s are not YAML (%w): correct the file", file, err)
	}
	for key := range top {
		if key != "rules" {
			return nil, badinput.Errorf("rules %s: unknown key %q; the only one is rules", file, key)
		}
	}
	if err := yaml.Unmarshal(data, &document); err != nil {
		return nil, badinput.Errorf("rules %s: %w", file, err)
	}
	if _, ok := top["rules"]; !ok || document.Rules.Kind != yaml.MappingNode {
		return nil, badinput.Errorf("rules %s: it has no key rules with a condition for each name; `rules: {}` has none", file)
	}
	s := &Set{File: file}
	for i := 0; i < len(document.Rules.Content); i += 2 {
		name, condition := document.Rules.Content[i], document.Rules.Content[i+1]
		if condition.Kind != yaml.ScalarNode {
			return nil, badinput.Errorf("rules %s:%d: the rule %s is not one condition", file, condition.Line, name.Value)
		}
		if slices.ContainsFunc(s.Rules, func(r Rule) bool { return r.Name == name.Value }) {
			return nil, badinput.Errorf("rules %s:%d: the rule %s is there twice: give one of them another name", file, name.Line, name.Value)
		}
		expression, err := parse(condition.Value, &s.Columns)
		if err != nil {
			return nil, badinput.Errorf("rules %s:%d: the condition of %s cannot be read: %w", file, condition.Line, name.Value, err)
		}
		s.Rules = append(s.Rules, Rule{name.Value, condition.Value, expression})
	}
	return s, nil
}

// Condition reads a single condition, as a set with one rule. what names it in messages.
func Condition(condition, what string) (*Set, error) {
	s := &Set{File: what}
	expression, err := parse(condition, &s.Columns)
	if err != nil {
		return nil, badinput.Errorf("%s %q cannot be read: %w", what, condition, err)
	}
	s.Rules = []Rule{{what, condition, expression}}
	return s, nil
}

// Without removes rules by name.
func (s *Set) Without(names []string) error {
	for _, name := range names {
		at := slices.IndexFunc(s.Rules, func(r Rule) bool { return r.Name == name })
		if at < 0 {
			return badinput.Errorf("rules %s have no rule %q: %s", s.File, name,
				spelling.Asked(name, s.Names(), "name one of "+strings.Join(s.Names(), ", ")))
		}
		s.Rules = slices.Delete(s.Rules, at, at+1)
	}
	return nil
}

// Names lists the rules' names in order.
func (s *Set) Names() []string {
	names := make([]string, len(s.Rules))
	for i, r := range s.Rules {
		names[i] = r.Name
	}
	return names
}

// Kind is the type of a column's values in rules.
type Kind uint8

// The kinds.
const (
	Number Kind = iota // Booleans are 0 and 1
	Text
	Other // values that no condition can use
)

// Bind checks the rules against the columns that there are. It must be called before Rejects.
func (s *Set) Bind(columns map[string]Kind) error {
	texts := make([]bool, len(s.Columns))
	for i, name := range s.Columns {
		kind, ok := columns[name]
		if !ok {
			names := make([]string, 0, len(columns))
			for name := range columns {
				names = append(names, name)
			}
			slices.Sort(names)
			return badinput.Errorf("rules %s use the column %q, which does not exist: %s", s.File, name,
				spelling.Asked(name, names, "name one of the file or an annotation (docs/filters.md)"))
		}
		if kind == Other {
			return badinput.Errorf("rules %s use the column %q, which holds lists or keys: name one of numbers or texts", s.File, name)
		}
		texts[i] = kind == Text
	}
	for _, r := range s.Rules {
		isText, err := r.expression.check(texts)
		if err == nil && isText {
			err = badinput.Errorf("it is a text, not a condition")
		}
		if err != nil {
			return badinput.Errorf("rules %s: the condition of %s, %q: %w", s.File, r.Name, r.Condition, err)
		}
	}
	return nil
}

// NewRow makes a row for the set's columns.
func (s *Set) NewRow() *Row {
	n := len(s.Columns)
	return &Row{Numbers: make([]float64, n), Texts: make([]string, n), Known: make([]bool, n)}
}

// Rejects reports whether the rule is known to be true of a row.
func (r *Rule) Rejects(row *Row) bool {
	v := r.expression.number(row)
	return v == v && v != 0 // NaN, which is unknown, differs from itself
}
