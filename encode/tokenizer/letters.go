package tokenizer

import (
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"bitextmine/encode/tokenizer/pattern"
)

// letterwise are steps of a normaliser of which what a letter becomes does not depend on those around it, as one step
// that looks letters up. Each is looked up by the steps themselves when it is first seen.
type letterwise struct {
	steps []normaliser
	table [1 << 16]atomic.Int32 // the letter that replaces one, plus 1, or a value below; 0: not known yet
	texts sync.Map              // letters that become several, and those beyond the table
}

const (
	gone    = -1
	several = -2
	ordered = -3 // it may be a mark that changes places with another one: the text is for the steps
)

// addLetterwise adds steps of a normaliser to those before, if these are of this kind, too.
func (t *HuggingFace) addLetterwise(steps ...normaliser) error {
	if t.letterwise == nil || t.letterwiseAt != len(t.normalise) {
		t.letterwise, t.letterwiseAt = &letterwise{}, len(t.normalise)+1
		t.normalise = append(t.normalise, t.letterwise.normalise)
	}
	t.letterwise.steps = append(t.letterwise.steps, steps...)
	return nil
}

func (l *letterwise) of(r rune) int32 {
	if int(r) >= len(l.table) {
		text, ok := l.texts.Load(r)
		if !ok {
			text = l.text(r)
			l.texts.Store(r, text)
		}
		if isOrdered(text.(string)) {
			return ordered
		}
		return several
	}
	if known := l.table[r].Load(); known != 0 {
		return known
	}
	text := l.text(r)
	became, n := utf8.DecodeRuneInString(text)
	found := became + 1
	if n < len(text) {
		l.texts.Store(r, text)
		found = several
	}
	if text == "" {
		found = gone
	}
	if isOrdered(text) {
		found = ordered
	}
	l.table[r].Store(found)
	return found
}

// isOrdered reports whether a text has a mark with a place among others.
func isOrdered(text string) bool {
	for _, letter := range text {
		if norm.NFD.PropertiesString(string(letter)).CCC() != 0 {
			return true
		}
	}
	return false
}

// text returns the text that the steps make of a letter alone.
func (l *letterwise) text(r rune) string {
	text := string(r)
	for _, step := range l.steps {
		text, _ = step(nil, text)
	}
	return text
}

func (l *letterwise) normalise(m *memory, text string) (normal string, moved bool) {
	if !utf8.ValidString(text) {
		return l.inTurn(m, text)
	}
	changed := false
	for at, r := range text {
		became := l.of(r)
		if became == r+1 {
			if changed {
				m.letters = utf8.AppendRune(m.letters, r)
			}
			continue
		}
		if became == ordered {
			return l.inTurn(m, text)
		}
		if !changed {
			changed = true
			m.letters = append(m.letters[:0], text[:at]...)
		}
		switch became {
		case gone:
			moved = moved || at == 0
		case several:
			all, _ := l.texts.Load(r)
			m.letters = append(m.letters, all.(string)...)
			moved = moved || at == 0 && all == ""
		default:
			m.letters = utf8.AppendRune(m.letters, became-1)
		}
	}
	if !changed {
		return text, false
	}
	return string(m.letters), moved
}

// inTurn applies the steps to the whole text.
func (l *letterwise) inTurn(m *memory, text string) (string, bool) {
	moved := false
	for _, step := range l.steps {
		var here bool
		text, here = step(m, text)
		moved = moved || here
	}
	return text, moved
}

// bertSplit splits a piece at white space, and makes pieces of punctuation: BERT's pre-tokeniser.
func bertSplit(m *memory, p piece) {
	begin := 0
	for at := 0; at < len(p.text); {
		r, n := pattern.LetterAt(p.text, at)
		if blank, mark := pattern.Spaces.Has(r), pattern.Punctuation.Has(r); blank || mark {
			m.add(p.text[begin:at], p.start && begin == 0)
			if !blank {
				m.add(p.text[at:at+n], p.start && at == 0)
			}
			begin = at + n
		}
		at += n
	}
	m.add(p.text[begin:], p.start && begin == 0)
}
