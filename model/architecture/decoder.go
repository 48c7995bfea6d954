package architecture

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"
)

// decoder are the settings of a language model that serves as an encoder: normalisation by the root mean square before
// each part, rotary positions, gated dense layers, and queries that share keys and values.
type decoder struct {
	layers, width, heads, shared, size, inner int
	epsilon                                   float64
	activation                                string
	scale                                     float64
	// bias: of queries, keys and values; outBias: of attention's output; denseBias: of the dense layers
	bias, outBias, denseBias bool

	normed   bool    // queries and keys are normalised
	sandwich bool    // there is a normalisation after each part, too
	plus     float32 // added to the weights of normalisations
	factor   float64 // multiplies the word vectors; 0: none

	kinds         []string // each layer's kind of attention
	ropes         map[string]rope
	before, after map[string]int // tokens that a token attends to, by kind; negative: all
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
		local.values = map[string]json.RawMessage{} // only layers that look everywhere are scaled
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

// readT5 reads the encoder of T5 and mT5 (Raffel et al. 2020): normalisation before each part, a bias by distance, and
// scores without a scale. In UMT5 each layer has its own bias.
func readT5(c *config) network {
	layers, width, inner := c.layers("num_layers"), c.size("d_model"), c.size("d_ff")
	heads, size := c.size("num_heads"), c.size("d_kv")
	buckets, furthest := c.whole("relative_attention_num_buckets", 32), c.whole("relative_attention_max_distance", 128)
	epsilon, own := c.real("layer_norm_epsilon", 1e-6), c.text("model_type", "") == "umt5"
	act, gated := strings.CutPrefix(c.text("feed_forward_proj", "relu"), "gated-")
	if act == "gelu" && gated {
		act = "gelu_new"
	}
	if activations[act] == nil {
		c.refuse("feed_forward_proj is %s, which cannot be computed: export the model to ONNX", c.shown("feed_forward_proj"))
	}
	if buckets < 4 || buckets%4 != 0 || furthest <= buckets/4 || furthest > 1<<16 {
		c.refuse("relative_attention_num_buckets is %d and relative_attention_max_distance %d, but there must be a multiple of 4 buckets and a greater distance", buckets, furthest)
	}
	n := network{Layers: layers, Width: width, Words: c.size("vocab_size"), MaxTokens: limit,
		needless: regexp.MustCompile(`^decoder\.|^lm_head\.|^encoder\.embed_tokens\.weight$|^shared\.weight$`)}
	n.build = func(b *builder) string {
		words := "shared.weight"
		if !b.has(words) {
			words = "encoder.embed_tokens.weight"
		}
		x, bias := b.embed(words, n.Words, width), ""
		for i := range layers {
			at := fmt.Sprintf("encoder.block.%d.layer.", i)
			learned := at + "0.SelfAttention.relative_attention_bias.weight"
			if i == 0 || own {
				each, ok := b.read(learned, buckets, heads)
				if !ok {
					return x
				}
				bias = relative(b, learned, each, heads, buckets, furthest)
			}
			y := b.rms(x, at+"0.layer_norm", width, epsilon, 0)
			part := func(name string) string { return b.linear(y, at+"0.SelfAttention."+name, width, heads*size, false) }
			y = attention{heads: heads, shared: heads, size: size, bias: bias}.attend(b, part("q"), part("k"), part("v"))
			x = b.op("Add", x, b.linear(y, at+"0.SelfAttention.o", heads*size, width, false))
			y = b.rms(x, at+"1.layer_norm", width, epsilon, 0)
			in := at + "1.DenseReluDense.wi"
			if gated {
				y = b.op("Mul", activations[act](b, b.linear(y, in+"_0", width, inner, false)), b.linear(y, in+"_1", width, inner, false))
			} else {
				y = activations[act](b, b.linear(y, in, width, inner, false))
			}
			x = b.op("Add", x, b.linear(y, at+"1.DenseReluDense.wo", inner, width, false))
		}
		return b.rms(x, "encoder.final_layer_norm", width, epsilon, 0)
	}
	return n
}

// readM2M reads the encoder of M2M-100 and NLLB (Fan et al. 2021), which SONAR's text encoder is, too: normalisation
// before each part, places as sines.
func readM2M(c *config) network {
	const epsilon = 1e-5
	layers, width, inner := c.layers("encoder_layers"), c.size("d_model"), c.size("encoder_ffn_dim")
	heads, size := c.heads("encoder_attention_heads", "", width)
	act, scaled, pad := c.activation("activation_function", "relu"), c.flag("scale_embedding", false), c.whole("pad_token_id", 1)
	n := network{Layers: layers, Width: width, Words: c.size("vocab_size"), MaxTokens: c.size("max_position_embeddings"),
		prefixes: []string{"model.encoder.", "encoder.", "model."},
		needless: regexp.MustCompile(`^decoder\.|^lm_head\.|^shared\.weight$|embed_positions\.weights$`)}
	if width < 4 || n.MaxTokens > 1<<16 {
		c.refuse("d_model is %d and max_position_embeddings %d, but must be at least 4 and at most %d", width, n.MaxTokens, 1<<16)
	}
	n.build = func(b *builder) string {
		words := "embed_tokens.weight"
		if !b.has(words) {
			words = "shared.weight"
		}
		x := b.embed(words, n.Words, width)
		if scaled {
			x = b.op("Mul", x, b.scalar(math.Sqrt(float64(width))))
		}
		if b.wrong != nil { // the table of places is as wide as that of words, whatever the configuration says
			return x
		}
		x = b.places(x, Sines(pad+1, n.MaxTokens, width), width)
		for i := range layers {
			at := fmt.Sprintf("layers.%d.", i)
			y := b.norm(x, at+"self_attn_layer_norm", width, epsilon, true)
			part := func(name string) string { return b.linear(y, at+"self_attn."+name, width, width, true) }
			a := attention{heads: heads, shared: heads, size: size, scale: 1 / math.Sqrt(float64(size))}
			y = a.attend(b, part("q_proj"), part("k_proj"), part("v_proj"))
			x = b.op("Add", x, b.linear(y, at+"self_attn.out_proj", width, width, true))
			y = activations[act](b, b.linear(b.norm(x, at+"final_layer_norm", width, epsilon, true), at+"fc1", width, inner, true))
			x = b.op("Add", x, b.linear(y, at+"fc2", inner, width, true))
		}
		return b.norm(x, "layer_norm", width, epsilon, true)
	}
	return n
}

// Sines are the places from first on, as tensor2tensor computed them: sines in the first half of a row, cosines in the
// second, wavelengths from 2π to exactly 10000·2π. The last number of an odd row is 0.
func Sines(first, places, width int) []float32 {
	out := make([]float32, places*width)
	half := width / 2
	for p := range places {
		for i := range half {
			angle := float64(first+p) * math.Exp(-math.Log(10000)*float64(i)/float64(half-1))
			out[p*width+i], out[p*width+half+i] = float32(math.Sin(angle)), float32(math.Cos(angle))
		}
	}
	return out
}
