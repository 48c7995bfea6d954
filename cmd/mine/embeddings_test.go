package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"bitextmine/fixtures"
	"bitextmine/internal/badinput"
	"bitextmine/train/traintest"
)

// differs matches what may differ between two evaluations of the same vectors: the encoder's name, the settings, and
// the digits of float32 that a second normalisation changes.
var differs = regexp.MustCompile(`(?s)"settings": \{.*?\n *\},|"encoder": "[^"]*"|(\.\d{4})\d+`)

// TestEvalTakesEmbeddingsOfEveryLayout encodes the files of test sets of each kind with mine encode. The figures must
// be those of the encoder, with the vectors found by the names of the texts' files and folders.
func TestEvalTakesEmbeddingsOfEveryLayout(t *testing.T) {
	texts := translations(t)
	const n = 60
	lines := func(language string) string { return strings.Join(texts[language][:n], "\n") + "\n" }
	withIDs, gold, scored := map[string]string{}, "", ""
	for i := range n {
		for language, side := range texts {
			withIDs[language] += fmt.Sprintf("%s-%03d\t%s\n", language, i, side[i])
		}
		gold += fmt.Sprintf("de-%03d\ten-%03d\n", i, i)
		scored += fmt.Sprintf("%d\t%s\t%s\n", i%6, texts["en"][i], texts["en"][n+i])
	}
	second := strings.Join(texts["en"][n:2*n], "\n") + "\n"
	for name, c := range map[string]struct {
		files          map[string]string // content by name
		vectors        map[string]string // texts to encode, by the file of their vectors
		source, target string
		args           []string
	}{
		"BUCC": {
			map[string]string{"de-en.train.de": withIDs["de"], "de-en.train.en": withIDs["en"], "de-en.train.gold": gold},
			map[string]string{"de-en.train.de.npy": lines("de"), "de-en.train.en.npy": lines("en")},
			"{file}.npy", "{file}.npy", []string{"bucc-laser", "bucc-cosine", "--src", "de"},
		},
		"Tatoeba": {
			map[string]string{"tatoeba.deu-eng.deu": lines("de"), "tatoeba.deu-eng.eng": lines("en")},
			map[string]string{"tatoeba.deu-eng.deu.npy": lines("de"), "tatoeba.deu-eng.eng.npy": lines("en")},
			"{file}.npy", "{file}.npy", []string{"tatoeba", "retrieval", "--src", "deu"},
		},
		"FLORES": {
			map[string]string{"devtest/deu_Latn.devtest": lines("de"), "devtest/eng_Latn.devtest": lines("en")},
			map[string]string{"devtest/deu_Latn.devtest.npy": lines("de"), "devtest/eng_Latn.devtest.npy": lines("en")},
			"{dir}/{file}.npy", "{dir}/{file}.npy", []string{"xsim", "--src", "deu_Latn", "--tgt", "eng_Latn"},
		},
		"STS": {
			map[string]string{"2016/headlines.test.tsv": scored},
			map[string]string{"2016/headlines.test.tsv.first.npy": lines("en"), "2016/headlines.test.tsv.second.npy": second},
			"{dir}/{file}.first.npy", "{dir}/{file}.second.npy", []string{"sts"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			set, vectors := t.TempDir(), t.TempDir()
			for file, text := range c.files {
				traintest.Write(t, filepath.Join(set, file), text)
			}
			for file, text := range c.vectors {
				plain, out := filepath.Join(t.TempDir(), "text"), filepath.Join(vectors, file)
				traintest.Write(t, plain, text)
				traintest.Write(t, out, "")
				must(t, "encode", "--lang", "en", "--out", out, plain)
			}
			args := append(append([]string{"eval"}, c.args...), "--dir", set, "--format", "json")
			want := must(t, args...)
			got := must(t, append(args, "--src-emb", filepath.Join(vectors, c.source),
				"--tgt-emb", filepath.Join(vectors, c.target))...)
			if differs.ReplaceAllString(got, "$1") != differs.ReplaceAllString(want, "$1") {
				t.Errorf("of files:\n%s\nof the encoder:\n%s", got, want)
			}
			if named := must(t, append(args, "--encoder", fixtures.Encoder, "--src-emb", filepath.Join(vectors, c.source),
				"--tgt-emb", filepath.Join(vectors, c.target))...); !strings.Contains(named, `"encoder": "`+fixtures.Encoder+" (") {
				t.Errorf("the encoder that is named is not in\n%s", named)
			}
			if _, err := command(t, append(args, "--max-memory", "1KiB", "--src-emb", filepath.Join(vectors, c.source),
				"--tgt-emb", filepath.Join(vectors, c.target))...); !badinput.Is(err) || !strings.Contains(err.Error(), "raise --max-memory") {
				t.Errorf("vectors of more than 1 KiB: %v", err)
			}
		})
	}
}

// translations are the sentences of the program's own corpora that have one, line by line.
func translations(t *testing.T) map[string][]string {
	t.Helper()
	read := func(name string) (first, second []string) {
		data, err := fixtures.Text.ReadFile("text/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			a, b, _ := strings.Cut(strings.TrimSpace(line), "\t")
			first, second = append(first, a), append(second, b)
		}
		return first, second
	}
	byID := map[string]string{}
	for _, name := range []string{"de.txt", "en.txt"} {
		ids, texts := read(name)
		for i, id := range ids {
			byID[id] = texts[i]
		}
	}
	out := map[string][]string{}
	german, english := read("de-en.gold")
	for i := range german {
		out["de"], out["en"] = append(out["de"], byID[german[i]]), append(out["en"], byID[english[i]])
	}
	return out
}
