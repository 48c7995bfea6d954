package architecture

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
)

// decoder are the settings of a language model that serves as an encoder: normalisation by the root mean square before
// each part, rotary positions, gated dense layers, and queries that share keys and values.
type decoder struct {
	layers, width, heads, shared, size, inner int
	epsilon                                   float64
	activation                                string
	scale                                     float64
	bias, outBias, denseBias                  bool // of queries, keys and values; of what comes after; of the dense layers

	normed   bool    // queries and keys are normalised
	sandwich bool    // there is a normalisation after each part, too
	plus     float32 // added to the weights of normalisations
	factor   float64 // on the words; 0: none

	kinds         []string // of the layers' attention
	ropes         map[string]rope
	before, after map[string]int // how far a token looks, by kind; negative: without bound
}

// readDecoder reads the fields that these models have in common. window is how many tokens a sliding layer looks back
// at, its own among them.
func readDecoder(c *config, act, actDefault string) decoder {
	d := decoder{layers: c.layers("num_hidden_layers"), width: c.size("hidden_size"), inner: c.size("intermediate_size"),
		epsilon: c.real("rms_norm_eps", 1e-6), activation: c.activation(act, actDefault)}
	d.heads, d.size = c.heads("num_attention_heads", "head_dim", d.width)
	if d.shared = c.whole("num_key_value_heads", d.heads); d.shared < 1 || d.heads%d.shared != 0 {
		c.refuse("num_key_value_heads is %d, which does not divide the %d heads of queries", d.shared, d.heads)
		d.shared = d.heads
	}
	d.scale = 1 / math.Sqrt(float64(d.size))
	return d
}

// look sets how far tokens look: back alone, or both ways.
func (d *decoder) look(c *config, causal bool, window int) {
	d.before, d.after = map[string]int{everywhere: -1}, map[string]int{everywhere: -1}
	if causal {
		d.after = map[string]int{everywhere: 0, nearby: 0}
	} else {
		d.after[nearby] = window - 1
	}
	d.before[nearby] = window - 1
	for _, kind := range d.kinds {
		if kind == nearby && window < 1 {
			c.refuse("sliding_window is %s, but must be positive", c.shown("sliding_window"))
		}
	}
}

// everyLayer has every layer look everywhere, or those from `from` on nearby if a window is given.
func everyLayer(window, from int) func(i int) string {
	return func(i int) string {
		if window > 0 && i >= from {
			return nearby
		}
		return everywhere
	}
}

// rotary reads one set of rotary positions for all layers.
func (d *decoder) rotary(c *config) {
	turns := c.rope(everywhere, c.real("rope_theta", 10000), d.size)
	d.ropes = map[string]rope{everywhere: turns, nearby: turns}
}

// readQwen3 reads Qwen3 (Yang et al. 2025).
func readQwen3(c *config) network {
	d := readDecoder(c, "hidden_act", "silu")
	d.normed, d.bias = true, c.flag("attention_bias", false)
	d.outBias = d.bias
	return d.sliding(c)
}

// readQwen2 reads Qwen2: queries, keys and values have a bias.
func readQwen2(c *config) network {
	d := readDecoder(c, "hidden_act", "silu")
	d.bias = true
	return d.sliding(c)
}

// sliding completes a Qwen, whose layers from a number on look nearby if the configuration says so.
func (d decoder) sliding(c *config) network {
	window := 0
	if c.flag("use_sliding_window", false) {
		window = c.whole("sliding_window", 4096)
	}
	d.kinds = c.layerTypes(d.layers, everyLayer(window, c.whole("max_window_layers", 28)))
	d.look(c, c.causal(window), window)
	d.rotary(c)
	return d.network(c)
}

// causal reads whether tokens look back alone. Both ways with a window is not defined for these models.
func (c *config) causal(window int) bool {
	causal := c.flag("is_causal", true)
	if !causal && window > 0 {
		c.refuse("is_causal is false and there is a sliding_window, which cannot be computed together: export the model to ONNX")
	}
	return causal
}

// readLlama reads Llama (Touvron et al. 2023) and Mistral, whose layers all look nearby where it has a window.
func readLlama(c *config) network {
	d := readDecoder(c, "hidden_act", "silu")
	d.bias, d.denseBias = c.flag("attention_bias", false), c.flag("mlp_bias", false)
	d.outBias = d.bias
	window := 0
	if c.text("model_type", "") == "mistral" {
		window = c.whole("sliding_window", 0)
	}
	d.kinds = c.layerTypes(d.layers, everyLayer(window, 0))
	d.look(c, c.causal(window), window)
	d.rotary(c)
	return d.network(c)
}

// readGemma reads Gemma 3's text model (Gemma Team 2025), with attention both ways as EmbeddingGemma has it, or back.
func readGemma(c *config) network {
	d := readDecoder(c, "hidden_activation", "gelu_pytorch_tanh")
	d.size = c.size("head_dim")
	d.bias = c.flag("attention_bias", false)
	d.outBias, d.normed, d.sandwich, d.plus = d.bias, true, true, 1
	d.scale = 1 / math.Sqrt(float64(max(1, c.whole("query_pre_attn_scalar", 256))))
	d.factor = float64(float32(math.Sqrt(float64(d.width))))
	if got := c.real("attn_logit_softcapping", 0); got != 0 {
		c.refuse("attn_logit_softcapping is %v, which cannot be computed: export the model to ONNX", got)
	}
	must(c, "is_causal", true)
	both, window, pattern := c.flag("use_bidirectional_attention", false), c.whole("sliding_window", 4096), max(1, c.whole("sliding_window_pattern", 6))
	if both {
		window = window/2 + 1
	}
	d.kinds = c.layerTypes(d.layers, func(i int) string {
		if (i+1)%pattern != 0 {
			return nearby
		}
		return everywhere
	})
	d.look(c, !both, window)
	d.ropes = map[string]rope{everywhere: c.rope(everywhere, c.real("rope_theta", 1e6), d.size)}
	local := *c
	if _, ok := c.values["rope_parameters"]; !ok {
		local.values = map[string]json.RawMessage{} // the scaling is that of layers that look everywhere
	}
	d.ropes[nearby] = local.rope(nearby, c.real("rope_local_base_freq", 1e4), d.size)
	c.wrong = append(c.wrong, local.wrong[len(c.wrong):]...)
	return d.network(c)
}

func (d decoder) network(c *config) network {
	n := network{Layers: d.layers, Width: d.width, Words: c.size("vocab_size"), MaxTokens: c.size("max_position_embeddings"),
		prefixes: []string{"model.language_model.", "language_model.model.", "model."},
		needless: regexp.MustCompile(`^(lm_head|score)\.|rotary_emb\.inv_freq$`)}
	n.build = func(b *builder) string {
		x := b.embed("embed_tokens.weight", n.Words, d.width)
		if d.factor != 0 {
			x = b.op("Mul", x, b.scalar(d.factor))
		}
		for i, kind := range d.kinds {
			x = d.layer(b, fmt.Sprintf("layers.%d.", i), kind, x)
		}
		return b.rms(x, "norm", d.width, d.epsilon, d.plus)
	}
	return n
}

// layer writes a layer after x.
func (d decoder) layer(b *builder, at, kind, x string) string {
	rms := func(x, name string, width int) string { return b.rms(x, at+name, width, d.epsilon, d.plus) }
	turns := d.ropes[kind]
	a := attention{heads: d.heads, shared: d.shared, size: d.size, scale: d.scale, rope: &turns,
		bias: window(b, d.before[kind], d.after[kind])}
	if d.normed {
		a.query = func(x string) string { return rms(x, "self_attn.q_norm", d.size) }
		a.key = func(x string) string { return rms(x, "self_attn.k_norm", d.size) }
	}
	y := rms(x, "input_layernorm", d.width)
	q := b.linear(y, at+"self_attn.q_proj", d.width, d.heads*d.size, d.bias)
	k := b.linear(y, at+"self_attn.k_proj", d.width, d.shared*d.size, d.bias)
	v := b.linear(y, at+"self_attn.v_proj", d.width, d.shared*d.size, d.bias)
	y = b.linear(a.attend(b, q, k, v), at+"self_attn.o_proj", d.heads*d.size, d.width, d.outBias)
	before := "post_attention_layernorm"
	if d.sandwich {
		y, before = rms(y, "post_attention_layernorm", d.width), "pre_feedforward_layernorm"
	}
	x = b.op("Add", x, y)
	y = rms(x, before, d.width)
	gate := activations[d.activation](b, b.linear(y, at+"mlp.gate_proj", d.width, d.inner, d.denseBias))
	y = b.op("Mul", gate, b.linear(y, at+"mlp.up_proj", d.width, d.inner, d.denseBias))
	y = b.linear(y, at+"mlp.down_proj", d.inner, d.width, d.denseBias)
	if d.sandwich {
		y = rms(y, "post_feedforward_layernorm", d.width)
	}
	return b.op("Add", x, y)
}
