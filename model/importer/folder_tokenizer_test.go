package importer

import (
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"

	"bitextmine/encode/encodetest"
)

// tokenizerOf reads the tokenizer of a folder with these files.
func tokenizerOf(t *testing.T, c config, files map[string]string) *folder {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, files)
	f := &folder{Draft: &Draft{Dir: dir}, root: dir, config: c}
	if err := readTokenizer(f); err != nil {
		t.Fatal(err)
	}
	return f
}

// TestLowerCasing: do_lower_case of sentence_bert_config.json is of the text before any tokenizer; that of
// tokenizer_config.json is BERT's alone, which also removes accents then.
func TestLowerCasing(t *testing.T) {
	const (
		text    = "sentence_bert_config.json"
		unigram = `{"model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["▁a", -1]]}}`
		piece   = `{"model": {"type": "WordPiece", "vocab": {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2}, "unk_token": "[UNK]", "continuing_subword_prefix": "##",
			"max_input_chars_per_word": 100}, "normalizer": {"type": "BertNormalizer"}, "pre_tokenizer": {"type": "BertPreTokenizer"}}`
	)
	for _, c := range []struct {
		name          string
		files         map[string]string
		lower, accent bool
	}{
		{"WordPiece by default", map[string]string{vocabFile: vocabulary()}, true, true},
		{"a cased WordPiece", map[string]string{vocabFile: vocabulary(), settingsFile: `{"do_lower_case": false}`, text: `{}`}, false, false},
		{"text before a cased WordPiece", map[string]string{vocabFile: vocabulary(), settingsFile: `{"do_lower_case": false}`, text: `{"do_lower_case": true}`}, true, false},
		{"text before a cased tokenizer.json of BERT", map[string]string{tokenizerFile: piece, text: `{"do_lower_case": true}`}, true, false},
		{"a tokenizer.json", map[string]string{tokenizerFile: unigram, settingsFile: `{"do_lower_case": true}`}, false, false},
		{"text before a tokenizer.json", map[string]string{tokenizerFile: unigram, text: `{"do_lower_case": true}`}, true, false},
		{"XLM-R's class", map[string]string{"sentencepiece.bpe.model": "", settingsFile: `{"do_lower_case": true, "tokenizer_class": "XLMRobertaTokenizer"}`}, false, false},
		{"T5's class", map[string]string{"spiece.model": "", settingsFile: `{"do_lower_case": true, "tokenizer_class": "T5Tokenizer"}`}, false, false},
		{"text before XLM-R's", map[string]string{"sentencepiece.bpe.model": "", settingsFile: `{"do_lower_case": false}`, text: `{"do_lower_case": true}`}, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := tokenizerOf(t, config{}, c.files)
			if k := f.Manifest.Tokenizer; k.Lowercase != c.lower || k.StripAccents != c.accent {
				t.Errorf("%s lower-cases: %v, removes accents: %v; want %v and %v", k.Kind, k.Lowercase, k.StripAccents, c.lower, c.accent)
			}
		})
	}
}

// TestPlacesOfPadding: of position embeddings that begin after padding's, two are no places of tokens.
func TestPlacesOfPadding(t *testing.T) {
	for kind, want := range map[string]int{"xlm-roberta": 512, "roberta": 512, "camembert": 512, "mpnet": 512, "bert": 514} {
		f := tokenizerOf(t, config{ModelType: kind, Places: 514, Pad: 1}, map[string]string{vocabFile: vocabulary()})
		if f.Manifest.MaxTokens != want {
			t.Errorf("max_tokens of %s is %d, want %d", kind, f.Manifest.MaxTokens, want)
		}
	}
}

// TestSnapshots: a folder in the cache of the hub's own programs is known by the model's name, not by the commit's.
func TestSnapshots(t *testing.T) {
	cache := t.TempDir()
	write(t, cache, map[string]string{"models--org--small/refs/main": "0123abc\n", "models--old/refs/main": "4567def", "model--org--other/refs/main": "0123abc"})
	for dir, want := range map[string][2]string{
		"models--org--small":                   {"models--org--small/snapshots/0123abc", "small"},
		"models--org--small/snapshots/0123abc": {"models--org--small/snapshots/0123abc", "small"},
		"models--old":                          {"models--old/snapshots/4567def", "old"},
		"model--org--other":                    {"model--org--other", ""},
		"a/snapshots/0123abc":                  {"a/snapshots/0123abc", ""},
	} {
		if files, name := snapshot(path.Join(cache, dir)); files != path.Join(cache, want[0]) || name != want[1] {
			t.Errorf("%s: the files of %q are in %s", dir, name, files)
		}
	}
}

// TestLanguagesOfACard: a card names several languages, or one.
func TestLanguagesOfACard(t *testing.T) {
	for front, want := range map[string]string{"language: [de, en, multilingual]": "de en", "language: en": "en", "language: multilingual": "", "language:": "", "license: mit": ""} {
		dir := t.TempDir()
		write(t, dir, map[string]string{"README.md": "---\n" + front + "\n---\n"})
		f := &folder{Draft: &Draft{Dir: dir}, root: dir}
		if err := readCard(f); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(f.Manifest.Languages, " "); got != want {
			t.Errorf("%s: the languages are %q", front, got)
		}
	}
}

// wordPieces is a tokenizer.json of BERT's kind with a post-processor.
func wordPieces(lower bool, ends string) string {
	return fmt.Sprintf(`{"model": {"type": "WordPiece", "vocab": {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "<s>": 3, "</s>": 4}, "unk_token": "[UNK]",
		"continuing_subword_prefix": "##", "max_input_chars_per_word": 100}, "normalizer": {"type": "BertNormalizer", "lowercase": %t},
		"pre_tokenizer": {"type": "BertPreTokenizer"}, "post_processor": %s}`, lower, ends)
}

const (
	bertProcessor  = `{"type": "BertProcessing", "cls": ["[CLS]", 1], "sep": ["[SEP]", 2]}`
	mpnetProcessor = `{"type": "RobertaProcessing", "cls": ["<s>", 3], "sep": ["</s>", 4]}`
)

// TestEndsOfWordPieces: MPNet's tokenizer.json has BERT's pieces and other special tokens around a text.
func TestEndsOfWordPieces(t *testing.T) {
	for _, c := range []struct{ name, processor, kind, first, last string }{
		{"BERT's", bertProcessor, "wordpiece", "[CLS]", "[SEP]"},
		{"MPNet's", mpnetProcessor, "huggingface", "<s>", "</s>"},
		{"not said", "null", "wordpiece", "[CLS]", "[SEP]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := tokenizerOf(t, config{}, map[string]string{tokenizerFile: wordPieces(true, c.processor)}).Manifest.Tokenizer
			if k.Kind != c.kind || k.BOS == nil || k.BOS.Piece != c.first || k.EOS == nil || k.EOS.Piece != c.last {
				t.Errorf("the tokenizer is %+v", k)
			}
		})
	}
}

// TestSecondImportOfAFolder: what an import writes into the folder is not taken for the authors' by the next one.
func TestSecondImportOfAFolder(t *testing.T) {
	f := tokenizerOf(t, config{}, map[string]string{tokenizerFile: wordPieces(false, bertProcessor)})
	first := f.Manifest.Tokenizer
	if err := readTokenizer(f); err != nil {
		t.Fatal(err)
	}
	if again := f.Manifest.Tokenizer; first.Lowercase || !reflect.DeepEqual(first, again) {
		t.Errorf("the tokenizer is %+v, and then %+v", first, again)
	}
}

// TestLanguagesOfTokenizerJSON: NLLB's tokenizer.json has the token of one language around every text, and a manifest
// the token of each before its sentences.
func TestLanguagesOfTokenizerJSON(t *testing.T) {
	f := tokenizerOf(t, config{}, map[string]string{tokenizerFile: `{"model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["▁a", -1], ["</s>", -9]]},
		"added_tokens": [{"id": 3, "content": "deu_Latn"}, {"id": 4, "content": "eng_Latn"}],
		"post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "eng_Latn"}}, {"Sequence": {"id": "A"}}, {"SpecialToken": {"id": "</s>"}}]}}`})
	k, prefixes := f.Manifest.Tokenizer, f.Manifest.Prefixes
	if k.BOS != nil || k.EOS == nil || k.EOS.Piece != "</s>" || !slices.Equal(prefixes["de"].Tokens, []int32{3}) || !slices.Equal(prefixes["en"].Tokens, []int32{4}) {
		t.Errorf("the tokenizer is %+v and the prefixes are %v", k, prefixes)
	}
}

// TestClassesOfVocabularies: a vocab.txt is read as BERT's only where the class is of its kind.
func TestClassesOfVocabularies(t *testing.T) {
	settings := func(class string) map[string]string {
		return map[string]string{vocabFile: vocabulary(), settingsFile: fmt.Sprintf(`{"tokenizer_class": %q}`, class)}
	}
	for _, class := range []string{"BertTokenizer", "DistilBertTokenizerFast", "PreTrainedTokenizerFast", ""} {
		if k := tokenizerOf(t, config{}, settings(class)).Manifest.Tokenizer; k.Kind != "wordpiece" || k.File != vocabFile {
			t.Errorf("%s: the tokenizer is %+v", class, k)
		}
	}
	files := settings("BertJapaneseTokenizer")
	dir := t.TempDir()
	write(t, dir, files)
	err := readTokenizer(&folder{Draft: &Draft{Dir: dir}, root: dir})
	encodetest.Refused(t, err, `names the tokenizer_class "BertJapaneseTokenizer", and how it cuts text into the words of vocab.txt is not known here`)
	files[tokenizerFile] = wordPieces(false, mpnetProcessor)
	if k := tokenizerOf(t, config{}, files).Manifest.Tokenizer; k.File != tokenizerFile {
		t.Errorf("beside tokenizer.json the tokenizer is %+v", k)
	}
}

// TestOldNamesOfTextSettings: sentence-transformers names them by the model, as it did once.
func TestOldNamesOfTextSettings(t *testing.T) {
	for _, name := range []string{"sentence_bert_config.json", "sentence_xlm-roberta_config.json", "sentence_distilbert_config.json"} {
		f := tokenizerOf(t, config{}, map[string]string{vocabFile: vocabulary(), name: `{"max_seq_length": 128}`})
		if f.Manifest.MaxTokens != 128 {
			t.Errorf("max_tokens of %s is %d", name, f.Manifest.MaxTokens)
		}
	}
}
