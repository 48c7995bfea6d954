// Package architecture builds the ONNX graphs of encoders of config.json and safetensors, as the Hugging Face hub has
// them: BERT and its kin, encoders with rotary positions, decoders that serve as encoders, and the encoders of
// translation models. An architecture is one value, registered once in config.go: the names under which config.json
// knows it, and a function that reads the configuration and says how the graph is built.
//
// The graphs take ids alone: nothing is ever padded (package encode), so there is no mask to apply, and the place of a
// token is its place in the row. Weights are read one tensor at a time while the graph is written.
package architecture

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"bitextmine/internal/badinput"
	"bitextmine/train/export"
	"bitextmine/train/weights"
)

// Architecture is a kind of encoder.
type Architecture struct {
	Name  string   // shown to people
	Types []string // model_type in config.json
	// Code: published models ask to run code of their own (auto_map), which is built here instead.
	Code bool
	read func(c *config) network
}

// network is an architecture with the settings of one model.
type network struct {
	Layers, Width, Words, MaxTokens int
	Types                           int // token types; 0 or 1: a token's type changes nothing

	prefixes []string       // left out before the names of tensors, the longest first
	needless *regexp.Regexp // tensors, without prefix, that tokens' vectors do not need
	pooler   string         // dense layer of the authors' own pooling, with tanh, on the first token; empty: there is none
	build    func(b *builder) (tokens string)
}

// Encoder is a model whose configuration was read and whose weights are open. Close must be called last.
type Encoder struct {
	Architecture *Architecture
	network
	Numbers int64 // numbers in the tensors that the graph needs, set by Write

	dir   string
	store *weights.Store
	names map[string]string // names in the files by names without prefix
}

// Open reads the configuration of a model and the headers of its weights. Everything that is wrong with them is a
// badinput error.
func Open(dir string) (*Encoder, error) {
	c, err := readConfig(dir)
	if err != nil {
		return nil, err
	}
	a := find(c)
	if a == nil {
		return nil, unknown(c)
	}
	if code := c.code(); code != "" && !a.Code {
		return nil, badinput.Errorf("%s is %s, but asks to run code of the model's own (auto_map: %s), which this program never does and which may compute something else: export the model to ONNX with the output sentence_embedding, put the graph at onnx/model.onnx and import again", c.path, a.Name, code)
	}
	e := &Encoder{Architecture: a, dir: dir, network: a.read(c), names: map[string]string{}}
	if c.wrong != nil {
		return nil, badinput.Errorf("%s: %s", c.path, strings.Join(c.wrong, "; "))
	}
	if e.store, err = weights.OpenStore(dir); err != nil {
		return nil, err
	}
	for _, name := range e.store.Names() {
		e.names[e.short(name)] = name
	}
	return e, nil
}

// short is a tensor's name without prefix.
func (e *Encoder) short(name string) string {
	for _, prefix := range e.prefixes {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			return rest
		}
	}
	return name
}

// Close closes the files.
func (e *Encoder) Close() error { return e.store.Close() }

// Write adds the inputs and the graph of the encoder up to the tokens' vectors, the tensor export.Tokens
// [batch, tokens, Width], which becomes an output. typed adds the types of tokens as an input. Every tensor must have
// its place and every place its tensor, in the shape that the configuration implies. The weights are read when g is
// written, before which the encoder must not be closed.
func (e *Encoder) Write(g *export.Graph, typed bool) error {
	b := &builder{Graph: g, e: e, typed: typed, used: map[string]bool{}, made: map[string]string{}}
	g.Input(export.IDs, export.Int64, "batch", "tokens")
	if typed {
		g.Input(export.TokenTypes, export.Int64, "batch", "tokens")
	}
	g.Node("Identity", []string{e.build(b)}, []string{export.Tokens})
	g.Output(export.Tokens, export.Float32, "batch", "tokens", e.Width)
	e.Numbers = b.numbers
	return e.check(b)
}

// check reports all tensors that are missing, have another shape or no place, in one error.
func (e *Encoder) check(b *builder) error {
	wrong := b.wrong
	var extra []string
	for short, name := range e.names {
		needless := e.needless != nil && e.needless.MatchString(short) || e.pooler != "" && strings.HasPrefix(short, e.pooler+".")
		if !b.used[short] && !needless {
			extra = append(extra, name)
		}
	}
	slices.Sort(extra)
	for _, name := range extra {
		wrong = append(wrong, name+" has no place in the model")
	}
	const listed = 5
	if len(wrong) > listed {
		wrong = append(wrong[:listed:listed], fmt.Sprintf("and %d more", len(wrong)-listed))
	}
	if wrong != nil {
		return badinput.Errorf("the weights in %s are not those of %s as its config.json describes it: %s: fetch the model again, or export it to ONNX", e.dir, e.Architecture.Name, strings.Join(wrong, "; "))
	}
	return nil
}

// Dense reads a dense layer NAME.weight [out, in] and, if it is there, NAME.bias: a pooler's or a classifier's.
func (e *Encoder) Dense(name string, in, out int, activation string) (export.Dense, error) {
	d := export.Dense{In: in, Out: out, Activation: activation}
	refused := badinput.Errorf("%s has no dense layer %s of %d to %d numbers: fetch the model again, or export it to ONNX", e.dir, name, in, out)
	shape, ok := e.store.Shape(e.names[name+".weight"])
	if !ok || !slices.Equal(shape, []int{out, in}) {
		return d, refused
	}
	weight, err := e.store.Read(e.names[name+".weight"])
	if err != nil {
		return d, err
	}
	d.Weight = export.Transposed(weight, out, in)
	if shape, ok = e.store.Shape(e.names[name+".bias"]); ok {
		if !slices.Equal(shape, []int{out}) {
			return d, refused
		}
		d.Bias, err = e.store.Read(e.names[name+".bias"])
	}
	return d, err
}

// Pooler is the dense layer of the authors' own pooling on the first token.
func (e *Encoder) Pooler() (export.Dense, error) {
	if e.pooler == "" {
		return export.Dense{}, badinput.Errorf("%s has no pooler, being %s: take another --pooling", e.dir, e.Architecture.Name)
	}
	return e.Dense(e.pooler, e.Width, e.Width, "Tanh")
}

// Classifier are the dense layers on the first token of a model that classifies sequences.
func (e *Encoder) Classifier(labels int) ([]export.Dense, error) {
	heads := [2]string{e.pooler, "classifier"}
	if e.pooler == "" || e.names["classifier.weight"] == "" { // RoBERTa's
		heads = [2]string{"classifier.dense", "classifier.out_proj"}
	}
	var all []export.Dense
	for i, name := range heads {
		d, err := e.Dense(name, e.Width, [2]int{e.Width, labels}[i], [2]string{"Tanh", ""}[i])
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}

// find is the architecture of a configuration, or nil.
func find(c *config) *Architecture {
	kind := c.text("model_type", "")
	for _, a := range registered {
		if slices.Contains(a.Types, kind) {
			return a
		}
	}
	return nil
}

// Names lists the architectures, for messages.
func Names() string {
	var all []string
	for _, a := range registered {
		all = append(all, a.Name)
	}
	return strings.Join(all, ", ")
}

// unknown is the error of a model of no architecture that is registered.
func unknown(c *config) error {
	classes := strings.Join(c.Classes(), ", ")
	if classes != "" {
		classes = " (" + classes + ")"
	}
	return badinput.Errorf("%s has the model_type %q%s, which this program cannot build a graph of; it knows %s: export the model to ONNX with the output sentence_embedding, put the graph at onnx/model.onnx and import again", c.path, c.text("model_type", ""), classes, Names())
}

// readConfig reads config.json.
func readConfig(dir string) (*config, error) {
	c := &config{path: filepath.Join(dir, "config.json")}
	found, err := ReadJSON(c.path, &c.values)
	if err == nil && !found {
		err = badinput.Errorf("%s is missing: it names the shape of the model", c.path)
	}
	return c, err
}

// ReadJSON reads a JSON file of a published model; false if it is missing.
func ReadJSON(path string, into any) (bool, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return false, badinput.Errorf("%s is not the JSON that a published model has there: %w: fetch the file again", path, err)
	}
	return true, nil
}
