package distil

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"

	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/encode"
)

// Text is a file of one language, a sentence a line.
type Text struct {
	Language string
	Path     string
}

// sentences are sequences of the teacher's ids, back to back, special tokens included; no two are equal.
type sentences struct {
	ids       []int32
	ends      []int
	languages []int32  // the place of each sentence's language in names
	names     []string // languages, in the order of the text; invented sentences have none
	seen      map[corpus.Key]bool
	sources   []Source
}

// Source is what was read of a file.
type Source struct {
	Language  string `json:"language"`
	File      string `json:"file"` // its name without directories
	SHA256    string `json:"sha256"`
	Sentences int    `json:"sentences"` // that no file before had
}

func (s *sentences) len() int { return len(s.ends) }

// at is sentence i.
func (s *sentences) at(i int) []int32 {
	lo := 0
	if i > 0 {
		lo = s.ends[i-1]
	}
	return s.ids[lo:s.ends[i]]
}

// add appends a sentence unless it is there already.
func (s *sentences) add(ids []int32, language int32) bool {
	key := corpus.KeyOf(packed(ids))
	if s.seen[key] {
		return false
	}
	s.seen[key] = true
	s.ids = append(s.ids, ids...)
	s.ends = append(s.ends, len(s.ids))
	s.languages = append(s.languages, language)
	return true
}

// packed is a sentence's ids as a string, which the teacher's cache takes for its text.
func packed(ids []int32) string {
	b := make([]byte, 0, 3*len(ids))
	for _, id := range ids {
		b = binary.AppendUvarint(b, uint64(id))
	}
	return string(b)
}

// unpacked is what packed was made of.
func unpacked(text string) []int32 {
	var ids []int32
	for b := []byte(text); len(b) > 0; {
		id, n := binary.Uvarint(b)
		ids, b = append(ids, int32(id)), b[n:]
	}
	return ids
}

// readText reads and cuts all texts in the order in which they are given.
func readText(ctx context.Context, teacher *encode.Encoder, texts []Text) (*sentences, error) {
	s := &sentences{seen: map[corpus.Key]bool{}}
	numbers := map[string]int32{}
	for _, t := range texts {
		if _, ok := numbers[t.Language]; !ok {
			numbers[t.Language] = int32(len(s.names))
			s.names = append(s.names, t.Language)
		}
		if err := s.read(ctx, teacher, t, numbers[t.Language]); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// read adds one file.
func (s *sentences) read(ctx context.Context, teacher *encode.Encoder, t Text, language int32) error {
	const together = 4096
	source := Source{Language: t.Language, File: filepath.Base(t.Path)}
	var batch []string
	flush := func() error {
		sequences, err := teacher.Sequences(ctx, t.Language, batch)
		if err != nil {
			return err
		}
		lo := 0
		for _, end := range sequences.Ends {
			if s.add(sequences.IDs[lo:end], language) {
				source.Sentences++
			}
			lo = end
		}
		batch = batch[:0]
		return nil
	}
	for sentence, err := range corpus.Sentences(input.File{Path: t.Path}, corpus.DefaultOptions()) {
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
	s.sources = append(s.sources, source)
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

// sample draws n sentences evenly, in an order in which every beginning is such a sample; 0 or too many: all of them in
// that order.
func (s *sentences) sample(n int) *sentences {
	all := s.len()
	if n == 0 || n > all {
		n = all
	}
	step := 100_003
	for divisor(step, all) != 1 {
		step += 2
	}
	drawn := &sentences{names: s.names, sources: s.sources}
	for i := range n {
		from := i * step % all
		drawn.ids = append(drawn.ids, s.at(from)...)
		drawn.ends = append(drawn.ends, len(drawn.ids))
		drawn.languages = append(drawn.languages, s.languages[from])
	}
	return drawn
}

// divisor is the greatest common one.
func divisor(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
