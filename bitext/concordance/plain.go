package concordance

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/unicode/rangetable"

	"bitextmine/corpus/surface"
)

// Plain is a text as it is searched: in Unicode NFC, without invisible characters of format such as soft hyphens and
// marks of direction, with the digits of every script as those of ASCII, and with ligatures, subscripts, letters of
// full width and other compatibility forms of letters as the letters that they are read as. Superscripts stay: they are
// footnotes and powers.
type Plain struct {
	Text string
	from []Span // what each byte of Text is written as in the original; nil: Text is the original
}

// asIs are the scripts whose compatibility forms stay: their filters know them, or decomposition makes other letters of
// them. ª and º are superscripts.
var asIs = rangetable.Merge(unicode.Thai, unicode.Lao, unicode.Hangul, unicode.Katakana, rangetable.New('ª', 'º'))

// forms are the characters that are written otherwise, with what they are written as.
var forms = sync.OnceValue(func() map[rune]string {
	of := map[rune]string{'．': "."} // Unicode's tokenizer takes both for the same
	subscripts := &unicode.RangeTable{R16: []unicode.Range16{{Lo: 0x1d62, Hi: 0x1d6a, Stride: 1},
		{Lo: 0x2080, Hi: 0x2089, Stride: 1}, {Lo: 0x2090, Hi: 0x209c, Stride: 1}}}
	rangetable.Visit(rangetable.Merge(unicode.Lu, unicode.Ll, unicode.Lt, unicode.Lo, unicode.Nl, subscripts), func(r rune) {
		as := string(r)
		if norm.NFKC.PropertiesString(as).Decomposition() == nil || unicode.Is(asIs, r) {
			return
		}
		if form := norm.NFKC.String(as); form != norm.NFC.String(as) {
			of[r] = form
		}
	})
	rangetable.Visit(unicode.Nd, func(r rune) {
		if r >= utf8.RuneSelf {
			of[r] = string('0' + surface.Digit(r))
		}
	})
	rangetable.Visit(rangetable.Merge(unicode.Cf, unicode.Variation_Selector), func(r rune) { of[r] = "" })
	return of
})

// common has a bit for each character below 2^16 that stays as it is, whatever stands before it.
var common = sync.OnceValue(func() *[1 << 10]uint64 {
	bits := &[1 << 10]uint64{}
	for r := rune(0); r < 1<<16; r++ {
		as := string(r)
		of := norm.NFC.PropertiesString(as)
		if _, other := forms()[r]; !other && of.CCC() == 0 && of.BoundaryBefore() && norm.NFC.IsNormalString(as) {
			bits[r>>6] |= 1 << (r & 63)
		}
	}
	return bits
})

// isPlain reports whether a text is its own plain form, false if that takes longer to find out.
func isPlain(text string) bool {
	bits := common()
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if r >= 1<<16 || bits[r>>6]&(1<<(r&63)) == 0 {
			return false
		}
		i += size
	}
	return true
}

// PlainOf returns the plain form of a text.
func PlainOf(text string) Plain {
	if isPlain(text) {
		return Plain{Text: text}
	}
	forms := forms()
	composed := norm.NFC.IsNormalString(text)
	if composed && !strings.ContainsFunc(text, func(r rune) bool {
		_, other := forms[r]
		return other
	}) {
		return Plain{Text: text}
	}
	var plain []byte
	var from []Span
	for at := 0; at < len(text); {
		_, size := utf8.DecodeRuneInString(text[at:])
		letter := text[at : at+size]
		if !composed {
			size = norm.NFC.NextBoundaryInString(text[at:], true)
			letter = norm.NFC.String(text[at : at+size])
		}
		for i := 0; i < len(letter); {
			r, width := utf8.DecodeRuneInString(letter[i:])
			if form, other := forms[r]; other {
				plain = append(plain, form...)
			} else {
				plain = append(plain, letter[i:i+width]...)
			}
			i += width
		}
		for len(from) < len(plain) {
			from = append(from, Span{at, at + size})
		}
		at += size
	}
	return Plain{string(plain), from}
}

// Places are where spans of the plain form, which are in order and have a byte each at least, stand in the text. Those
// of one character that is read as several words, such as ﷺ, are one.
func (p Plain) Places(spans []Span) (placed []Span) {
	if p.from == nil {
		return spans
	}
	for _, s := range spans {
		placed = join(placed, Span{p.from[s.Start].Start, p.from[s.End-1].End})
	}
	return placed
}
