package architecture

import (
	"fmt"
	"math"
	"regexp"
	"strings"
)

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
		x = b.places(x, sines(pad+1, n.MaxTokens, width), width)
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

// sines are the places from first on, as tensor2tensor computed them: sines in the first half of a row, cosines in the
// second, wavelengths from 2π to exactly 10000·2π. The last number of an odd row is 0.
func sines(first, places, width int) []float32 {
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
