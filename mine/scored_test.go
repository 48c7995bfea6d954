package mine

import (
	"slices"
	"testing"
)

// TestScoredCandidates compares with the lists, pair by pair: mutual neighbours, and every sentence's best neighbour by
// margin that stands out.
func TestScoredCandidates(t *testing.T) {
	lists, _ := randomLists(t, 22, 40, 55, 6, 4)
	var want [][2]int32
	oneSided := 0
	proposed := map[[2]int32]Candidate{}
	for _, c := range lists.Candidates() {
		proposed[[2]int32{c.Source, c.Target}] = c
	}
	for x := range int32(lists.Source.Len()) {
		for y := range int32(lists.Target.Len()) {
			near := rank(lists.Source, lists.K, x, y) != Unranked && rank(lists.Target, lists.K, y, x) != Unranked
			best, ok := proposed[[2]int32{x, y}]
			above := ok && 2*best.Cosine > without(lists.Source, lists.K, x, y)+without(lists.Target, lists.K, y, x)
			if near || above {
				want = append(want, [2]int32{x, y})
			}
			if ok && !near && above {
				oneSided++
			}
		}
	}
	var got [][2]int32
	for _, c := range lists.ScoredCandidates() {
		pair := [2]int32{c.Source, c.Target}
		got = append(got, pair)
		if p := proposed[pair]; p.Forward != c.Forward || p.Backward != c.Backward || (p.Forward || p.Backward) && p != c {
			t.Errorf("%+v, by Candidates %+v", c, p)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("scored candidates %v, want %v", got, want)
	}
	if oneSided == 0 || len(got) == oneSided {
		t.Errorf("%d of %d are neighbours on one side only: nothing was tested", oneSided, len(got))
	}
}

// without is the mean cosine of i's first k neighbours except j, or except the last.
func without(nb Neighbours, k int, i, j int32) float32 {
	ids, cosines := nb.Row(int(i))
	left := slices.Index(ids[:k], j)
	if left < 0 {
		left = k - 1
	}
	sum := float32(0)
	for at, cosine := range cosines[:k] {
		if at != left {
			sum += cosine
		}
	}
	return sum / float32(k-1)
}

// TestListsElsewhere: lists that are read one by one give the same candidates and rivals.
func TestListsElsewhere(t *testing.T) {
	lists, _ := randomLists(t, 31, 60, 50, 8, 4)
	elsewhere := func(nb Neighbours) Neighbours {
		return Neighbours{K: nb.K, N: nb.Len(), Read: func(i int, ids []int32, cosines []float32) {
			from, of := nb.Row(i)
			copy(ids, from)
			copy(cosines, of)
		}}
	}
	again, err := NewLists(elsewhere(lists.Source), elsewhere(lists.Target), lists.K, lists.Margin)
	if err != nil {
		t.Fatal(err)
	}
	want := lists.ScoredCandidates()
	if got := again.ScoredCandidates(); !slices.Equal(got, want) || !slices.Equal(again.Candidates(), lists.Candidates()) {
		t.Error("the candidates differ")
	}
	if !slices.Equal(slices.Collect(again.Rivals(want)), slices.Collect(lists.Rivals(want))) {
		t.Error("the rivals differ")
	}
}
