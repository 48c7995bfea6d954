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
