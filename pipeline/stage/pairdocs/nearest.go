package pairdocs

import (
	"context"
	"errors"
	"path/filepath"
	"sort"

	"bitextmine/align/match"
	"bitextmine/encode/embedding"
	"bitextmine/internal/spill"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/view"
)

// Nearest is the descriptor of the stage that finds the candidates of a pair of languages: documents whose mean vectors
// are near. The mean of all documents is subtracted first, so every night compares all of them.
var Nearest = &stage.Descriptor{
	Name: view.DocNearest, Version: 1, Unit: "sentences", After: []string{view.DocMeans}, Wide: true, OnDemand: true,
}

func init() { // not in the declaration, as the functions refer to it
	Nearest.Check, Nearest.Run = stage.CheckPair, nearest
	stage.Register(Nearest)
}

// nearestSpec lists all that the candidates depend on.
type nearestSpec struct {
	Documents  [2][]string // keys of the shards' documents, which number the documents
	Paths      string      // digest of the paths of the files, which stand for addresses
	Candidates int
	Metadata   bool `json:",omitempty"` // its columns are in the keys of cutting
}

// wantNearest asks for the candidates of a pair of languages and sets their key.
func wantNearest(b *stage.Builder, pair int) {
	of := nearestSpec{Paths: pathsOf(b, pair), Candidates: match.DefaultOptions().Candidates, Metadata: b.Settings.DocMeta != ""}
	rows := int64(0)
	for side := range of.Documents {
		language := b.LanguageOf(pair, side)
		wantMeans(b, language)
		for _, s := range b.Languages[language].Shards {
			of.Documents[side] = append(of.Documents[side], s.Documents)
			rows += int64(s.Rows)
		}
	}
	b.Pairs[pair].DocumentCandidates = Nearest.Key(of)
	b.Add(Nearest, b.Pairs[pair].DocumentCandidates, rows, nearestCost(b, rows, of.Candidates), args{pair})
}

// nearestCost is, in memory, what is known of each document, and the search. The mean vectors and the candidates are in
// mapped files.
func nearestCost(b *stage.Builder, rows int64, k int) stage.Cost {
	documents := rows / meanLength
	candidates := documents * int64(k)
	return stage.Cost{
		Fixed:  128 << 20,
		Memory: knownOf(b.Settings, documents) + match.Memory(documents, b.Threads, b.Settings.Dim, k),
		Disk:   documents*(4*int64(b.Settings.Dim)+rowSize) + 2*candidates*rowSize,
		Read:   documents * (4*int64(b.Settings.Dim) + 100),
	}
}

// knownOf is the memory of what is known of documents: address, digest of the name, place, and values of metadata.
func knownOf(s plan.Settings, documents int64) int64 {
	if s.DocMeta != "" {
		return documents * 800
	}
	return documents * 400
}

const (
	candidatesFile  = "candidates"
	candidatesMagic = 0x53444e4143434f44 // "DOCCANDS"
)

// candidatesHeader is the beginning of the file of candidates. Its sections are the places of the documents of either
// side, and the candidates in order.
type candidatesHeader struct {
	magic      uint64
	documents  [2]uint64
	candidates uint64
}

// nearestInfo is a task's record of its candidates.
type nearestInfo struct {
	Documents  [2]int `json:"documents"`
	Candidates int    `json:"candidates"`
}

// nearest writes the candidates of a pair of languages.
func nearest(ctx context.Context, e *stage.Env, t *plan.Task, dir string, meter progress.Meter) (_ any, err error) {
	a, err := stage.Args[args](t)
	if err != nil {
		return nil, err
	}
	sides, documents, err := readOutlines(ctx, e.Files, a.Pair)
	if err != nil {
		return nil, err
	}
	room := &spill.Arena{Space: spill.In(dir)}
	defer func() { err = errors.Join(err, room.Close()) }()
	info := nearestInfo{}
	var means [2]embedding.Matrix
	for side, of := range sides {
		language := e.Plan.Side(a.Pair, side)
		info.Documents[side] = len(of.documents)
		if err := checkSome(language.Code, len(of.documents), of.aside); err != nil {
			return nil, err
		}
		if means[side], err = of.means(ctx, e.Files, room, language); err != nil {
			return nil, err
		}
	}
	candidates, err := match.Candidates(ctx, room, documents, means, match.DefaultOptions().Candidates)
	if err != nil {
		return nil, err
	}
	meter.Add(t.Items)
	info.Candidates = len(candidates)
	header := []candidatesHeader{{candidatesMagic, [2]uint64{uint64(len(sides[0].places)), uint64(len(sides[1].places))}, uint64(len(candidates))}}
	return info, writeSections(filepath.Join(dir, candidatesFile),
		spill.Bytes(header), spill.Bytes(sides[0].places), spill.Bytes(sides[1].places), spill.Bytes(candidates))
}

// means collects the mean vectors of the documents, as match.Centre leaves them.
func (o *outline) means(ctx context.Context, f *view.Files, room *spill.Arena, language *plan.Language) (embedding.Matrix, error) {
	dim := f.Plan.Settings.Dim
	rows, err := spill.Make[float32](room, len(o.documents)*dim)
	if err != nil {
		return embedding.Matrix{}, err
	}
	for d := 0; d < len(o.places); {
		of := o.places[d].Shard
		found, err := openDocuments(ctx, f, &language.Shards[of])
		if err != nil {
			return embedding.Matrix{}, err
		}
		for ; d < len(o.places) && o.places[d].Shard == of; d++ {
			copy(rows[d*dim:], found.means[int(o.places[d].At)*dim:][:dim])
		}
		if err := found.close(); err != nil {
			return embedding.Matrix{}, err
		}
	}
	match.Centre(rows, dim)
	return embedding.FromFloat32(rows, dim), nil
}

// candidates are those of a pair of languages, in a mapped file.
type candidates struct {
	places [2][]place
	pairs  [][2]int32
	mapping
}

// openCandidates maps the candidates of a pair of languages.
func openCandidates(ctx context.Context, f *view.Files, pair int) (*candidates, error) {
	out, err := f.Output(ctx, Nearest.Name, f.Plan.Pairs[pair].DocumentCandidates)
	if err != nil {
		return nil, err
	}
	return opened(out.Path(candidatesFile), decodeCandidates)
}

// decodeCandidates reads a file of candidates, whose memory they share, and says whether it is one.
func decodeCandidates(data []byte) (*candidates, bool) {
	c, in := &candidates{mapping: mapping{data}}, spill.Sections{Rest: data}
	h := spill.TakeOne[candidatesHeader](&in)
	for side := range c.places {
		c.places[side] = spill.Take[place](&in, h.documents[side])
	}
	c.pairs = spill.Take[[2]int32](&in, h.candidates)
	if h.magic != candidatesMagic || in.Short {
		return c, false
	}
	for i, pair := range c.pairs {
		for side, document := range pair {
			if document < 0 || int(document) >= len(c.places[side]) {
				return c, false
			}
		}
		if i > 0 && pair[0] < c.pairs[i-1][0] {
			return c, false
		}
	}
	return c, true
}

// of are the first candidate of the documents that begin in a source shard, and the one after their last.
func (c *candidates) of(shard int) (from, to int) {
	at := func(shard int) int {
		d := sort.Search(len(c.places[0]), func(d int) bool { return int(c.places[0][d].Shard) >= shard })
		return sort.Search(len(c.pairs), func(k int) bool { return int(c.pairs[k][0]) >= d })
	}
	return at(shard), at(shard + 1)
}
