package distil

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"slices"

	"bitextmine/bitext/exchange"
	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/encode"
)

// Text is a file of one language, a sentence a line.
type Text struct {
	Language string
	Path     string
}

// Bitext is a file of pairs of sentences that are translations of each other, in a format that exchange.ReadKnown
// reads.
type Bitext struct {
	Source string
	Target string
	Path   string
}

// Sentences are sequences of the teacher's ids, back to back, special tokens included; no two are equal.
type Sentences struct {
	IDs       []int32
	Ends      []int
	Languages []int32            // the place of each sentence's language in names
	Names     []string           // languages, in the order of the text; invented sentences have none
	seen      map[corpus.Key]int // the sentence of each text
	Pairs     [][2]int           // sentences that are translations of each other
	Sources   []Source
}

// Source describes a file that was read.
type Source struct {
	Language  string `json:"language"`
	File      string `json:"file"` // its name without directories
	SHA256    string `json:"sha256"`
	Sentences int    `json:"sentences"` // sentences that earlier files lack
}

// Len is the number of sentences.
func (s *Sentences) Len() int { return len(s.Ends) }

// At is sentence i.
func (s *Sentences) At(i int) []int32 {
	lo := 0
	if i > 0 {
		lo = s.Ends[i-1]
	}
	return s.IDs[lo:s.Ends[i]]
}

// add appends a sentence unless it is there already, and returns its number.
func (s *Sentences) add(ids []int32, language int32) (at int, added bool) {
	key := corpus.KeyOf(packed(ids))
	if at, ok := s.seen[key]; ok {
		return at, false
	}
	at = len(s.Ends)
	s.seen[key] = at
	s.IDs = append(s.IDs, ids...)
	s.Ends = append(s.Ends, len(s.IDs))
	s.Languages = append(s.Languages, language)
	return at, true
}

// language is the place of a language in names.
func (s *Sentences) language(name string) int32 {
	at := slices.Index(s.Names, name)
	if at < 0 {
		at = len(s.Names)
		s.Names = append(s.Names, name)
	}
	return int32(at)
}

// packed is a sentence's ids as a string, which the teacher's cache takes for its text.
func packed(ids []int32) string {
	b := make([]byte, 0, 3*len(ids))
	for _, id := range ids {
		b = binary.AppendUvarint(b, uint64(id))
	}
	return string(b)
}

// unpacked reverses packed.
func unpacked(text string) []int32 {
	var ids []int32
	for b := []byte(text); len(b) > 0; {
		id, n := binary.Uvarint(b)
		ids, b = append(ids, int32(id)), b[n:]
	}
	return ids
}

// ReadSentences reads and cuts all texts, then all bitexts, in the order in which they are given.
func ReadSentences(ctx context.Context, teacher *encode.Encoder, texts []Text, bitexts []Bitext) (*Sentences, error) {
	s := &Sentences{seen: map[corpus.Key]int{}}
	for _, t := range texts {
		if err := s.read(ctx, teacher, t); err != nil {
			return nil, err
		}
	}
	for _, b := range bitexts {
		if err := s.readBitext(ctx, teacher, b); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// read adds one file.
func (s *Sentences) read(ctx context.Context, teacher *encode.Encoder, t Text) error {
	source := Source{Language: t.Language, File: filepath.Base(t.Path)}
	var batch []string
	flush := func() error {
		_, added, err := s.addTexts(ctx, teacher, t.Language, batch)
		source.Sentences += added
		batch = batch[:0]
		return err
	}
	opts := corpus.DefaultOptions()
	opts.ColumnFlags = corpus.NoFlags
	for sentence, err := range corpus.Sentences(input.File{Path: t.Path}, opts) {
		if err != nil {
			return err
		}
		if batch = append(batch, sentence.Normal); len(batch) == together {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	sum, err := sumOf(t.Path)
	source.SHA256 = sum
	s.Sources = append(s.Sources, source)
	return err
}

// addTexts adds sentences of a language, and returns their numbers and how many are new.
func (s *Sentences) addTexts(ctx context.Context, teacher *encode.Encoder, language string,
	texts []string) (at []int, added int, err error) {
	sequences, err := teacher.Sequences(ctx, language, texts)
	if err != nil {
		return nil, 0, err
	}
	number, lo := s.language(language), 0
	for _, end := range sequences.Ends {
		i, isNew := s.add(sequences.IDs[lo:end], number)
		if isNew {
			added++
		}
		at, lo = append(at, i), end
	}
	return at, added, nil
}

// readBitext adds the sentences of a bitext, and its pairs.
func (s *Sentences) readBitext(ctx context.Context, teacher *encode.Encoder, b Bitext) error {
	pairs, err := exchange.ReadKnown(b.Path, b.Source, b.Target)
	if err != nil {
		return err
	}
	var texts [2][]string
	for _, pair := range pairs {
		texts[0], texts[1] = append(texts[0], pair.Source), append(texts[1], pair.Target)
	}
	source := Source{Language: b.Source + "-" + b.Target, File: filepath.Base(b.Path)}
	var at [2][]int
	for side, language := range []string{b.Source, b.Target} {
		var added int
		if at[side], added, err = s.addTexts(ctx, teacher, language, texts[side]); err != nil {
			return err
		}
		source.Sentences += added
	}
	for i := range pairs {
		if at[0][i] != at[1][i] {
			s.Pairs = append(s.Pairs, [2]int{at[0][i], at[1][i]})
		}
	}
	source.SHA256, err = sumOf(b.Path)
	s.Sources = append(s.Sources, source)
	return err
}

func sumOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // it is only read
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), err
}

// Sample draws n sentences evenly; 0 or too many draws all. The first k of them, for any k, are an even sample, too.
func (s *Sentences) Sample(n int) *Sentences {
	all := s.Len()
	if n == 0 || n > all {
		n = all
	}
	step := 100_003
	for divisor(step, all) != 1 {
		step += 2
	}
	drawn := &Sentences{Names: s.Names, Sources: s.Sources}
	to := make([]int, all) // 1 + the place of a drawn sentence; 0: it is not drawn
	for i := range n {
		from := i * step % all
		to[from] = i + 1
		drawn.IDs = append(drawn.IDs, s.At(from)...)
		drawn.Ends = append(drawn.Ends, len(drawn.IDs))
		drawn.Languages = append(drawn.Languages, s.Languages[from])
	}
	for _, pair := range s.Pairs {
		if a, b := to[pair[0]], to[pair[1]]; a > 0 && b > 0 {
			drawn.Pairs = append(drawn.Pairs, [2]int{a - 1, b - 1})
		}
	}
	return drawn
}

// divisor is the greatest common divisor.
func divisor(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
