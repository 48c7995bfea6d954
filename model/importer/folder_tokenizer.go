package importer

import (
	"encoding/json"
	"os"
	"path"
	"slices"
	"strings"

	"bitextmine/encode/model"
	"bitextmine/encode/tokenizer"
	"bitextmine/internal/badinput"
)

// Names of tokenizers' files.
const (
	vocabFile     = "vocab.txt"
	tokenizerFile = "tokenizer.json"
	settingsFile  = "tokenizer_config.json"

	// piecesFile is written beside what was published. As vocab.txt it would be taken for the authors' by the next import
	// of the folder, and cased or not by other files.
	piecesFile = "mine.vocab.txt"
)

// firstPiece and lastPiece are BERT's special tokens around a text.
const (
	firstPiece = "[CLS]"
	lastPiece  = "[SEP]"
)

// sentencePieceFiles are the names that SentencePiece models are published under.
var sentencePieceFiles = []string{"sentencepiece.bpe.model", "spiece.model", "sentencepiece.model", "tokenizer.model",
	"spm.model", "sp.model"}

// textSettings are the names of what sentence-transformers says of a transformer's texts. All but the first are old.
var textSettings = []string{"sentence_bert_config.json", "sentence_roberta_config.json", "sentence_distilbert_config.json",
	"sentence_camembert_config.json", "sentence_albert_config.json", "sentence_xlm-roberta_config.json", "sentence_xlnet_config.json"}

// tokenizerSettings is tokenizer_config.json.
type tokenizerSettings struct {
	Class       string  `json:"tokenizer_class"`
	Lower       *bool   `json:"do_lower_case"`
	Accents     *bool   `json:"strip_accents"`
	Chinese     *bool   `json:"tokenize_chinese_chars"`
	BOS         token   `json:"bos_token"`
	EOS         token   `json:"eos_token"`
	CLS         token   `json:"cls_token"`
	SEP         token   `json:"sep_token"`
	Pad         token   `json:"pad_token"`
	Unknown     token   `json:"unk_token"`
	MaxLength   float64 `json:"model_max_length"` // 1e30 stands for no limit
	hasSettings bool
	// lowersText is sentence_bert_config.json's do_lower_case: sentence-transformers lower-cases the text itself,
	// whatever tokenizer follows. do_lower_case above is BERT's tokenizer's alone.
	lowersText bool
}

// token is a special token: a string, or an object with its content.
type token string

// UnmarshalJSON reads both forms.
func (t *token) UnmarshalJSON(raw []byte) error {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		*t = token(s)
		return nil
	}
	var object struct {
		Content string `json:"content"`
	}
	if err := json.Unmarshal(raw, &object); err != nil {
		return err
	}
	*t = token(object.Content)
	return nil
}

// readTokenizer finds the tokenizer and how its ids become the graph's.
func readTokenizer(f *folder) error {
	var s tokenizerSettings
	var err error
	for _, dir := range []string{f.body, ""} {
		if s.hasSettings, err = f.json(path.Join(dir, settingsFile), &s); err != nil {
			return err
		} else if s.hasSettings {
			break
		}
	}
	var bert struct {
		MaxLength int  `json:"max_seq_length"`
		Lower     bool `json:"do_lower_case"`
	}
	text := f.first(textSettings...)
	if text != "" {
		if _, err := f.json(text, &bert); err != nil {
			return err
		}
	}
	s.lowersText = bert.Lower
	setLengths(f, s, bert.MaxLength, text)
	if name := f.first(sentencePieceFiles...); name != "" {
		return setSentencePiece(f, name, s)
	}
	if name := f.first(vocabFile); name != "" {
		return readWordPiece(f, name, s)
	}
	if name := f.first(tokenizerFile); name != "" {
		return readFast(f, name, s.lowersText)
	}
	return badinput.Errorf("%s has no tokenizer that can be read: put sentencepiece.bpe.model, vocab.txt or tokenizer.json there", f.root)
}

// first is the first of the names that is a file of the body or the root.
func (f *folder) first(names ...string) string {
	for _, name := range names {
		for _, dir := range []string{f.body, ""} {
			if at := path.Join(dir, name); f.has(at) {
				return at
			}
		}
	}
	return ""
}

// setLengths sets max_tokens: the smallest number in the files.
func setLengths(f *folder, s tokenizerSettings, bert int, bertFile string) {
	const unlimited = 1 << 16
	longest, from := unlimited, ""
	consider := func(n int, file string) {
		if n > 0 && n < longest {
			longest, from = n, file
		}
	}
	consider(bert, bertFile)
	if s.MaxLength < unlimited {
		consider(int(s.MaxLength), settingsFile)
	}
	places := f.config.Places
	if t := f.config.ModelType; t == "xlm-roberta" || t == "roberta" || t == "camembert" || t == "mpnet" {
		places -= f.config.Pad + 1
	}
	consider(places, "config.json")
	if longest == unlimited {
		longest, from = 512, "nothing says it"
	}
	f.Manifest.MaxTokens = longest
	f.Found("max_tokens", from, "%d", longest)
}

// setSentencePiece describes a SentencePiece model. The tokenizer's class, not the file,
// determines how its ids become the graph's.
func setSentencePiece(f *folder, name string, s tokenizerSettings) error {
	t := model.Tokenizer{Kind: "sentencepiece"}
	class := strings.TrimSuffix(s.Class, "Fast")
	id := func(n int32) *model.Token { return &model.Token{ID: n} }
	piece := func(p token) *model.Token {
		if p == "" {
			return nil
		}
		return &model.Token{Piece: string(p)}
	}
	var how string
	switch {
	case class == "NllbTokenizer" || class == "M2M100Tokenizer":
		t.Offset, t.EOS, t.Pad, t.Unknown = 1, id(2), id(1), id(3)
		how = "fairseq's ids, the language's token before and </s> after"
		if err := readLanguages(f); err != nil {
			return err
		}
	case class == "T5Tokenizer":
		t.EOS, t.Pad = piece("</s>"), piece("<pad>")
		how = "the file's own ids, </s> after"
	case class == "XLMRobertaTokenizer" || path.Base(name) == sentencePieceFiles[0] &&
		!slices.Contains([]string{"CamembertTokenizer", "BarthezTokenizer", "MBartTokenizer", "MBart50Tokenizer"},
			class):
		t.Offset, t.BOS, t.Pad, t.EOS, t.Unknown = 1, id(0), id(1), id(2), id(3)
		how = "XLM-RoBERTa's: the file's ids + 1, <s> before and </s> after"
	default:
		if fast := f.first(tokenizerFile); fast != "" {
			return readFast(f, fast, s.lowersText)
		}
		if !s.hasSettings {
			return badinput.Errorf("%s has no %s, whose tokenizer_class says how the ids of %s become the model's: add that file, or the model's tokenizer.json", f.root, settingsFile, name)
		}
		return badinput.Errorf("%s names the tokenizer_class %q, and how it turns the ids of %s into the model's is not known here: add the model's tokenizer.json", f.at(settingsFile), s.Class, name)
	}
	if t.Lowercase = s.lowersText; t.Lowercase {
		how += ", lower-cased"
	}
	var err error
	if t.File, err = f.bring(name); err != nil {
		return err
	}
	from := name
	if s.hasSettings {
		from += ", " + settingsFile
	}
	f.Manifest.Tokenizer = t
	f.Found("tokenizer", from, "sentencepiece, %s", how)
	return nil
}

// wordPieceClasses are the classes whose vocab.txt has pieces of words as BERT cuts them; the last ones name no kind.
var wordPieceClasses = []string{"BertTokenizer", "ConvBertTokenizer", "DistilBertTokenizer", "ElectraTokenizer",
	"LayoutLMTokenizer", "LxmertTokenizer", "MobileBertTokenizer", "MPNetTokenizer", "RetriBertTokenizer",
	"SplinterTokenizer", "SqueezeBertTokenizer", "PreTrainedTokenizer", "TokenizersBackend", ""}

// readWordPiece describes BERT's tokenizer.
func readWordPiece(f *folder, name string, s tokenizerSettings) error {
	if class := strings.TrimSuffix(s.Class, "Fast"); !slices.Contains(wordPieceClasses, class) {
		if fast := f.first(tokenizerFile); fast != "" {
			return readFast(f, fast, s.lowersText)
		}
		return badinput.Errorf("%s names the tokenizer_class %q, and how it cuts text into the words of %s is not known here: add the model's tokenizer.json", f.at(settingsFile), s.Class, name)
	}
	if s.Chinese != nil && !*s.Chinese {
		return badinput.Errorf("%s has tokenize_chinese_chars false, which cannot be computed: add the model's tokenizer.json in place of %s", f.at(settingsFile), name)
	}
	lower := s.Lower == nil || *s.Lower // BERT's default
	accents := lower
	if s.Accents != nil {
		accents = *s.Accents
	}
	lower = lower || s.lowersText
	file, err := f.bring(name)
	if err != nil {
		return err
	}
	setWordPiece(f, file, lower, accents, s.CLS, s.SEP)
	from := name
	if s.hasSettings {
		from += ", " + settingsFile
	}
	f.Found("tokenizer", from, "wordpiece, %s", wordPieceWords(lower, accents))
	return nil
}

func wordPieceWords(lower, accents bool) string {
	what := "cased"
	if lower {
		what = "lower-cased"
	}
	if accents {
		what += ", accents removed"
	}
	return what
}

// setWordPiece sets the manifest's tokenizer; without first and last token those of BERT.
func setWordPiece(f *folder, file string, lower, accents bool, first, last token) {
	t := model.Tokenizer{Kind: "wordpiece", File: file, Lowercase: lower, StripAccents: accents}
	if first == "" {
		first = firstPiece
	}
	if last == "" {
		last = lastPiece
	}
	t.BOS, t.EOS = &model.Token{Piece: string(first)}, &model.Token{Piece: string(last)}
	if f.static { // a table's mean has no special tokens
		t.BOS, t.EOS = nil, nil
	}
	f.Manifest.Tokenizer = t
}

// readFast describes tokenizer.json, before which the text may be lower-cased. BERT's own becomes a list of pieces
// such as vocab.txt; of all others the file itself is read.
func readFast(f *folder, name string, lower bool) error {
	var fast struct {
		Model struct {
			Type         string          `json:"type"`
			Vocab        json.RawMessage `json:"vocab"`
			Continuation string          `json:"continuing_subword_prefix"`
			Unknown      string          `json:"unk_token"`
			Longest      int             `json:"max_input_chars_per_word"`
		} `json:"model"`
		Normalizer struct {
			Type    string `json:"type"`
			Lower   bool   `json:"lowercase"`
			Accents *bool  `json:"strip_accents"`
			Clean   *bool  `json:"clean_text"`
			Chinese *bool  `json:"handle_chinese_chars"`
		} `json:"normalizer"`
		Words struct {
			Type string `json:"type"`
		} `json:"pre_tokenizer"`
		Ends any `json:"post_processor"`
	}
	if _, err := f.json(name, &fast); err != nil {
		return err
	}
	n := fast.Normalizer
	const longest = 100
	var vocabulary map[string]int
	if fast.Model.Type != "WordPiece" || json.Unmarshal(fast.Model.Vocab, &vocabulary) != nil ||
		n.Type != "BertNormalizer" || n.Clean != nil && !*n.Clean || n.Chinese != nil && !*n.Chinese ||
		fast.Model.Continuation != "##" || fast.Model.Unknown != "[UNK]" || fast.Words.Type != "BertPreTokenizer" ||
		fast.Model.Longest != longest {
		return readHuggingFace(f, name, fast.Model.Type, lower)
	}
	if ends, err := bertEnds(f, name, fast.Ends); err != nil {
		return err
	} else if !ends {
		return readHuggingFace(f, name, fast.Model.Type, lower)
	}
	lines := make([]string, len(vocabulary))
	for piece, id := range vocabulary {
		if id < 0 || id >= len(lines) || lines[id] != "" {
			return badinput.Errorf("%s numbers its %d pieces with gaps (%q is %d): put vocab.txt there", f.at(name),
				len(lines), piece, id)
		}
		lines[id] = piece
	}
	if err := f.WriteFile(piecesFile, []byte(strings.Join(lines, "\n")+"\n")); err != nil {
		return err
	}
	accents := n.Lower
	if n.Accents != nil {
		accents = *n.Accents
	}
	lower = lower || n.Lower
	setWordPiece(f, piecesFile, lower, accents, "", "")
	f.Found("tokenizer", name, "wordpiece, %s; its pieces are in %s now", wordPieceWords(lower, accents), piecesFile)
	return nil
}

// bertEnds reports whether the post_processor of tokenizer.json puts BERT's special tokens around a text, or does not
// say which. MPNet's has BERT's pieces, these two among them, but others around a text. A table's mean has none.
func bertEnds(f *folder, name string, postProcessor any) (bool, error) {
	if f.static || postProcessor == nil {
		return true, nil
	}
	whole, err := openFast(f, name)
	return err == nil && whole.First == firstPiece && whole.Last == lastPiece, err
}

// openFast reads tokenizer.json.
func openFast(f *folder, name string) (*tokenizer.HuggingFace, error) {
	raw, err := os.ReadFile(f.at(name))
	if err != nil {
		return nil, err
	}
	fast, err := tokenizer.NewHuggingFace(raw)
	if err != nil {
		return nil, badinput.Errorf("%s: %w", f.at(name), err)
	}
	return fast, nil
}

// readHuggingFace takes tokenizer.json as it is, with the special tokens that it puts around a text.
func readHuggingFace(f *folder, name, kind string, lower bool) error {
	fast, err := openFast(f, name)
	if err != nil {
		return err
	}
	t := model.Tokenizer{Kind: "huggingface", Lowercase: lower}
	if t.File, err = f.bring(name); err != nil {
		return err
	}
	first := fast.First
	if languageToken.MatchString(first) { // NLLB's, of the language that the file was saved with
		if err := readLanguages(f); err != nil {
			return err
		}
		first = ""
	}
	if first != "" && !f.static {
		t.BOS = &model.Token{Piece: first}
	}
	if fast.Last != "" && !f.static {
		t.EOS = &model.Token{Piece: fast.Last}
	}
	f.Manifest.Tokenizer = t
	how := ""
	if lower {
		how = ", lower-cased"
	}
	f.Found("tokenizer", name, "huggingface, %s, %q before and %q after%s", kind, first, fast.Last, how)
	return nil
}
