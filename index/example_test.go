package index_test

import (
	"context"
	"fmt"
	"log"

	"bitextmine/encode/embedding"
	"bitextmine/index"
	"bitextmine/index/exact"
)

// Three source rows and two target rows of dimension 2 are searched for the nearest row of the other side.
func Example() {
	source := index.Side{Vectors: embedding.FromFloat32([]float32{1, 0, 0, 1, 0.6, 0.8}, 2)}
	target := index.Side{Vectors: embedding.FromFloat32([]float32{0.8, 0.6, 0, -1}, 2)}
	searcher, err := exact.Open(exact.Options{})
	if err != nil {
		log.Fatal(err)
	}
	result, err := searcher.Search(context.Background(), source, target, 1, nil)
	if err != nil {
		log.Fatal(err)
	}
	for row := range result.Source.Len() {
		ids, cosines := result.Source.Row(row)
		fmt.Printf("source %d: target %d, cosine %.2f\n", row, ids[0], cosines[0])
	}
	for row := range result.Target.Len() {
		ids, cosines := result.Target.Row(row)
		fmt.Printf("target %d: source %d, cosine %.2f\n", row, ids[0], cosines[0])
	}
	// Output:
	// source 0: target 0, cosine 0.80
	// source 1: target 0, cosine 0.60
	// source 2: target 0, cosine 0.96
	// target 0: source 2, cosine 0.96
	// target 1: source 0, cosine 0.00
}
