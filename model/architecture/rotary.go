package architecture

import (
	"fmt"
	"math"
	"regexp"
)

// readModernBERT reads ModernBERT (Warner et al. 2024): normalisation before each part, gated dense layers, and
// attention that is local in all but some layers.
func readModernBERT(c *config) network {
	layers, width, inner := c.layers("num_hidden_layers"), c.size("hidden_size"), c.size("intermediate_size")
	heads, size := c.heads("num_attention_heads", "", width)
	epsilon, act := c.real("norm_eps", 1e-5), c.activation("hidden_activation", "gelu")
	shifted, attentionBias, denseBias := c.flag("norm_bias", false), c.flag("attention_bias", false), c.flag("mlp_bias", false)
	every, half := max(1, c.whole("global_attn_every_n_layers", 3)), c.whole("local_attention", 128)/2
	if half < 1 {
		c.refuse("local_attention is %s, but must be at least 2", c.shown("local_attention"))
	}
	kinds := c.layerTypes(layers, func(i int) string {
		if i%every != 0 {
			return nearby
		}
		return everywhere
	})
	ropes := map[string]rope{
		everywhere: c.rope(everywhere, c.real("global_rope_theta", 160000), size),
		nearby:     c.rope(nearby, c.real("local_rope_theta", 10000), size),
	}
	n := network{Layers: layers, Width: width, Words: c.size("vocab_size"), MaxTokens: c.size("max_position_embeddings"),
		prefixes: []string{"model."}, needless: regexp.MustCompile(`^(head|decoder|classifier)\.`)}
	n.build = func(b *builder) string {
		x := b.norm(b.embed("embeddings.tok_embeddings.weight", n.Words, width), "embeddings.norm", width, epsilon, shifted)
		for i, kind := range kinds {
			at := fmt.Sprintf("layers.%d.", i)
			turns := ropes[kind]
			a := attention{heads: heads, shared: heads, size: size, scale: 1 / math.Sqrt(float64(size)), rope: &turns}
			if kind == nearby {
				a.bias = window(b, half, half)
			}
			y := x
			if i > 0 {
				y = b.norm(x, at+"attn_norm", width, epsilon, shifted)
			}
			w := int64(width)
			qkv := b.split(b.linear(y, at+"attn.Wqkv", width, 3*width, attentionBias), w, w, w)
			x = b.op("Add", x, b.linear(a.attend(b, qkv[0], qkv[1], qkv[2]), at+"attn.Wo", width, width, attentionBias))
			y = b.norm(x, at+"mlp_norm", width, epsilon, shifted)
			parts := b.split(b.linear(y, at+"mlp.Wi", width, 2*inner, denseBias), int64(inner), int64(inner))
			y = b.op("Mul", activations[act](b, parts[0]), parts[1])
			x = b.op("Add", x, b.linear(y, at+"mlp.Wo", inner, width, denseBias))
		}
		return b.norm(x, "final_norm", width, epsilon, shifted)
	}
	return n
}

// readGTE reads mGTE (Zhang et al. 2024), whose published models call it NewModel: BERT's order with rotary positions
// and gated dense layers. Its matrices are packed, queries, keys and values in one, or each its own.
func readGTE(c *config) network {
	k := readBlock(c)
	must(c, "position_embedding_type", "rope")
	must(c, "layer_norm_type", "layer_norm")
	must(c, "logn_attention_scale", false)
	must(c, "logn_attention_clip1", false)
	kinds, native := c.whole("type_vocab_size", 1), c.text("model_type", "") == "gte"
	theta := 10000.0
	if native {
		theta = 160000
	}
	turns := c.rope(everywhere, c.real("rope_theta", theta), k.size)
	n := network{Layers: k.layers, Width: k.width, Words: c.size("vocab_size"), MaxTokens: c.size("max_position_embeddings"),
		Types: kinds, prefixes: []string{"new.", "gte."}, needless: bertNeedless, pooler: "pooler.dense"}
	n.build = func(b *builder) string {
		x := b.embed("embeddings.word_embeddings.weight", n.Words, k.width)
		if kinds > 0 {
			types, ok := b.read("embeddings.token_type_embeddings.weight", kinds, k.width)
			if !ok {
				return x
			}
			b.Initializer("type", []int{k.width}, types[:k.width])
			x = b.op("Add", x, "type")
		}
		x = b.norm(x, "embeddings.LayerNorm", k.width, k.epsilon, true)
		for i := range k.layers {
			x = k.gated(b, i, turns, x)
		}
		return x
	}
	return n
}

// gated writes a layer of GTE after x.
func (k block) gated(b *builder, i int, turns rope, x string) string {
	at, w := fmt.Sprintf("encoder.layer.%d.", i), int64(k.width)
	out, normA, normB := at+"attention.o_proj", at+"attn_ln", at+"mlp_ln"
	var qkv []string
	packed := b.has(at + "attention.qkv_proj.weight")
	switch {
	case !packed && b.has(fmt.Sprintf("layers.%d.self_attn.q_proj.weight", i)):
		at = fmt.Sprintf("layers.%d.", i)
		out, normA, normB = at+"self_attn.o_proj", at+"post_attention_layernorm", at+"post_mlp_layernorm"
		for _, part := range []string{"q", "k", "v"} {
			qkv = append(qkv, b.linear(x, at+"self_attn."+part+"_proj", k.width, k.width, true))
		}
	case packed:
		qkv = b.split(b.linear(x, at+"attention.qkv_proj", k.width, 3*k.width, true), w, w, w)
	default:
		for _, part := range []string{"q", "k", "v"} {
			qkv = append(qkv, b.linear(x, at+"attention."+part+"_proj", k.width, k.width, true))
		}
	}
	a := attention{heads: k.heads, shared: k.heads, size: k.size, scale: 1 / math.Sqrt(float64(k.size)), rope: &turns}
	x = b.norm(b.op("Add", x, b.linear(a.attend(b, qkv[0], qkv[1], qkv[2]), out, k.width, k.width, true)), normA, k.width, k.epsilon, true)
	var up, gate string
	if b.has(at + "mlp.gate_proj.weight") {
		up, gate = b.linear(x, at+"mlp.up_proj", k.width, k.inner, false), b.linear(x, at+"mlp.gate_proj", k.width, k.inner, false)
	} else {
		parts := b.split(b.linear(x, at+"mlp.up_gate_proj", k.width, 2*k.inner, false), int64(k.inner), int64(k.inner))
		up, gate = parts[0], parts[1]
	}
	y := b.linear(b.op("Mul", activations[k.activation](b, gate), up), at+"mlp.down_proj", k.inner, k.width, true)
	return b.norm(b.op("Add", x, y), normB, k.width, k.epsilon, true)
}
