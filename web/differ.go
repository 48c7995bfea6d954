package web

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"bitextmine/bitext/concordance"
	"bitextmine/corpus/surface"
	"bitextmine/internal/subtag"
)

// differ finds the numbers and the names of either side that the other lacks. Small numbers, which languages spell
// out, count only if the other side lacks one, too. Names of German have none: every noun has a capital there.
func differ(texts, languages [2]string) (marks [2][]concordance.Span) {
	var numbers [2][]surface.Number
	var spans [2][]numbered
	var features [2]surface.Features
	var sounds [2][]surface.Sound
	written := texts
	for side, text := range texts {
		text = surface.Plain(text)
		texts[side] = text
		numbers[side], spans[side] = numbersIn(text)
		features[side] = surface.Of(languages[side], text)
		sounds[side] = surface.AppendSounds(nil, text)
	}
	var alone [2][]surface.Number
	alone[0], alone[1] = surface.UnpairedNumbers(numbers[0], numbers[1])
	for side := range texts {
		for _, s := range spans[side] {
			if slices.ContainsFunc(s.numbers, func(n surface.Number) bool {
				return slices.Contains(alone[side], n) && (!n.Small || len(alone[1-side]) > 0)
			}) {
				marks[side] = append(marks[side], s.Span)
			}
		}
		if code := subtag.Language(languages[side]); code != "de" && code != "lb" {
			marks[side] = append(marks[side], namesAlone(texts[side], &features[side], &features[1-side], sounds[1-side])...)
		}
		marks[side] = inText(apart(marks[side]), texts[side], written[side])
	}
	return marks
}

// inText moves spans of the plain form of a text to the text.
func inText(spans []concordance.Span, plain, text string) []concordance.Span {
	if plain == text {
		return spans
	}
	offsets := make([]int, 0, len(text)+1)
	for i := range text {
		offsets = append(offsets, i)
	}
	offsets = append(offsets, len(text))
	for i, s := range spans {
		spans[i].Start, spans[i].End = offsets[utf8.RuneCountInString(plain[:s.Start])], offsets[utf8.RuneCountInString(plain[:s.End])]
	}
	return spans
}

type numbered struct {
	concordance.Span
	numbers []surface.Number
}

// numbersIn finds the numbers that are written in digits, with offsets in the text.
func numbersIn(text string) (all []surface.Number, spans []numbered) {
	lower := sameLengthLower(text)
	for i := 0; i < len(lower); {
		r, width := utf8.DecodeRuneInString(lower[i:])
		if !surface.IsDigit(r) {
			i += width
			continue
		}
		found, length := surface.AppendNumbers(nil, lower[i:])
		length = max(length, width)
		all = append(all, found...)
		spans = append(spans, numbered{concordance.Span{Start: i, End: i + length}, found})
		i += length
	}
	return all, spans
}

// sameLengthLower is a text with its letters in lower case, but for those that have more or fewer bytes there, such as
// İ, so that every offset stays.
func sameLengthLower(text string) string {
	lower := []byte(text)
	for i, r := range text {
		if low := unicode.ToLower(r); low != r && utf8.RuneLen(low) == utf8.RuneLen(r) {
			utf8.EncodeRune(lower[i:], low)
		}
	}
	return string(lower)
}

// namesAlone finds names that the other side has neither as they are written nor by their sound.
func namesAlone(text string, own, other *surface.Features, sounds []surface.Sound) (marks []concordance.Span) {
	var heard [][]surface.Sound
	at := 0
	for _, name := range own.Names {
		begin := strings.Index(text[at:], name.Text)
		if begin < 0 {
			continue
		}
		begin += at
		at = begin + len(name.Text)
		if !other.HasForm(name.Hash, name.Stem) {
			marks, heard = append(marks, concordance.Span{Start: begin, End: at}), append(heard, surface.AppendSounds(nil, name.Text))
		}
	}
	var finder surface.Finder
	alone := marks[:0]
	for i, unlike := range finder.Unlike(nil, heard, sounds) {
		if unlike > surface.MaxUnlike {
			alone = append(alone, marks[i])
		}
	}
	return alone
}

// apart puts spans in order and leaves out those that overlap an earlier one.
func apart(spans []concordance.Span) (out []concordance.Span) {
	slices.SortFunc(spans, func(a, b concordance.Span) int { return a.Start - b.Start })
	for _, s := range spans {
		if len(out) == 0 || out[len(out)-1].End <= s.Start {
			out = append(out, s)
		}
	}
	return out
}
