package bitext_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"bitextmine/bitext"
)

// A bitext file is written and read again.
func Example() {
	dir, err := os.MkdirTemp("", "bitext")
	if err != nil {
		log.Fatal(err)
	}
	path := filepath.Join(dir, "de-en.parquet")

	f, err := os.Create(path)
	if err != nil {
		log.Fatal(err)
	}
	w, err := bitext.NewWriter(f, bitext.Metadata{Encoder: "use-static", Margin: "ratio", K: 4})
	if err != nil {
		log.Fatal(err)
	}
	err = w.Append(bitext.Row{
		Source: bitext.Sentence{Text: "Es regnet.", Lang: "de", Line: 7},
		Target: bitext.Sentence{Text: "It is raining.", Lang: "en", Line: 12},
		Score:  1.31, Cosine: 0.92, Keep: true,
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}

	r, err := bitext.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Len(), "row by", r.Metadata()["encoder"])
	for row, err := range r.Rows(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%.2f %s | %s\n", row.Score, row.Source.Text, row.Target.Text)
	}
	if err := errors.Join(r.Close(), os.RemoveAll(dir)); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 1 row by use-static
	// 1.31 Es regnet. | It is raining.
}
