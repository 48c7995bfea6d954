package tokenizer

import (
	"testing"
	"testing/fstest"

	"bitextmine/encode/encodetest"
	"bitextmine/encode/model"
)

// The ids of a fairseq model are four special ones, then those in the order of the dictionary.
func TestDictionaryNumbers(t *testing.T) {
	files := encodetest.Changed(t, "lowercase: true", "lowercase: true\n    dictionary: dict.txt\n    eos: 2\n    unk: 3")
	files["dict.txt"] = &fstest.MapFile{Data: []byte("▁the 900\n. 800\n▁no▁such▁piece 5\n▁of 4\n")}
	m, err := model.LoadFS(files, model.FileName)
	if err != nil {
		t.Fatal(err)
	}
	v, err := Open(m)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	for piece, want := range map[string]int32{"▁the": 4, ".": 5, "▁of": 7, "▁and": fairseqUnknown, "<unk>": 3} {
		if id, ok := v.ID(piece); !ok || v.Number(id) != want {
			t.Errorf("%s is %d, want %d", piece, v.Number(id), want)
		}
	}
	for _, c := range []struct{ name, dict, says string }{
		{"not a dictionary", "▁the\n", "dict.txt:1 of encoder " + encodetest.BagName + " is not a piece, a space and a count"},
		{"of another model", "xyzzy 1\n", "has no piece of spm.model"},
	} {
		files["dict.txt"] = &fstest.MapFile{Data: []byte(c.dict)}
		_, err := newIDMap(m, v.splitter)
		encodetest.Refused(t, err, c.says)
	}
}
