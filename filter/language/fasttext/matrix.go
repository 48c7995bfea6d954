package fasttext

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
