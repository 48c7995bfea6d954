package xla

import (
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/compute/dtypes"
	xla "github.com/gomlx/go-xla/pjrt"

	"bitextmine/index"
	"bitextmine/mine"
)

// lists are candidates [rows, keep]: scores in descending order and row numbers. What is not there has the score
// -infinity; its number means nothing, or is beyond all rows.
type lists struct {
	keep   int
	scores []float32
	ids    []int32
}

func newLists(rows, keep int) lists {
	return lists{keep, slices.Repeat([]float32{float32(math.Inf(-1))}, rows*keep),
		slices.Repeat([]int32{mine.None}, rows*keep)}
}

// part is the lists of rows from to to-1.
func (l lists) part(from, to int) lists {
	return lists{l.keep, l.scores[from*l.keep : to*l.keep], l.ids[from*l.keep : to*l.keep]}
}

func (l lists) upload(d *device) (scores, ids *xla.Buffer, err error) {
	rows := len(l.ids) / l.keep
	if scores, err = d.upload(bytesOf(l.scores), dtypes.Float32, rows, l.keep); err != nil {
		return nil, nil, err
	}
	ids, err = d.upload(bytesOf(l.ids), dtypes.Int32, rows, l.keep)
	return scores, ids, err
}

func (l lists) download(d *device, scores, ids *xla.Buffer) error {
	if err := d.download(scores, bytesOf(l.scores)); err != nil {
		return err
	}
	return d.download(ids, bytesOf(l.ids))
}

// merge takes the best of the lists of rows from to to-1 and of others of the same rows; none: nothing is there.
func (l lists) merge(from, to int, other lists) {
	if other.keep == 0 {
		return
	}
	scores, ids := make([]float32, l.keep), make([]int32, l.keep)
	for row := range to - from {
		ours, theirs := l.part(from+row, from+row+1), other.part(row, row+1)
		copy(scores, ours.scores)
		copy(ids, ours.ids)
		for at, i, j := 0, 0, 0; at < l.keep; at++ {
			if theirs.scores[j] > scores[i] {
				ours.scores[at], ours.ids[at] = theirs.scores[j], theirs.ids[j]
				j++
			} else {
				ours.scores[at], ours.ids[at] = scores[i], ids[i]
				i++
			}
		}
	}
}

// check compares the scores of candidates with their cosines. Scores that are farther off than the bound would make
// lists that are wrong without a sign of it: the device, or its memory, is not sound.
func (l lists) check(half *index.Half, from int, unit, bound float64) error {
	for row := range len(l.ids) / l.keep {
		ids, cosines := half.List(from + row)
		list := l.part(row, row+1)
		for i, id := range ids {
			at := slices.Index(list.ids, id)
			if id == mine.None || at < 0 {
				continue
			}
			if off := math.Abs(float64(list.scores[at])*unit - float64(cosines[i])); !(off <= bound) {
				return fmt.Errorf(
					"the device computed the score %v for two rows with the cosine %v, farther off than float16 products with float32 sums can be: "+
						"its results cannot be used; check its memory, or search with exact",
					float64(list.scores[at])*unit, cosines[i])
			}
		}
	}
	return nil
}
