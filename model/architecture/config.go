package architecture

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// config is config.json. Its methods note what is wrong with a value, and go on with a value that is harmless.
type config struct {
	path   string
	values map[string]json.RawMessage
	wrong  []string
}

// limit is a bound of all sizes: with it no product of two overflows.
const limit = 1 << 24

func (c *config) refuse(format string, args ...any) {
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
}

// value decodes a field; false if the field is missing or null.
func (c *config) value(name string, into any) bool {
	raw, ok := c.values[name]
	if !ok || string(raw) == "null" {
		return false
	}
	if err := json.Unmarshal(raw, into); err != nil {
		c.refuse("%s is %s, which is not of its kind", name, raw)
		return false
	}
	return true
}

// size is a positive number that must be there.
func (c *config) size(name string) int {
	var n float64
	if !c.value(name, &n) || n < 1 || n > limit || n != float64(int(n)) {
		c.refuse("%s is %s, but must be a whole number from 1 to %d", name, c.shown(name), limit)
		return 1
	}
	return int(n)
}

// layers is the number of layers.
func (c *config) layers(name string) int {
	const most = 1000
	n := c.size(name)
	if n > most {
		c.refuse("%s is %d, but must be at most %d", name, n, most)
		return 1
	}
	return n
}

func (c *config) shown(name string) string {
	if raw, ok := c.values[name]; ok {
		return string(raw)
	}
	return "missing"
}

// whole is a whole number, or another one if the field is missing.
func (c *config) whole(name string, otherwise int) int {
	n := float64(otherwise)
	c.value(name, &n)
	if n < -1 || n > limit*limit || n != float64(int(n)) {
		c.refuse("%s is %s, but must be a whole number", name, c.shown(name))
		return otherwise
	}
	return int(min(n, limit))
}

func (c *config) real(name string, otherwise float64) float64 {
	c.value(name, &otherwise)
	return otherwise
}

func (c *config) text(name, otherwise string) string {
	c.value(name, &otherwise)
	return otherwise
}

func (c *config) flag(name string, otherwise bool) bool {
	c.value(name, &otherwise)
	return otherwise
}

// Classes are the names of PyTorch's classes.
func (c *config) Classes() []string {
	var all []string
	c.value("architectures", &all)
	return all
}

// code is the code that the model asks to run in place of the library's, or empty.
func (c *config) code() string {
	var all map[string]any
	c.value("auto_map", &all)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if strings.HasPrefix(key, "AutoModel") {
			return fmt.Sprint(all[key])
		}
	}
	return ""
}

// must refuses a field that has another value than the only one that can be computed.
func must[T comparable](c *config, name string, only T) {
	got := only
	if c.value(name, &got) && got != only {
		c.refuse("%s is %s, but only %v can be computed: export the model to ONNX", name, c.shown(name), only)
	}
}

// heads are the attention's heads and the width of one, which is `width` / heads unless the field says it.
func (c *config) heads(name, size string, width int) (heads, each int) {
	heads = c.size(name)
	if size != "" {
		each = c.whole(size, 0)
	}
	if each > 0 {
		return heads, each
	}
	if width%heads != 0 {
		c.refuse("%s is %d, which does not divide the width %d", name, heads, width)
		return 1, width
	}
	return heads, width / heads
}

// activation is a function of hidden layers, by Hugging Face's name.
func (c *config) activation(name, otherwise string) string {
	kind := c.text(name, otherwise)
	if _, ok := activations[kind]; !ok {
		c.refuse("%s is %q, but only %s can be computed: export the model to ONNX", name, kind,
			strings.Join(slices.Sorted(maps.Keys(activations)), ", "))
	}
	return kind
}

// Kinds of a layer's attention in layer_types.
const (
	everywhere = "full_attention"
	nearby     = "sliding_attention"
)

// layerTypes are the kinds of the layers' attention: those that the configuration lists, or those of a function.
func (c *config) layerTypes(layers int, otherwise func(i int) string) []string {
	var all []string
	if !c.value("layer_types", &all) {
		for i := range layers {
			all = append(all, otherwise(i))
		}
	}
	if len(all) != layers {
		c.refuse("layer_types has %d layers, but the model has %d", len(all), layers)
	}
	for _, kind := range all {
		if kind != everywhere && kind != nearby {
			c.refuse("layer_types has %q, but only %s and %s can be computed: export the model to ONNX", kind, everywhere, nearby)
		}
	}
	return all
}

// registered are the architectures that a graph can be built of.
var registered = []*Architecture{
	{Name: "BERT", Types: []string{"bert"}, read: readBERT},
	{Name: "RoBERTa and XLM-RoBERTa", Types: []string{"roberta", "xlm-roberta", "camembert"}, read: readRoBERTa},
	{Name: "MPNet", Types: []string{"mpnet"}, read: readMPNet},
	{Name: "DistilBERT", Types: []string{"distilbert"}, read: readDistilBERT},
	{Name: "ModernBERT", Types: []string{"modernbert"}, read: readModernBERT},
	{Name: "GTE (NewModel)", Types: []string{"new", "gte"}, Code: true, read: readGTE},
	{Name: "Gemma 3 (text)", Types: []string{"gemma3_text"}, read: readGemma},
	{Name: "Qwen3", Types: []string{"qwen3"}, read: readQwen3},
	{Name: "Qwen2", Types: []string{"qwen2"}, read: readQwen2},
	{Name: "Llama and Mistral", Types: []string{"llama", "mistral"}, read: readLlama},
	{Name: "the encoder of T5 and mT5", Types: []string{"t5", "mt5", "umt5"}, read: readT5},
	{Name: "the encoder of M2M-100 and NLLB", Types: []string{"m2m_100"}, read: readM2M},
}
