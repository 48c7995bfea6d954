package architecture

import (
	"fmt"
	"math"
	"regexp"

	"bitextmine/train/export"
)

// block are the settings of a layer of BERT (Devlin et al. 2019): attention and two dense layers, each followed by a
// normalisation of its sum with what it took.
type block struct {
	layers, width, heads, size, inner int
	epsilon                           float64
	activation                        string
}

// readBlock reads the fields that BERT and its kin have in common.
func readBlock(c *config) block {
	k := block{layers: c.layers("num_hidden_layers"), width: c.size("hidden_size"), inner: c.size("intermediate_size"),
		epsilon: c.real("layer_norm_eps", 1e-12), activation: c.activation("hidden_act", "gelu")}
	k.heads, k.size = c.heads("num_attention_heads", "", k.width)
	return k
}

// names are the names of a layer's tensors.
type names struct {
	query, key, value, out, norm, in, back, after string
}

var bertNames = names{"attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
	"attention.output.LayerNorm", "intermediate.dense", "output.dense", "output.LayerNorm"}

// layer writes a layer after x; each tensor's name has the prefix.
func (k block) layer(b *builder, prefix string, n names, bias, x string) string {
	dense := func(x, name string, in, out int) string { return b.linear(x, prefix+name, in, out, true) }
	a := attention{heads: k.heads, shared: k.heads, size: k.size, scale: 1 / math.Sqrt(float64(k.size)), bias: bias}
	q, key, v := dense(x, n.query, k.width, k.width), dense(x, n.key, k.width, k.width), dense(x, n.value, k.width, k.width)
	x = b.norm(b.op("Add", x, dense(a.attend(b, q, key, v), n.out, k.width, k.width)), prefix+n.norm, k.width, k.epsilon, true)
	inner := activations[k.activation](b, dense(x, n.in, k.width, k.inner))
	return b.norm(b.op("Add", x, dense(inner, n.back, k.inner, k.width)), prefix+n.after, k.width, k.epsilon, true)
}

// bertNeedless are tensors that tokens' vectors do not need.
var bertNeedless = regexp.MustCompile(`^embeddings\.position_ids$|^(cls|lm_head|classifier|pooler|predictions)\.`)

func readBERT(c *config) network {
	return bertWith(c, 0)
}

// readRoBERTa: places start after the number of the padding token.
func readRoBERTa(c *config) network {
	pad := c.whole("pad_token_id", -1)
	if pad < 0 {
		c.refuse("pad_token_id is missing, which places start after")
	}
	return bertWith(c, pad+1)
}

func bertWith(c *config, offset int) network {
	k := readBlock(c)
	must(c, "position_embedding_type", "absolute")
	must(c, "is_decoder", false)
	must(c, "add_cross_attention", false)
	places, kinds := c.size("max_position_embeddings"), c.whole("type_vocab_size", 2)
	n := network{Layers: k.layers, Width: k.width, Words: c.size("vocab_size"), MaxTokens: places - offset, Types: kinds,
		prefixes: []string{"bert.", "roberta.", "camembert."}, needless: bertNeedless, pooler: "pooler.dense"}
	if n.MaxTokens < 1 {
		c.refuse("max_position_embeddings is %d, which leaves no place after the first %d", places, offset)
	}
	n.build = func(b *builder) string {
		x := b.embed("embeddings.word_embeddings.weight", n.Words, k.width)
		table, ok := b.read("embeddings.position_embeddings.weight", places, k.width)
		if !ok {
			return x
		}
		table = table[offset*k.width:]
		if kinds > 0 {
			types, ok := b.read("embeddings.token_type_embeddings.weight", kinds, k.width)
			if !ok {
				return x
			}
			for i := range table {
				table[i] += types[i%k.width]
			}
			if b.typed { // the places have the first type's row
				x = b.op("Add", x, b.op("Gather", beyondFirst(b, types, k.width), export.TokenTypes, attr("axis", 0)))
			}
		}
		x = b.norm(b.places(x, table, k.width), "embeddings.LayerNorm", k.width, k.epsilon, true)
		for i := range k.layers {
			x = k.layer(b, fmt.Sprintf("encoder.layer.%d.", i), bertNames, "", x)
		}
		return x
	}
	return n
}

// beyondFirst adds the table of the types' rows less the first one.
func beyondFirst(b *builder, types []float32, width int) string {
	less := make([]float32, len(types))
	for i, x := range types {
		less[i] = x - types[i%width]
	}
	b.Initializer("types", []int{len(types) / width, width}, less)
	return "types"
}

// readMPNet reads MPNet (Song et al. 2020): BERT with a bias by distance, which all layers share.
func readMPNet(c *config) network {
	const offset, furthest = 2, 128 // places start after the padding token's number, which is always 1
	k := readBlock(c)
	buckets, places := c.whole("relative_attention_num_buckets", 32), c.size("max_position_embeddings")
	if buckets < 4 || buckets%4 != 0 {
		c.refuse("relative_attention_num_buckets is %d, but must be a multiple of 4", buckets)
	}
	n := network{Layers: k.layers, Width: k.width, Words: c.size("vocab_size"), MaxTokens: places - offset,
		prefixes: []string{"mpnet."}, needless: bertNeedless, pooler: "pooler.dense"}
	if n.MaxTokens < 1 {
		c.refuse("max_position_embeddings is %d, which leaves no place after the first %d", places, offset)
	}
	inLayer := bertNames
	inLayer.query, inLayer.key, inLayer.value, inLayer.out, inLayer.norm = "attention.attn.q", "attention.attn.k", "attention.attn.v", "attention.attn.o", "attention.LayerNorm"
	n.build = func(b *builder) string {
		x := b.embed("embeddings.word_embeddings.weight", n.Words, k.width)
		const learned = "encoder.relative_attention_bias.weight"
		table, ok := b.read("embeddings.position_embeddings.weight", places, k.width)
		each, both := b.read(learned, buckets, k.heads)
		if !ok || !both {
			return x
		}
		x = b.norm(b.places(x, table[offset*k.width:], k.width), "embeddings.LayerNorm", k.width, k.epsilon, true)
		bias := relative(b, learned, each, k.heads, buckets, furthest)
		for i := range k.layers {
			x = k.layer(b, fmt.Sprintf("encoder.layer.%d.", i), inLayer, bias, x)
		}
		return x
	}
	return n
}

// readDistilBERT reads DistilBERT (Sanh et al. 2019): BERT without types of tokens, by other names.
func readDistilBERT(c *config) network {
	k := block{layers: c.layers("n_layers"), width: c.size("dim"), inner: c.size("hidden_dim"), epsilon: 1e-12,
		activation: c.activation("activation", "gelu")}
	k.heads, k.size = c.heads("n_heads", "", k.width)
	places := c.size("max_position_embeddings")
	n := network{Layers: k.layers, Width: k.width, Words: c.size("vocab_size"), MaxTokens: places,
		prefixes: []string{"distilbert."}, needless: regexp.MustCompile(`^(vocab_|pre_classifier|classifier|qa_outputs)`)}
	inLayer := names{"attention.q_lin", "attention.k_lin", "attention.v_lin", "attention.out_lin", "sa_layer_norm",
		"ffn.lin1", "ffn.lin2", "output_layer_norm"}
	n.build = func(b *builder) string {
		x := b.embed("embeddings.word_embeddings.weight", n.Words, k.width)
		table, ok := b.read("embeddings.position_embeddings.weight", places, k.width)
		if !ok {
			return x
		}
		x = b.norm(b.places(x, table, k.width), "embeddings.LayerNorm", k.width, k.epsilon, true)
		for i := range k.layers {
			x = k.layer(b, fmt.Sprintf("transformer.layer.%d.", i), inLayer, "", x)
		}
		return x
	}
	return n
}

// attention says how tokens look at each other.
type attention struct {
	heads, shared, size int     // shared: how many heads keys and values have; size: the numbers of one
	scale               float64 // multiplies the scores; 0: none
	rope                *rope   // nil: none
	// bias is added to the scores: [tokens, tokens] or [1, heads, tokens, tokens]; empty: nothing is.
	bias       string
	query, key func(x string) string // normalisation of the heads [batch, tokens, heads, size]; nil: none
}

// attend gives what the tokens attend to, [batch, tokens, heads·size], for queries, keys and values
// [batch, tokens, ...].
func (a attention) attend(b *builder, q, k, v string) string {
	if a.shared == a.heads {
		q = a.turned(b, apart(b, q, a.query, a.heads, a.size), "0 2 1 3")
		k, v = a.turnedKeys(b, apart(b, k, a.key, a.heads, a.size)), b.op("Transpose", apart(b, v, nil, a.heads, a.size), perm(0, 2, 1, 3))
		context := b.op("MatMul", a.shares(b, q, k), v)
		return b.op("Reshape", b.op("Transpose", context, perm(0, 2, 1, 3)), b.wholes(0, 0, int64(a.heads*a.size)))
	}
	// Grouped queries (Ainslie et al. 2023): an axis of the queries that share a head of keys and values.
	group := int64(a.heads / a.shared)
	q = apart(b, q, a.query, a.heads, a.size)
	q = b.op("Reshape", q, b.wholes(0, 0, int64(a.shared), group, int64(a.size)))
	q = a.turned(b, q, "0 2 3 1 4")
	k = b.op("Unsqueeze", a.turnedKeys(b, apart(b, k, a.key, a.shared, a.size)), b.wholes(2))
	v = b.op("Unsqueeze", b.op("Transpose", apart(b, v, nil, a.shared, a.size), perm(0, 2, 1, 3)), b.wholes(2))
	context := b.op("MatMul", a.shares(b, q, k), v)
	return b.op("Reshape", b.op("Transpose", context, perm(0, 3, 1, 2, 4)), b.wholes(0, 0, int64(a.heads*a.size)))
}

func perm(axes ...int64) export.Attr { return attr("perm", axes) }

// apart divides x among heads and normalises them.
func apart(b *builder, x string, norm func(x string) string, heads, size int) string {
	x = b.op("Reshape", x, b.wholes(0, 0, int64(heads), int64(size)))
	if norm != nil {
		x = norm(x)
	}
	return x
}

// turned are queries with their axes in order, rotated and scaled.
func (a attention) turned(b *builder, q, order string) string {
	axes := map[string]export.Attr{"0 2 1 3": perm(0, 2, 1, 3), "0 2 3 1 4": perm(0, 2, 3, 1, 4)}[order]
	q = b.op("Transpose", q, axes)
	if a.rope != nil {
		q = a.rope.rotate(b, q)
	}
	if a.scale != 0 {
		q = b.op("Mul", q, b.scalar(a.scale))
	}
	return q
}

// turnedKeys are keys [batch, heads, size, tokens].
func (a attention) turnedKeys(b *builder, k string) string {
	if a.rope == nil {
		return b.op("Transpose", k, perm(0, 2, 3, 1))
	}
	return b.op("Transpose", a.rope.rotate(b, b.op("Transpose", k, perm(0, 2, 1, 3))), perm(0, 1, 3, 2))
}

// shares is how much of its attention each token gives to each.
func (a attention) shares(b *builder, q, k string) string {
	scores := b.op("MatMul", q, k)
	if a.bias != "" {
		scores = b.op("Add", scores, a.bias)
	}
	return b.op("Softmax", scores, attr("axis", -1))
}

// rotate turns the pairs of numbers i and i + size/2 of x [..., tokens, size].
func (r rope) rotate(b *builder, x string) string {
	half := int64(len(r.frequencies))
	cos := b.once(r.name+" cos", func() string { return r.waves(b, "Cos") })
	sin := b.once(r.name+" sin", func() string { return r.waves(b, "Sin") })
	parts := b.split(x, half, half)
	other := b.op("Concat", b.op("Neg", parts[1]), parts[0], attr("axis", -1))
	return b.op("Add", b.op("Mul", x, cos), b.op("Mul", other, sin))
}

// waves are cosines or sines [tokens, size] of the angles of all places.
func (r rope) waves(b *builder, function string) string {
	angles := b.once(r.name, func() string {
		b.Initializer(r.name, []int{1, len(r.frequencies)}, r.frequencies)
		places := b.op("Unsqueeze", b.op("Cast", rangeOf(b), attr("to", int(export.Float32))), b.wholes(1))
		each := b.op("Mul", places, r.name)
		return b.op("Concat", each, each, attr("axis", -1))
	})
	waves := b.op(function, angles)
	if r.factor != 1 {
		waves = b.op("Mul", waves, b.scalar(r.factor))
	}
	return waves
}

// rangeOf gives the places of the tokens, [tokens].
func rangeOf(b *builder) string {
	return b.once("range", func() string { return b.op("Range", b.whole(0), b.tokens(), b.whole(1)) })
}

// distances are the places of queries (rows) less those of keys (columns), [tokens, tokens].
func distances(b *builder) string {
	return b.once("distances", func() string {
		return b.op("Sub", b.op("Unsqueeze", rangeOf(b), b.wholes(1)), b.op("Unsqueeze", rangeOf(b), b.wholes(0)))
	})
}

// window is a bias that lets a token look at those that are at most `before` places before it and `after` behind it; a
// number that is negative is no bound.
func window(b *builder, before, after int) string {
	if before < 0 && after < 0 {
		return ""
	}
	return b.once(fmt.Sprint("window ", before, after), func() string {
		var seen string
		if before >= 0 {
			seen = b.op("LessOrEqual", distances(b), b.whole(int64(before)))
		}
		if after >= 0 {
			near := b.op("GreaterOrEqual", distances(b), b.whole(int64(-after)))
			if seen != "" {
				near = b.op("And", seen, near)
			}
			seen = near
		}
		return b.op("Where", seen, b.scalar(0), b.scalar(-1e30))
	})
}

// relative is a bias by distance, [1, heads, tokens, tokens] (Raffel et al. 2020): a learned number for each head and
// bucket of distances. table has them [buckets, heads]; from `furthest` on all distances are one bucket.
func relative(b *builder, name string, table []float32, heads, buckets, furthest int) string {
	rows := make([]float32, 0, (2*furthest+1)*heads)
	for distance := -furthest; distance <= furthest; distance++ { // query's place less the key's
		at := bucket(-distance, buckets, furthest) * heads
		rows = append(rows, table[at:at+heads]...)
	}
	b.Initializer(name, []int{2*furthest + 1, heads}, rows)
	limited := b.once("limited distances", func() string {
		low := b.op("Max", distances(b), b.whole(int64(-furthest)))
		return b.op("Add", b.op("Min", low, b.whole(int64(furthest))), b.whole(int64(furthest)))
	})
	return b.op("Unsqueeze", b.op("Transpose", b.op("Gather", name, limited, attr("axis", 0)), perm(2, 0, 1)), b.wholes(0))
}

// bucket is the bucket of a key's position minus the query's, numbered and computed in float32 as by T5 and MPNet.
func bucket(offset, buckets, furthest int) int {
	buckets /= 2
	at := 0
	if offset > 0 {
		at = buckets
	}
	distance := max(offset, -offset)
	exact := buckets / 2
	if distance < exact {
		return at + distance
	}
	share := float32(math.Log(float64(float32(distance)/float32(exact)))) / float32(math.Log(float64(furthest)/float64(exact)))
	return at + min(exact+int(share*float32(buckets-exact)), buckets-1)
}
