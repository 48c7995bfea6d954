package layers

import (
	"fmt"
	"slices"
	"testing"

	g "github.com/gomlx/gomlx/core/graph"

	"bitextmine/train/device"
)

// TestColumns: equal parts and others have the columns' values, and a gradient in no other column.
func TestColumns(t *testing.T) {
	backend, err := device.Open("go", "")
	if err != nil {
		t.Fatal(err)
	}
	x := [][]float32{{1, 2, 3, 4, 5, 6}, {7, 8, 9, 10, 11, 12}}
	for _, part := range [][2]int{{0, 6}, {0, 3}, {3, 6}, {2, 4}, {0, 4}, {1, 3}} {
		from, to := part[0], part[1]
		exec := g.MustNewExec(backend, func(x *g.Node) []*g.Node {
			y := Columns(x, from, to)
			return []*g.Node{y, g.Gradient(g.ReduceAllSum(g.Mul(y, y)), x)[0]}
		})
		out := exec.MustCall(x)
		got, gradient := out[0].Value().([][]float32), out[1].Value().([][]float32)
		for i, row := range x {
			want := make([]float32, len(row))
			for j := from; j < to; j++ {
				want[j] = 2 * row[j]
			}
			if !slices.Equal(got[i], row[from:to]) || !slices.Equal(gradient[i], want) {
				t.Errorf("%s: %v with the gradient %v, want %v and %v", fmt.Sprint(part), got[i], gradient[i], row[from:to], want)
			}
		}
	}
}
