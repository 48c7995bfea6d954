package encode_test

import (
	"context"
	"fmt"
	"log"

	"bitextmine/encode"
	"bitextmine/encode/embedding"
	"bitextmine/encode/model"
	"bitextmine/fixtures"
)

// The encoder inside the program puts a sentence nearer to its translation than to another sentence.
func Example() {
	model, err := model.Load(fixtures.Encoder)
	if err != nil {
		log.Fatal(err)
	}
	encoder, err := encode.Open(model, encode.Options{})
	if err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	german, english := make([]float32, encoder.Dim()), make([]float32, 2*encoder.Dim())
	if err := encoder.Encode(ctx, "de", []string{"Der Hund schläft im Garten."}, german); err != nil {
		log.Fatal(err)
	}
	if err := encoder.Encode(ctx, "en", []string{"The dog is sleeping in the garden.", "The train to Berlin is late."}, english); err != nil {
		log.Fatal(err)
	}
	translation := embedding.Dot(german, english[:encoder.Dim()]) // unit vectors: the inner product is the cosine
	other := embedding.Dot(german, english[encoder.Dim():])
	fmt.Println(translation > 0.7, other < 0.3)
	if err := encoder.Close(); err != nil {
		log.Fatal(err)
	}
	// Output: true true
}
