package layers

import (
	"slices"
	"strings"

	"bitextmine/encode/onnxgraph"
	"bitextmine/encode/static"
)

// reader makes steps of nodes.
type reader struct {
	source
	builder
	values map[string]value
	users  map[string]int // number of nodes that read a tensor
	packs  bool           // matrices are packed: the graph may have steps that earlier programs did not know

	// matrices are the weights of products in float32, of a graph that was not quantised; nil: products are in 8 bits.
	matrices map[string]onnxgraph.Weight
}

// value describes a tensor of the graph.
type value struct {
	kind   kind
	x      int  // the tensor that it is or is made of
	turned bool // it is [batch, columns, tokens]
	unit   *step

	shared bool // the graph has the tensor by another name, which other nodes take

	scales               string // the tensor of the scales of numbers
	sentence             bool   // there is one a sentence
	before, place, width int    // window of a convolution

	after   activation // activation that a value is half of
	epsilon float32

	heads int
	// groups is how many heads of keys and values there are if heads of queries share them; lifted says that keys or
	// values have an axis for those that share them.
	groups int
	lifted bool
	scale  float32
	k, v   int // tensors; x is the queries
	sight  sight
	rotary *rotary
}

type kind int

const (
	rows     kind = iota + 1 // tensor x
	pooled                   // tensor x, one row a sentence
	scaffold                 // scaffold of a tensor that becomes 8-bit numbers
	numbers                  // x in 8 bits
	padded                   // numbers of tokens with some of nothing around each sentence
	window                   // the numbers of one of a convolution's tokens
	windows                  // those of all
	unit                     // a product without its rows' scales
	// Of gelu(x) = x (1 + erf(x / sqrt 2)) / 2, or with tanh(sqrt(2 / pi) (x + 0.044715 x^3)) for erf, and of silu:
	argument // x / sqrt 2
	square   // x x
	cube     // x^3
	smallCube
	sumOfCube
	tanhArgument
	bend    // erf or tanh
	bendOne // bend + 1
	double  // 2 gelu(x)
	sigmoid
	// Of normalisation by the root mean square:
	meanSquare // epsilon may be added
	root
	unscaled // x / root
	// Of attention:
	split   // x [batch, tokens, heads, columns]
	grouped // x [batch, tokens, groups, heads / groups, columns]
	apart   // x [batch, heads, tokens, columns], or [batch, groups, heads / groups, tokens, columns]
	across  // x [batch, heads, columns, tokens]
	scored  // q and k
	shares  // softmax of that
	joined  // q, k and v [batch, heads, tokens, columns]
	merged  // [batch, tokens, heads, columns]
	// Of rotary positions:
	firstHalf // first half of each head's columns of x
	secondHalf
	negated // the second half
	swapped // the negated second half and the first
	cosines // x times cosines
	sines   // swapped times sines
)

// lanes is how many columns the processor takes together; a product takes two such blocks.
const lanes = 16

// read reads the layers from the first product on, or from the normalisation before it.
func read(g *onnxgraph.Graph, mask, output string, early bool) *Layers {
	r := newReader(mask, output)
	nodes, takes := g.Between("", output)
	for _, w := range g.Initializers {
		if takes[w.Name] {
			if t, err := w.Tensor(); err == nil {
				r.constants[w.Name] = t
			}
		}
	}
	r.note(g, nodes)
	if !r.begin(g, nodes, early) || !r.layers(g, nodes, output) {
		return nil
	}
	r.place()
	return &r.Layers
}

func newReader(mask, output string) *reader {
	r := &reader{values: map[string]value{}, users: map[string]int{output: 1}}
	r.source = source{constants: map[string]onnxgraph.Tensor{}, made: map[string]onnxgraph.Node{}, mask: mask}
	return r
}

// note notes what makes and what takes the tensors.
func (r *reader) note(g *onnxgraph.Graph, nodes []int) {
	for _, i := range nodes {
		for _, in := range g.Nodes[i].Inputs {
			r.users[in]++
		}
		for _, out := range g.Nodes[i].Outputs {
			r.made[out] = g.Nodes[i]
		}
	}
}

// layers reads the nodes up to the layers' result, and says whether it could.
func (r *reader) layers(g *onnxgraph.Graph, nodes []int, output string) bool {
	for _, i := range nodes {
		if n := g.Nodes[i]; r.known(n) && !r.node(n) && !r.end(n.Inputs) {
			return false
		}
	}
	if _, ok := r.values[output]; ok && !r.end([]string{output}) {
		return false
	}
	return r.To != "" && r.To != r.From
}

// begin finds what the first product takes; early: what the normalisation takes that makes it, which is for graphs with
// packed matrices alone, as those of before kept other layers to ONNX Runtime.
func (r *reader) begin(g *onnxgraph.Graph, nodes []int, early bool) bool {
	for _, i := range nodes {
		n := g.Nodes[i]
		if n.Op != "MatMulIntegerToFloat" || len(n.Inputs) != 5 {
			continue
		}
		name, ok := strings.CutPrefix(n.Inputs[0], static.Quantised)
		if name, ok = cutSuffix(name, static.Numbers, ok); !ok || strings.HasSuffix(name, sentence) ||
			r.made[name].Op == "" {
			return false
		}
		p := r.matrix(n.Inputs[1])
		if p == nil || p.k == 0 {
			return false
		}
		_, r.packs = r.source.packed(n.Inputs[1])
		if made := r.made[name]; early {
			if !r.packs || made.Op != "LayerNormalization" && made.Op != "Mul" {
				return false
			}
			if name = made.Inputs[0]; made.Op == "Mul" { // the operand is x / root
				if made = r.made[name]; made.Op != "Div" || r.maker(made, 1).Op != "Sqrt" {
					return false
				}
				name = made.Inputs[0]
			}
			if r.made[name].Op == "" {
				return false
			}
		}
		r.From, r.Columns = name, p.k
		r.values[name] = value{kind: rows, x: r.tensor(p.k)}
		return true
	}
	return false
}

// sentence is in the names of numbers with one scale a sentence.
const sentence = ".sentence"

func cutSuffix(name, suffix string, ok bool) (string, bool) {
	before, found := strings.CutSuffix(name, suffix)
	return before, found && ok
}

// known says whether a node takes anything of the layers, their result left out: what else is made of that is ONNX
// Runtime's. The node that makes what the layers take does not.
func (r *reader) known(n onnxgraph.Node) bool {
	return slices.ContainsFunc(n.Inputs, func(name string) bool { return r.values[name].kind != 0 && name != r.To })
}

// end takes a tensor that a node needs which is not one of the layers' for their result. There is only one.
func (r *reader) end(inputs []string) bool {
	for _, name := range inputs {
		v, ok := r.values[name]
		if !ok {
			continue
		}
		if v.kind != rows && v.kind != pooled || v.turned || r.To != "" && r.To != name {
			return false
		}
		r.To, r.result, r.Width, r.Pooled = name, v.x, r.tensors[v.x].columns, v.kind == pooled
	}
	return true
}

// node makes a step of a node, or notes what it is on the way to, and reports whether it can.
func (r *reader) node(n onnxgraph.Node) bool {
	if n.Subgraphs || len(n.Outputs) == 0 {
		return false
	}
	attributes, err := n.Attributes()
	if err != nil {
		return false
	}
	if n.Op == "Split" {
		return halved(r, n, attributes["axis"].First(0)) || divided(r, n, attributes["axis"].First(0))
	}
	if len(n.Outputs) != 1 {
		return false
	}
	for _, rule := range []func(*reader, onnxgraph.Node, map[string]onnxgraph.Attribute) (value, bool){quantised, floating,
		elementwise, attention, shaped, gated, rooted, rotated} {
		if v, ok := rule(r, n, attributes); ok {
			r.values[n.Outputs[0]] = v
			return true
		}
	}
	return false
}

// input returns the value of a node's input i; the zero value if the node lacks that input.
func (r *reader) input(n onnxgraph.Node, i int) value {
	if i >= len(n.Inputs) {
		return value{}
	}
	return r.values[n.Inputs[i]]
}
