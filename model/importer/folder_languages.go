package importer

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"bitextmine/corpus"
	"bitextmine/encode/model"
	"bitextmine/internal/badinput"
)

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
		base, _, _ := strings.Cut(language, "-")
		bases[base]++
	}
	prefixes := map[string]model.Prefix{}
	for language, id := range languages {
		if base, _, _ := strings.Cut(language, "-"); bases[base] == 1 {
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
