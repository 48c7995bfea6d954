package train

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/index"
	"bitextmine/index/exact"
	"bitextmine/internal/badinput"
	"bitextmine/train/data"
)

// numbers makes one token of a text, the number that it is.
type numbers struct{}

func (numbers) Unknown() int32 { return 0 }

func (numbers) Encode(texts []string, _ int, yield func(i int, ids []int32)) error {
	for i, text := range texts {
		var id int32
		if _, err := fmt.Sscan(text, &id); err != nil {
			return err
		}
		yield(i, []int32{id})
	}
	return nil
}

// setOf reads the pairs, source and target numbers, of each pair of languages.
func setOf(t *testing.T, groups map[string][][2]int) *data.Set {
	t.Helper()
	c := data.DefaultConfig()
	for source, pairs := range groups {
		var b strings.Builder
		for _, p := range pairs {
			fmt.Fprintf(&b, "%d\t%d\n", p[0], p[1])
		}
		path := filepath.Join(t.TempDir(), "a.tsv")
		if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		s := data.DefaultSource()
		s.Files, s.Src, s.Tgt = []string{path}, source, "en"
		c.Sources = append(c.Sources, s)
	}
	slices.SortFunc(c.Sources, func(a, b data.Source) int { return strings.Compare(a.Src, b.Src) })
	set, err := data.Read(t.Context(), c, data.Options{Tokenizer: numbers{}})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// vectorsOf gives each number its own random vector.
func negativeVectors(ids func(i int) []int32, n, dim int, seed uint64) []float32 {
	var out []float32
	for i := range n {
		rng := rand.New(rand.NewPCG(seed, uint64(ids(i)[0])))
		for range dim {
			out = append(out, float32(rng.NormFloat64()))
		}
	}
	return out
}

func searcher(t *testing.T) index.Searcher {
	t.Helper()
	s, err := exact.Open(exact.Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// brute is what Mine must give row i by its comment, as target numbers.
func brute(set *data.Set, source, target []float32, dim, i, h int) []int32 {
	pairs := map[[2]int32]bool{}
	for j := range set.Len() {
		if set.Group(j) == set.Group(i) {
			pairs[[2]int32{set.Source(j)[0], set.Target(j)[0]}] = true
		}
	}
	first := map[int32]int{} // the row that stands for a target
	var order []int32
	for j := range set.Len() {
		if id := set.Target(j)[0]; set.Group(j) == set.Group(i) {
			if _, ok := first[id]; !ok {
				first[id] = j
				order = append(order, id)
			}
		}
	}
	var wrong []int32
	for _, id := range order {
		if !pairs[[2]int32{set.Source(i)[0], id}] && !pairs[[2]int32{set.Source(first[id])[0], set.Target(i)[0]}] {
			wrong = append(wrong, id)
		}
	}
	score := func(id int32) float64 {
		var dot, length float64
		for k := range dim {
			y := float64(target[first[id]*dim+k])
			dot, length = dot+float64(source[i*dim+k])*y, length+y*y
		}
		return dot / math.Sqrt(length)
	}
	slices.SortStableFunc(wrong, func(a, b int32) int { return cmp.Compare(score(b), score(a)) })
	return wrong[:h]
}

func TestMineIsBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	groups := map[string][][2]int{}
	for _, language := range []string{"de", "fr"} {
		for range 150 { // few numbers: many sentences with several translations
			groups[language] = append(groups[language], [2]int{1 + rng.IntN(90), 1000 + rng.IntN(90)})
		}
	}
	set := setOf(t, groups)
	const dim, h = 8, 3
	source, target := negativeVectors(set.Source, set.Len(), dim, 1), negativeVectors(set.Target, set.Len(), dim, 2)
	last := 0.0
	got, err := mineNegatives(t.Context(), searcher(t), set, source, target, dim, h, nil, func(f float64) { last = f })
	if err != nil {
		t.Fatal(err)
	}
	if last != 1 {
		t.Errorf("progress ended at %v", last)
	}
	for i := range set.Len() {
		var ids []int32
		for _, row := range got.Rows[i*h : (i+1)*h] {
			if set.Group(int(row)) != set.Group(i) {
				t.Fatalf("pair %d has a negative of other languages", i)
			}
			ids = append(ids, set.Target(int(row))[0])
		}
		if want := brute(set, source, target, dim, i, h); !slices.Equal(ids, want) {
			t.Fatalf("pair %d has %v, want %v", i, ids, want)
		}
	}
}

// TestMineFillsUp has a source whose nearest targets are all its translations: the negatives are others.
func TestMineFillsUp(t *testing.T) {
	var pairs [][2]int
	for i := range 100 {
		pairs = append(pairs, [2]int{1, 1000 + i})
	}
	pairs = append(pairs, [2]int{2, 2000}, [2]int{3, 3000})
	set := setOf(t, map[string][][2]int{"de": pairs})
	source, target := make([]float32, 2*set.Len()), make([]float32, 2*set.Len())
	for i := range set.Len() {
		source[2*i], source[2*i+1], target[2*i], target[2*i+1] = 1, 0.1, 1, 0.001*float32(i)
		if set.Target(i)[0] >= 2000 {
			target[2*i] = -1
		}
	}
	got, err := mineNegatives(t.Context(), searcher(t), set, source, target, 2, 2, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		found := []int32{set.Target(int(got.Rows[2*i]))[0], set.Target(int(got.Rows[2*i+1]))[0]}
		slices.Sort(found)
		if !slices.Equal(found, []int32{2000, 3000}) {
			t.Fatalf("pair %d has %v", i, found)
		}
	}
}

func TestNegativesBadInput(t *testing.T) {
	set := setOf(t, map[string][][2]int{"de": {{1, 2}, {1, 3}, {4, 5}}})
	vectors := negativeVectors(set.Source, set.Len(), 4, 1)
	for _, h := range []int{0, 2, 65} { // a pair of source 1 has one wrong target
		if _, err := mineNegatives(t.Context(), searcher(t), set, vectors, vectors, 4, h, nil, nil); !badinput.Is(err) {
			t.Errorf("%d negatives: error %v, want badinput", h, err)
		}
	}
}

// TestFilteredNegatives: what a filter says to be a translation is no negative, however near it is.
func TestFilteredNegatives(t *testing.T) {
	pairs := [][2]int{{1, 11}, {2, 12}, {3, 13}, {4, 14}}
	set := setOf(t, map[string][][2]int{"de": pairs})
	target := []float32{1, 0, 0.99, 0.14, 0.9, 0.44, 0, 1}
	filter := func(row, other int) bool { return row == 0 && other == 1 }
	for _, c := range []struct {
		filter func(row, other int) bool
		want   int32
	}{{nil, 1}, {filter, 2}} {
		got, err := mineNegatives(t.Context(), searcher(t), set, target, target, 2, 1, c.filter, nil)
		if err != nil || got.Rows[0] != c.want {
			t.Errorf("the negative of the first pair is %v, %v, want %d", got, err, c.want)
		}
	}
}
