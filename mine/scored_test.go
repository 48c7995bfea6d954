package mine

import (
	"errors"
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

// TestRoom: where the numbers of sentences are in a room, candidates and rivals are the same. What it cannot give is an
// error.
func TestRoom(t *testing.T) {
	lists, _ := randomLists(t, 31, 60, 50, 8, 4)
	want := lists.ScoredCandidates()
	var elsewhere room
	again, err := NewListsIn(&elsewhere, lists.Source, lists.Target, lists.K, lists.Margin)
	if err != nil {
		t.Fatal(err)
	}
	scored, err := again.Scored(&elsewhere)
	if err != nil {
		t.Fatal(err)
	}
	var got []Candidate
	for x := range int32(lists.Source.Len()) {
		got = scored.Append(got, x)
	}
	if !slices.Equal(got, want) || !slices.Equal(again.Candidates(), lists.Candidates()) {
		t.Error("the candidates differ")
	}
	of := func(l *Lists, room Room) []Pair {
		rivals, err := l.Rivals(room, want)
		if err != nil {
			t.Fatal(err)
		}
		return slices.Collect(rivals)
	}
	if !slices.Equal(of(again, &elsewhere), of(lists, nil)) {
		t.Error("the rivals differ")
	}
	if elsewhere.made != 2*(60+50)+61 {
		t.Errorf("%d numbers are in the room", elsewhere.made)
	}
	full := &room{full: true}
	_, failed := lists.Scored(full)
	_, failedRivals := lists.Rivals(full, want)
	if _, err := NewListsIn(full, lists.Source, lists.Target, lists.K, lists.Margin); err == nil || failed == nil || failedRivals == nil {
		t.Error("a full room is no error")
	}
}

// room counts the numbers that it makes.
type room struct {
	made int
	full bool
}

func (r *room) Ints(n int) ([]int32, error) {
	if r.made += n; r.full {
		return nil, errors.New("full")
	}
	return make([]int32, n), nil
}

func (r *room) Floats(n int) ([]float32, error) {
	ints, err := r.Ints(n)
	return make([]float32, len(ints)), err
}
