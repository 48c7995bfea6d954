// Package tokenizer turns text into the ids that an encoder's graph gets.
//
// The tokenizer's file (SentencePiece or WordPiece) splits a text into pieces and numbers them. The manifest (package
// model) says how these numbers become ids of the graph, and which special tokens and prefix a text gets.
package tokenizer

import (
	"fmt"
	"maps"
	"slices"

	"bitextmine/encode/model"
	"bitextmine/encode/sentencepiece"
	"bitextmine/internal/badinput"
)

// Vocabulary is the open tokenizer of a model: it turns text into the ids that the model's graph gets. All methods may
// be called from any number of goroutines. Close must be called last.
type Vocabulary struct {
	splitter
	model *model.Model
	ids   idMap
}

// Open opens the tokenizer of a model.
func Open(m *model.Model) (*Vocabulary, error) {
	s, err := newSplitter(m)
	if err != nil {
		return nil, err
	}
	n, err := newIDMap(m, s)
	if err != nil {
		s.Close()
		return nil, err
	}
	v := &Vocabulary{s, m, n}
	if err := v.checkPrefixes(); err != nil {
		v.Close()
		return nil, err
	}
	return v, nil
}

// checkPrefixes refuses a prefix whose text takes all the room, so that every sentence would get the same ids. Validate
// counts only the tokens that the manifest lists.
func (v *Vocabulary) checkPrefixes() error {
	for _, language := range slices.Sorted(maps.Keys(v.model.Prefixes)) {
		prefix := v.model.Prefixes[language]
		ids, err := v.idsOf(prefix.Text)
		if err != nil {
			return err
		}
		if room := v.model.Room(prefix); len(ids) >= room {
			return badinput.Errorf("%s: %s", v.model.Where(),
				v.model.NoRoom(v.model.MaxTokens-room+len(ids), language))
		}
	}
	return nil
}

// OpenIn opens a tokenizer whose files are in dir, without a graph: a trainer turns text into the ids that the exported
// graph will get.
func OpenIn(dir string, t model.Tokenizer) (*Vocabulary, error) {
	m, err := model.OnlyTokenizer(dir, t)
	if err != nil {
		return nil, err
	}
	return Open(m)
}

// Tokenize appends to s the graph's input for each text: BOS, prefix, the text's own ids truncated to what max_tokens
// leaves, EOS. A text without any id becomes one unknown token, because an empty sequence has no vector; of a tokenizer
// without one it becomes BOS and EOS, or the id 0 if they are missing, too. texts is overwritten.
func (v *Vocabulary) Tokenize(s *Sequences, prefix model.Prefix, texts []string) error {
	for i := range texts {
		texts[i] = v.lowered(prefix.Text, texts[i])
	}
	err := v.Encode(texts, v.model.Room(prefix), func(_ int, ids []int32) {
		s.IDs = append(s.IDs, v.ids.bos...)
		s.IDs = append(s.IDs, prefix.Tokens...)
		for _, id := range ids {
			s.IDs = append(s.IDs, v.ids.graph[id])
		}
		if unknown := v.Unknown(); len(ids) == 0 && (unknown >= 0 || len(v.ids.bos)+len(v.ids.eos) == 0) {
			s.IDs = append(s.IDs, v.ids.graph[max(unknown, 0)])
		}
		s.Add(v.ids.eos)
	})
	if err != nil {
		return fmt.Errorf("tokenise for encoder %s: %w", v.model.Name, err)
	}
	return nil
}

// lowered puts a prefix before a text and lower-cases both, as Hugging Face's library does, and writes the text's
// punctuation, if the model's tokenizer does. Moses would trim the prefix.
func (v *Vocabulary) lowered(prefix, text string) string {
	if v.model.Tokenizer.Punctuation == model.Moses {
		text = Moses(text)
	}
	text = prefix + text
	switch t := &v.model.Tokenizer; {
	case !t.Lowercase:
		return text
	case t.Kind == "wordpiece":
		return LowercaseLetters(text)
	default:
		return Lowercase(text)
	}
}

// Own returns the part of a sequence that is the text's own, without what Tokenize put before and after it, and the
// number of ids before it.
type Own func(ids []int32) (own []int32, before int)

// Own cuts sequences that have a prefix. Of a text's ids those are left out that a sequence begins with: the last may
// be joined with the sentence.
func (v *Vocabulary) Own(prefix model.Prefix) (Own, error) {
	ids := len(v.ids.bos) + len(prefix.Tokens)
	text, err := v.idsOf(prefix.Text)
	return func(all []int32) (own []int32, before int) {
		own = all[ids : len(all)-len(v.ids.eos)]
		n := 0
		for n < min(len(text), len(own)) && own[n] == text[n] {
			n++
		}
		return own[n:], ids + n
	}, err
}

// idsOf returns the graph's ids of a prefix's text.
func (v *Vocabulary) idsOf(text string) (all []int32, err error) {
	if text == "" {
		return nil, nil
	}
	err = v.Encode([]string{v.lowered(text, "")}, v.model.MaxTokens+len(text), func(_ int, ids []int32) {
		for _, id := range ids {
			all = append(all, v.ids.graph[id])
		}
	})
	return all, err
}

// Frame returns the ids before and after a text's own ids in a language: special tokens and the language's prefix.
func (v *Vocabulary) Frame(language string) (before, after []int32, err error) {
	prefix, err := v.model.Prefix(language)
	if err != nil {
		return nil, nil, err
	}
	text, err := v.idsOf(prefix.Text)
	return slices.Concat(v.ids.bos, prefix.Tokens, text), slices.Clone(v.ids.eos), err
}

// Number returns the graph's id for an id of the tokenizer.
func (v *Vocabulary) Number(id int32) int32 { return v.ids.graph[id] }

// Ends returns the graph's ids before and after every sentence: one each, or none.
func (v *Vocabulary) Ends() (bos, eos []int32) { return v.ids.bos, v.ids.eos }

// Rows is the number of rows that an embedding table needs for all ids of the graph.
func (v *Vocabulary) Rows() int {
	most := slices.Max(v.ids.graph)
	for _, id := range slices.Concat(v.ids.bos, v.ids.eos) {
		most = max(most, id)
	}
	return int(most) + 1
}

// Pieces returns the spellings of the graph's ids, empty where an id has none. It is nil if the tokenizer is not
// SentencePiece.
func (v *Vocabulary) Pieces() []string {
	model, ok := v.splitter.(*sentencepiece.Model)
	if !ok {
		return nil
	}
	pieces := make([]string, v.Rows())
	for id, number := range v.ids.graph {
		pieces[number] = model.Piece(int32(id))
	}
	return pieces
}

// splitter turns texts into ids of the tokenizer's file. All methods may be called from any number of goroutines. Close
// must be called last.
type splitter interface {
	// Encode calls yield once for every text, in order, with its ids truncated to the first maxIDs. yield must not
	// retain the slice.
	Encode(texts []string, maxIDs int, yield func(i int, ids []int32)) error
	// Size is the number of pieces; every id is less than it.
	Size() int
	// ID returns the id of a piece, and false if the file does not have it.
	ID(piece string) (int32, bool)
	// Unknown is the id for text that the file has no piece for, or -1 if it has pieces for any text.
	Unknown() int32
	Close()
}

func newSplitter(m *model.Model) (splitter, error) {
	data, err := m.ReadFile(m.Tokenizer.File)
	if err != nil {
		return nil, err
	}
	var s splitter
	switch m.Tokenizer.Kind {
	case "sentencepiece":
		s, err = sentencepiece.New(data)
	case "wordpiece":
		s, err = NewWordPiece(data, WordPieceOptions{StripAccents: m.Tokenizer.StripAccents})
	case "huggingface":
		s, err = NewHuggingFace(data)
	}
	if err != nil {
		return nil, badinput.Errorf("%s of encoder %s (tokenizer.file in its manifest): %w", m.Path(m.Tokenizer.File),
			m.Name, err)
	}
	return s, nil
}

// TokenizePairs appends to s the graph's input for each pair of a judge: BOS, the first sentence, the tokens between
// them, the second sentence, EOS. Of a pair that is longer than max_tokens the longer sentence loses tokens at its end
// until both are equally long, and then both.
func (v *Vocabulary) TokenizePairs(s *Sequences, pairs [][2]string) error {
	between := v.model.Judge.Between
	room := v.model.Room(model.Prefix{}) - len(between)
	var sides [2]Sequences
	for side := range sides {
		texts := make([]string, len(pairs))
		for i, pair := range pairs {
			texts[i] = v.lowered("", pair[side])
		}
		err := v.Encode(texts, room, func(_ int, ids []int32) {
			for _, id := range ids {
				sides[side].IDs = append(sides[side].IDs, v.ids.graph[id])
			}
			sides[side].Add(nil)
		})
		if err != nil {
			return fmt.Errorf("tokenise for judge %s: %w", v.model.Name, err)
		}
	}
	for i := range pairs {
		first, second := sides[0].At(i), sides[1].At(i)
		a, b := shared(len(first), len(second), room)
		s.IDs = append(append(s.IDs, v.ids.bos...), first[:a]...)
		s.IDs = append(append(s.IDs, between...), second[:b]...)
		s.Add(v.ids.eos)
	}
	return nil
}

// shared divides room among two sentences of so many tokens.
func shared(first, second, room int) (a, b int) {
	if first+second <= room {
		return first, second
	}
	a = min(first, max(room-second, (room+1)/2))
	return a, min(second, room-a)
}

// Sequences are token ids of sentences in one slice: sentence i has IDs[Ends[i-1]:Ends[i]].
type Sequences struct {
	IDs  []int32
	Ends []int
}

// Reset removes all sentences and keeps the memory.
func (s *Sequences) Reset() { s.IDs, s.Ends = s.IDs[:0], s.Ends[:0] }

// At returns the ids of sentence i.
func (s *Sequences) At(i int) []int32 {
	if i == 0 {
		return s.IDs[:s.Ends[0]]
	}
	return s.IDs[s.Ends[i-1]:s.Ends[i]]
}

// Add appends a sentence.
func (s *Sequences) Add(ids []int32) {
	s.IDs = append(s.IDs, ids...)
	s.Ends = append(s.Ends, len(s.IDs))
}
