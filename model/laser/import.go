// Package laser imports LASER2 and LASER3 (Artetxe and Schwenk, 2019; Heffernan et al., 2022) without Python. It reads
// the checkpoint's pickle as data, writes the BiLSTM or the transformer as a graph, and describes the program's
// preprocessing in the manifest.
package laser

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"bitextmine/encode/model"
	"bitextmine/internal/badinput"
	"bitextmine/model/importer"
	"bitextmine/train/export"
)

// fairseq's ids of special symbols, and the number of them.
const (
	bos      = 0
	eos      = 2
	unknown  = 3
	specials = 4
)

// longest sentence in tokens; LASER2's program has no limit.
const longest = 1024

// dictionaryFile is fairseq's list of pieces.
const dictionaryFile = "dict.txt"

// Import makes an encoder of a checkpoint and the SentencePiece model that belongs to it. Without the model's name the
// file beside the checkpoint is taken, or laser2.spm there. Wrong files are badinput errors.
func Import(ctx context.Context, path, pieces string, o importer.Options) (_ *importer.Result, err error) {
	what := path + ", a checkpoint of LASER"
	if err := o.RefuseFixed(what); err != nil {
		return nil, err
	}
	if o.Weights {
		return nil, badinput.Errorf("--weights has no effect on %s: leave it out", what)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, badinput.Errorf("%s cannot be imported: %w", path, err)
	}
	root, err := readCheckpoint(data)
	if err != nil {
		return nil, badinput.Errorf("%s: %w", path, err)
	}
	stem := strings.TrimSuffix(path, filepath.Ext(path))
	d := &importer.Draft{Options: o}
	defer func() { err = d.Discarded(err) }()
	d.Name = cmp.Or(d.Name, filepath.Base(stem))
	d.Manifest.Name, d.Manifest.Normalise = d.Name, true
	if err := d.Open(d.Name); err != nil {
		return nil, err
	}
	if pieces == "" {
		if pieces = beside(stem, ".spm"); pieces == "" {
			return nil, badinput.Errorf("%s needs its SentencePiece model: name it with --pieces, or put it at %s.spm",
				path, stem)
		}
	}
	text, err := os.ReadFile(pieces)
	if err != nil {
		return nil, badinput.Errorf("--pieces: %w", err)
	}
	m := &d.Manifest
	m.Tokenizer = model.Tokenizer{Kind: "sentencepiece", File: "pieces.spm", Dictionary: dictionaryFile,
		Lowercase: true, Punctuation: model.Moses, EOS: &model.Token{ID: eos}, Pad: &model.Token{ID: padding},
		Unknown: &model.Token{ID: unknown}}
	if err := d.WriteFile(m.Tokenizer.File, text); err != nil {
		return nil, err
	}
	d.Found("tokenizer", pieces, "sentencepiece after Moses' punctuation and lower case, </s> after")
	m.MaxTokens, m.Inputs.IDs, m.Output, m.Pooling = longest, export.IDs, export.Vectors, model.None
	m.Tokens = model.TokenOutput{Output: export.Tokens}
	var g *export.Graph
	if params := field(root, "params"); params != nil {
		g, err = readLSTM(d, root, path)
	} else {
		g, err = readTransformer(d, root, path, stem)
	}
	if err != nil {
		return nil, badinput.Errorf("%s: %w", path, err)
	}
	if err := d.Write(g); err != nil {
		return nil, err
	}
	if err := importer.Publish(ctx, d); err != nil {
		return nil, err
	}
	return &importer.Result{Dir: d.Dir, Manifest: d.Manifest, Findings: d.Findings}, nil
}

// beside is the file with the checkpoint's name and another ending, or LASER2's beside it; empty if neither is there.
func beside(stem, ending string) string {
	for _, name := range []string{stem + ending, filepath.Join(filepath.Dir(stem), "laser2"+ending)} {
		if _, err := os.Stat(name); err == nil {
			return name
		}
	}
	return ""
}

// settings reads the fields of a configuration, and keeps its first error.
type settings struct {
	from any
	err  error
}

// size is a number from 1 to 1<<20, or without if the field is missing.
func (s *settings) size(name string, without int) int {
	n, ok := field(s.from, name).(int64)
	if field(s.from, name) == nil && without > 0 {
		return without
	}
	if !ok || n < 1 || n > 1<<20 {
		s.err = errors.Join(s.err, fmt.Errorf("its settings have %v for %s", field(s.from, name), name))
		return 1
	}
	return int(n)
}

// flag is true or false, which a missing field is, too.
func (s *settings) flag(name string) bool {
	v, _ := field(s.from, name).(bool)
	return v
}

// readLSTM writes LASER2's encoder and the dictionary that the checkpoint has.
func readLSTM(d *importer.Draft, root any, path string) (*export.Graph, error) {
	s := settings{from: field(root, "params")}
	l := lstm{rows: s.size("num_embeddings", 0), embedding: s.size("embed_dim", 320),
		hidden: s.size("hidden_size", 512), layers: s.size("num_layers", 1), both: s.flag("bidirectional")}
	weights, err := newState(field(root, "model"), "")
	if err = errors.Join(s.err, err); err != nil {
		return nil, err
	}
	entries, ok := field(root, "dictionary").(*dict)
	if !ok {
		return nil, errors.New("it has no dictionary of pieces")
	}
	lines := make([]string, max(l.rows, specials))
	for _, key := range entries.keys {
		piece, isText := key.(string)
		id, isNumber := entries.values[key].(int64)
		if !isText || !isNumber || id < 0 || id >= int64(l.rows) {
			return nil, fmt.Errorf("its dictionary gives %v the id %v, but there are %d vectors", key,
				entries.values[key], l.rows)
		}
		lines[id] = piece
	}
	g, err := l.graph(weights, d.Name)
	if err != nil {
		return nil, err
	}
	if name := weights.unused(); name != "" {
		return nil, fmt.Errorf("its tensor %s is not one of a BiLSTM of %d layers", name, l.layers)
	}
	d.Manifest.Dim = l.hidden
	if l.both {
		d.Manifest.Dim *= 2
	}
	d.LookUp("", strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
	d.Words, d.WordsFrom = l.rows, path
	d.Found("graph", path, "LASER2: %d layers of LSTMs of width %d, the greatest values of all tokens", l.layers,
		d.Manifest.Dim)
	return g, writeDictionary(d, lines[specials:])
}

// transformer is LASER3's encoder of so many rows of its table; what it cannot be is in c.err.
func (s *settings) transformer(rows int) transformer {
	t := transformer{rows: rows, width: s.size("encoder_embed_dim", 512),
		inner: s.size("encoder_ffn_embed_dim", 2048), layers: s.size("encoder_layers", 6),
		heads: s.size("encoder_attention_heads", 8), places: s.size("max_source_positions", longest),
		before: s.flag("encoder_normalize_before"), learned: s.flag("encoder_learned_pos"),
		scaled: !s.flag("no_scale_embedding"), activation: "relu"}
	if s.flag("no_token_positional_embeddings") {
		t.learned = false
	} else {
		t.sines = !t.learned
	}
	if name, ok := field(s.from, "activation_fn").(string); ok {
		t.activation = name
	}
	switch criterion := field(s.from, "sentemb_criterion"); {
	case criterion == "cls" && s.flag("prepend_bos"):
		t.first = true
	case criterion == "cls":
		s.err = errors.Join(s.err, errors.New("its vector is that of <s> (cls), but prepend_bos is not set"))
	}
	if t.activation != "relu" && t.activation != "gelu" {
		s.err = errors.Join(s.err, fmt.Errorf("its activation_fn is %q, but only relu and gelu can be computed",
			t.activation))
	}
	if t.width%t.heads != 0 || t.width%2 != 0 || t.width < 4 {
		s.err = errors.Join(s.err, fmt.Errorf("its width %d is no multiple of %d heads", t.width, t.heads))
	}
	return t
}

// readTransformer writes LASER3's encoder and the dictionary beside the checkpoint.
func readTransformer(d *importer.Draft, root any, path, stem string) (*export.Graph, error) {
	c := settings{from: field(field(root, "cfg"), "model")}
	if c.from == nil {
		return nil, errors.New("it has neither the params of LASER2 nor the cfg of LASER3: other checkpoints are not read")
	}
	prefix := ""
	if field(field(root, "model"), "decoder.version") != nil {
		prefix = "encoder."
	}
	weights, err := newState(field(root, "model"), prefix)
	if err != nil {
		return nil, err
	}
	for name := range weights.tensors {
		if strings.HasPrefix(name, "decoder.") || name == "version" || name == "embed_positions._float_tensor" {
			delete(weights.tensors, name)
		}
	}
	from := beside(stem, ".cvocab")
	if from == "" {
		return nil, fmt.Errorf("its dictionary is missing: put it at %s.cvocab, or laser2.cvocab beside it", stem)
	}
	lines, err := readDictionary(from)
	if err != nil {
		return nil, err
	}
	t := c.transformer(len(lines) + specials)
	if weights.tensors["layer_norm.weight"] != nil {
		t.rows++ // <mask>
	}
	if c.err != nil {
		return nil, c.err
	}
	g, err := t.graph(weights, d.Name)
	if err != nil {
		return nil, err
	}
	if name := weights.unused(); name != "" {
		return nil, fmt.Errorf("its tensor %s is not one of a transformer of %d layers", name, t.layers)
	}
	if c.flag("prepend_bos") {
		d.Manifest.Tokenizer.BOS = &model.Token{ID: bos}
	}
	d.Manifest.MaxTokens, d.Manifest.Dim = t.places, t.width
	d.Words, d.WordsFrom = t.rows, from
	pooling := "the greatest values of all tokens"
	if t.first {
		pooling = "the vector of <s>"
	}
	d.Found("graph", path, "LASER3: %d layers of width %d, %s", t.layers, t.width, pooling)
	d.Found("dictionary", from, "%d pieces", len(lines))
	return g, writeDictionary(d, lines)
}

// readDictionary reads the pieces of fairseq's list: a piece, a space and a count on each line.
func readDictionary(path string) ([]string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var all []string
	seen := map[string]bool{}
	for line := range bytes.Lines(data) {
		line = bytes.TrimRight(line, "\r\n")
		at := bytes.LastIndexByte(line, ' ')
		if at < 1 || seen[string(line[:at])] || bytes.HasPrefix(line[at+1:], []byte("#")) {
			return nil, fmt.Errorf("line %d of %s is not a piece of its own, a space and a count", len(all)+1, path)
		}
		seen[string(line[:at])] = true
		all = append(all, string(line[:at]))
	}
	return all, nil
}

// writeDictionary writes the pieces in the order of their ids. An id without a piece gets a name that no text has.
func writeDictionary(d *importer.Draft, pieces []string) error {
	var b bytes.Buffer
	for id, piece := range pieces {
		if piece == "" {
			piece = fmt.Sprintf("<id %d>", id+specials)
		}
		if strings.ContainsAny(piece, "\n\r") {
			return fmt.Errorf("its piece %q has a line feed", piece)
		}
		fmt.Fprintf(&b, "%s 1\n", piece)
	}
	return d.WriteFile(dictionaryFile, b.Bytes())
}
