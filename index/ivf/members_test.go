package ivf

import (
	"math"
	"testing"
)

// A row is 20 degrees to one side of its first centroid, in a plane. Of two other centroids, the one on the row's side
// is chosen although the other is a little nearer. The nearer one is chosen if it is much nearer, or if the row is at
// its first centroid.
func TestSecondListIsOnTheRowsSide(t *testing.T) {
	degrees := func(a float64) float32 { return float32(math.Cos(a * math.Pi / 180)) }
	for name, c := range map[string]struct {
		row, here, there float64 // angles from the first centroid
		want             int32
	}{
		"a little nearer":       {20, 62, -20, 8},
		"much nearer":           {20, 110, -20, 9},
		"on the first centroid": {0, 31, -30, 9},
		"equally near":          {0, 30, -30, 8},
	} {
		ids := []int32{9, 3, 8}
		products := []float32{1000 * degrees(c.row-c.there), 1000 * degrees(c.row), 1000 * degrees(c.row-c.here)}
		between := []float32{3: 1, 8: degrees(c.here), 9: degrees(c.there)}
		if got := second(3, ids, products, 1000, between); got != c.want {
			t.Errorf("%s: list %d, want %d", name, got, c.want)
		}
	}
}
