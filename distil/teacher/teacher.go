// Package teacher computes vectors with an encoder that is not trained and caches them on disk: each sentence is
// encoded once for all epochs and for all trainings that use the cache.
package teacher

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"bitextmine/corpus"
	"bitextmine/encode"
	"bitextmine/encode/model"
)

// Encoder computes the vectors. *encode.Encoder implements it.
type Encoder interface {
	Name() string
	Digest() string // identifies everything that changes the vectors
	Dim() int
	// Encode writes the vectors of one language's texts to dst [len(texts), Dim].
	Encode(ctx context.Context, language string, texts []string, dst []float32) error
	Close() error
}

// Teacher is an encoder with its cache. It may be used by one goroutine.
type Teacher struct {
	encoder    Encoder
	cache      *cache
	byLanguage bool // whether a text's vector depends on its language
}

// Open opens the encoder that model.Load finds for ref, with a cache in dir. Close must be called last.
func Open(ref, dir string, options encode.Options) (*Teacher, error) {
	m, err := model.Load(ref)
	if err != nil {
		return nil, err
	}
	encoder, err := encode.Open(m, options)
	if err != nil {
		return nil, err
	}
	_, forAll := m.Prefixes[model.AnyLanguage]
	byLanguage := len(m.Prefixes) > 1 || len(m.Prefixes) == 1 && !forAll
	t, err := New(encoder, dir, byLanguage)
	if err != nil {
		return nil, errors.Join(err, encoder.Close())
	}
	return t, nil
}

// New combines an encoder with its cache, which is the directory in dir named by the encoder's digest. byLanguage means
// that the encoder treats languages differently. The teacher closes the encoder, unless New fails.
func New(encoder Encoder, dir string, byLanguage bool) (*Teacher, error) {
	c, err := openCache(filepath.Join(dir, encoder.Digest()), encoder.Dim())
	if err != nil {
		return nil, err
	}
	return &Teacher{encoder, c, byLanguage}, nil
}

// Close syncs the cache and closes the encoder.
func (t *Teacher) Close() error { return errors.Join(t.cache.close(), t.encoder.Close()) }

// Dim is the number of values in a vector.
func (t *Teacher) Dim() int { return t.encoder.Dim() }

// Encode returns the vectors [n, Dim] of texts [n] in corpus.Normalise's form, with their language codes. The caller
// owns the result.
func (t *Teacher) Encode(ctx context.Context, languages, texts []string) ([]float32, error) {
	if err := t.add(ctx, languages, texts); err != nil {
		return nil, err
	}
	dim := t.Dim()
	out := make([]float32, len(texts)*dim)
	for i := range texts {
		if err := t.cache.read(t.key(languages[i], texts[i]), out[i*dim:(i+1)*dim]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// add encodes the texts whose vectors are not in the cache.
func (t *Teacher) add(ctx context.Context, languages, texts []string) error {
	if len(languages) != len(texts) {
		return fmt.Errorf("the teacher was given %d texts and %d languages", len(texts), len(languages))
	}
	var order []string // languages in the order of their first occurrence
	missing, keys, seen := map[string][]string{}, map[string][]corpus.Key{}, map[corpus.Key]bool{}
	for i, text := range texts {
		key, language := t.key(languages[i], text), languages[i]
		if t.cache.has(key) || seen[key] {
			continue
		}
		seen[key] = true
		if missing[language] == nil {
			order = append(order, language)
		}
		missing[language], keys[language] = append(missing[language], text), append(keys[language], key)
	}
	for _, language := range order {
		vectors := make([]float32, len(missing[language])*t.Dim())
		if err := t.encoder.Encode(ctx, language, missing[language], vectors); err != nil {
			return fmt.Errorf("the teacher %s: %w", t.encoder.Name(), err)
		}
		if err := t.cache.append(keys[language], vectors); err != nil {
			return err
		}
	}
	return nil
}

// key identifies a sentence in the cache.
func (t *Teacher) key(language, text string) corpus.Key {
	if t.byLanguage {
		return corpus.KeyOf(language + "\t" + text) // a normalised text has no tab
	}
	return corpus.KeyOf(text)
}
