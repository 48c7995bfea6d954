package surface

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sound is a class of letters that languages and scripts write for one another: p and b, k, g and q. A text is a
// sequence of them, with a mark before each word.
type Sound uint8

// The classes. A wordStart stands before a word, a syllableStart where a word may begin in a script without spaces.
const (
	wordStart Sound = iota
	syllableStart
	soundP
	soundF
	soundW
	soundT
	soundS
	soundC // Latin c and ch: s or k
	soundK
	soundH
	soundJ // Latin j: an i, or as in Jean, Juan
	soundM
	soundN
	soundL
	soundR
	soundI
	soundE
	soundA
	soundO
	soundU
	soundCount
)

// isVowel says of a class whether scripts may leave it out.
func (s Sound) isVowel() bool { return s >= soundI }

// soundLetters are the classes as the tables of this package write them.
const soundLetters = " .PFWTSCKHJMNLRIEAOU"

// AppendSounds appends the sounds of a text's words. Equal neighbours are one: double letters, and dt or ck.
func AppendSounds(to []Sound, text string) []Sound {
	inside := false
	for i := 0; i < len(text); {
		r, width := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, width = utf8.DecodeRuneInString(text[i:])
		}
		if !soundsIn(r) {
			if inside && !joins(r) {
				inside = false
			}
			i += width
			continue
		}
		if !inside {
			to = append(to, wordStart)
		}
		inside = true
		if r < utf8.RuneSelf || unicode.Is(unicode.Latin, r) {
			to = latinSound(to, text, i, width)
		} else {
			to = scriptSound(to, r)
		}
		i += width
	}
	return to
}

// joins says whether a rune is part of a word without a sound: an apostrophe or an accent.
func joins(r rune) bool {
	return r == '\'' || r == '’' || r >= utf8.RuneSelf && unicode.Is(unicode.M, r)
}

// soundsIn says whether a rune has a sound.
func soundsIn(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	if 0xAC00 <= r && r <= 0xD7A3 {
		return true
	}
	if _, ok := scriptSounds[r]; ok {
		return true
	}
	return unicode.Is(unicode.Latin, r) || unicode.Is(unicode.Cyrillic, r) || unicode.Is(unicode.Greek, r)
}

// push appends a class unless it is the last one.
func push(to []Sound, sounds ...Sound) []Sound {
	for _, s := range sounds {
		if len(to) == 0 || to[len(to)-1] != s {
			to = append(to, s)
		}
	}
	return to
}

// latinSound appends the sound of the Latin letter at a byte, which depends on its neighbours.
func latinSound(to []Sound, text string, at, width int) []Sound {
	r := Fold(text[at : at+width])
	next := byte(0)
	if at+width < len(text) {
		next = text[at+width] | 0x20 // in lower case
	}
	switch {
	case r == 'h':
		if last := to[len(to)-1]; last != wordStart && !last.isVowel() {
			return to // ch, kh, th
		}
	case r == 'p' && next == 'h':
		return push(to, soundF)
	case r == 'c' && (next == 'e' || next == 'i' || next == 'y' || next == 'z'), r == 's' && next == 'c':
		return push(to, soundS)
	case r == 'o' && next == 'u':
		return to // as French writes u
	case r == 'x':
		return push(to, soundK, soundS)
	case r < utf8.RuneSelf:
	default:
		if s, ok := latinLetters[r]; ok {
			return push(to, s)
		}
		return to
	}
	if 'a' <= r && r <= 'z' {
		return push(to, asciiSounds[r-'a'])
	}
	return to
}

// asciiSounds are the classes of a to z.
var asciiSounds = func() (sounds [26]Sound) {
	for i, letter := range []byte("APCTEFKHIJKLMNOPKRSTUFWSIS") {
		sounds[i] = Sound(strings.IndexByte(soundLetters, letter))
	}
	return sounds
}()

var latinLetters = map[rune]Sound{
	'ł': soundL, 'ø': soundO, 'đ': soundT, 'ð': soundT, 'þ': soundT, 'ı': soundI, 'æ': soundE, 'œ': soundE, 'ß': soundS, 'ə': soundE, 'ħ': soundH,
}

// scriptSound appends the sounds of a rune of another script.
func scriptSound(to []Sound, r rune) []Sound {
	if 0xAC00 <= r && r <= 0xD7A3 {
		return hangulSound(to, r)
	}
	sounds, ok := scriptSounds[r]
	if !ok {
		if sounds, ok = scriptSounds[Fold(string(r))]; !ok {
			return to
		}
	}
	for _, s := range sounds {
		switch {
		case s == dropVowel: // a small kana or a sign takes the place of the syllable's vowel
			if last := len(to) - 1; to[last].isVowel() {
				to = to[:last]
			}
		case s == dropSound:
			if last := len(to) - 1; to[last] > syllableStart {
				to = to[:last]
			}
		case s == syllableStart && to[len(to)-1] <= syllableStart:
		default:
			to = push(to, s)
		}
	}
	return to
}

// hangulSound appends the sounds of a Korean syllable, which Unicode composes of up to three letters.
func hangulSound(to []Sound, r rune) []Sound {
	const vowels, finals = 21, 28
	n := int(r - 0xAC00)
	for _, sounds := range [][]Sound{hangulInitials[n/(vowels*finals)], hangulVowels[n/finals%vowels], hangulFinals[n%finals]} {
		to = push(to, sounds...)
	}
	return to
}
