package eval

import (
	"slices"
	"testing"

	"bitextmine/eval/testset"
)

func TestReadNegatives(t *testing.T) {
	const kinds = `{"a edited": {"errtype": "Number", "src": "a"}, "b edited": {"errtype": "EntityReplacement", "src": "b"}}`
	dir := put(t, map[string]string{
		"eng_Latn_errtype.devtest.json": kinds, "eng_Latn_augmented.devtest": "b edited\na edited\nb edited\n",
		"alone.json": kinds, "empty.json": "{}", "list.json": "[1]", "other.json": `{"a edited": {"type": "Number", "source": "a"}}`,
	})
	got, err := testset.ReadNegatives(dir + "/eng_Latn_errtype.devtest.json")
	want := []testset.Negative{{Text: "b edited", Of: "b", Kind: "EntityReplacement"}, {Text: "a edited", Of: "a", Kind: "Number"}, {Text: "b edited", Of: "b", Kind: "EntityReplacement"}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want the lines of the augmented file in their order", got, err)
	}
	got, err = testset.ReadNegatives(dir + "/alone.json")
	if err != nil || len(got) != 2 || got[0].Kind != "Number" {
		t.Errorf("%v, %v", got, err)
	}
	_, err = testset.ReadNegatives(dir + "/empty.json")
	refused(t, err, "no negative")
	for _, name := range []string{"/list.json", "/other.json"} {
		_, err = testset.ReadNegatives(dir + name)
		refused(t, err, "published xsim++ format")
	}
}

// TestNegativesOfOtherSentences: with the published negatives of another part of a set xsim++ would be xsim.
func TestNegativesOfOtherSentences(t *testing.T) {
	o := AlignedOptions{NegativesFrom: "eng_Latn_errtype.dev.json",
		Negatives: []testset.Negative{{Text: "b edited", Of: "b", Kind: "Number"}, {Text: "of no sentence", Kind: testset.Misaligned}}}
	if got, err := o.NegativesOf(testset.AlignedFiles{}, []string{"a", "b"}); err != nil || len(got) != 2 {
		t.Errorf("%v, %v; want the negatives of the second sentence", got, err)
	}
	_, err := o.NegativesOf(testset.AlignedFiles{Target: "eng_Latn.devtest"}, []string{"a", "c", ""})
	refused(t, err, "eng_Latn_errtype.dev.json has no negative of a sentence of eng_Latn.devtest")
}
