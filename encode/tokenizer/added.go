package tokenizer

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"bitextmine/encode/sentencepiece"
	"bitextmine/encode/tokenizer/pattern"
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
