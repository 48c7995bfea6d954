package tokenizer

import "bitextmine/encode/tokenizer/pattern"

// byteLetters are the letters that byte-level models write bytes with, as GPT-2's tokeniser does: printable bytes of
// Latin-1 are themselves, and the others are the letters from U+0100 in their order.
var byteLetters = func() (all [256]string) {
	next := rune(0x100)
	for b := range all {
		r := rune(b)
		if b < '!' || b > '~' && b < 0xa1 || b == 0xad {
			r = next
			next++
		}
		all[b] = string(r)
	}
	return all
}()

// gpt2 splits a text into the words of GPT-2.
const gpt2 = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

// byteLevel writes the bytes of words as letters.
func byteLevel(prefix, regex bool) step {
	split := func(m *memory, p piece) { m.add(p.text, p.start) }
	if regex {
		words, err := pattern.Parse(gpt2)
		if err != nil {
			panic(err) // the expression is a constant
		}
		split = cutter{pattern: words}.step(isolated)
	}
	return func(m *memory, p piece) {
		if prefix && p.text[0] != ' ' {
			p.text = " " + p.text
		}
		first := len(m.pieces)
		split(m, p)
		writeBytes(m, m.pieces[first:])
	}
}

// writeBytes writes the bytes of pieces as letters. Their texts are parts of one string.
func writeBytes(m *memory, pieces []piece) {
	m.letters, m.ends = m.letters[:0], m.ends[:0]
	for _, p := range pieces {
		for i := range len(p.text) {
			m.letters = append(m.letters, byteLetters[p.text[i]]...)
		}
		m.ends = append(m.ends, len(m.letters))
	}
	all, begin := string(m.letters), 0
	for i, end := range m.ends {
		pieces[i].text, begin = all[begin:end], end
	}
}
