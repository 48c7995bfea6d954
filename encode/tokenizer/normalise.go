package tokenizer

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"

	"bitextmine/encode/tokenizer/pattern"
)

// normaliser is a step. It reports whether the text no longer begins where the original text does.
type normaliser func(m *memory, text string) (normal string, moved bool)

// plain is a step that leaves the text at its place.
func plain(step func(string) string) normaliser {
	return func(_ *memory, text string) (string, bool) { return step(text), false }
}

// maxParts bounds sequences in sequences.
const maxParts = 16

var errDepth = fmt.Errorf("it has more than %d sequences in each other", maxParts)

// inTurn reads the parts of a sequence.
func inTurn(all []*part, depth int, read func(p *part, depth int) error) error {
	if depth > maxParts {
		return errDepth
	}
	for _, inner := range all {
		if err := read(inner, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// replaced is the step that puts content in place of what the expression finds.
func (e expression) replaced(content string) (normaliser, error) {
	if s := e.String; s != nil && utf8.RuneCountInString(*s) == 1 && content != "" {
		return plain(func(text string) string { return strings.ReplaceAll(text, *s, content) }), nil
	}
	found, err := e.compile()
	if err != nil {
		return nil, fmt.Errorf("its normalizer replaces a text: %w", err)
	}
	return replacement(found, content), nil
}

// normaliserSettings are the settings of a normalizer, of whatever type.
type normaliserSettings struct {
	All     []*part    `json:"normalizers"`
	Prepend string     `json:"prepend"`
	Left    bool       `json:"strip_left"`
	Right   bool       `json:"strip_right"`
	Pattern expression `json:"pattern"`
	Content string     `json:"content"`
	bertSteps
}

// addNormaliser adds the steps of a normaliser.
func (t *HuggingFace) addNormaliser(p *part, depth int) error {
	if p == nil {
		return nil
	}
	o := normaliserSettings{bertSteps: bertSteps{Clean: true, Chinese: true, Lower: true}}
	if err := json.Unmarshal(p.raw, &o); err != nil {
		return fmt.Errorf("its normalizer cannot be read: %w", err)
	}
	add := func(steps ...normaliser) error {
		t.normalise = append(t.normalise, steps...)
		return nil
	}
	switch p.Type {
	case "Sequence":
		return inTurn(o.All, depth, t.addNormaliser)
	case "Precompiled":
		c, err := newCharsmap(p.raw)
		if err != nil {
			return err
		}
		return add(plain(c.apply))
	case "Replace":
		step, err := o.Pattern.replaced(o.Content)
		if err != nil {
			return err
		}
		return add(step)
	case "Prepend":
		return add(plain(func(text string) string { return strings.Repeat(o.Prepend, min(1, len(text))) + text }))
	case "Strip":
		return add(stripping(o.Left, o.Right))
	case "StripAccents":
		return t.addLetterwise(filtering(func(r rune) bool { return !pattern.Accents.Has(r) }))
	case "Lowercase":
		return t.addLetterwise(plain(LowercaseLetters))
	case "Nmt":
		return t.addLetterwise(filtering(func(r rune) bool { return !nmtRemoved.Has(r) }), plain(nmtSpaces))
	case "BertNormalizer":
		return t.addLetterwise(o.bertSteps.steps()...)
	case "ByteLevel":
		return add(plain(func(text string) string {
			var b strings.Builder
			for i := range len(text) {
				b.WriteString(byteLetters[text[i]])
			}
			return b.String()
		}))
	case "NFC":
		return add(form(norm.NFC))
	case "NFD":
		return t.addLetterwise(form(norm.NFD))
	case "NFKC":
		return add(form(norm.NFKC))
	case "NFKD":
		return t.addLetterwise(form(norm.NFKD))
	}
	return fmt.Errorf("its normalizer has a step of type %q, which cannot be computed", p.Type)
}

// bertSteps are the switches of BERT's normaliser.
type bertSteps struct {
	Clean   bool  `json:"clean_text"`
	Chinese bool  `json:"handle_chinese_chars"`
	Accents *bool `json:"strip_accents"`
	Lower   bool  `json:"lowercase"`
}

func (b bertSteps) steps() []normaliser {
	var all []normaliser
	if b.Clean {
		all = append(all, filtering(func(r rune) bool { return !pattern.Dropped.Has(r) }), plain(func(text string) string {
			return mapped(text, func(r rune) rune {
				if pattern.Spaces.Has(r) {
					return ' '
				}
				return r
			})
		}))
	}
	if b.Chinese {
		all = append(all, plain(spaced))
	}
	if b.Accents != nil && *b.Accents || b.Accents == nil && b.Lower {
		all = append(all, form(norm.NFD), filtering(func(r rune) bool { return !pattern.Marks.Has(r) }))
	}
	if b.Lower {
		all = append(all, plain(LowercaseLetters))
	}
	return all
}

// mapped is strings.Map, but an invalid byte stays what it is.
func mapped(text string, to func(rune) rune) string {
	if !utf8.ValidString(text) {
		return text
	}
	return strings.Map(to, text)
}

// spaced puts spaces around Chinese letters.
func spaced(text string) string {
	if strings.IndexFunc(text, pattern.Chinese.Has) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if pattern.Chinese.Has(r) {
			b.WriteByte(' ')
			b.WriteRune(r)
			b.WriteByte(' ')
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// filtering keeps letters.
func filtering(keep func(rune) bool) normaliser {
	return func(_ *memory, text string) (string, bool) {
		first, _ := utf8.DecodeRuneInString(text)
		return mapped(text, func(r rune) rune {
			if keep(r) {
				return r
			}
			return -1
		}), text != "" && !keep(first)
	}
}

// nmtRemoved are the control characters that the step Nmt removes.
var nmtRemoved = pattern.NewClass([][2]rune{{1, 8}, {0xb, 0xb}, {0xe, 0x1f}, {0x7f, 0x7f}, {0x8f, 0x8f}, {0x9f, 0x9f}})

// nmtSpaces writes what the step Nmt takes for spaces as spaces.
func nmtSpaces(text string) string {
	return mapped(text, func(r rune) rune {
		switch {
		case r == '\t', r == '\n', r == '\f', r == '\r', r == 0x1680, r >= 0x200b && r <= 0x200f, r == 0x2028,
			r == 0x2029, r == 0x2581, r == 0xfeff, r == 0xfffd:
			return ' '
		}
		return r
	})
}

// stripping is the step Strip.
func stripping(left, right bool) normaliser {
	return func(_ *memory, text string) (string, bool) {
		before := len(text)
		if left {
			text = strings.TrimLeftFunc(text, unicode.IsSpace)
		}
		moved := len(text) < before
		if right {
			text = strings.TrimRightFunc(text, unicode.IsSpace)
		}
		return text, moved
	}
}

// replacement is the step Replace. New letters have the place of the last letter that they replace.
func replacement(p *pattern.Pattern, content string) normaliser {
	return func(m *memory, text string) (string, bool) {
		m.matcher.Text = text
		begin, end := p.Find(&m.matcher, 0)
		if begin < 0 {
			return text, false
		}
		_, last := utf8.DecodeLastRuneInString(text[:end])
		moved := begin == 0 && (content == "" || end-last > 0)
		var b strings.Builder
		at := 0
		for ; begin >= 0; begin, end = p.Find(&m.matcher, at) {
			b.WriteString(text[at:begin])
			b.WriteString(content)
			at = end
		}
		b.WriteString(text[at:])
		return b.String(), moved
	}
}

// Lowercase applies Unicode's full lower-casing, as Python's str.lower does, which the published models were trained
// with. strings.ToLower maps letter by letter and differs at İ (two letters in lower case) and at a final Σ.
func Lowercase(s string) string {
	if strings.ContainsAny(s, "İΣ") {
		return cases.Lower(language.Und).String(s)
	}
	return strings.ToLower(s)
}

// LowercaseLetters lower-cases letter by letter, as Hugging Face's library does: a final Σ becomes σ.
func LowercaseLetters(s string) string {
	if strings.Contains(s, "İ") {
		s = strings.ReplaceAll(s, "İ", "i\u0307")
	}
	s = strings.ToLower(s)
	if strings.IndexFunc(s, pattern.LaterUpper) >= 0 {
		s = mapped(s, pattern.LaterLower)
	}
	return s
}

// form is a normal form of Unicode 9, which Hugging Face's library has: letters that a later version decomposes or
// reorders stay where they are.
func form(f norm.Form) normaliser {
	return plain(func(text string) string {
		if f.IsNormalString(text) { // then it was in Unicode 9, too
			return text
		}
		var b strings.Builder
		for text != "" {
			next := strings.IndexFunc(text, pattern.NewForms.Has)
			if next < 0 {
				next = len(text)
			}
			b.WriteString(f.String(text[:next]))
			if text = text[next:]; text != "" {
				_, n := utf8.DecodeRuneInString(text)
				b.WriteString(text[:n])
				text = text[n:]
			}
		}
		return b.String()
	})
}
