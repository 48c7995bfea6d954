package importer

import (
	"encoding/json"
	"errors"
	"maps"
	"path"
	"regexp"
	"slices"

	"bitextmine/corpus"
	"bitextmine/encode/model"
	"bitextmine/internal/badinput"
	"bitextmine/internal/subtag"
	"bitextmine/train/export"
	"bitextmine/train/weights"
)

// table is a static encoder's weights: a row of embeddings for each word, or for each of fewer rows that the
// words share by mapping, times the word's weight.
type table struct {
	store          *weights.Store
	rows           string // the tensor of the embeddings
	shape          []int
	mapping        []int64   // row by word; nil: a word's row has its own number
	weights        []float32 // weight of each word; nil: all 1
	words, columns int
	left           int // a word that is left out of the mean; -1: none
}

// leftOver is the weight of a word that is left out of the mean. It is not 0, because a sentence of such words alone
// needs a vector, too.
const leftOver = 1e-6

// tableNames are the embeddings' names in sentence-transformers (StaticEmbedding) and model2vec.
var tableNames = []string{"embedding.weight", "embeddings"}

// exportTable writes the graph of a static encoder: the mean of the rows of a table.
func exportTable(f *folder) (err error) {
	name := path.Join(f.body, weights.ModelName)
	if !f.has(name) {
		return missing(f)
	}
	t := table{columns: f.Dim, left: -1}
	if f.dense != nil { // the numbers that are kept are those after the layers
		t.columns = 0
	}
	if t.store, err = weights.OpenStore(f.at(f.body)); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.store.Close()) }()
	if err := t.read(f.at(name)); err != nil {
		return err
	}
	if f.first(modulesFile) == "" && f.config.ModelType == "model2vec" {
		if t.left, err = unknownWord(f); err != nil {
			return err
		}
	}
	head := export.Head{Poolings: []string{mean}, Dense: f.dense, Dim: f.Dim}
	if err := f.checkDense(head, t.columns); err != nil {
		return err
	}
	f.Words, f.WordsFrom = t.words, name
	f.Manifest.Dim = t.columns
	f.Manifest.Inputs.IDs = export.IDs
	f.Manifest.Output, f.Manifest.Pooling = export.Vectors, model.None
	f.Manifest.Tokens = model.TokenOutput{Output: export.Tokens, Static: true}
	f.Found("graph", name, "the mean of a table of %d words, %d numbers each", t.words, t.columns)
	g := export.NewGraph(f.Manifest.Name)
	g.Input(export.IDs, export.Int64, "batch", "tokens")
	g.Initializer("table", []int{t.words, t.columns}, export.Stream(t.stream))
	g.Node("Gather", []string{"table", export.IDs}, []string{export.Tokens}, export.Attr{Name: "axis", Value: 0})
	g.Node("ReduceMean", []string{export.Tokens}, []string{export.Vectors},
		export.Attr{Name: "axes", Value: []int64{1}}, export.Attr{Name: "keepdims", Value: 0})
	if f.dense == nil {
		g.Output(export.Vectors, export.Float32, "batch", t.columns)
	} else if f.Manifest.Output, f.Manifest.Dim = g.After(export.Vectors, head, t.columns); f.Manifest.Dim != t.columns {
		f.Manifest.Tokens.Dim = t.columns
	}
	g.Output(export.Tokens, export.Float32, "batch", "tokens", t.columns)
	return f.Write(g)
}

// read finds the tensors of a file and checks that they fit each other.
func (t *table) read(file string) error {
	refused := func(format string, args ...any) error {
		return badinput.Errorf("%s: "+format+": it is no static encoder that can be computed: export the model to ONNX",
			append([]any{file}, args...)...)
	}
	for _, name := range t.store.Names() {
		switch {
		case slices.Contains(tableNames, name) && t.rows == "":
			t.rows = name
		case name != "mapping" && name != "weights":
			return refused("it has the tensor %s, which has no place beside a table", name)
		}
	}
	t.shape, _ = t.store.Shape(t.rows)
	if len(t.shape) != 2 || t.shape[1] < 1 {
		return refused("its table has the shape %v, not two dimensions", t.shape)
	}
	t.words = t.shape[0]
	var err error
	if shape, ok := t.store.Shape("mapping"); ok {
		if t.mapping, err = t.store.Integers("mapping"); err != nil {
			return err
		}
		if t.words = len(t.mapping); len(shape) != 1 {
			return refused("mapping has the shape %v, not one dimension", shape)
		}
		for word, row := range t.mapping {
			if row < 0 || row >= int64(t.shape[0]) {
				return refused("mapping gives word %d row %d, but the table has %d", word, row, t.shape[0])
			}
		}
	}
	if shape, ok := t.store.Shape("weights"); ok {
		if t.weights, err = t.store.Read("weights"); err != nil {
			return err
		}
		if !slices.Equal(shape, []int{t.words}) {
			return refused("weights has the shape %v, but there are %d words", shape, t.words)
		}
	}
	if t.columns < 0 || t.columns > t.shape[1] {
		return badinput.Errorf("--dim is %d, but must be from 1 to the %d numbers of the model's vectors", t.columns, t.shape[1])
	}
	if t.columns == 0 {
		t.columns = t.shape[1]
	}
	return nil
}

// stream gives the rows of all words, as a graph takes them.
func (t *table) stream(yield func([]float32) error) error {
	width, each := t.shape[1], max(1, 1<<20/t.shape[1])
	if t.mapping != nil {
		all, err := t.store.Read(t.rows)
		if err != nil {
			return err
		}
		for word, row := range t.mapping {
			if err := yield(t.row(word, all[int(row)*width:][:width])); err != nil {
				return err
			}
		}
		return nil
	}
	for from := 0; from < t.words; from += each {
		values, err := t.store.Rows(t.rows, from, from+each)
		if err != nil {
			return err
		}
		block := values[:0]
		for i := 0; i*width < len(values); i++ {
			block = append(block, t.row(from+i, values[i*width:][:width])...)
		}
		if err := yield(block); err != nil {
			return err
		}
	}
	return nil
}

// row is a word's row with its weight, as far as it is kept.
func (t *table) row(word int, values []float32) []float32 {
	weight := float32(1)
	if t.weights != nil {
		weight = t.weights[word]
	}
	if word == t.left {
		weight = leftOver
	}
	row := make([]float32, t.columns)
	for i := range row {
		row[i] = weight * values[i]
	}
	return row
}

// unknownWord is the unknown token of tokenizer.json, which model2vec leaves out of the mean; -1: there is none.
func unknownWord(f *folder) (int, error) {
	var fast struct {
		Model struct {
			ID    *int            `json:"unk_id"`
			Token string          `json:"unk_token"`
			Vocab json.RawMessage `json:"vocab"`
		} `json:"model"`
	}
	name := f.first(tokenizerFile)
	if _, err := f.json(name, &fast); err != nil {
		return -1, err
	}
	var vocabulary map[string]int
	switch {
	case fast.Model.ID != nil:
		return *fast.Model.ID, nil
	case fast.Model.Token == "":
		return -1, nil
	}
	if err := json.Unmarshal(fast.Model.Vocab, &vocabulary); err != nil {
		return -1, badinput.Errorf("%s has a vocabulary that is no list of pieces with their ids: fetch the file again", f.at(name))
	}
	id, ok := vocabulary[fast.Model.Token]
	if !ok {
		return -1, nil
	}
	return id, nil
}

// readLanguages makes a prefix of the token of each language, as NLLB's tokenizer has them: added tokens such as
// deu_Latn.
func readLanguages(f *folder) error {
	type added struct {
		ID      int32  `json:"id"`
		Content string `json:"content"`
	}
	var fast struct {
		Added []added `json:"added_tokens"`
	}
	var settings struct {
		Decoder map[string]added `json:"added_tokens_decoder"`
	}
	var ids map[string]int32
	from := ""
	for _, name := range []string{"added_tokens.json", settingsFile, tokenizerFile} {
		at := f.first(name)
		if at == "" {
			continue
		}
		into := map[string]any{"added_tokens.json": &ids, settingsFile: &settings, tokenizerFile: &fast}[name]
		if _, err := f.json(at, into); err != nil {
			return err
		}
		from = at
	}
	if ids == nil {
		ids = map[string]int32{}
	}
	for _, a := range fast.Added {
		ids[a.Content] = a.ID
	}
	for id, a := range settings.Decoder {
		var n int32
		if json.Unmarshal([]byte(id), &n) == nil {
			ids[a.Content] = n
		}
	}
	prefixes := languagePrefixes(ids)
	if len(prefixes) == 0 && f.Known != nil && len(f.Known.Prefixes) > 0 {
		return nil
	}
	if len(prefixes) == 0 {
		return badinput.Errorf("%s has no tokens of languages, such as deu_Latn, in added_tokens.json, %s or %s: fetch the model's tokenizer.json", f.root, settingsFile, tokenizerFile)
	}
	f.Manifest.Prefixes = prefixes
	f.Found("prefixes", from, "the tokens of %d languages", len(prefixes))
	return nil
}

// languagePrefixes are the prefixes of languages by their tokens. A script is named only where a language has
// several; of two tokens of one language the first counts.
func languagePrefixes(ids map[string]int32) map[string]model.Prefix {
	bases, languages := map[string]int{}, map[string]int32{}
	for _, content := range slices.Sorted(maps.Keys(ids)) {
		language := languageOf(content)
		if _, twice := languages[language]; language == "" || twice {
			continue
		}
		languages[language] = ids[content]
		bases[subtag.Language(language)]++
	}
	prefixes := map[string]model.Prefix{}
	for language, id := range languages {
		if base := subtag.Language(language); bases[base] == 1 {
			language = base
		}
		prefixes[language] = model.Prefix{Tokens: []int32{id}}
	}
	return prefixes
}

var languageToken = regexp.MustCompile(`^[a-z]{3}_[A-Z][a-z]{3}$`)

// languageOf is the language that a token such as deu_Latn stands for, or empty.
func languageOf(content string) string {
	if !languageToken.MatchString(content) {
		return ""
	}
	language, err := corpus.ParseLanguage(content)
	if err != nil {
		return ""
	}
	return language
}
