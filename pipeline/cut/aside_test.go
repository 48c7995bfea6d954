package cut

import (
	"testing"

	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/stage/shard"
)

// TestSwapped: sides are swapped whose text is each in the other's language, in whatever script or name the language is
// given.
func TestSwapped(t *testing.T) {
	for _, c := range []struct {
		said, most [2]string
		want       bool
	}{
		{[2]string{"de", "en"}, [2]string{"en", "de"}, true},
		{[2]string{"zh-Hant", "en"}, [2]string{"en", "zh"}, true},
		{[2]string{"en", "nb"}, [2]string{"no", "en"}, true},
		{[2]string{"de", "en"}, [2]string{"en", "fr"}, false},
	} {
		var languages []plan.Language
		var of [][]doubted
		for side, code := range c.said {
			languages = append(languages, plan.Language{Code: code, Inputs: []plan.Input{{Path: code}}})
			of = append(of, []doubted{{Path: code, Doubt: shard.Doubt{Share: 0.9, Most: shard.Spoken{Code: c.most[side]}}}})
		}
		if _, swapped := foreign(languages, of); swapped != c.want {
			t.Errorf("%v that are %v: swapped %v, want %v", c.said, c.most, swapped, c.want)
		}
	}
}
