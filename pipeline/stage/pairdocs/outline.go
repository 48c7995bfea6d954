package pairdocs

import (
	"context"
	"crypto/sha256"
	"errors"

	"bitextmine/align/match"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/view"
)

// outline is the documents of a language without their sentences, in the order and with the numbers of a Collection.
type outline struct {
	documents []match.Document
	places    []place
	aside     Aside
}

// place is where a document is: in the output of Means of a shard, and among the documents there.
type place struct{ Shard, At int32 }

// readOutline reads the documents of a language of a plan.
func readOutline(ctx context.Context, f *view.Files, language int) (*outline, error) {
	o := &outline{}
	seen := map[[digestSize]byte]struct{}{} // names, by their digests
	inFile := map[string]int{}
	type origin struct{ file, id string }
	var origins []origin
	shards := f.Plan.Languages[language].Shards
	for i := range shards {
		at := int32(0)
		err := eachHead(ctx, f, &shards[i], func(h *head) {
			own := place{int32(i), at}
			if h.Count >= minSentences {
				at++
			}
			file := shards[i].FilePath(h.File)
			inFile[file]++
			sum := sha256.Sum256([]byte(nameOf(h.Name, file, h.Line)))
			name := [digestSize]byte(sum[:digestSize])
			if _, again := seen[name]; again {
				o.aside.Repeated++
				return
			}
			seen[name] = struct{}{}
			if h.Count < minSentences {
				o.aside.Short++
				return
			}
			o.documents = append(o.documents, match.Document{URL: h.URL, Metadata: h.Meta, Count: h.Count})
			o.places, origins = append(o.places, own), append(origins, origin{file, h.Name})
		})
		if err = errors.Join(err, ctx.Err()); err != nil {
			return nil, err
		}
	}
	address := addressOf(inFile)
	for i := range o.documents {
		d := &o.documents[i]
		d.URL = address(origins[i].file, origins[i].id, d.URL)
	}
	return o, nil
}

// readOutlines reads the documents of both sides of a pair.
func readOutlines(ctx context.Context, f *view.Files, pair int) (sides [2]*outline, documents [2][]match.Document, err error) {
	for side := range sides {
		if sides[side], err = readOutline(ctx, f, f.Plan.LanguageOf(pair, side)); err != nil {
			return sides, documents, err
		}
		documents[side] = sides[side].documents
	}
	return sides, documents, nil
}

// checkSome refuses a side without documents.
func checkSome(code string, documents int, aside Aside) error {
	if documents > 0 {
		return nil
	}
	return badinput.Errorf("documents = on, but the %s text has no document of two sentences (%d of one): name their column with --doc-column, divide records with --split on, or leave out --documents",
		code, aside.Short)
}
