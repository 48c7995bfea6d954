package language

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Prediction is a label with its probability, as the fasttext program prints it: by its smoothing it may be 0.00001
// more than 1.
type Prediction struct {
	Label       string // label without fastText's prefix
	Probability float32
}

const (
	prefix  = "__label__"
	endLine = "</s>"
)

func unprefixed(label string) string { return strings.TrimPrefix(label, prefix) }

// Predict returns the k most probable labels of a text, which is one line: line breaks are spaces. There are none for a
// text of which the model knows nothing.
func (m *Model) Predict(text string, k int) []Prediction {
	rows := m.line(text)
	if len(rows) == 0 || k < 1 {
		return nil
	}
	hidden := make([]float32, m.dim)
	for _, row := range rows {
		m.input.add(hidden, int64(row))
	}
	scale := float32(1 / float64(len(rows)))
	for i := range hidden {
		hidden[i] *= scale
	}
	scored := m.scores(hidden)
	slices.SortStableFunc(scored, func(a, b scored1) int { return cmp.Compare(b.log, a.log) })
	out := make([]Prediction, 0, min(k, len(scored)))
	for _, s := range scored[:min(k, len(scored))] {
		out = append(out, Prediction{unprefixed(m.labels[s.label]), float32(math.Exp(float64(s.log)))})
	}
	return out
}

// line returns the rows of a text's words, their parts and their n-grams.
func (m *Model) line(text string) (rows []int32) {
	var hashes []int32
	text = strings.ReplaceAll(text, "\n", " ") + "\n"
	for text != "" {
		at := strings.IndexAny(text, " \n\r\t\v\f\x00")
		token := text[:at]
		switch {
		case at > 0:
			text = text[at:]
		case text[0] == '\n':
			token, text = endLine, ""
		default:
			text = text[1:]
			continue
		}
		id, known := m.words[token]
		label := known && id >= m.nwords || !known && strings.HasPrefix(token, prefix)
		if !label {
			rows = m.word(rows, token, id, known)
			hashes = append(hashes, int32(hash(token)))
		}
		if token == endLine {
			break
		}
	}
	for i := range hashes {
		h := uint64(int64(hashes[i]))
		for j := i + 1; j < len(hashes) && j < i+int(m.wordNgrams); j++ {
			h = h*116049371 + uint64(int64(hashes[j]))
			rows = m.ngram(rows, int32(h%uint64(m.bucket)))
		}
	}
	return rows
}

// word adds the rows of a word and its parts.
func (m *Model) word(rows []int32, token string, id int32, known bool) []int32 {
	if known {
		rows = append(rows, id)
	}
	if token == endLine || m.maxn <= 0 {
		return rows
	}
	word := "<" + token + ">"
	for i := range len(word) {
		if word[i]&0xc0 == 0x80 {
			continue
		}
		for j, n := i, int32(1); j < len(word) && n <= m.maxn; n++ {
			for j++; j < len(word) && word[j]&0xc0 == 0x80; j++ {
			}
			if n >= m.minn && (n > 1 || i > 0 && j < len(word)) {
				rows = m.ngram(rows, int32(hash(word[i:j])%uint32(m.bucket)))
			}
		}
	}
	return rows
}

// ngram adds the row of an n-gram.
func (m *Model) ngram(rows []int32, id int32) []int32 {
	if m.pruned != nil {
		kept, ok := m.pruned[id]
		if !ok {
			return rows
		}
		id = kept
	}
	return append(rows, m.nwords+id)
}

// hash is FNV-1a over bytes with a sign.
func hash(text string) uint32 {
	h := uint32(2166136261)
	for i := range len(text) {
		h = (h ^ uint32(int8(text[i]))) * 16777619
	}
	return h
}

// scored1 is a label with the logarithm of its probability.
type scored1 struct {
	label int
	log   float32
}

// smooth is the program's logarithm.
func smooth(p float64) float32 { return float32(math.Log(p + 1e-5)) }

func (m *Model) scores(hidden []float32) []scored1 {
	if m.loss == lossHierarchical {
		return m.descend(nil, hidden, len(m.tree)-1, 0)
	}
	out := make([]scored1, len(m.labels))
	values := make([]float32, len(m.labels))
	for i := range values {
		values[i] = m.output.dot(hidden, int64(i))
	}
	if m.loss == lossSoftmax {
		most, sum := slices.Max(values), float32(0)
		for i, v := range values {
			values[i] = float32(math.Exp(float64(v - most)))
			sum += values[i]
		}
		for i := range values {
			values[i] /= sum
		}
	} else {
		for i, v := range values {
			values[i] = sigmoid(v)
		}
	}
	for i, v := range values {
		out[i] = scored1{i, smooth(float64(v))}
	}
	return out
}

// sigmoid is the program's, of 512 steps.
func sigmoid(x float32) float32 {
	const steps, bound = 512, 8
	switch {
	case math.IsNaN(float64(x)):
		return 0
	case x < -bound:
		return 0
	case x > bound:
		return 1
	}
	i := int64((x + bound) * steps / bound / 2)
	at := float32(i*2*bound)/steps - bound
	return float32(1 / (1 + math.Exp(float64(-at))))
}

// node is one of a Huffman tree over labels.
type node struct {
	left, right int
	count       int64
}

// tree makes the Huffman tree of labels, of which the most frequent come first.
func tree(counts []int64) []node {
	n := len(counts)
	all := make([]node, 2*n-1)
	for i := range all {
		all[i] = node{-1, -1, 1e15}
		if i < n {
			all[i].count = counts[i]
		}
	}
	leaf, next := n-1, n
	for i := n; i < len(all); i++ {
		var two [2]int
		for j := range two {
			if leaf >= 0 && all[leaf].count < all[next].count {
				two[j] = leaf
				leaf--
			} else {
				two[j] = next
				next++
			}
		}
		all[i] = node{two[0], two[1], all[two[0]].count + all[two[1]].count}
	}
	return all
}

// descend adds the labels under a node.
func (m *Model) descend(out []scored1, hidden []float32, at int, score float32) []scored1 {
	n := m.tree[at]
	if n.left < 0 {
		return append(out, scored1{at, score})
	}
	f := m.output.dot(hidden, int64(at-len(m.labels)))
	f = float32(1 / (1 + math.Exp(float64(-f))))
	out = m.descend(out, hidden, n.left, score+smooth(1-float64(f)))
	return m.descend(out, hidden, n.right, score+smooth(float64(f)))
}

// dense is a matrix of float32.
type dense struct {
	n, width int64
	data     []float32
}

func (d *dense) rows() int64 { return d.n }

func (d *dense) row(i int64) []float32 { return d.data[i*d.width:][:d.width] }

func (d *dense) add(x []float32, row int64) {
	for j, v := range d.row(row) {
		x[j] += v
	}
}

func (d *dense) dot(x []float32, row int64) float32 {
	sum := float32(0)
	for j, v := range d.row(row) {
		sum += v * x[j]
	}
	return sum
}

// quantised is a matrix whose rows are codes of a product quantiser, and in some models their lengths are codes, too.
type quantised struct {
	n, width int64
	codes    []byte
	parts    quantiser
	norms    []byte
	lengths  quantiser
}

// quantiser has 256 centroids for each part of a row.
type quantiser struct {
	dim, parts, width, last int32
	centroids               []float32
}

const centroids = 256

func (q *quantiser) centroid(part int32, code byte) []float32 {
	if part == q.parts-1 {
		return q.centroids[part*centroids*q.width+int32(code)*q.last:][:q.last]
	}
	return q.centroids[(part*centroids+int32(code))*q.width:][:q.width]
}

func (q *quantised) rows() int64 { return q.n }

func (q *quantised) length(row int64) float32 {
	if q.norms == nil {
		return 1
	}
	return q.lengths.centroid(0, q.norms[row])[0]
}

func (q *quantised) add(x []float32, row int64) {
	length := q.length(row)
	for part := range q.parts.parts {
		for j, v := range q.parts.centroid(part, q.codes[row*int64(q.parts.parts)+int64(part)]) {
			x[part*q.parts.width+int32(j)] += length * v
		}
	}
}

func (q *quantised) dot(x []float32, row int64) float32 {
	sum := float32(0)
	for part := range q.parts.parts {
		for j, v := range q.parts.centroid(part, q.codes[row*int64(q.parts.parts)+int64(part)]) {
			sum += x[part*q.parts.width+int32(j)] * v
		}
	}
	return sum * q.length(row)
}

func width(m matrix) int64 {
	switch m := m.(type) {
	case *dense:
		return m.width
	case *quantised:
		return m.width
	}
	return 0
}

func (r *reader) matrix(coded bool) matrix {
	if !coded {
		d := &dense{n: r.int64(), width: r.int64()}
		r.within("the number of rows of a matrix", d.n, 0, r.left)
		r.within("the number of its columns", d.width, 1, maxDim)
		if r.err == nil {
			d.data = r.floats(d.n * d.width)
		}
		return d
	}
	q := &quantised{}
	lengths := r.byte() != 0
	q.n, q.width = r.int64(), r.int64()
	r.within("the number of rows of a matrix", q.n, 0, r.left)
	r.within("the number of its columns", q.width, 1, maxDim)
	q.codes = r.codes(int64(r.int32()))
	q.parts = r.quantiser()
	if r.err == nil && (int64(q.parts.dim) != q.width || int64(len(q.codes)) != q.n*int64(q.parts.parts)) {
		r.fail("its codes do not fit its matrix")
	}
	if lengths {
		q.norms = r.codes(q.n)
		if q.lengths = r.quantiser(); q.lengths.dim != 1 {
			r.fail("the quantiser of its lengths is invalid")
		}
	}
	return q
}

func (r *reader) quantiser() quantiser {
	q := quantiser{dim: r.int32(), parts: r.int32(), width: r.int32(), last: r.int32()}
	r.within("the size of a quantiser", int64(q.dim), 1, maxDim)
	if r.err == nil && (q.parts < 1 || q.width < 1 || q.last < 1 || q.last > q.width || int64(q.parts-1)*int64(q.width)+int64(q.last) != int64(q.dim)) {
		r.fail("a quantiser has %d parts of %d, the last of %d, for %d numbers", q.parts, q.width, q.last, q.dim)
	}
	if r.err == nil {
		q.centroids = r.floats(int64(q.dim) * centroids)
	}
	return q
}
