package architecture

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
)

// rope are rotary positions (Su et al. 2021): pair i of a head's numbers is turned by place times frequencies[i].
type rope struct {
	name        string // distinguishes those of one graph
	frequencies []float32
	factor      float64 // multiplies sine and cosine
}

// scaling is rope_scaling or rope_parameters of config.json.
type scaling struct {
	Kind    string   `json:"rope_type"`
	Old     string   `json:"type"`
	Theta   float64  `json:"rope_theta"`
	Factor  float64  `json:"factor"`
	Low     float64  `json:"low_freq_factor"`
	High    float64  `json:"high_freq_factor"`
	Context float64  `json:"original_max_position_embeddings"`
	Fast    float64  `json:"beta_fast"`
	Slow    float64  `json:"beta_slow"`
	Mscale  float64  `json:"mscale"`
	MscaleD float64  `json:"mscale_all_dim"`
	Partial float64  `json:"partial_rotary_factor"`
	Scale   *float64 `json:"attention_factor"`
	Trunc   *bool    `json:"truncate"`
	MixedB  *float64 `json:"mixed_b"`
}

// rope reads the rotary positions of heads of so many numbers. kind is the kind of layers where the configuration has
// several sets of them, theta the base of the older field, or its default.
func (c *config) rope(kind string, theta float64, head int) rope {
	s := scaling{Theta: theta}
	var sets map[string]json.RawMessage
	several := false
	c.value("rope_scaling", &s)
	if c.value("rope_parameters", &sets) {
		set := c.values["rope_parameters"]
		if own, ok := sets[kind]; ok {
			set, several = own, true
		}
		if string(set) != "null" && json.Unmarshal(set, &s) != nil {
			c.refuse("rope_parameters is %s, which is not of its kind", set)
		}
	}
	if s.Kind == "" {
		s.Kind = s.Old
	}
	if head%2 != 0 || head < 2 {
		c.refuse("the heads have %d numbers, but rotary positions turn pairs", head)
		return rope{}
	}
	if s.Partial != 0 && s.Partial != 1 {
		c.refuse("partial_rotary_factor is %v, but only 1 can be computed: export the model to ONNX", s.Partial)
	}
	if !(s.Theta > 0) || math.IsInf(s.Theta, 0) {
		c.refuse("rope_theta is %v, but must be positive", s.Theta)
		return rope{}
	}
	r := rope{name: "rope." + kind, frequencies: make([]float32, head/2), factor: 1}
	scaled, ok := scalings[s.Kind]
	if !ok {
		c.refuse("rope_scaling is of type %q, but only default, linear, ntk, llama3 and yarn can be computed: export the model to ONNX", s.Kind)
		return r
	}
	if s.Kind != "" && s.Kind != "default" && !(s.Factor >= 1) {
		c.refuse("rope_scaling has the factor %v, but must have one of 1 or more", s.Factor)
		return r
	}
	if s.Kind == "llama3" || s.Kind == "yarn" {
		c.context(&s, several)
	}
	turned := scaled(&r, s, head)
	for i := range r.frequencies {
		r.frequencies[i] = float32(turned(i))
	}
	return r
}

// context completes the length that the model was trained on as Hugging Face does: the configuration's own field stands
// above that of a single set, and without either it is that of the model as it is.
func (c *config) context(s *scaling, several bool) {
	if !several {
		c.value("original_max_position_embeddings", &s.Context)
	}
	if s.Context == 0 {
		c.value("max_position_embeddings", &s.Context)
	}
	if !(s.Context > 0) {
		c.refuse("rope_scaling of type %s has original_max_position_embeddings %v, but must have a positive one", s.Kind, s.Context)
	}
}

// plainTurn is the angle by which pair i is turned from one place to the next, without scaling.
func plainTurn(theta float64, head int) func(i int) float64 {
	return func(i int) float64 { return 1 / math.Pow(theta, float64(2*i)/float64(head)) }
}

// scalings give the function of a pair's angle by the type of scaling, and may set the factor.
var scalings = map[string]func(r *rope, s scaling, head int) func(i int) float64{
	"":        plainScaling,
	"default": plainScaling,
	"linear": func(_ *rope, s scaling, head int) func(i int) float64 {
		turn := plainTurn(s.Theta, head)
		return func(i int) float64 { return turn(i) / s.Factor }
	},
	"ntk":    ntkScaling,
	"llama3": llamaScaling,
	"yarn":   yarnScaling,
}

func plainScaling(_ *rope, s scaling, head int) func(i int) float64 { return plainTurn(s.Theta, head) }

// ntkScaling is GTE's scaling: a base as many times as large, and all angles divided; with mixed_b they are divided by
// growing numbers instead.
func ntkScaling(_ *rope, s scaling, head int) func(i int) float64 {
	if s.MixedB == nil {
		turn := plainTurn(s.Theta*s.Factor, head)
		return func(i int) float64 { return turn(i) / math.Pow(s.Factor, 2/float64(head)) }
	}
	turn := plainTurn(s.Theta, head)
	a := math.Log(s.Factor) / math.Pow(float64(head)/2, *s.MixedB)
	return func(i int) float64 { return turn(i) / math.Exp(a*math.Pow(float64(i+1), *s.MixedB)) }
}

// llamaScaling divides the angles of long waves, leaves those of short ones, and mixes both in between.
func llamaScaling(_ *rope, s scaling, head int) func(i int) float64 {
	turn := plainTurn(s.Theta, head)
	return func(i int) float64 {
		f := turn(i)
		wave := 2 * math.Pi / f
		switch {
		case wave < s.Context/s.High:
			return f
		case wave > s.Context/s.Low:
			return f / s.Factor
		}
		smooth := (s.Context/wave - s.Low) / (s.High - s.Low)
		return (1-smooth)*f/s.Factor + smooth*f
	}
}

// yarnScaling is YaRN's scaling (Peng et al. 2023).
func yarnScaling(r *rope, s scaling, head int) func(i int) float64 {
	scale := func(m float64) float64 {
		if s.Factor <= 1 {
			return 1
		}
		return 0.1*m*math.Log(s.Factor) + 1
	}
	switch {
	case s.Scale != nil:
		r.factor = *s.Scale
	case s.Mscale != 0 && s.MscaleD != 0:
		r.factor = scale(s.Mscale) / scale(s.MscaleD)
	default:
		r.factor = scale(1)
	}
	if s.Fast == 0 {
		s.Fast = 32
	}
	if s.Slow == 0 {
		s.Slow = 1
	}
	correction := func(turns float64) float64 {
		return float64(head) * math.Log(s.Context/(turns*2*math.Pi)) / (2 * math.Log(s.Theta))
	}
	low, high := correction(s.Fast), correction(s.Slow)
	if s.Trunc == nil || *s.Trunc {
		low, high = math.Floor(low), math.Ceil(high)
	}
	low, high = max(low, 0), min(high, float64(head-1))
	if low == high {
		high += 0.001
	}
	turn := plainTurn(s.Theta, head)
	return func(i int) float64 {
		ramp := min(max((float64(i)-low)/(high-low), 0), 1)
		return turn(i)/s.Factor*ramp + turn(i)*(1-ramp)
	}
}

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
