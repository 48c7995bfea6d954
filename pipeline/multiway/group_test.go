package multiway

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// names makes sentences from names such as d1: the language d, e or f, and a key.
func names(of ...string) (sentences []sentence) {
	for _, name := range of {
		s := sentence{language: int(name[0] - 'd')}
		s.key[0] = name[1]
		sentences = append(sentences, s)
	}
	return sentences
}

func TestTrianglesCloseAndWeakLinksConflict(t *testing.T) {
	sentences := names("d1", "e1", "f1", "d2", "e2")
	groups, conflicts := closure(sentences, []link{
		{1, 2, 0.9}, {0, 1, 0.8}, {0, 2, 0.7}, // d1, e1, f1: all three pairs
		{3, 4, 0.95}, // d2, e2
		{3, 2, 0.6},  // would bring d1 and d2 together
	})
	want := []group{
		{members: []int32{0, 1, 2}, links: 3, score: 0.8},
		{members: []int32{3, 4}, links: 1, score: 0.95},
	}
	if !reflect.DeepEqual(groups, want) {
		t.Errorf("the groups are %+v, want %+v", groups, want)
	}
	if want := []conflict{{link{3, 2, 0.6}, 3, 0}}; !reflect.DeepEqual(conflicts, want) {
		t.Errorf("the conflicts are %+v, want %+v", conflicts, want)
	}
}

// TestClosureHoldsForAnyLinks: no group has two sentences of a language, every link is in a group or a conflict, and
// the order of the links does not matter.
func TestClosureHoldsForAnyLinks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var sentences []sentence
		for language := range 4 {
			for key := range 6 {
				sentences = append(sentences, sentence{language, [16]byte{byte(key)}})
			}
		}
		var links []link
		seen := map[[2]int32]bool{}
		for range 40 {
			a, b := r.Int32N(24), r.Int32N(24)
			if a/6 < b/6 && !seen[[2]int32{a, b}] {
				seen[[2]int32{a, b}] = true
				links = append(links, link{a, b, float32(r.IntN(5)) / 4})
			}
		}
		groups, conflicts := closure(sentences, slices.Clone(links))
		held := len(conflicts)
		of := map[int32]int{}
		for i, g := range groups {
			held += g.links
			for _, m := range g.members {
				of[m] = i + 1
			}
			languages := map[int]bool{}
			for _, m := range g.members {
				if languages[sentences[m].language] {
					t.Fatalf("a group has two sentences of language %d", sentences[m].language)
				}
				languages[sentences[m].language] = true
			}
		}
		if held != len(links) {
			t.Fatalf("%d of %d links are in groups and conflicts", held, len(links))
		}
		for _, c := range conflicts {
			if of[c.a] == of[c.b] && of[c.a] != 0 {
				t.Fatalf("the conflict %+v lies within a group", c)
			}
			if sentences[c.first].language != sentences[c.second].language || c.first == c.second {
				t.Fatalf("the conflict %+v names sentences of two languages", c)
			}
		}
		r.Shuffle(len(links), func(i, j int) { links[i], links[j] = links[j], links[i] })
		again, conflictsAgain := closure(sentences, links)
		if !reflect.DeepEqual(again, groups) || !reflect.DeepEqual(conflictsAgain, conflicts) {
			t.Fatal("the links in another order give other groups")
		}
	}
}

func BenchmarkClosure(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	var sentences []sentence
	const n = 100_000
	for language := range 5 {
		for i := range n {
			s := sentence{language: language}
			s.key[0], s.key[1], s.key[2] = byte(i), byte(i>>8), byte(i>>16)
			sentences = append(sentences, s)
		}
	}
	var links []link
	for x := range int32(5) {
		for y := x + 1; y < 5; y++ {
			for i := range int32(n) {
				to := i
				if r.IntN(20) == 0 {
					to = r.Int32N(n)
				}
				links = append(links, link{x*n + i, y*n + to, r.Float32()})
			}
		}
	}
	for b.Loop() {
		closure(sentences, slices.Clone(links))
	}
	b.ReportMetric(float64(len(links)*b.N)/b.Elapsed().Seconds(), "links/s")
}
