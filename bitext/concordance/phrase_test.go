package concordance

import (
	"fmt"
	"path/filepath"
	"testing"
)

// TestPhrasesOfFrequentWords: of a phrase that many pairs may have, those are looked at that fill the page, and a rare
// one is found among all that have its words.
func TestPhrasesOfFrequentWords(t *testing.T) {
	var pairs []pair
	for i := range 3000 {
		pairs = append(pairs, pair{"Er ist in der Tat da.", fmt.Sprintf("He is there indeed, number %d.", i), 1.2})
		pairs = append(pairs, pair{"Die Tat ist in der Stadt.", fmt.Sprintf("The deed is in the town, number %d.", i), 1.2})
	}
	pairs = append(pairs, pair{"Ist der Tat in der Tat ein Ende?", "One more.", 1.2})
	dir := t.TempDir()
	x := open(t, filepath.Join(dir, "index"), write(t, filepath.Join(dir, "de-en.parquet"), [2]string{"de", "en"}, pairs))
	ask := func(text string, skip int) *Result {
		result, err := x.Search(t.Context(), Query{Text: text, Mode: Phrase, Sides: [2]bool{true, false}, Skip: skip, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	if r := ask("in der Tat", 0); len(r.Hits) != 10 || !r.More || r.Total < 10 {
		t.Errorf("a frequent phrase: %d hits of %d, more %v", len(r.Hits), r.Total, r.More)
	}
	if r := ask("in der Tat", 2995); len(r.Hits) != 6 || r.More || r.Total != 3001 {
		t.Errorf("its last page: %d hits of %d, more %v", len(r.Hits), r.Total, r.More)
	}
	if r := ask("der Tat in", 0); len(r.Hits) != 1 || r.More || r.Hits[0].Texts[1] != "One more." {
		t.Errorf("a rare phrase of frequent words: %+v", r)
	}
}
