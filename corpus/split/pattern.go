package split

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// window is the number of bytes before and after a place that patterns see.
const window = 128

// pattern matches the text before a place or after it.
type pattern struct {
	items  []item         // in the order in which they are met from the place; nil with expression
	expr   *regexp.Regexp // of what is no sequence of items
	always bool           // it matches everywhere
	edge   *charset       // the characters that may be next to the place; nil: any, or none
	after  bool
}

// item is some characters of a class, or one of some words.
type item struct {
	class    *charset
	min, max int // how many; max -1: any number
	words    *words
	boundary bool // the beginning of the text, or a character that is of no word
	// backtrack: the next item may begin with a character of the class, so that a run of it may have to be shorter
	backtrack bool
}

// newPattern compiles a pattern of text before a place, or after it.
func newPattern(source string, after bool) (*pattern, error) {
	translated, err := translate(source)
	if err != nil {
		return nil, err
	}
	p := &pattern{after: after, always: source == ""}
	if p.always {
		return p, nil
	}
	tree, err := syntax.Parse(translated, syntax.Perl)
	if err != nil {
		return nil, err
	}
	if ranges, empty := edgeOf(tree, after); !empty {
		p.edge = newCharset(sorted(ranges))
	}
	items, ok := itemsOf(tree, after)
	if ok {
		if !after {
			slices.Reverse(items)
		}
		for k := range items[:len(items)-1] {
			next := &items[k+1]
			items[k].backtrack = items[k].class != nil && (next.class == nil || next.min == 0 || items[k].class.overlap(next.class))
		}
		p.items = items
		return p, nil
	}
	if after {
		translated = `\A(?:` + translated + `)`
	} else {
		translated = `(?:` + translated + `)\z`
	}
	p.expr, err = regexp.Compile(translated)
	return p, err
}

// matches reports whether the pattern matches at a place of text.
func (p *pattern) matches(text string, at int) bool {
	switch {
	case p.always:
		return true
	case p.expr != nil && p.after:
		return p.expr.MatchString(text[at:forward(text, at+window)])
	case p.expr != nil:
		return p.expr.MatchString(text[backward(text, at-window):at])
	case p.after:
		return matchForward(p.items, text, at)
	}
	return matchBackward(p.items, text, at)
}

// forward and backward are the nearest beginnings of characters.
func forward(text string, at int) int {
	for at < len(text) && !utf8.RuneStart(text[at]) {
		at++
	}
	return min(at, len(text))
}

func backward(text string, at int) int {
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	return max(at, 0)
}

func matchForward(items []item, text string, at int) bool {
	for k := range items {
		it := &items[k]
		if it.boundary {
			if r, width := utf8.DecodeRuneInString(text[at:]); width > 0 && wordSet.has(r) {
				return false
			}
			continue
		}
		if it.words != nil {
			return it.words.after(items[k+1:], text, at)
		}
		n := 0
		for n < it.min {
			width, ok := it.class.next(text, at)
			if !ok {
				return false
			}
			at, n = at+width, n+1
		}
		for n != it.max {
			if k+1 < len(items) && it.backtrack && matchForward(items[k+1:], text, at) {
				return true
			}
			width, ok := it.class.next(text, at)
			if !ok {
				break
			}
			at, n = at+width, n+1
		}
	}
	return true
}

func matchBackward(items []item, text string, at int) bool {
	for k := range items {
		it := &items[k]
		if it.boundary {
			if r, width := utf8.DecodeLastRuneInString(text[:at]); width > 0 && wordSet.has(r) {
				return false
			}
			continue
		}
		if it.words != nil {
			return it.words.before(items[k+1:], text, at)
		}
		n := 0
		for n < it.min {
			width, ok := it.class.last(text, at)
			if !ok {
				return false
			}
			at, n = at-width, n+1
		}
		for n != it.max {
			if k+1 < len(items) && it.backtrack && matchBackward(items[k+1:], text, at) {
				return true
			}
			width, ok := it.class.last(text, at)
			if !ok {
				break
			}
			at, n = at-width, n+1
		}
	}
	return true
}
