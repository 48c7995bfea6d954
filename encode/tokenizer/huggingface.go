// A tokenizer.json of Hugging Face's library: the tokenizer normalises a text, cuts it into words, and splits each word
// by a unigram or a BPE model. The parts that tokenizers of SentencePiece models consist of are computed as that
// library does, also where it differs from SentencePiece; a file with other parts is refused.
//
// Added tokens are not looked for in a text; special pieces of a unigram model are, as any pieces.

package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
)

// HuggingFace is a loaded tokenizer.json. It is only read, so any number of goroutines may use it.
type HuggingFace struct {
	normalise []func(string) string
	words     []func([]string) []string
	model     textSplitter
	ids       map[string]int32
	size      int
	unknown   int32
	// First and Last are the special tokens around every text, or empty.
	First, Last string
}

// splitter splits a word. Models are unigram and BPE.
type textSplitter interface {
	split(ids []int32, word string) []int32
}

// part is the JSON of a normaliser, a pre-tokeniser, a post-processor or a model.
type part struct {
	Type string `json:"type"`
	raw  json.RawMessage
}

// UnmarshalJSON keeps the whole object.
func (p *part) UnmarshalJSON(raw []byte) error {
	type plain part
	p.raw = append(json.RawMessage(nil), raw...)
	return json.Unmarshal(raw, (*plain)(p))
}

// NewHuggingFace reads a tokenizer.json.
func NewHuggingFace(data []byte) (*HuggingFace, error) {
	var file struct {
		Normalizer    *part `json:"normalizer"`
		PreTokenizer  *part `json:"pre_tokenizer"`
		PostProcessor *part `json:"post_processor"`
		Model         *part `json:"model"`
		Added         []struct {
			ID      int32  `json:"id"`
			Content string `json:"content"`
		} `json:"added_tokens"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("it is not a tokenizer.json: %w", err)
	}
	if file.Model == nil {
		return nil, errors.New("it is not a tokenizer.json: it has no model")
	}
	t := &HuggingFace{ids: map[string]int32{}}
	if err := t.addNormaliser(file.Normalizer); err != nil {
		return nil, err
	}
	if err := t.addWords(file.PreTokenizer); err != nil {
		return nil, err
	}
	if err := t.readModel(file.Model); err != nil {
		return nil, err
	}
	for _, a := range file.Added {
		t.ids[a.Content] = a.ID
		t.size = max(t.size, int(a.ID)+1)
	}
	return t, t.readEnds(file.PostProcessor)
}

// readModel reads the vocabulary.
func (t *HuggingFace) readModel(p *part) error {
	var err error
	switch p.Type {
	case "Unigram":
		t.model, err = t.newUnigram(p.raw)
	case "BPE":
		t.model, err = t.newBPE(p.raw)
	default:
		err = fmt.Errorf("its model is of type %q, but only Unigram and BPE can be computed", p.Type)
	}
	return err
}

// readEnds reads which special tokens stand around a text.
func (t *HuggingFace) readEnds(p *part) error {
	if p == nil {
		return nil
	}
	var all struct {
		Single []map[string]struct {
			ID string `json:"id"`
		} `json:"single"`
		CLS []any `json:"cls"`
		SEP []any `json:"sep"`
	}
	if err := json.Unmarshal(p.raw, &all); err != nil {
		return fmt.Errorf("its post_processor cannot be read: %w", err)
	}
	switch p.Type {
	case "TemplateProcessing":
		before := true
		for _, item := range all.Single {
			special, ok := item["SpecialToken"]
			switch {
			case !ok:
				before = false
			case before && t.First == "":
				t.First = special.ID
			case !before && t.Last == "":
				t.Last = special.ID
			default:
				return errors.New(
					"its post_processor puts several special tokens at one side, and only one can be put there")
			}
		}
	case "RobertaProcessing", "BertProcessing":
		if len(all.CLS) > 0 && len(all.SEP) > 0 {
			t.First, _ = all.CLS[0].(string)
			t.Last, _ = all.SEP[0].(string)
		}
	default:
		return fmt.Errorf(
			"its post_processor is of type %q, but only TemplateProcessing, RobertaProcessing and BertProcessing can be computed",
			p.Type)
	}
	for _, special := range []string{t.First, t.Last} {
		if _, ok := t.ids[special]; special != "" && !ok {
			return fmt.Errorf("its post_processor names %q, which is no token of it", special)
		}
	}
	return nil
}

// Size is the number of ids.
func (t *HuggingFace) Size() int { return t.size }

// ID returns the id of a piece or an added token.
func (t *HuggingFace) ID(piece string) (int32, bool) {
	id, ok := t.ids[piece]
	return id, ok
}

// Unknown is the id for text that there is no piece for.
func (t *HuggingFace) Unknown() int32 { return t.unknown }

// Close does nothing: a tokenizer holds only Go memory.
func (t *HuggingFace) Close() {}

// Encode calls yield with the ids of each text, in order, truncated to the first maxIDs. yield must not retain the
// slice.
func (t *HuggingFace) Encode(texts []string, maxIDs int, yield func(i int, ids []int32)) error {
	if maxIDs <= 0 {
		return fmt.Errorf("split into at most %d pieces: the number must be positive", maxIDs)
	}
	var ids []int32
	for i, text := range texts {
		for _, step := range t.normalise {
			text = step(text)
		}
		words := []string{text}
		for _, step := range t.words {
			words = step(words)
		}
		ids = ids[:0]
		for _, word := range words {
			if ids = t.model.split(ids, word); len(ids) >= maxIDs {
				break
			}
		}
		yield(i, ids[:min(len(ids), maxIDs)])
	}
	return nil
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
