package pairdocs

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"bitextmine/align/match"
	"bitextmine/internal/spill"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/view"
)

// reader reads documents of a side and their vectors.
type reader struct {
	files    *view.Files
	language *plan.Language
	places   []place
	of       map[int32]*documents // keys are shards
	vectors  *vectors
}

func newReader(f *view.Files, language *plan.Language, places []place) *reader {
	return &reader{f, language, places, map[int32]*documents{}, newVectors(f, language)}
}

// open opens the documents of the shard of a document.
func (r *reader) open(ctx context.Context, d int32) error {
	of := r.places[d].Shard
	if r.of[of] != nil {
		return nil
	}
	found, err := openDocuments(ctx, r.files, &r.language.Shards[of])
	if err == nil {
		r.of[of] = found
	}
	return err
}

// rows are those of a document whose shard is open.
func (r *reader) rows(d int32) []row { return r.of[r.places[d].Shard].rowsOf(int(r.places[d].At)) }

func (r *reader) digest(d int32) [digestSize]byte {
	return r.of[r.places[d].Shard].digests[r.places[d].At]
}

// held says whether the vectors of a document are read once for all candidates. Those of long ones are read by parts.
func (r *reader) held(d int32) bool { return len(r.rows(d)) <= match.Part }

// read reads the first vectors of a document, as many as there is room for.
func (r *reader) read(ctx context.Context, d int32, into []float32) error {
	return r.vectors.read(ctx, int(r.places[d].Shard), r.rows(d)[:len(into)/r.vectors.dim], into)
}

// parts reads parts of a document into a buffer.
func (r *reader) parts(ctx context.Context, d int32, buffer *[]float32) match.Rows {
	return func(first, n int) ([]float32, error) {
		*buffer = slices.Grow((*buffer)[:0], n*r.vectors.dim)[:n*r.vectors.dim]
		return *buffer, r.vectors.read(ctx, int(r.places[d].Shard), r.rows(d)[first:first+n], *buffer)
	}
}

func (r *reader) close() error {
	err := r.vectors.close()
	for _, d := range r.of {
		err = errors.Join(err, d.close())
	}
	return err
}

// comparison is one task's candidates.
type comparison struct {
	sides   [2]*reader
	pairs   [][2]int32
	out     cosines    // has no values: they are written block by block
	before  []*cosines // earlier outputs of the shard, newest first
	threads int
	info    compareInfo
	vectors []float32 // vectors of a block's source documents
	values  []float32 // values of a block's candidates
}

// open opens the documents of all candidates, and computes how many values each has.
func (w *comparison) open(ctx context.Context, room *spill.Arena) (err error) {
	if w.out.ends, err = spill.Make[uint64](room, len(w.pairs)); err != nil {
		return err
	}
	if w.out.targets, err = spill.Make[[digestSize]byte](room, len(w.pairs)); err != nil {
		return err
	}
	end := uint64(0)
	for k, c := range w.pairs {
		for side, r := range w.sides {
			if err := r.open(ctx, c[side]); err != nil {
				return err
			}
		}
		if k == 0 || w.pairs[k-1][0] != c[0] {
			w.out.sources, w.out.firsts = append(w.out.sources, w.sides[0].digest(c[0])), append(w.out.firsts, uint64(k))
		}
		n := match.Compared(len(w.sides[0].rows(c[0])), len(w.sides[1].rows(c[1])))
		end += uint64(n[0] + n[1])
		w.out.targets[k], w.out.ends[k] = w.sides[1].digest(c[1]), end
	}
	return ctx.Err()
}

// begin is the place of a candidate's first value.
func (w *comparison) begin(k int) int { return int(beginOf(w.out.ends, k)) }

// blockBytes is how much memory the vectors of a block's source documents take, or the values of its candidates, unless
// one document or candidate alone takes more.
const blockBytes = 16 << 20

// block compares candidates from one on, as many as fit into memory, writes their values and returns the next.
func (w *comparison) block(ctx context.Context, from int, out io.Writer) (next int, err error) {
	begins := map[int32]int{} // where the vectors of the source documents that are compared begin
	var left []int            // candidates that are compared
	vectors := 0
	if w.values == nil {
		w.values = make([]float32, 0, min(blockBytes/4, w.begin(len(w.pairs))))
	}
	w.values = w.values[:0]
	for next = from; next < len(w.pairs); next++ {
		source, n := w.pairs[next][0], int(w.out.ends[next])-w.begin(next)
		found := w.known(next, n)
		more := 0
		if _, begun := begins[source]; found == nil && !begun && w.sides[0].held(source) {
			more = len(w.sides[0].rows(source)) * w.sides[0].vectors.dim
		}
		if next > from && 4*max(len(w.values)+n, vectors+more) > blockBytes {
			break
		}
		if found != nil {
			w.values = append(w.values, found...)
			continue
		}
		if more > 0 {
			begins[source] = vectors
			vectors += more
		}
		left = append(left, next)
		w.values = append(w.values, make([]float32, n)...)
	}
	w.info.Compared += len(left)
	if err := w.read(ctx, begins, vectors); err != nil {
		return 0, err
	}
	if err := w.compare(ctx, left, begins, w.begin(from)); err != nil {
		return 0, err
	}
	_, err = out.Write(spill.Bytes(w.values))
	return next, errors.Join(err, w.sides[0].vectors.release(), w.sides[1].vectors.release())
}

// known returns the values of a candidate that an earlier output has, so many; nil: none has.
func (w *comparison) known(k, n int) []float32 {
	for _, before := range w.before {
		if found := before.find(w.sides[0].digest(w.pairs[k][0]), w.out.targets[k]); len(found) == n {
			return found
		}
	}
	return nil
}

// read reads the vectors of source documents, in their order.
func (w *comparison) read(ctx context.Context, begins map[int32]int, size int) error {
	w.vectors = slices.Grow(w.vectors[:0], size)[:size]
	for d, begin := range begins {
		into := w.vectors[begin:][:len(w.sides[0].rows(d))*w.sides[0].vectors.dim]
		if err := w.sides[0].read(ctx, d, into); err != nil {
			return err
		}
	}
	return nil
}

// compare compares candidates of a block whose values begin at a place. Those of one target document follow each other,
// so that its vectors are read once.
func (w *comparison) compare(ctx context.Context, left []int, begins map[int32]int, begin int) error {
	slices.SortFunc(left, func(a, b int) int { return cmp.Or(cmp.Compare(w.pairs[a][1], w.pairs[b][1]), cmp.Compare(a, b)) })
	var groups [][]int
	for first := 0; first < len(left); {
		end := first + 1
		for end < len(left) && w.pairs[left[end]][1] == w.pairs[left[first]][1] {
			end++
		}
		groups = append(groups, left[first:end])
		first = end
	}
	work, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range min(max(w.threads, 1), len(groups)) {
		work.Go(func() error {
			var buffers [2][]float32
			for {
				g := int(next.Add(1)) - 1
				if g >= len(groups) {
					return nil
				}
				target, err := w.target(ctx, w.pairs[groups[g][0]][1], &buffers[1])
				for _, k := range groups[g] {
					if err == nil {
						err = w.one(ctx, k, begins, begin, target, &buffers[0])
					}
				}
				if err = errors.Join(err, ctx.Err()); err != nil {
					return err
				}
			}
		})
	}
	return work.Wait()
}

// target returns the rows of a target document, read once unless it is long.
func (w *comparison) target(ctx context.Context, d int32, buffer *[]float32) (match.Rows, error) {
	r := w.sides[1]
	rows := r.parts(ctx, d, buffer)
	if !r.held(d) {
		return rows, nil
	}
	all, err := rows(0, len(r.rows(d)))
	return match.Held(all, r.vectors.dim), err
}

// one compares a candidate of a block whose values begin at a place.
func (w *comparison) one(ctx context.Context, k int, begins map[int32]int, begin int, target match.Rows, buffer *[]float32) error {
	c, dim := w.pairs[k], w.sides[0].vectors.dim
	source := w.sides[0].parts(ctx, c[0], buffer)
	if w.sides[0].held(c[0]) {
		source = match.Held(w.vectors[begins[c[0]]:], dim)
	}
	n, m := len(w.sides[0].rows(c[0])), len(w.sides[1].rows(c[1]))
	lengths, values := match.Compared(n, m), w.values[w.begin(k)-begin:]
	return match.Compare(match.Bests{values[:lengths[0]], values[lengths[0]:][:lengths[1]]}, n, m, source, target, dim)
}

func (w *comparison) close() error {
	err := errors.Join(w.sides[0].close(), w.sides[1].close())
	for _, before := range w.before {
		err = errors.Join(err, before.close())
	}
	return err
}
