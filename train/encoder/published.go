package encoder

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

	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/train/export"
	"bitextmine/train/layers"
	"bitextmine/train/weights"
)

// published is Hugging Face's config.json of BERT and similar encoders.
type published struct {
	ModelType      string  `json:"model_type"`
	Layers         int     `json:"num_hidden_layers"`
	Heads          int     `json:"num_attention_heads"`
	Width          int     `json:"hidden_size"`
	FFN            int     `json:"intermediate_size"`
	Activation     string  `json:"hidden_act"`
	Dropout        float64 `json:"hidden_dropout_prob"`
	Epsilon        float64 `json:"layer_norm_eps"`
	Places         int     `json:"max_position_embeddings"`
	Types          int     `json:"type_vocab_size"`
	Vocabulary     int     `json:"vocab_size"`
	Pad            *int    `json:"pad_token_id"`
	PositionKind   string  `json:"position_embedding_type"`
	Decoder        bool    `json:"is_decoder"`
	CrossAttention bool    `json:"add_cross_attention"`
}

// readPublished reads an encoder of a directory as Hugging Face publishes them: config.json of model_type bert, roberta
// or xlm-roberta, and safetensors. How tokens become a vector is not in there, so it is the caller's. Heads that the
// encoder does not need (poolers, language modelling) are left out; anything else that is missing, misshaped or not
// known is an error of class badinput that names it.
func readPublished(dir string, pooling Pooling) (Settings, []*weights.Tensor, error) {
	s, err := ReadShape(dir)
	if err != nil {
		return s, nil, err
	}
	s.Pooling = pooling
	read, err := weights.ReadModel(dir, func(name string) bool {
		return !leftOut.MatchString(name) && (pooling == Pooler || !poolerOf.MatchString(name))
	})
	if err != nil {
		return s, nil, err
	}
	tensors, err := Arrange(s, dir, read)
	return s, tensors, err
}

// WritePublished writes weights that have the names and layouts of a published BERT, with their config.json, into a
// directory that readPublished reads.
func WritePublished(dir string, s Settings, tensors []*weights.Tensor) error {
	c := published{ModelType: "bert", Layers: s.Layers, Heads: s.Heads, Width: s.Width, FFN: s.FFN, Dropout: s.Dropout,
		Epsilon: s.Epsilon,
		Places:  s.MaxTokens, Types: s.TokenTypes, Vocabulary: s.Vocabulary, PositionKind: "absolute"}
	for name, a := range activations {
		if a == s.Activation && (c.Activation == "" || name < c.Activation) {
			c.Activation = name
		}
	}
	if err := weights.WriteFile(filepath.Join(dir, weights.ModelName), tensors,
		map[string]string{"format": "pt"}); err != nil {
		return err
	}
	return atomicfile.WriteJSON(filepath.Join(dir, configName), c)
}

// configName is the file of a model's shape.
const configName = "config.json"

// Arrange gives tensors that have the names and layouts of published BERTs ours, in the order of Specs, and refuses
// numbers that no encoder can have. from names their place in messages.
func Arrange(s Settings, from string, read []*weights.Tensor) ([]*weights.Tensor, error) {
	var unknown []string
	for _, t := range read {
		if !rename(t) {
			unknown = append(unknown, t.Name)
		}
	}
	if unknown != nil {
		slices.Sort(unknown)
		return nil, badinput.Errorf("%s is not a plain encoder of its model_type: %d tensors have no place in it, %s the first", from, len(unknown), unknown[0])
	}
	tensors, err := weights.Arrange(s.Specs(), read)
	if err != nil {
		return nil, badinput.Errorf("%s: %w", from, err)
	}
	for _, t := range tensors {
		if !t.Sound() {
			return nil, badinput.Errorf("%s: %s holds numbers that are infinite, or nearly so, or none at all: copy the weights again", from, t.Name)
		}
	}
	return tensors, nil
}

// activations are Hugging Face's names of ours.
var activations = map[string]layers.Activation{"gelu": layers.GELU, "gelu_new": layers.GELUTanh,
	"gelu_pytorch_tanh": layers.GELUTanh, "relu": layers.ReLU}

// ReadShape reads the shape of a published encoder alone, from config.json. Its pooling is Mean.
func ReadShape(dir string) (Settings, error) {
	path := filepath.Join(dir, configName)
	s, err := readConfig(path)
	if err != nil {
		return s, err
	}
	if err := s.Validate(); err != nil {
		return s, badinput.Errorf("%s: %w", path, err)
	}
	return s, nil
}

func readConfig(path string) (Settings, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Settings{}, badinput.Errorf("%s is missing: it names the shape of the model", path)
	} else if err != nil {
		return Settings{}, err
	}
	c := published{Activation: "gelu", Epsilon: 1e-12, PositionKind: "absolute"}
	if err := json.Unmarshal(raw, &c); err != nil {
		return Settings{}, badinput.Errorf("%s is not a model's configuration: %w", path, err)
	}
	s := Settings{Layers: c.Layers, Heads: c.Heads, Width: c.Width, FFN: c.FFN, Norm: layers.PostNorm,
		Positions: Learned, TokenTypes: c.Types, Dropout: c.Dropout,
		Activation: activations[c.Activation], Epsilon: c.Epsilon, Pooling: Mean, Vocabulary: c.Vocabulary,
		Precision: layers.Float32}
	switch c.ModelType {
	case "bert":
	case "roberta", "xlm-roberta":
		if c.Pad == nil {
			return s, badinput.Errorf("%s lacks pad_token_id, which positions of %s start after", path, c.ModelType)
		}
		s.PositionOffset = *c.Pad + 1
	default:
		return s, badinput.Errorf("%s has the model_type %q, but encoder.kind transformer reads only bert, roberta and xlm-roberta: run mine model import and set encoder.kind to imported",
			path, c.ModelType)
	}
	s.MaxTokens = c.Places - s.PositionOffset
	switch {
	case s.Activation == "":
		return s, badinput.Errorf("%s has the hidden_act %q, but only gelu, gelu_new, gelu_pytorch_tanh and relu can be computed", path, c.Activation)
	case c.PositionKind != "absolute":
		return s, badinput.Errorf("%s has the position_embedding_type %q, but only absolute can be computed", path,
			c.PositionKind)
	case c.Decoder || c.CrossAttention:
		return s, badinput.Errorf("%s is of a decoder, but only encoders can be read", path)
	}
	return s, nil
}

// leftOut matches tensors that sentence vectors do not need, and poolerOf the tensors of a pooler.
var (
	leftOut  = regexp.MustCompile(`^((bert|roberta)\.)?embeddings\.position_ids$|^(cls|lm_head|classifier)\.`)
	poolerOf = regexp.MustCompile(`^((bert|roberta)\.)?pooler\.`)
)

// ourNames are the ends of names below a layer.
var ourNames = map[string]string{
	"attention.self.query": "attention.query", "attention.self.key": "attention.key",
	"attention.self.value":   "attention.value",
	"attention.output.dense": "attention.out", "attention.output.LayerNorm": "attention.norm",
	"intermediate.dense": "ffn.in", "output.dense": "ffn.out", "output.LayerNorm": "ffn.norm",
}

var inLayer = regexp.MustCompile(`^encoder\.layer\.(0|[1-9][0-9]*)\.(.+)\.([a-z]+)$`)

// rename gives a published tensor our name and layout, [in, out] for [out, in]; false if there is none.
func rename(t *weights.Tensor) bool {
	name := strings.TrimPrefix(strings.TrimPrefix(t.Name, "bert."), "roberta.")
	tables := map[string]string{"word_embeddings": Words, "position_embeddings": positions,
		"token_type_embeddings": types}
	if table, ok := strings.CutPrefix(name, "embeddings."); ok {
		if our, ok := tables[strings.TrimSuffix(table, ".weight")]; ok && strings.HasSuffix(table, ".weight") {
			t.Name = our
			return true
		}
		part, ok := strings.CutPrefix(table, "LayerNorm.")
		if ok {
			t.Name = embeddingNorm + normPart(part)
		}
		return ok && normPart(part) != ""
	}
	if part, ok := strings.CutPrefix(name, "pooler.dense."); ok {
		return renameDense(t, pooler, part)
	}
	m := inLayer.FindStringSubmatch(name)
	if m == nil || ourNames[m[2]] == "" {
		return false
	}
	our := fmt.Sprintf("layers.%s.%s", m[1], ourNames[m[2]])
	if strings.HasSuffix(m[2], "LayerNorm") {
		t.Name = our + normPart(m[3])
		return normPart(m[3]) != ""
	}
	return renameDense(t, our, m[3])
}

// renameDense names a part of a dense layer.
func renameDense(t *weights.Tensor, layer, part string) bool {
	if part == "weight" && len(t.Shape) == 2 {
		transpose(t)
	}
	t.Name = layer + "." + part
	return part == "weight" || part == "bias"
}

// normPart is our name of a part of a layer normalisation; the first BERTs have gamma and beta.
func normPart(part string) string {
	return map[string]string{"weight": ".scale", "gamma": ".scale", "bias": ".bias", "beta": ".bias"}[part]
}

func transpose(t *weights.Tensor) {
	t.Data = export.Transposed(t.Data, t.Shape[0], t.Shape[1])
	t.Shape = []int{t.Shape[1], t.Shape[0]}
}
