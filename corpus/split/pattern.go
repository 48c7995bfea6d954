package split

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"sort"
	"sync"
	"unicode/utf8"
)

// window is the number of bytes before and after a place that patterns see.
const window = 128

// maxSteps is how many characters matching the items of a pattern may test. Where that is not enough, because a class
// repeats without end or repetitions follow each other, an expression decides by the window: a step at every place of a
// text, times its length or a power of it, would take hours.
const maxSteps = 1 << 8

// The size of patterns: the states of an expression. Rules of all languages together have some ten thousand.
const (
	maxPatternSize = 20_000
	maxSize        = 1_000_000 // all patterns of a file together
)

// pattern matches the text before a place or after it.
type pattern struct {
	items  []item                // items in matching order, outwards from the place; nil with expression
	expr   *regexp.Regexp        // expression for a pattern that is not a sequence of items
	late   func() *regexp.Regexp // expression for where items take too many steps
	size   int
	always bool     // it matches everywhere
	edge   *charset // the characters that may be next to the place; nil: any, or none
	after  bool
}

// item is some characters of a class, or one of some words.
type item struct {
	class    *charset
	min, max int // bounds of the count; max -1: any number
	words    *words
	boundary bool // the beginning of the text, or a character outside words
	// rest has the characters that what follows the item may begin with, if that is known: those of ASCII, and all
	// others. A run of the class ends where it can go on no longer, or, with backtrack, where the rest matches.
	rest      *[utf8.RuneSelf + 1]bool
	backtrack bool // the rest may begin with a character of the class, so that a run of it may have to be shorter
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
	if p.size = sizeOf(tree); p.size > maxPatternSize {
		return nil, fmt.Errorf("its repetitions have more than %d states", maxPatternSize)
	}
	if after {
		translated = `\A(?:` + translated + `)`
	} else {
		translated = `(?:` + translated + `)\z`
	}
	if ranges, empty := edgeOf(tree, after); !empty {
		p.edge = newCharset(sorted(ranges))
	}
	items, ok := itemsOf(tree, after)
	if ok {
		if !after {
			slices.Reverse(items)
		}
		if last := len(items) - 1; last >= 0 && items[last].class != nil {
			items[last].max = items[last].min // nobody asks how long the match is
		}
		lookAhead(items)
		p.items, p.late = items, sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(translated) })
		return p, nil
	}
	p.expr, err = regexp.Compile(translated)
	return p, err
}

// lookAhead finds what the rest of the items after each may begin with.
func lookAhead(items []item) {
	var ranges []rune // first characters of the items after k
	known := false    // ranges is complete; false at the end, where anything may follow
	for k := len(items) - 1; k >= 0; k-- {
		it := &items[k]
		if known {
			rest := newCharset(sorted(ranges))
			it.rest = new([utf8.RuneSelf + 1]bool)
			copy(it.rest[:], rest.ascii[:])
			it.rest[utf8.RuneSelf] = true
			it.backtrack = it.class != nil && it.class.overlap(rest)
		} else {
			it.backtrack = it.class != nil && k < len(items)-1
		}
		switch {
		case it.class == nil:
			ranges, known = nil, false
		case it.min > 0:
			ranges, known = it.class.ranges, true
		default:
			ranges = append(slices.Clip(ranges), it.class.ranges...)
		}
	}
}

// mayGoOn reports whether the rest after an item may match from the byte at a place, which may be outside of the text.
func (it *item) mayGoOn(text string, at int) bool {
	return it.rest == nil || at >= 0 && at < len(text) && it.rest[min(text[at], utf8.RuneSelf)]
}

// matches reports whether the pattern matches at a place of text.
func (p *pattern) matches(text string, at int) bool {
	switch {
	case p.always:
		return true
	case p.expr != nil:
		return p.inWindow(p.expr, text, at)
	}
	match := matchBackward
	if p.after {
		match = matchForward
	}
	steps := maxSteps
	if ok := match(p.items, text, at, &steps); ok || steps >= 0 {
		return ok
	}
	return p.inWindow(p.late(), text, at)
}

// inWindow reports whether the pattern's expression matches at a place.
func (p *pattern) inWindow(expr *regexp.Regexp, text string, at int) bool {
	if p.after {
		return expr.MatchString(text[at:forward(text, at+window)])
	}
	return expr.MatchString(text[backward(text, at-window):at])
}

// sizeOf is about the number of states of an expression, at most maxSize+1.
func sizeOf(tree *syntax.Regexp) int {
	size := 1
	for _, sub := range tree.Sub {
		size = min(size+sizeOf(sub), maxSize+1)
	}
	switch tree.Op {
	case syntax.OpLiteral:
		size = len(tree.Rune)
	case syntax.OpCharClass:
		size += len(tree.Rune) / 16
	case syntax.OpRepeat:
		size *= max(tree.Min, tree.Max, 1)
	default: // the parts' sum
	}
	return min(size, maxSize+1)
}

// mayMatch is false only where a pattern of text after a place does not match: it looks at its first item and what
// follows that.
func (p *pattern) mayMatch(text string, at int) bool {
	if len(p.items) == 0 || p.items[0].class == nil || p.items[0].min == 0 {
		return true
	}
	it := &p.items[0]
	width, ok := it.class.next(text, at)
	if !ok || it.min > 1 {
		return ok
	}
	if it.mayGoOn(text, at+width) {
		return true
	}
	_, ok = it.class.next(text, at+width)
	return ok && it.max != 1
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

// matchForward takes steps away for each character that it tests. If less than none are left, it has not found out.
func matchForward(items []item, text string, at int, steps *int) bool {
	for k := range items {
		it := &items[k]
		if it.boundary {
			if r, width := utf8.DecodeRuneInString(text[at:]); width > 0 && wordSet.has(r) {
				return false
			}
			continue
		}
		if it.words != nil {
			return it.words.after(items[k+1:], text, at, steps)
		}
		n := 0
		for n < it.min {
			*steps--
			width, ok := it.class.next(text, at)
			if !ok || *steps < 0 {
				return false
			}
			at, n = at+width, n+1
		}
		for n != it.max {
			if it.backtrack && it.mayGoOn(text, at) && matchForward(items[k+1:], text, at, steps) {
				return true
			}
			if *steps--; *steps < 0 {
				return false
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

func matchBackward(items []item, text string, at int, steps *int) bool {
	for k := range items {
		it := &items[k]
		if it.boundary {
			if r, width := utf8.DecodeLastRuneInString(text[:at]); width > 0 && wordSet.has(r) {
				return false
			}
			continue
		}
		if it.words != nil {
			return it.words.before(items[k+1:], text, at, steps)
		}
		n := 0
		for n < it.min {
			*steps--
			width, ok := it.class.last(text, at)
			if !ok || *steps < 0 {
				return false
			}
			at, n = at-width, n+1
		}
		for n != it.max {
			if it.backtrack && it.mayGoOn(text, at-1) && matchBackward(items[k+1:], text, at, steps) {
				return true
			}
			if *steps--; *steps < 0 {
				return false
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

// charset is a class of characters.
type charset struct {
	ascii  [utf8.RuneSelf]bool
	ranges []rune // pairs of first and last, ascending
}

func newCharset(ranges []rune) *charset {
	c := &charset{ranges: ranges}
	for r := range rune(utf8.RuneSelf) {
		c.ascii[r] = c.among(r)
	}
	return c
}

func (c *charset) among(r rune) bool {
	k := sort.Search(len(c.ranges)/2, func(k int) bool { return c.ranges[2*k+1] >= r })
	return 2*k < len(c.ranges) && c.ranges[2*k] <= r
}

func (c *charset) has(r rune) bool {
	if r < utf8.RuneSelf {
		return c.ascii[r]
	}
	return c.among(r)
}

// next returns the width of the character at a place, and whether it belongs to the class.
func (c *charset) next(text string, at int) (int, bool) {
	if at < len(text) && text[at] < utf8.RuneSelf {
		return 1, c.ascii[text[at]]
	}
	return c.nextWide(text, at)
}

func (c *charset) nextWide(text string, at int) (int, bool) {
	if at >= len(text) {
		return 0, false
	}
	r, width := utf8.DecodeRuneInString(text[at:])
	return width, c.among(r)
}

// last returns the width of the character before a place, and whether it belongs to the class.
func (c *charset) last(text string, at int) (int, bool) {
	if at > 0 && text[at-1] < utf8.RuneSelf {
		return 1, c.ascii[text[at-1]]
	}
	return c.lastWide(text, at)
}

func (c *charset) lastWide(text string, at int) (int, bool) {
	if at <= 0 {
		return 0, false
	}
	r, width := utf8.DecodeLastRuneInString(text[:at])
	return width, c.among(r)
}

// overlap reports whether two classes have a character in common.
func (c *charset) overlap(d *charset) bool {
	for i, j := 0, 0; i < len(c.ranges) && j < len(d.ranges); {
		if c.ranges[i] <= d.ranges[j+1] && d.ranges[j] <= c.ranges[i+1] {
			return true
		}
		if c.ranges[i+1] < d.ranges[j+1] {
			i += 2
		} else {
			j += 2
		}
	}
	return false
}
