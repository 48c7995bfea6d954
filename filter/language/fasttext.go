package language

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"bitextmine/internal/badinput"
)

const (
	magic      = 793712314
	maxVersion = 12
	supervised = 3 // the kind of model that has labels
	// maxDim and maxWords bound what a file may claim of itself.
	maxDim, maxWords = 1 << 14, 1 << 28
	// maxWeight bounds a number of a matrix, so that no sum of products is infinite. Those of real models are below 1000.
	maxWeight = 1e12
)

// How labels' probabilities come about.
const (
	lossHierarchical = 1
	lossNegative     = 2
	lossSoftmax      = 3
	lossOneVsAll     = 4
)

// Model is a classifier of fastText (Joulin et al., 2016), such as those of languages (lid.176, OpenLID, GlotLID). It
// gives the labels that the fasttext program gives. Any number of goroutines may use it.
type Model struct {
	dim, wordNgrams, loss, bucket, minn, maxn int32

	words  map[string]int32 // numbers of words; labels follow them
	nwords int32
	labels []string
	counts []int64         // frequencies of labels
	pruned map[int32]int32 // rows of n-grams that were kept; nil: all were
	input  matrix
	output matrix
	tree   []node // tree of the hierarchical softmax
}

// matrix is rows of numbers, plain or quantised.
type matrix interface {
	rows() int64
	add(x []float32, row int64)         // adds a row to x
	dot(x []float32, row int64) float32 // product of x and a row
}

// OpenFastText reads a model from a .bin or .ftz file.
func OpenFastText(path string) (_ *Model, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, badinput.Errorf("%s cannot be opened (%w); name a .bin or .ftz file of fastText", path, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	m, err := read(f, info.Size())
	if err != nil {
		return nil, badinput.Errorf("%s is no classifier of fastText that can be read: %w; fetch the file again", path, err)
	}
	return m, nil
}

// reader reads numbers and remembers the first error.
type reader struct {
	in   *bufio.Reader
	left int64 // bytes of the file
	err  error
	buf  [8]byte
}

func (r *reader) bytes(n int) []byte {
	if r.err == nil {
		if _, r.err = io.ReadFull(r.in, r.buf[:n]); r.err != nil {
			r.err = errors.New("it is cut off")
		}
	}
	r.left -= int64(n)
	return r.buf[:n]
}

func (r *reader) byte() byte   { return r.bytes(1)[0] }
func (r *reader) int32() int32 { return int32(binary.LittleEndian.Uint32(r.bytes(4))) }
func (r *reader) int64() int64 { return int64(binary.LittleEndian.Uint64(r.bytes(8))) }

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// within refuses a number that cannot be.
func (r *reader) within(what string, n, least, most int64) {
	if n < least || n > most {
		r.fail("%s is %d", what, n)
	}
}

// floats reads n numbers, if the file has as many.
func (r *reader) floats(n int64) []float32 {
	if n < 0 || n > r.left/4 {
		r.fail("it is cut off")
	}
	if r.err != nil {
		return nil
	}
	out := make([]float32, n)
	var block [4096]byte
	for done := int64(0); done < n && r.err == nil; {
		part := block[:4*min(n-done, int64(len(block)/4))]
		if _, err := io.ReadFull(r.in, part); err != nil {
			r.fail("it is cut off")
		}
		for i := 0; i < len(part); i += 4 {
			out[done] = math.Float32frombits(binary.LittleEndian.Uint32(part[i:]))
			if !(math.Abs(float64(out[done])) <= maxWeight) {
				r.fail("it has the weight %v", out[done])
			}
			done++
		}
	}
	r.left -= 4 * n
	return out
}

func (r *reader) codes(n int64) []byte {
	if n < 0 || n > r.left {
		r.fail("it is cut off")
	}
	if r.err != nil {
		return nil
	}
	out := make([]byte, n)
	if _, err := io.ReadFull(r.in, out); err != nil {
		r.fail("it is cut off")
	}
	r.left -= n
	return out
}

func read(from io.Reader, size int64) (*Model, error) {
	r := &reader{in: bufio.NewReaderSize(from, 1<<16), left: size}
	if r.int32() != magic {
		r.fail("it does not begin as one")
	}
	version := r.int32()
	r.within("its version", int64(version), 11, maxVersion)
	m := &Model{}
	kind := m.arguments(r)
	if version == 11 && kind == supervised {
		m.maxn = 0 // such models have no parts of words
	}
	if kind != supervised {
		r.fail("its vectors have no labels")
	}
	m.dictionary(r)
	quantised := r.byte() != 0
	m.input = r.matrix(quantised)
	if !quantised && m.pruned != nil {
		r.fail("it is pruned but not quantised")
	}
	m.output = r.matrix(r.byte() != 0 && quantised)
	if r.err == nil {
		r.err = m.check()
	}
	if r.err != nil {
		return nil, r.err
	}
	if m.loss == lossHierarchical {
		m.tree = tree(m.counts)
	}
	return m, nil
}

// arguments reads the settings of training that matter.
func (m *Model) arguments(r *reader) (kind int32) {
	var a [12]int32
	for i := range a {
		a[i] = r.int32()
	}
	r.bytes(8)
	m.dim, m.wordNgrams, m.loss, kind, m.bucket, m.minn, m.maxn = a[0], a[5], a[6], a[7], a[8], a[9], a[10]
	r.within("its dimension", int64(m.dim), 1, maxDim)
	r.within("its loss", int64(m.loss), lossHierarchical, lossOneVsAll)
	r.within("its number of buckets", int64(m.bucket), 0, maxWords)
	r.within("its word n-grams", int64(m.wordNgrams), 0, 100)
	r.within("its n-grams", int64(m.maxn), 0, 100)
	return kind
}

func (m *Model) dictionary(r *reader) {
	size := r.int32()
	m.nwords = r.int32()
	labels := r.int32()
	r.int64()
	pruned := r.int64()
	r.within("its number of words", int64(size), 1, min(maxWords, r.left/10))
	r.within("its number of labels", int64(labels), 1, int64(size))
	if int64(m.nwords)+int64(labels) != int64(size) {
		r.fail("it has %d words and %d labels of %d", m.nwords, labels, size)
	}
	r.within("its number of n-grams", pruned, -1, r.left/8)
	if r.err != nil {
		return
	}
	m.words = make(map[string]int32, size)
	for i := int32(0); i < size && r.err == nil; i++ {
		word, err := r.in.ReadSlice(0)
		if err != nil {
			r.fail("it is cut off")
			return
		}
		r.left -= int64(len(word))
		text := string(word[:len(word)-1])
		count := r.int64()
		label := r.byte() == 1
		if label != (i >= m.nwords) {
			r.fail("its words and labels are not in order")
		}
		m.words[text] = i
		if label {
			m.labels, m.counts = append(m.labels, text), append(m.counts, count)
		}
	}
	if pruned >= 0 {
		m.pruned = map[int32]int32{}
		for range pruned {
			from := r.int32()
			m.pruned[from] = r.int32()
		}
	}
}

// check refuses matrices of other sizes than the words and labels.
func (m *Model) check() error {
	buckets := int64(m.bucket)
	if m.pruned != nil {
		buckets = int64(len(m.pruned))
		for _, row := range m.pruned {
			if row < 0 || int64(row) >= buckets {
				return fmt.Errorf("n-gram %d of %d", row, buckets)
			}
		}
	}
	if m.input.rows() < int64(m.nwords)+buckets || m.output.rows() < int64(len(m.labels)) {
		return fmt.Errorf("its matrices have %d and %d rows for %d words, %d n-grams and %d labels",
			m.input.rows(), m.output.rows(), m.nwords, buckets, len(m.labels))
	}
	for _, x := range []matrix{m.input, m.output} {
		if w := width(x); w != int64(m.dim) {
			return fmt.Errorf("a matrix has %d columns, not %d", w, m.dim)
		}
	}
	if m.bucket == 0 && (m.maxn > 0 || m.wordNgrams > 1) {
		return errors.New("it has n-grams but no buckets for them")
	}
	if slices.ContainsFunc(m.counts, func(n int64) bool { return n < 0 || n >= 1e15 }) {
		return errors.New("the count of a label is invalid")
	}
	return nil
}

// Labels are the model's labels, without the prefix that marks them.
func (m *Model) Labels() []string {
	out := make([]string, len(m.labels))
	for i, l := range m.labels {
		out[i] = unprefixed(l)
	}
	return out
}
