package shard

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"

	"bitextmine/corpus/shard"
	"bitextmine/filter/language"
)

const (
	// sampledRows is how many sentences of a file are identified, evenly from the first sampledFrom rows of its shards.
	sampledRows = 1000
	sampledFrom = 32768
	// sampleLetters is how long a sentence must be to count, in bytes of letters.
	sampleLetters = 30
	// keptLanguages and keptTexts bound what is recorded, keptLetters the text of a sentence.
	keptLanguages, keptTexts, keptLetters = 5, 2, 120
	// minSampled is how many sentences a file must have for its language to be doubted.
	minSampled = 20
	// minOwn is the share of a file's sampled sentences that must be in its language.
	minOwn = 0.5
)

// Languages are the languages of a sample of a file's sentences, without regard to what the file is said to be.
type Languages struct {
	Sampled int      `json:"sampled"` // sentences long enough to be identified
	Found   []Spoken `json:"found"`   // the most frequent first
}

// Spoken is a language of a sample.
type Spoken struct {
	Code      string   `json:"language"`
	Sentences int      `json:"sentences"`
	Texts     []string `json:"texts"` // some of them
}

// Doubt says that a file is not in the language that it is said to be in.
type Doubt struct {
	Share float64 // of its sampled sentences that are in Most
	Most  Spoken
}

// Doubt compares a sample with what its file is said to be in. It is nil if the sample agrees, or cannot tell.
func (s *Languages) Doubt(stated string) *Doubt {
	if s == nil || s.Sampled < minSampled || !language.For(stated).Judges() {
		return nil
	}
	own, d := 0, &Doubt{}
	for _, spoken := range s.Found {
		if language.Same(stated, spoken.Code) {
			own += spoken.Sentences
		} else if d.Most.Code == "" {
			d.Most = spoken
		}
	}
	if float64(own) >= minOwn*float64(s.Sampled) || d.Most.Sentences <= own {
		return nil
	}
	d.Share = float64(d.Most.Sentences) / float64(s.Sampled)
	return d
}

// sample identifies sentences of the shards of a file.
func sample(ctx context.Context, dir string, shards []shard.Info) (*Languages, error) {
	s := &Languages{Found: []Spoken{}}
	identifier := language.For("")
	by := map[string]*Spoken{}
	each := max(1, sampledRows/max(1, len(shards)))
	for _, info := range shards {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		from := min(info.Rows, sampledFrom)
		wanted := make([]uint32, min(from, each))
		for i := range wanted {
			wanted[i] = uint32(i * from / len(wanted))
		}
		if err := s.add(filepath.Join(dir, info.File), wanted, identifier, by); err != nil {
			return nil, err
		}
	}
	for _, code := range slices.Sorted(maps.Keys(by)) {
		s.Found = append(s.Found, *by[code])
	}
	slices.SortStableFunc(s.Found, func(a, b Spoken) int { return cmp.Compare(b.Sentences, a.Sentences) })
	s.Found = s.Found[:min(len(s.Found), keptLanguages)]
	return s, nil
}

func (s *Languages) add(path string, wanted []uint32, identifier *language.Identifier, by map[string]*Spoken) (err error) {
	reader, err := shard.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	for row, err := range reader.RowsAt(wanted) {
		if err != nil {
			return err
		}
		guess := identifier.Identify(row.Text)
		if guess.Letters < sampleLetters {
			continue
		}
		s.Sampled++
		if guess.Code == "" {
			continue
		}
		found := by[guess.Code]
		if found == nil {
			found = &Spoken{Code: guess.Code}
			by[guess.Code] = found
		}
		found.Sentences++
		if len(found.Texts) < keptTexts {
			found.Texts = append(found.Texts, cut(row.Text))
		}
	}
	return nil
}

// cut is the start of a text, of whole words where it has spaces.
func cut(text string) string {
	letters, space := 0, 0
	for at, r := range text {
		if r == ' ' {
			space = at
		}
		if letters++; letters > keptLetters {
			if space == 0 {
				space = at
			}
			return text[:space] + " ..."
		}
	}
	return text
}
