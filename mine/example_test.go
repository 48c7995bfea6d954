package mine_test

import (
	"fmt"
	"log"

	"bitextmine/mine"
)

// Target 0 has the highest cosine with both source sentences. The margin, which divides a cosine by the mean of both
// sentences' neighbourhoods, pairs source 1 with target 1.
func Example() {
	source := mine.Neighbours{K: 2,
		IDs:     []int32{0, 1, 0, 1},
		Cosines: []float32{0.9, 0.3, 0.8, 0.7},
	}
	target := mine.Neighbours{K: 2,
		IDs:     []int32{0, 1, 1, 0},
		Cosines: []float32{0.9, 0.8, 0.7, 0.3},
	}
	lists, err := mine.NewLists(source, target, 2, mine.Ratio)
	if err != nil {
		log.Fatal(err)
	}
	candidates := lists.Candidates()
	for i, verdict := range mine.Judge(candidates, 2, 2, mine.Max, 1.06) {
		c := candidates[i]
		fmt.Printf("source %d, target %d: cosine %.2f, margin %.3f, kept %v\n", c.Source, c.Target, c.Cosine, c.Score, verdict == mine.Kept)
	}
	// Output:
	// source 0, target 0: cosine 0.90, margin 1.241, kept true
	// source 1, target 1: cosine 0.70, margin 1.120, kept true
}
