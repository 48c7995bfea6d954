package importer

import (
	"maps"
	"slices"
	"strings"

	"bitextmine/encode/model"
	"bitextmine/internal/badinput"
)

// promptsFile has the prompts of sentence-transformers.
const promptsFile = "config_sentence_transformers.json"

// bitextPrompt is the name of a prompt for finding translations, by MTEB's name of the task.
const bitextPrompt = "BitextMining"

// readPrompts makes prefixes of the model's prompts: those that the caller names, else the one that the model puts
// before every sentence unless told otherwise, else its prompt for finding translations.
func readPrompts(f *folder) error {
	var all struct {
		Prompts map[string]string `json:"prompts"`
		Default string            `json:"default_prompt_name"`
	}
	if _, err := f.json(promptsFile, &all); err != nil {
		return err
	}
	if f.Options.Prompts != nil {
		return f.choosePrompts(all.Prompts)
	}
	if len(f.Manifest.Prefixes) > 0 || f.Prefix != "" {
		return nil
	}
	for _, name := range []string{all.Default, bitextPrompt} {
		if text := all.Prompts[name]; text != "" {
			f.Manifest.Prefixes = map[string]model.Prefix{model.AnyLanguage: {Text: text}}
			f.Found("prefix", promptsFile, "%s: %q", name, text)
			return nil
		}
	}
	maps.DeleteFunc(all.Prompts, func(_, text string) bool { return text == "" })
	if f.Known == nil && len(all.Prompts) > 0 {
		f.Found("prefix", promptsFile, "none; the model has the prompts %s: choose one with --prompt",
			listed(slices.Sorted(maps.Keys(all.Prompts))))
	}
	return nil
}

// choosePrompts makes prefixes of the prompts that the caller names: NAME, or LANGUAGE=NAME for one side's language.
func (f *folder) choosePrompts(prompts map[string]string) error {
	if f.Prefix != "" {
		return badinput.Errorf("--prompt and --prefix both say what stands before a sentence: give one")
	}
	prefixes := map[string]model.Prefix{}
	for _, choice := range f.Options.Prompts {
		language, name, ok := strings.Cut(choice, "=")
		if !ok {
			language, name = model.AnyLanguage, choice
		}
		text, ok := prompts[name]
		if !ok && name != "none" {
			return badinput.Errorf("--prompt names %q, but %s has the prompts %s: name one of them, or none", name,
				f.at(promptsFile), listed(slices.Sorted(maps.Keys(prompts))))
		}
		prefixes[language] = model.Prefix{Text: text}
		f.Found("prefix", promptsFile, "%s: %q", choice, text)
	}
	if f.Manifest.Prefixes = prefixes; len(prefixes) == 1 && prefixes[model.AnyLanguage].Text == "" {
		f.Manifest.Prefixes = nil
	}
	return nil
}
