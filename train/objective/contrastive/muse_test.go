package contrastive

import (
	"testing"

	"bitextmine/train/data"
	"bitextmine/train/objective"
)

func TestMUSERefusesBatchesWithoutItsNegatives(t *testing.T) {
	o, err := objective.Default("muse").Build(objective.Training{Dim: 6, Width: 6, Vocabulary: 8, Languages: []string{"en"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, views := range [][]data.Side{{{N: 4}, {N: 4}}, {{N: 4}, {N: 4}, {N: 5}}} {
		if _, err := o.Views(&data.Batch{Views: views}); err == nil {
			t.Errorf("muse took the views %v", views)
		}
	}
	if views, err := o.Views(&data.Batch{Views: []data.Side{{N: 4}, {N: 4}, {N: 12}}}); err != nil || len(views) != 3 {
		t.Errorf("three negatives of each pair: %d views, %v", len(views), err)
	}
}
