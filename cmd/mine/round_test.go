package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/fixtures"
	"bitextmine/internal/badinput"
	"bitextmine/train"
	"bitextmine/train/round"
)

// roundPreset writes a preset for a bag that some seconds train, judged by the fixtures' known pairs, and moves to its
// directory.
func roundPreset(t *testing.T, rate string) {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	text := map[string]string{}
	for _, language := range []string{"de", "en"} {
		for line := range strings.Lines(fixture(t, language+".txt")) {
			id, sentence, _ := strings.Cut(line, "\t")
			text[id] = sentence
		}
	}
	var source, target strings.Builder
	for line := range strings.Lines(fixture(t, "de-en.gold")) {
		de, en, _ := strings.Cut(strings.TrimSpace(line), "\t")
		source.WriteString(text[de])
		target.WriteString(text[en])
	}
	preset := fmt.Sprintf(`
steps: 60
bitext: {batch_size: 32, max_tokens: 48}
vocabulary: {size: 1000, threads: 2}
encoder: {kind: bag, bag: {dim: 64}}
objective: {name: contrastive}
optimiser: {learning_rate: %s}
dev: [{protocol: tatoeba, dir: dev, src: [de], tgt: en}]
`, rate)
	for name, content := range map[string]string{"tiny.yaml": preset, "dev/gold.deu-eng.deu": source.String(),
		"dev/gold.deu-eng.eng": target.String()} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func fixture(t *testing.T, name string) string {
	t.Helper()
	text, err := fixtures.Text.ReadFile("text/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// mineRound calls the command and returns what it prints.
func mineRound(t *testing.T, args ...string) (string, error) {
	t.Helper()
	return command(t, append([]string{"round", "--src", "de", "--tgt", "en", "--threads", "2", "--out", "rounds"}, args...)...)
}

// TestRoundSettings: what could not be compared with is refused before the first round, and for finished rounds, too.
func TestRoundSettings(t *testing.T) {
	roundPreset(t, "0.01")
	for _, c := range []struct{ flag, value, want string }{
		{"--metric", "tatoeba nope accuracy", `"tatoeba nope accuracy" is none of the figures`},
		{"--metric", "tatoeba deu error", "better when higher"},
		{"--min-score", "nan", "min-score is NaN"},
		{"--min-prob", "2", "min-prob is 2"},
	} {
		if _, err := mineRound(t, "--train", "tiny.yaml", c.flag, c.value); !badinput.Is(err) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want %q", c.flag, c.value, err, c.want)
		}
	}
}

// TestRounds: two rounds over the fixtures; the same call again does nothing of it again; a call with other settings is
// refused.
func TestRounds(t *testing.T) {
	roundPreset(t, "0.01")
	args := []string{"--train", "tiny.yaml", "--rounds", "2", "--min-prob", "0.6"}
	out, err := mineRound(t, args...)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"kept", "overlap %", "tatoeba deu accuracy",
		"round 2 is the last; its encoder: rounds/round-2/trained/model"} {
		if !strings.Contains(out, part) {
			t.Errorf("the table does not show %q:\n%s", part, out)
		}
	}
	var rounds []round.Round
	text, err := os.ReadFile("rounds/rounds.json")
	if err == nil {
		err = json.Unmarshal(text, &rounds)
	}
	if err != nil || len(rounds) != 3 {
		t.Fatalf("%d rounds, %v", len(rounds), err)
	}
	for _, r := range rounds[1:] {
		if r.Kept < 50 || r.Kept > r.Mined || r.Shared > r.Kept || r.Steps != 60 || r.Dev["tatoeba deu accuracy"] == 0 {
			t.Errorf("%+v", r)
		}
	}
	if rounds[1].Shared != 0 || rounds[2].Shared == 0 {
		t.Errorf("shared pairs: %d and %d", rounds[1].Shared, rounds[2].Shared)
	}
	tsv, err := os.ReadFile("rounds/rounds.tsv")
	if lines := strings.Split(strings.TrimSpace(string(tsv)), "\n"); err != nil || len(lines) != 4 ||
		!strings.HasPrefix(lines[0], "round\tmined\tkept\tshared\toverlap %\tsteps\ttatoeba") {
		t.Errorf("rounds.tsv: %s, %v", tsv, err)
	}
	model := "rounds/round-2/trained/model/model.onnx"
	before, err := os.Stat(model)
	if err != nil {
		t.Fatal(err)
	}
	again, err := mineRound(t, args...)
	if err != nil || again != out {
		t.Errorf("the same call again: %v\n%s", err, again)
	}
	if after, err := os.Stat(model); err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("a finished round was trained again: %v", err)
	}
	if _, err := mineRound(t, append(args, "--min-prob", "0.7")...); !badinput.Is(err) ||
		!strings.Contains(err.Error(), "rounds/round-0") {
		t.Errorf("other settings: %v", err)
	}
}

// TestRoundsCountWhatTheyTrainOn: pairs with held-out sentences are mined, but training leaves them out.
func TestRoundsCountWhatTheyTrainOn(t *testing.T) {
	roundPreset(t, "0.01")
	preset, err := os.ReadFile("tiny.yaml")
	if err == nil {
		err = os.WriteFile("tiny.yaml", []byte(strings.Replace(string(preset), "{batch_size", "{exclude: [held.de], batch_size", 1)), 0o600)
	}
	source, readErr := os.ReadFile("dev/gold.deu-eng.deu")
	held := strings.Join(strings.SplitAfter(string(source), "\n")[:40], "")
	if err = errors.Join(err, readErr, os.WriteFile("held.de", []byte(held), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := mineRound(t, "--train", "tiny.yaml", "--rounds", "1"); err != nil {
		t.Fatal(err)
	}
	var rounds []round.Round
	text, err := os.ReadFile("rounds/rounds.json")
	card, readErr := os.ReadFile("rounds/round-1/trained/model/README.md")
	if err = errors.Join(err, readErr, json.Unmarshal(text, &rounds)); err != nil {
		t.Fatal(err)
	}
	if of := fmt.Sprintf("\n%d pairs: ", rounds[1].Kept); rounds[1].Kept >= rounds[1].Mined || !strings.Contains(string(card), of) {
		t.Errorf("%d pairs mined, %d trained on; the model card says:\n%s", rounds[1].Mined, rounds[1].Kept, card)
	}
}

// TestRoundsWithSources: the preset's own sources are text of the rounds, too, so other lines in them are refused.
func TestRoundsWithSources(t *testing.T) {
	roundPreset(t, "0.01")
	preset, err := os.ReadFile("tiny.yaml")
	if err != nil {
		t.Fatal(err)
	}
	known, err := os.ReadFile("dev/gold.deu-eng.eng")
	if err != nil {
		t.Fatal(err)
	}
	source := "bitext: {sources: [{files: [dev/gold.deu-eng.deu], aligned: [known.en], src: de, tgt: en}], exclude: [excluded], "
	for name, text := range map[string]string{
		"sources.yaml": strings.Replace(string(preset), "bitext: {", source, 1), "known.en": string(known), "excluded": "Nichts.\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"--train", "sources.yaml", "--rounds", "1", "--with-sources"}
	out, err := mineRound(t, args...)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := mineRound(t, args...); err != nil || again != out {
		t.Errorf("the same call again: %v\n%s", err, again)
	}
	for _, name := range []string{"known.en", "excluded"} {
		text, err := os.ReadFile(name)
		if err == nil {
			err = os.WriteFile(name, append([]byte("Other "), text...), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := mineRound(t, args...); !badinput.Is(err) || !strings.Contains(err.Error(), "rounds/round-0 has a round of other text") {
			t.Errorf("another line in %s: %v", name, err)
		}
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRoundsOfOtherFiles: the content of the files that the preset names, and a setting that its JSON lacks, are the
// rounds', too. The start is none, so that only round 0 is finished.
func TestRoundsOfOtherFiles(t *testing.T) {
	roundPreset(t, "0.01")
	text, err := os.ReadFile("tiny.yaml")
	if err != nil {
		t.Fatal(err)
	}
	preset := strings.NewReplacer("bag: {dim: 64}", "bag: {dim: 64}, start: weights", "bitext: {", "bitext: {exclude: [excluded], ",
		"objective:", "tokenizer: {kind: sentencepiece, file: own.model}\nobjective:").Replace(string(text))
	write := func(name, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	files := []string{"weights/encoder.safetensors", "own.model", "excluded", "dev/gold.deu-eng.eng", "named.yaml"}
	for name, text := range map[string]string{files[0]: "none", files[1]: "none", files[2]: "Nichts.\n", files[4]: preset} {
		write(name, text)
	}
	args := []string{"--train", "named.yaml", "--rounds", "1"}
	const refused = "rounds/round-0 has a round of other text"
	for range 2 {
		if _, err := mineRound(t, args...); err == nil || strings.Contains(err.Error(), refused) {
			t.Fatalf("a round from weights that are none: %v", err)
		}
		if _, err := os.Stat("rounds/round-0/round.json"); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		other := "#" + string(text)
		if name == "named.yaml" {
			other = strings.Replace(preset, "start: weights", "start: weights, transformer: {keep_attention: true}", 1)
		}
		write(name, other)
		if _, err := mineRound(t, args...); !badinput.Is(err) || !strings.Contains(err.Error(), refused) {
			t.Errorf("another %s: %v", name, err)
		}
		write(name, string(text))
	}
}

// TestRoundsEnd: an encoder that learns nothing is worse than the one before it, and no further round is made with it.
func TestRoundsEnd(t *testing.T) {
	roundPreset(t, "1e-9")
	out, err := mineRound(t, "--train", "tiny.yaml", "--metric", "tatoeba deu accuracy")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out, "stopped: tatoeba deu accuracy has not grown since round 0") ||
		!strings.Contains(out, "round 0 is the best; its encoder: "+fixtures.Encoder) {
		t.Error(out)
	}
	if _, err := os.Stat("rounds/round-2"); err == nil {
		t.Error("a second round was begun")
	}
}

func TestRefusedRounds(t *testing.T) {
	roundPreset(t, "0.01")
	for want, args := range map[string][]string{
		"--train":                    nil,
		"nowhere.yaml":               {"--train", "nowhere.yaml"},
		"bitext.sources is empty":    {"--train", "tiny.yaml", "--with-sources"},
		"--nightly":                  {"--train", "tiny.yaml", "--nightly"},
		"--gold":                     {"--train", "tiny.yaml", "--gold", "x"},
		"rounds is 0":                {"--train", "tiny.yaml", "--rounds", "0"},
		"patience is 0":              {"--train", "tiny.yaml", "--patience", "0"},
		`"bleu"`:                     {"--train", "tiny.yaml", "--metric", "bleu"},
		"tatoeba deu accuracy, tato": {"--train", "tiny.yaml", "--metric", "tatoeba deu precision"},
		"k = 100":                    {"--train", "tiny.yaml", "--k", "100"},
		"mined pairs is left (the greatest score is 2.": {"--train", "tiny.yaml", "--min-score", "50"},
		"min-prob needs probabilities":                  {"--train", "tiny.yaml", "--scorer", "none", "--min-prob", "0.5"},
	} {
		args = append(args, "--out", filepath.Join(t.TempDir(), "rounds"))
		if _, err := mineRound(t, args...); !badinput.Is(err) || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("mine round %s: got %v\nwant one badinput sentence that says %q", strings.Join(args, " "), err, want)
		}
	}
}

// TestTrainOnARun: --bitext takes the directory of a run, as the commands that read bitext do.
func TestTrainOnARun(t *testing.T) {
	roundPreset(t, "0.01")
	must(t, "run", "--src", "de", "--tgt", "en", "--out", "mined")
	if out := must(t, "train", "--config", "tiny.yaml", "--bitext", "mined", "--out", "trained"); !strings.Contains(out, "read       mined/de-en.parquet") {
		t.Errorf("mine train says %s", out)
	}
}

func TestRefusedTrainings(t *testing.T) {
	roundPreset(t, "0.01")
	if err := os.RemoveAll("dev"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("run.yaml", []byte("src: de\nk: 4\nencoder: use-static\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ command, says string }{
		{"train --config tiny.yaml --bitext x.parquet --out trained", "dev: there is no folder dev, which has the test set for the protocol tatoeba: name its folder in dir"},
		{"train --config run.yaml --out trained", "run.yaml has settings of mine run, not of a training"},
		{"round --train run.yaml --src de --tgt en", "run.yaml has settings of mine run, not of a training"},
	} {
		if _, err := command(t, strings.Fields(c.command)...); !badinput.Is(err) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("mine %s: %v, want %q", c.command, err, c.says)
		}
	}
}

// TestTrainingsLockTheirDirectory: a second mine train or mine round in one directory ends with the lock's exit code.
func TestTrainingsLockTheirDirectory(t *testing.T) {
	roundPreset(t, "0.001")
	release, err := train.Lock("out")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = release() }()
	for _, args := range [][]string{
		{"train", "--config", "tiny.yaml", "--bitext", "nowhere.parquet", "--out", "out"},
		{"round", "--train", "tiny.yaml", "--src", "de", "--tgt", "en", "--src-text", "dev/gold.deu-eng.deu",
			"--tgt-text", "dev/gold.deu-eng.eng", "--out", "out"},
	} {
		if code := execute(t.Context(), args); code != exitLocked {
			t.Errorf("mine %s ended with %d, want %d", args[0], code, exitLocked)
		}
	}
}
