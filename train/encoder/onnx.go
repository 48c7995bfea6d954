package encoder

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"bitextmine/internal/badinput"
	"bitextmine/train/checkpoint"
	"bitextmine/train/export"
	"bitextmine/train/layers"
	"bitextmine/train/weights"
)

// Graph is the graph of the transformer in evaluation, for any batch of sentences of up to its max_tokens.
func (t *Transformer) Graph(name string) *export.Graph {
	g := export.NewGraph(name)
	g.Input(export.IDs, export.Int64, "batch", "tokens")
	g.Input(export.Mask, export.Int64, "batch", "tokens")
	writeTransformer(g, t)
	g.Output(export.Vectors, export.Float32, "batch", t.Dim())
	g.Output(export.Tokens, export.Float32, "batch", "tokens", t.Width)
	return g
}

// writeTransformer adds everything from export.IDs and export.Mask to export.Vectors and export.Tokens.
func writeTransformer(g *export.Graph, t *Transformer) {
	w := writer{Graph: g, Settings: t.Settings, weights: map[string]*weights.Tensor{}}
	for _, tensor := range t.Merged(t.Weights()) {
		w.weights[tensor.Name] = tensor
	}
	w.Initializer("one", nil, []float32{1})
	w.Initializer("huge", nil, []float32{1e9})
	present := w.op("Cast", attr("to", int(export.Float32)), export.Mask)
	absent := w.op("Mul", w.op("Sub", present, "one"), "huge") // 0, or -1e9 where there is no token
	w.Initializer("axes_heads_query", []int{2}, []int64{1, 2})
	bias := w.op("Unsqueeze", absent, "axes_heads_query")

	x := w.embed(t)
	if w.Norm == layers.PostNorm {
		x = w.norm("embeddings.norm", x)
	}
	for i := range w.Layers {
		x = w.layer(i, x, bias)
	}
	if w.Norm == layers.PreNorm {
		x = w.norm("final.norm", x)
	}
	w.Node("Identity", []string{x}, []string{export.Tokens})
	pooled := w.pool(x, present, absent)
	if w.Pooling == Pooler {
		pooled = w.op("Tanh", w.dense("pooler", pooled))
	}
	if w.Projection > 0 {
		pooled = w.dense("projection", pooled)
	}
	length := w.op("ReduceL2", pooled, attr("axes", []int64{1}))
	w.Node("Div", []string{pooled, length}, []string{export.Vectors})
}

// writer writes a transformer's nodes, each output with a name of its own.
type writer struct {
	*export.Graph
	Settings
	weights map[string]*weights.Tensor
	count   int
}

func attr(name string, value any) export.Attr { return export.Attr{Name: name, Value: value} }

// op adds a node of inputs (strings) and attributes and gives its output.
func (w *writer) op(op string, args ...any) string {
	var inputs []string
	var attrs []export.Attr
	for _, a := range args {
		if attr, ok := a.(export.Attr); ok {
			attrs = append(attrs, attr)
		} else {
			inputs = append(inputs, a.(string))
		}
	}
	w.count++
	out := fmt.Sprintf("%s_%d", op, w.count)
	w.Node(op, inputs, []string{out}, attrs...)
	return out
}

// learned adds a weight and gives its name.
func (w *writer) learned(name string) string {
	t := w.weights[name]
	w.Initializer(name, t.Shape, t.Data)
	return name
}

// scalar adds a constant and gives its name.
func (w *writer) scalar(value float64) string {
	w.count++
	name := fmt.Sprintf("constant_%d", w.count)
	w.Initializer(name, nil, []float32{float32(value)})
	return name
}

// embed adds up words and places.
func (w *writer) embed(t *Transformer) string {
	words, places := t.Tables()
	w.Initializer(Words, []int{w.Vocabulary, w.Width}, words)
	w.Initializer("places", []int{w.MaxTokens, w.Width}, places)
	w.Initializer("from", []int{1}, []int64{0})
	w.Initializer("second", []int{1}, []int64{1})
	tokens := w.op("Gather", w.op("Shape", export.IDs), "second", attr("axis", 0))
	return w.op("Add", w.op("Gather", Words, export.IDs, attr("axis", 0)), w.op("Slice", "places", "from", tokens))
}

func (w *writer) layer(i int, x, bias string) string {
	name := func(part string) string { return fmt.Sprintf("layers.%d.%s", i, part) }
	feed := func(x string) string {
		return w.dense(name("ffn.out"), w.activate(w.dense(name("ffn.in"), x)))
	}
	if w.Norm == layers.PreNorm {
		x = w.op("Add", x, w.attention(name, w.norm(name("attention.norm"), x), bias))
		return w.op("Add", x, feed(w.norm(name("ffn.norm"), x)))
	}
	x = w.norm(name("attention.norm"), w.op("Add", x, w.attention(name, x, bias)))
	return w.norm(name("ffn.norm"), w.op("Add", x, feed(x)))
}

func (w *writer) dense(name, x string) string {
	return w.op("Add", w.op("MatMul", x, w.learned(name+".weight")), w.learned(name+".bias"))
}

func (w *writer) norm(name, x string) string {
	return w.op("LayerNormalization", x, w.learned(name+".scale"), w.learned(name+".bias"), attr("axis", -1),
		attr("epsilon", float32(w.Epsilon)))
}

func (w *writer) attention(name func(string) string, x, bias string) string {
	size := w.Width / w.Heads
	heads := func(part string, order ...int64) string {
		shape := name(part) + ".heads" // 0 keeps the batch and the tokens
		w.Initializer(shape, []int{4}, []int64{0, 0, int64(w.Heads), int64(size)})
		return w.op("Transpose", w.op("Reshape", w.dense(name(part), x), shape), attr("perm", order))
	}
	q, k, v := heads("attention.query", 0, 2, 1, 3), heads("attention.key", 0, 2, 3, 1),
		heads("attention.value", 0, 2, 1, 3)
	scores := w.op("MatMul", w.op("Mul", q, w.scalar(1/math.Sqrt(float64(size)))), k)
	shares := w.op("Softmax", w.op("Add", scores, bias), attr("axis", -1))
	context := w.op("Transpose", w.op("MatMul", shares, v), attr("perm", []int64{0, 2, 1, 3}))
	w.Initializer(name("joined"), []int{3}, []int64{0, 0, int64(w.Width)})
	return w.dense(name("attention.out"), w.op("Reshape", context, name("joined")))
}

// activate writes GELU in the form that ONNX Runtime makes one operator of.
func (w *writer) activate(x string) string {
	switch w.Activation {
	case layers.GELU:
		erf := w.op("Erf", w.op("Div", x, w.scalar(math.Sqrt2)))
		return w.op("Mul", w.op("Mul", x, w.op("Add", erf, "one")), w.scalar(0.5))
	case layers.GELUTanh:
		cube := w.op("Mul", w.op("Mul", w.op("Mul", x, x), x), w.scalar(0.044715))
		tanh := w.op("Tanh", w.op("Mul", w.op("Add", x, cube), w.scalar(math.Sqrt(2/math.Pi))))
		return w.op("Mul", w.op("Mul", x, w.op("Add", tanh, "one")), w.scalar(0.5))
	default:
		return w.op("Relu", x)
	}
}

// pool makes [batch, dim] of the tokens x.
func (w *writer) pool(x, present, absent string) string {
	w.Initializer("last_axis", []int{1}, []int64{2})
	switch w.Pooling {
	case CLS, Pooler:
		w.Initializer("first", nil, []int64{0})
		return w.op("Gather", x, "first", attr("axis", 1))
	case Mean:
		w.Initializer("token_axis", []int{1}, []int64{1})
		sum := w.op("ReduceSum", w.op("Mul", x, w.op("Unsqueeze", present, "last_axis")), "token_axis",
			attr("keepdims", 0))
		return w.op("Div", sum, w.op("ReduceSum", present, "token_axis"))
	default:
		return w.op("ReduceMax", w.op("Add", x, w.op("Unsqueeze", absent, "last_axis")), attr("axes", []int64{1}),
			attr("keepdims", 0))
	}
}

// Origin says where the frozen weights of a training are.
type Origin struct {
	Start  string `json:"start"`  // encoder.start of the training
	SHA256 string `json:"sha256"` // digest of their names, shapes and values
}

// OriginOf returns the origin of the frozen ones of an encoder's weights, or nil if there are none.
func OriginOf(start string, all []*weights.Tensor) *Origin {
	sum, any := digest(all, func(w *weights.Tensor) bool { return w.Frozen })
	if !any {
		return nil
	}
	return &Origin{start, sum}
}

// digest identifies the tensors that meant selects.
func digest(all []*weights.Tensor, meant func(*weights.Tensor) bool) (sum string, found bool) {
	h := sha256.New()
	var block []byte
	for _, w := range all {
		if !meant(w) {
			continue
		}
		found = true
		_, _ = fmt.Fprintf(h, "%q %v\n", w.Name, w.Shape) // a hash has no errors
		const numbers = 1 << 14
		for from := 0; from < len(w.Data); from += numbers {
			block = block[:0]
			for _, x := range w.Data[from:min(from+numbers, len(w.Data))] {
				block = binary.LittleEndian.AppendUint32(block, math.Float32bits(x))
			}
			_, _ = h.Write(block)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), found
}

// FrozenUnchanged refuses to resume a checkpoint whose frozen weights are no longer where they were.
func FrozenUnchanged(dir string, now *Origin) error {
	path := filepath.Join(dir, checkpoint.Encoder)
	_, metadata, err := weights.ReadFile(path, func(string) bool { return false })
	if err != nil {
		return err
	}
	var was Architecture
	if err := json.Unmarshal([]byte(metadata[checkpoint.Architecture]), &was); err != nil {
		return badinput.Errorf("%s does not say what encoder it is of: remove the checkpoint", path)
	}
	if was.Frozen == nil || now == nil || was.Frozen.SHA256 == now.SHA256 {
		return nil
	}
	return changed(now.Start, path)
}

func changed(start, path string) error {
	return badinput.Errorf("%s no longer has the weights that the training of %s left frozen: restore it", start, path)
}

// maxTrainings is the largest number of trainings with frozen weights, each of which starts from the next, that are
// followed.
const maxTrainings = 16

// ReadFrozen reads the weights of a checkpoint's directory: those in its file, and the frozen ones from where its
// training started, with adapters merged. It returns the metadata of the file, too.
func ReadFrozen(dir string) ([]*weights.Tensor, map[string]string, error) {
	return readFrozen(dir, maxTrainings)
}

func readFrozen(dir string, more int) ([]*weights.Tensor, map[string]string, error) {
	path := filepath.Join(dir, checkpoint.Encoder)
	stored, metadata, err := weights.ReadFile(path, nil)
	if err != nil {
		return nil, nil, err
	}
	var was Architecture
	err = json.Unmarshal([]byte(metadata[checkpoint.Architecture]), &was)
	if err != nil || was.Frozen == nil || was.Transformer == nil {
		return stored, metadata, nil // a reader of the architecture reports it
	}
	if more == 0 {
		return nil, nil, badinput.Errorf("%s is the last of more than %d trainings with frozen weights that start from each other: start from a published encoder", path, maxTrainings)
	}
	source, err := was.source(more - 1)
	if err != nil {
		return nil, nil, badinput.Errorf("the frozen weights of %s: %w", path, err)
	}
	has := map[string]bool{}
	for _, w := range stored {
		has[w.Name] = true
	}
	byName := map[string]*weights.Tensor{}
	for _, w := range source {
		byName[w.Name] = w
	}
	var frozen []*weights.Tensor
	for _, spec := range was.Transformer.Specs() {
		if w := byName[spec.Name]; w != nil && !has[spec.Name] {
			frozen = append(frozen, w)
		}
	}
	if sum, _ := digest(frozen, func(*weights.Tensor) bool { return true }); sum != was.Frozen.SHA256 {
		return nil, nil, changed(was.Frozen.Start, path)
	}
	stored = append(stored, frozen...)
	if was.Transformer.LoRA.Rank > 0 {
		stored = was.Transformer.Merged(stored)
	}
	return stored, metadata, nil
}

// source reads all weights that the training started from.
func (a Architecture) source(more int) ([]*weights.Tensor, error) {
	_, err := os.Stat(filepath.Join(a.Frozen.Start, checkpoint.Encoder))
	if err == nil {
		all, _, err := readFrozen(a.Frozen.Start, more)
		return all, err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	_, all, err := readPublished(a.Frozen.Start, a.Transformer.Pooling)
	return all, err
}
