package tokenizer

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"bitextmine/encode/model"
	"bitextmine/encode/sentencepiece"
	"bitextmine/encode/tokenizer/pattern"
	"bitextmine/internal/badinput"
)

// addedToken is an entry of added_tokens: a text that is one token wherever it stands.
type addedToken struct {
	ID         int32  `json:"id"`
	Content    string `json:"content"`
	Word       bool   `json:"single_word"`
	Left       bool   `json:"lstrip"` // spaces before it belong to it
	Right      bool   `json:"rstrip"`
	Normalised bool   `json:"normalized"` // it is looked for in the normalised text
}

// finder finds added tokens: the longest at the first place.
type finder struct {
	trie   *sentencepiece.Trie
	tokens []addedToken
	first  [256]bool // bytes that tokens begin with
}

func newFinder(tokens []addedToken, spellings []string) (*finder, error) {
	if len(tokens) == 0 {
		return nil, nil
	}
	f := &finder{tokens: tokens}
	for i, s := range spellings {
		if s == "" {
			return nil, fmt.Errorf("its added token %q is nothing once it is normalised", tokens[i].Content)
		}
		f.first[s[0]] = true
	}
	var twice bool
	if f.trie, twice = sentencepiece.NewTrie(spellings); f.trie == nil || twice {
		return nil, fmt.Errorf("two of its added tokens are spelled alike, or one has a zero byte")
	}
	return f, nil
}

// addTokens reads the added tokens. Hugging Face's library numbers those that the model does not have in their order,
// so a file that says otherwise means another tokeniser.
func (t *HuggingFace) addTokens(all []addedToken) error {
	next := int32(t.pieces)
	var raw, normal []addedToken
	var rawText, normalText []string
	for _, a := range all {
		if a.Content == "" {
			continue
		}
		id, ok := t.ids[a.Content]
		if !ok {
			id = next
			next++
		}
		if id != a.ID {
			return fmt.Errorf("its added token %q has the id %d, but is number %d of its vocabulary", a.Content, a.ID, id)
		}
		t.ids[a.Content] = id
		t.size = max(t.size, int(id)+1)
		if !a.Normalised {
			raw, rawText = append(raw, a), append(rawText, a.Content)
			continue
		}
		normal, normalText = append(normal, a), append(normalText, t.normalised(new(memory), a.Content))
	}
	var err error
	if t.raw, err = newFinder(raw, rawText); err != nil {
		return err
	}
	t.normal, err = newFinder(normal, normalText)
	return err
}

// normalised is a text after all steps.
func (t *HuggingFace) normalised(m *memory, text string) string {
	for _, step := range t.normalise {
		text, _ = step(m, text)
	}
	return text
}

// split adds the tokens in a text, and what is between them.
func (f *finder) split(m *memory, text string, start bool) {
	last := 0
	for at := 0; f != nil && at < len(text); {
		if !f.first[text[at]] {
			at++
			continue
		}
		n := f.trie.Longest(text[at:])
		if n == 0 {
			at++
			continue
		}
		i, _ := f.trie.Find(text[at : at+n])
		begin, end, token := at, at+n, &f.tokens[i]
		at = end
		if token.Word && (endsWord(text[:begin]) || beginsWord(text[end:])) {
			continue
		}
		if token.Left {
			begin = max(len(strings.TrimRightFunc(text[:begin], pattern.Spaces.Has)), last)
		}
		if token.Right {
			end = len(text) - len(strings.TrimLeftFunc(text[end:], pattern.Spaces.Has))
		}
		if last < begin {
			m.add(text[last:begin], start && last == 0)
		}
		m.pieces = append(m.pieces, piece{text[begin:max(begin, end)], token.ID, false})
		last = end
	}
	if last < len(text) {
		m.add(text[last:], start && last == 0)
	}
}

func endsWord(s string) bool {
	r, n := utf8.DecodeLastRuneInString(s)
	return n > 0 && pattern.RustWord.Has(r)
}

func beginsWord(s string) bool {
	r, n := utf8.DecodeRuneInString(s)
	return n > 0 && pattern.RustWord.Has(r)
}

// fairseqSpecials is the number of ids that fairseq reserves before the first line of a dictionary: <s>, <pad>, </s>
// and <unk>.
const (
	fairseqSpecials = 4
	fairseqUnknown  = 3
)

// idMap maps ids of the tokenizer's file to ids of the graph.
type idMap struct {
	graph    []int32 // [pieces in the file]
	bos, eos []int32 // one id each, or none
}

func newIDMap(m *model.Model, s splitter) (idMap, error) {
	n := idMap{graph: make([]int32, s.Size())}
	for id := range n.graph {
		n.graph[id] = int32(id) + m.Tokenizer.Offset
	}
	if m.Tokenizer.Dictionary != "" {
		if err := n.readDictionary(m, s); err != nil {
			return n, err
		}
	}
	ids := make([][]int32, 0, 4)
	for _, special := range m.Tokenizer.Specials() {
		id, err := n.special(m, s, special)
		if err != nil {
			return n, err
		}
		ids = append(ids, id)
	}
	n.bos, n.eos = ids[0], ids[1]
	if unknown := ids[3]; unknown != nil && s.Unknown() >= 0 {
		n.graph[s.Unknown()] = unknown[0]
	}
	for id, number := range n.graph {
		if number < 0 {
			return n, badinput.Errorf(
				"%s: with tokenizer.offset %d, id %d of %s becomes negative: correct the offset",
				m.Where(), m.Tokenizer.Offset, id, m.Tokenizer.File)
		}
	}
	return n, nil
}

// special resolves a special token to a slice of one id, or to none if the token is not set.
func (n idMap) special(m *model.Model, s splitter, special model.Special) ([]int32, error) {
	if special.Token == nil {
		return nil, nil
	}
	if special.Token.Piece == "" {
		return []int32{special.Token.ID}, nil
	}
	id, ok := s.ID(special.Token.Piece)
	if !ok {
		return nil, badinput.Errorf(
			"%s: %s is %q, which is not a piece of %s: give one that is, or the graph's id",
			m.Where(), special.Field, special.Token.Piece, m.Tokenizer.File)
	}
	return []int32{n.graph[id]}, nil
}

// readDictionary numbers the pieces as fairseq does: its special symbols, then the lines ("piece count") of the
// dictionary in order. A piece without a line gets the unknown id.
func (n idMap) readDictionary(m *model.Model, s splitter) error {
	data, err := m.ReadFile(m.Tokenizer.Dictionary)
	if err != nil {
		return err
	}
	for id := range n.graph {
		n.graph[id] = fairseqUnknown
	}
	lines := bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	if len(lines) > math.MaxInt32-fairseqSpecials {
		return fmt.Errorf("read %s: too many lines", m.Path(m.Tokenizer.Dictionary))
	}
	known := 0
	for i, line := range lines {
		cut := bytes.LastIndexByte(line, ' ')
		if cut < 1 {
			return badinput.Errorf(
				"%s:%d of encoder %s is not a piece, a space and a count: name fairseq's dictionary in tokenizer.dictionary",
				m.Path(m.Tokenizer.Dictionary), i+1, m.Name)
		}
		if id, ok := s.ID(string(line[:cut])); ok {
			n.graph[id] = int32(i + fairseqSpecials)
			known++
		}
	}
	if known == 0 {
		return badinput.Errorf("%s of encoder %s has no piece of %s: the two belong to different models",
			m.Path(m.Tokenizer.Dictionary), m.Name, m.Tokenizer.File)
	}
	return nil
}

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
