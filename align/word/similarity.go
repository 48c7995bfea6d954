package word

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"slices"
	"strings"

	"bitextmine/encode"
	"bitextmine/encode/embedding"
	"bitextmine/encode/model"
	"bitextmine/internal/badinput"
)

// Similarity is how alike the words of a pair are to an encoder. The model's weight of two words is multiplied by
// exp((cosine - Floor) / Temperature), and that of NULL by 1, in every iteration and in the alignment. With no
// iteration the encoder aligns alone.
type Similarity struct {
	Model       *model.Model
	Encoder     encode.Options
	Languages   [2]string // source and target, for the encoder's prefix
	Layer       string    // a tensor of encode.Layers; empty: the one whose two directions agree most
	Temperature float64
	Floor       float64 // cosine of words that are alike by chance
	// MaxEntropy of the alignments of a word, as a part of that of all words being equally likely: a word with more is
	// a translation of none. 1: no limit.
	MaxEntropy float64
}

// DefaultSimilarity are the settings that docs/alignment.md measures.
func DefaultSimilarity() Similarity { return Similarity{Temperature: 0.05, Floor: 0.2, MaxEntropy: 1} }

// Validate reports the first setting that is not valid.
func (s *Similarity) Validate() error {
	switch {
	case !(s.Temperature >= 0.001 && s.Temperature <= 10):
		return badinput.Errorf("word alignment: --temperature is %v but must be from 0.001 to 10", s.Temperature)
	case !(s.Floor >= -1 && s.Floor <= 1):
		return badinput.Errorf("word alignment: --floor is %v but must be a cosine, from -1 to 1", s.Floor)
	case !(s.MaxEntropy > 0 && s.MaxEntropy <= 1):
		return badinput.Errorf("word alignment: --max-entropy is %v but must be more than 0 and at most 1", s.MaxEntropy)
	}
	return nil
}

// sampled is the number of pairs that choose the layer and give each side's mean vector.
const sampled = 64

// encodedAtOnce is the number of pairs whose vectors are in memory.
const encodedAtOnce = 1024

// layer is an encoder at a layer, and the mean vector of each side's words there, which is subtracted: vectors of many
// encoders share a direction, most of all inside.
type layer struct {
	*encode.TokenEncoder
	name      string
	languages [2]string
	means     [2][]float32
	agreement float64 // part of the words of the sample that choose each other
}

// cosines returns the cosine of every cell of the pairs, in the order of a table's cells.
func (s *Similarity) cosines(ctx context.Context, p *Pairs) (all []float32, err error) {
	if len(p.words) != p.Len() {
		return nil, badinput.Errorf("word alignment by an encoder needs the words of the pairs")
	}
	var with []int // pairs with words
	first := make([]int, p.Len()+1)
	for i := range p.Len() {
		shape := p.shape(i)
		if first[i+1] = first[i] + shape.n*shape.m; shape.n > 0 {
			with = append(with, i)
		}
	}
	at, err := s.open(ctx, p, spread(with))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, at.Close()) }()
	all = make([]float32, p.cells)
	for begin := 0; begin < len(with); begin += encodedAtOnce {
		some := with[begin:min(begin+encodedAtOnce, len(with))]
		vectors, err := at.vectors(ctx, p, some)
		if err != nil {
			return nil, err
		}
		parallel(len(some), s.Encoder.Threads, func(next func() (int, bool)) {
			for k, ok := next(); ok; k, ok = next() {
				at.cells(all[first[some[k]]:first[some[k]+1]], vectors[0][k], vectors[1][k])
			}
		})
	}
	return all, nil
}

// spread takes at most `sampled` of the pairs, evenly.
func spread(pairs []int) (some []int) {
	n := min(sampled, len(pairs))
	for k := range n {
		some = append(some, pairs[k*len(pairs)/n])
	}
	return some
}

// maxLayers is the number of layers above which every second one is left out: graphs have several results a layer.
const maxLayers = 16

// open opens the encoder at its layer. If none is named, it is where the agreement of both directions is highest, which
// rises along the layers and then falls.
func (s *Similarity) open(ctx context.Context, p *Pairs, sample []int) (*layer, error) {
	names, err := encode.Layers(s.Model)
	if err != nil || s.Layer != "" {
		return s.openNamed(ctx, names, p, sample, err)
	}
	for len(names) > maxLayers {
		names = every2(names)
	}
	// The best so far stays open, and with it the tokenizer, which is slow to open.
	var kept *layer
	best, err := highest(len(names), func(i int) (float64, error) {
		at, err := s.at(ctx, names[i], p, sample)
		if err != nil {
			return 0, err
		}
		agreement := at.agreement
		slog.Debug("word alignment", "layer", names[i], "agreement", agreement)
		if kept == nil || agreement > kept.agreement {
			kept, at = at, kept
		}
		return agreement, at.Close()
	})
	if err != nil {
		return nil, errors.Join(err, kept.Close())
	}
	slog.Info("word alignment", "layer", names[best])
	if kept != nil && kept.name == names[best] {
		return kept, nil
	}
	if err := kept.Close(); err != nil {
		return nil, err
	}
	return s.at(ctx, names[best], p, sample)
}

// Close closes the encoder; nil is closed.
func (l *layer) Close() error {
	if l == nil {
		return nil
	}
	return l.TokenEncoder.Close()
}

// highest finds the place of the largest of n values that rise and then fall. It looks at few of them, each once.
func highest(n int, value func(i int) (float64, error)) (int, error) {
	known := map[int]float64{}
	low, high := 0, n-1
	for low < high {
		middle := (low + high) / 2
		for i := middle; i <= middle+1; i++ {
			if _, ok := known[i]; ok {
				continue
			}
			var err error
			if known[i], err = value(i); err != nil {
				return 0, err
			}
		}
		if known[middle] > known[middle+1] {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low, nil
}

// openNamed opens the encoder at the layer that is named.
func (s *Similarity) openNamed(ctx context.Context, names []string, p *Pairs, sample []int,
	err error) (*layer, error) {
	switch {
	case err != nil:
		return nil, err
	case !slices.Contains(names, s.Layer):
		return nil, badinput.Errorf("encoder %s has no layer %q: name one of %s", s.Model.Name, s.Layer,
			strings.Join(names, ", "))
	}
	return s.at(ctx, s.Layer, p, sample)
}

// every2 is every second name up to the last.
func every2(names []string) (some []string) {
	for i := (len(names) - 1) % 2; i < len(names); i += 2 {
		some = append(some, names[i])
	}
	return some
}

// at opens the encoder at a layer and looks at the sample.
func (s *Similarity) at(ctx context.Context, name string, p *Pairs, sample []int) (_ *layer, err error) {
	l := &layer{name: name, languages: s.Languages}
	if l.TokenEncoder, err = encode.OpenLayer(s.Model, name, s.Encoder); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.Close())
		}
	}()
	vectors, err := l.vectors(ctx, p, sample)
	if err != nil {
		return nil, err
	}
	for side := range l.means {
		l.means[side] = make([]float32, l.Dim())
		for _, words := range vectors[side] {
			for at, x := range words {
				l.means[side][at%l.Dim()] += x
			}
		}
		n := 0
		for _, words := range vectors[side] {
			n += len(words) / l.Dim()
		}
		for d := range l.means[side] {
			l.means[side][d] /= float32(n)
		}
	}
	mutual, words := 0, 0
	for k, pair := range sample {
		shape := p.shape(pair)
		cells := make([]float32, shape.n*shape.m)
		l.cells(cells, vectors[0][k], vectors[1][k])
		mutual += len(mutualBest(cells, shape))
		words += shape.n + shape.m
	}
	l.agreement = 2 * float64(mutual) / float64(max(1, words))
	return l, nil
}

// vectors holds vectors of the words of some pairs: [side][pair][words * dim], each of length 1.
func (l *layer) vectors(ctx context.Context, p *Pairs, some []int) (all [2][][]float32, err error) {
	for side := range all {
		all[side] = make([][]float32, len(some))
		sentences := make([][]string, len(some))
		for k, pair := range some {
			sentences[k] = p.words[pair][side]
		}
		err = l.Words(ctx, l.languages[side], sentences, func(k int, vectors []float32) error {
			all[side][k] = slices.Clone(vectors)
			scale(all[side][k], l.Dim())
			return nil
		})
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// cells fills a pair's cosines [n, m], given the vectors of its words, which it centres.
func (l *layer) cells(to, source, target []float32) {
	dim := l.Dim()
	for side, vectors := range [2][]float32{source, target} {
		for at := range vectors {
			vectors[at] -= l.means[side][at%dim]
		}
		scale(vectors, dim)
	}
	m := len(target) / dim
	for at := range to {
		to[at] = embedding.Dot(source[at/m*dim:][:dim], target[at%m*dim:][:dim])
	}
}

// scale gives vectors the length 1, but for zero vectors.
func scale(vectors []float32, dim int) {
	for ; len(vectors) > 0; vectors = vectors[dim:] {
		if square := embedding.Dot(vectors[:dim], vectors[:dim]); square > 0 {
			by := float32(1 / math.Sqrt(float64(square)))
			for d := range dim {
				vectors[d] *= by
			}
		}
	}
}

// mutualBest lists the cells [n, m] that are the first largest of their row and of their column.
func mutualBest(cells []float32, s shape) (links []Link) {
	rows := make([]int, s.m) // the best row of each column
	for j := range s.m {
		for i := range s.n {
			if cells[i*s.m+j] > cells[rows[j]*s.m+j] {
				rows[j] = i
			}
		}
	}
	for i := range s.n {
		best := 0
		for j := range s.m {
			if cells[i*s.m+j] > cells[i*s.m+best] {
				best = j
			}
		}
		if rows[best] == i {
			links = append(links, Link{Source: i, Target: best})
		}
	}
	return links
}
