package corpus

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// NormaliseVersion is increased whenever a change to Normalise gives any text another result, and so another key. It is
// written into every shard. Whoever caches results made from normalised text must include it in the cache key.
const NormaliseVersion = 1

// class is the treatment of a rune in Normalise.
type class uint8

const (
	plain    class = iota // kept; NFC never changes it, so a string of only these runes is in NFC
	mark                  // kept; a combining mark that never composes but must be in canonical order
	composed              // kept; NFC may have to compose or decompose it
	space                 // white space and controls: a run of them becomes one U+0020
	joiner                // ZWNJ, ZWJ: kept inside a word, removed at the start of a word
	dropped               // removed: invisible and without meaning to a reader
)

// maxMarks is the maximum number of consecutive combining marks that are checked here. The norm package splits runs of
// 30 with U+034F and must do so on every path.
const maxMarks = 16

// Normalise returns the text that identity is hashed from and that is encoded. It is conservative: sentences that a
// reader would see as different stay different.
//
//   - The result is in Unicode NFC. Compatibility forms (full-width letters, ligatures) are kept apart, as is case.
//   - Every run of Unicode white space becomes one U+0020; none is left at either end.
//   - Control characters (Cc) count as white space, so that removing one never glues two words together. So does
//     U+200B ZERO WIDTH SPACE: it parts words in Khmer, Thai and Burmese, and SentencePiece reads it as a space too.
//   - Soft hyphen, word joiner, byte order mark, bidirectional marks and the other invisible formatting characters are
//     removed: they change the layout, not the sentence.
//   - ZWJ and ZWNJ are kept after a character of a word, for there they spell: Persian plurals, Indic conjuncts, emoji.
//     At the start of a word they join nothing and are removed, so text made of them alone is empty.
//
// Text must be UTF-8, which the readers see to. Normalise(Normalise(s)) == Normalise(s). Text that is already normal is
// returned as it is, without a copy.
func Normalise(text string) string {
	clean, inNFC := inspect(text)
	if !clean {
		text, inNFC = fold(text)
	}
	if !inNFC {
		text = norm.NFC.String(text)
	}
	return text
}

// inspect reports whether text needs no folding, and whether it can be told to be in NFC from its runes' classes.
func inspect(text string) (clean, inNFC bool) {
	table := classes()
	inNFC = true
	wordStart := true
	order := uint8(0) // combining class of the previous mark
	marks := 0        // consecutive runes of class mark
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			i++
			order, marks = 0, 0
			if c > ' ' && c != 0x7f {
				wordStart = false
				continue
			}
			if c != ' ' || wordStart {
				return false, false
			}
			wordStart = true
			continue
		}
		r, width := utf8.DecodeRuneInString(text[i:])
		i += width
		switch table.of(r) {
		case plain:
			order, marks = 0, 0
		case mark:
			marks++
			inNFC = inNFC && table.order[r] >= order && marks <= maxMarks
			order = table.order[r]
		case composed:
			inNFC = false
		case joiner:
			if wordStart {
				return false, false
			}
			order, marks = 0, 0
		default:
			return false, false
		}
		wordStart = false
	}
	return !wordStart || text == "", inNFC
}

// fold applies the white space and invisible character rules to the whole text, and reports as inspect does
// whether the result is in NFC.
func fold(text string) (folded string, inNFC bool) {
	table := classes()
	var b strings.Builder
	b.Grow(len(text))
	inNFC = true
	wordStart := true // nothing of the current word has been written
	gap := false      // there was white space since the last word
	for i := 0; i < len(text); {
		r, width := utf8.DecodeRuneInString(text[i:])
		switch cl := table.of(r); {
		case cl == space:
			gap, wordStart = true, true
		case cl == dropped, cl == joiner && wordStart:
		default:
			if gap && b.Len() > 0 {
				b.WriteByte(' ')
			}
			gap, wordStart = false, false
			inNFC = inNFC && cl != composed && cl != mark
			b.WriteString(text[i : i+width])
		}
		i += width
	}
	return b.String(), inNFC
}

// bmpClasses holds the class of every rune of the basic multilingual plane, and the combining class of its marks. The
// hot path needs one load instead of searches in range tables and tries.
type bmpClasses struct {
	class [1 << 16]class
	order [1 << 16]uint8
}

func (t *bmpClasses) of(r rune) class {
	if r < 1<<16 {
		return t.class[r]
	}
	return composed // rare, so NFC checks these
}

// classes is computed on first use. It takes about two milliseconds, which programs that never normalise save.
var classes = sync.OnceValue(func() *bmpClasses {
	t := new(bmpClasses)
	var buf [utf8.UTFMax]byte
	for r := range rune(1 << 16) {
		t.class[r] = classify(r, buf[:])
		t.order[r] = norm.NFC.Properties(buf[:utf8.EncodeRune(buf[:], r)]).CCC()
	}
	return t
})

func classify(r rune, buf []byte) class {
	switch {
	case unicode.IsSpace(r), unicode.IsControl(r), r == '\u200b':
		return space
	case r == '\u200c', r == '\u200d':
		return joiner
	case isInvisible(r):
		return dropped
	}
	b := buf[:utf8.EncodeRune(buf, r)]
	p := norm.NFC.Properties(b)
	// QuickSpan takes the whole rune only if its NFC quick check is Yes: it neither decomposes nor composes backward.
	switch isYes := norm.NFC.QuickSpan(b) == len(b); {
	case isYes && p.BoundaryBefore():
		return plain
	case isYes && p.CCC() != 0 && p.LeadCCC() == p.CCC() && p.TrailCCC() == p.CCC():
		return mark
	}
	return composed
}

// isInvisible holds for formatting characters that no script needs to spell a word. Kept on purpose: U+180E MONGOLIAN
// VOWEL SEPARATOR, U+034F COMBINING GRAPHEME JOINER, variation selectors, tag characters (flags), and the visible
// Arabic, Syriac and Kaithi signs of category Cf.
func isInvisible(r rune) bool {
	switch {
	case r == '\u00ad', r == '\u061c', r == '\ufeff',
		'\u200e' <= r && r <= '\u200f',
		'\u202a' <= r && r <= '\u202e',
		'\u2060' <= r && r <= '\u206f',
		'\ufff9' <= r && r <= '\ufffb':
		return true
	}
	return false
}

// Key is a sentence's identity across shards and runs: the first 128 bits of the SHA-256 of its normalised text.
type Key [16]byte

// KeyOf hashes text, which must already be normalised.
func KeyOf(normalised string) Key {
	sum := sha256.Sum256([]byte(normalised))
	return Key(sum[:16])
}

// Compare orders keys by their bytes. All ties are broken in this order.
func (k Key) Compare(other Key) int { return bytes.Compare(k[:], other[:]) }

// ParseKey reads a key as String writes it.
func ParseKey(digits string) (k Key, err error) {
	if len(digits) == hex.EncodedLen(len(k)) {
		_, err = hex.Decode(k[:], []byte(digits))
	}
	if err != nil || len(digits) != hex.EncodedLen(len(k)) {
		return k, fmt.Errorf("%q is not the key of a sentence, which has %d hexadecimal digits", digits, hex.EncodedLen(len(k)))
	}
	return k, nil
}

func (k Key) String() string { return hex.EncodeToString(k[:]) }
