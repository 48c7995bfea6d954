package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"bitextmine/bitext"
	"bitextmine/fixtures"
	"bitextmine/internal/badinput"
)

// command runs mine and returns what it prints.
func command(t *testing.T, args ...string) (string, error) {
	t.Helper()
	root, out := newRoot(), &bytes.Buffer{}
	root.SetOut(out)
	root.SetArgs(args)
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

func must(t *testing.T, args ...string) string {
	t.Helper()
	out, err := command(t, args...)
	if err != nil {
		t.Fatalf("mine %s: %v", strings.Join(args, " "), err)
	}
	return out
}

// writerInto returns a function that writes a file into dir and returns its path.
func writerInto(t *testing.T, dir string) func(name, content string) string {
	return func(name, content string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
}

// TestEvalRefusesUnreadFlags: a flag that no named protocol reads would leave other figures than were asked for.
func TestEvalRefusesUnreadFlags(t *testing.T) {
	for _, c := range []struct{ args, says string }{
		{"bucc-laser --src-text a --tgt-text b", "--src-text is for line-aligned sets"},
		{"xsim --dir d --src-text a --tgt-text b --src de", "--dir is for sets, not for --src-text"},
		{"bucc-laser bucc-cosine --scorer x.json", "--scorer is for bucc-scored"},
		{"xsim --negatives x.json", "--negatives is for xsim++"},
		{"sts --pairs x.tsv", "--pairs is for BUCC sets"},
		{"sts --src de", "--src is for BUCC sets and line-aligned sets"},
		{"probe --src de", "--src is for BUCC sets and line-aligned sets"},
		{"sts --tgt de", "--tgt is for sets of two languages"},
		{"pairs --tgt de", "--tgt is for sets of two languages"},
		{"bitext-mteb --eval-text", "--eval-text is for tatoeba, xsim and retrieval"},
		{"xsim++ --eval-text", "--eval-text is for tatoeba, xsim and retrieval"},
		{"bucc-laser --dim 7", "--dim is of the files of --src-emb"},
		{"bucc-laser --src-emb a.npy --tgt-emb b.npy --dim 7", "--dim is of files without a header"},
		{"bucc-laser --src-emb a.npy --tgt-emb b.npy --emb-dim 7", "--emb-dim is of files without a header"},
		{"bucc-scored --src-emb a.npy --tgt-emb b.npy --encoder use-static", "leave out --src-emb"},
	} {
		if _, err := command(t, append([]string{"eval"}, strings.Fields(c.args)...)...); !badinput.Is(err) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("mine eval %s: %v, want %q", c.args, err, c.says)
		}
	}
}

// TestEvalOfWhatIsMissing says what to do about a test set or vectors that are not there.
func TestEvalOfWhatIsMissing(t *testing.T) {
	dir := fixtureSet(t)
	const missing = "mine eval: there is no directory nope: name that of the test set with --dir"
	for _, c := range []struct{ args, says string }{
		{"bucc-laser --src de --dir nope", missing + ", or leave it out after `mine data get bucc2018`"},
		{"bucc-laser --dir nope", missing + ", or leave it out after `mine data get bucc2018`"},
		{"xsim --src fra --dir nope", missing + ", or leave it out after `mine data get flores200`"},
		{"pairs --dir nope", missing},
		{"probe --dir nope", missing},
		{"bucc-laser --src de --dir " + dir + " --src-emb nope.{src}.npy --tgt-emb x.npy", "there is no file nope.de.npy: make the vectors, or correct the name nope.{src}.npy"},
	} {
		if _, err := command(t, append([]string{"eval"}, strings.Fields(c.args)...)...); !badinput.Is(err) || !strings.HasSuffix(err.Error(), c.says) {
			t.Errorf("mine eval %s: %v, want %q", c.args, err, c.says)
		}
	}
	if out := must(t, "eval", "bucc-laser", "bucc-cosine", "--src", "de", "--dir", dir); strings.Count(out, "pairs of the test half, or of the only one, with") != 2 {
		t.Errorf("of one half mine eval says %s", out)
	}
}

// fixtureSet lays the program's own corpora out as a BUCC set.
func fixtureSet(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for from, to := range map[string]string{"de.txt": "de-en.train.de", "en.txt": "de-en.train.en",
		"de-en.gold": "de-en.train.gold"} {
		data, err := fs.ReadFile(fixtures.Text, "text/"+from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, to), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestEvalBUCC: the figures as JSON, in any code of the languages, and the curve's file.
func TestEvalBUCC(t *testing.T) {
	dir := fixtureSet(t)
	curve, pairs := filepath.Join(dir, "pr.tsv"), filepath.Join(dir, "pairs.tsv")
	var first string
	for _, codes := range [][2]string{{"de", "en"}, {"deu", "eng_Latn"}} {
		out := must(t, "eval", "bucc", "--protocol", "bucc-laser", "--src", codes[0], "--tgt", codes[1], "--dir", dir,
			"--format", "json", "--curve", curve, "--pairs", pairs)
		var got struct {
			Protocol, Encoder, Half          string
			F1, Precision, Recall, Threshold float64
			Counts                           map[string]int
		}
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatalf("%v in\n%s", err, out)
		}
		if got.Protocol != "bucc-laser" || got.Encoder != fixtures.Encoder || got.Half != "train" ||
			got.Counts["gold"] < 100 {
			t.Errorf("%+v", got)
		}
		correct, extracted := float64(got.Counts["correct"]), float64(got.Counts["extracted"])
		gold := float64(got.Counts["gold"])
		if math.Abs(got.Precision-100*correct/extracted) > 1e-9 ||
			math.Abs(got.Recall-100*correct/gold) > 1e-9 || got.F1 < 50 {
			t.Errorf("%+v: figures and counts disagree", got)
		}
		written, err := os.ReadFile(pairs)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(written), "\tsrc_id\ttgt_id\n") || !regexp.MustCompile(`(?m)\tde-\d+\ten-\d+$`).Match(written) {
			t.Errorf("no ids in %.300s", written)
		}
		for kind, want := range map[string]float64{"correct": correct, "wrong": extracted - correct,
			"missed": gold - correct} {
			if n := strings.Count(string(written), "bucc-laser\tde-en\t"+kind+"\t"); n != int(want) {
				t.Errorf("%d %s pairs are written, want %v", n, kind, want)
			}
		}
		if first == "" {
			first = out
		} else if out != first {
			t.Error("another spelling of the languages gives another result")
		}
	}
	if data, err := os.ReadFile(curve); err != nil || !strings.HasPrefix(string(data), "protocol\tpair") {
		t.Errorf("%s: %v", curve, err)
	}
}

// TestEvalSeveralProtocols: one call, one report each, in tables.
func TestEvalSeveralProtocols(t *testing.T) {
	dir := fixtureSet(t)
	out := must(t, "eval", "bucc-laser", "bucc-mteb", "bucc-cosine", "bucc-st", "--src", "de", "--dir", dir)
	for _, part := range []string{"bucc-laser   encoder", "bucc-mteb   encoder", "bucc-cosine   encoder",
		"bucc-st   encoder", "only its train half"} {
		if !strings.Contains(out, part) {
			t.Errorf("no %q in\n%s", part, out)
		}
	}
}

func TestEvalAligned(t *testing.T) {
	dir := t.TempDir()
	pairs := [][2]string{{"Guten Morgen, liebe Kollegen.", "Good morning, dear colleagues."},
		{"Der Zug fährt um acht Uhr ab.", "The train leaves at eight o'clock."}, {"Wir haben kein Brot mehr.",
			"We have no more bread."}}
	var de, en strings.Builder
	for _, p := range pairs {
		fmt.Fprintln(&de, p[0])
		fmt.Fprintln(&en, p[1])
	}
	for name, text := range map[string]string{"toy.deu-eng.deu": de.String(), "toy.deu-eng.eng": en.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := must(t, "eval", "tatoeba", "xsim", "xsim++", "--dir", dir, "--format", "tsv")
	if !strings.HasPrefix(out, "protocol\tlanguage\taccuracy\t") || strings.Count(out, "protocol") != 1 ||
		!strings.Contains(out, "tatoeba\tdeu\t100\t100\t100\t0\t3") || !strings.Contains(out, "xsim\tdeu\t\t\t\t0\t3\t0") ||
		!strings.Contains(out, "xsim++\tdeu") {
		t.Error(out)
	}
	out = must(t, "eval", "retrieval", "--src", "de", "--src-text", filepath.Join(dir, "toy.deu-eng.deu"),
		"--tgt-text", filepath.Join(dir, "toy.deu-eng.eng"))
	if !strings.Contains(out, "100.00") {
		t.Error(out)
	}
	out = must(t, "eval", "tatoeba", "bitext-mteb", "--dir", dir, "--eval-text", "--format", "json")
	if strings.Count(out, "answers are compared by text (--eval-text)") != 1 || strings.Count(out, `"eval_text": true`) != 1 {
		t.Errorf("tatoeba alone compares by text:\n%s", out)
	}
	testSplits(t, dir)
	testMissedLines(t)
}

// TestEvalOfDownloadedSets: without --dir each protocol is evaluated on its own set of those in the cache.
func TestEvalOfDownloadedSets(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("MINE_CACHE", cache)
	for name, text := range map[string]string{
		"tatoeba/tatoeba.deu-eng.deu":                          "Guten Morgen.\n",
		"tatoeba/tatoeba.deu-eng.eng":                          "Good morning.\n",
		"flores200/flores200_dataset/devtest/deu_Latn.devtest": "Wir haben kein Brot mehr.\n",
		"flores200/flores200_dataset/devtest/eng_Latn.devtest": "We have no more bread.\n",
	} {
		path := filepath.Join(cache, "data", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, order := range []string{"tatoeba bitext-mteb xsim", "xsim tatoeba bitext-mteb"} {
		out := must(t, append([]string{"eval", "--format", "json"}, strings.Fields(order)...)...)
		for dir, protocols := range map[string]int{"tatoeba": 2, "flores200/flores200_dataset": 1} {
			if setting := fmt.Sprintf(`"directory": %q`, filepath.Join(cache, "data", dir)); strings.Count(out, setting) != protocols {
				t.Errorf("%s: %d protocols have not %s:\n%s", order, protocols, setting, out)
			}
		}
	}
}

// testMissedLines: --pairs lists the lines whose answer is wrong, by number; of all that are right it has the header.
func testMissedLines(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	into := writerInto(t, dir)
	into("toy.deu-eng.eng", "Good morning, dear colleagues.\nWe have no more bread.\nThe train leaves at eight.\n")
	for german, missed := range map[string]int{
		"Guten Morgen, liebe Kollegen.\nWir haben kein Brot mehr.\nDer Zug fährt um acht.\n": 0,
		"Guten Morgen, liebe Kollegen.\nDer Zug fährt um acht.\nWir haben kein Brot mehr.\n": 2,
	} {
		into("toy.deu-eng.deu", german)
		file := filepath.Join(dir, "missed.tsv")
		must(t, "eval", "tatoeba", "xsim", "--dir", dir, "--pairs", file)
		text, err := os.ReadFile(file)
		if err != nil || strings.Count(string(text), "\n") != 1+2*missed {
			t.Errorf("%d lines are missed: %s, %v", missed, text, err)
		}
		if row := "xsim\tdeu\tmissed\t\tDer Zug fährt um acht.\tWe have no more bread.\t2\t2\n"; missed > 0 && !strings.Contains(string(text), row) {
			t.Errorf("no %q in\n%s", row, text)
		}
	}
}

// testSplits: --split is refused where it chooses nothing, which a directory of a pair's files shows.
func testSplits(t *testing.T, dir string) {
	t.Helper()
	deu, eng := filepath.Join(dir, "toy.deu-eng.deu"), filepath.Join(dir, "toy.deu-eng.eng")
	for says, args := range map[string][]string{
		"--split dev is for sets that have parts": {"--dir", dir},
		"--split is for the sets in --dir":        {"--src", "de", "--src-text", deu, "--tgt-text", eng},
	} {
		_, err := command(t, append([]string{"eval", "tatoeba", "--split", "dev"}, args...)...)
		if !badinput.Is(err) || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: %v, want %q", args, err, says)
		}
	}
	flores := t.TempDir()
	for from, to := range map[string]string{deu: "deu_Latn.dev", eng: "eng_Latn.dev"} {
		if err := os.Link(from, filepath.Join(flores, to)); err != nil {
			t.Fatal(err)
		}
	}
	must(t, "eval", "tatoeba", "--split", "dev", "--dir", flores)
}

func TestEvaluationCommandsRefuse(t *testing.T) {
	dir := fixtureSet(t)
	t.Setenv("MINE_CACHE", t.TempDir())
	if err := os.WriteFile(filepath.Join(dir, "scored.tsv"), []byte("src_text\ttgt_text\tscore\nHallo\tHello\t1\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	inText := "Wer die Testversion nutzt, kann höchstens fünfzig Dokumente anlegen.\tWash the " +
		"mushrooms before frying them.\n"
	if err := os.WriteFile(filepath.Join(dir, "in-text.tsv"), []byte(inText), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"eval"},
		{"eval", "bleu"},
		{"eval", "bucc", "--src", "de", "--dir", dir},
		{"eval", "bucc-laser", "--dir", t.TempDir()}, // it has no set
		{"eval", "bucc-laser", "--src", "deutsch", "--dir", dir},
		{"eval", "bucc-laser", "--src", "fr", "--dir", dir},
		{"eval", "bucc-laser", "--src", "de", "--dir", dir, "--format", "xml"},
		{"eval", "bucc-laser", "--src", "de", "--dir", dir, "--dtype", "int8"},
		{"eval", "bucc-laser", "--src", "de", "--dir", dir, "--src-emb", "x.npy"},
		{"eval", "bucc-laser", "--src", "de", "--dir", dir, "--src-emb", "x.npy", "--tgt-emb", "y.npy"},
		{"eval", "bucc-laser", "--src", "de", "--dir", dir, "--protocol", "bucc-st"},
		{"eval", "bucc-mteb", "--src", "de", "--dir", dir, "--curve", filepath.Join(dir, "no-curve.tsv")},
		{"eval", "bucc-mteb", "--src", "de", "--dir", dir, "--pairs", filepath.Join(dir, "no-pairs.tsv")},
		{"eval", "bucc-laser", "--src", "de", "--dir", dir, "--threads", "-1"},
		{"eval", "xsim++", "--src", "de", "--tgt", "fr", "--src-text", filepath.Join(dir, "de-en.train.de"),
			"--tgt-text", filepath.Join(dir, "de-en.train.de")},
		{"eval", "tatoeba"},
		{"eval", "sts"},
		{"eval", "xsim++", "--dir", dir, "--negatives", "nowhere.json"},
		{"score", "--src", "de", "--tgt", "en"},
		{"score", "--src", "de", "--tgt", "en", "nowhere.tsv"},
		{"score", "--src", "de", "--tgt", "en", "x.parquet"},
		{"score", filepath.Join(dir, "scored.tsv")},
		{"score", "--src", "de", "--tgt", "en", filepath.Join(dir, "scored.tsv")},
		{"score", "--src", "de", "--tgt", "en", filepath.Join(dir, "scored.tsv"), "--prefix", "own_",
			"--src-column", "german"},
		{"score", "--src", "de", "--tgt", "en", filepath.Join(dir, "scored.tsv"), "--prefix", "own_",
			"--out", filepath.Join(dir, "x.parquet")},
		{"explain", "one"},
		{"explain", "x", "--bitext", "nowhere.parquet"},
		{"explain", "Das gibt es nicht.", "That is not there."},
		{"explain", "Das gibt es nicht.", "That is not there.", "--run", dir},
		{"explain", "0", "--bitext", "x.parquet", "--run", dir},
		{"explain", dir},
		{"explain", dir, "0", "0", "0"},
		// its known pairs are the text itself
		{"calibrate", "--src", "de", "--tgt", "en", "--out", filepath.Join(dir, "mined"),
			"--pairs", filepath.Join(dir, "in-text.tsv")},
		{"calibrate", "--src", "uk", "--tgt", "en", "--src-text", "../../fixtures/text/de.txt",
			"--tgt-text", "../../fixtures/text/en.txt", "--out", filepath.Join(dir, "mined")},
		{"calibrate", "--src", "de", "--tgt", "en", "--retrieval", "union"},
		{"calibrate", "--src", "de", "--tgt", "en", "--scorer", "default"},
		{"calibrate", "--src", "de", "--tgt", "en", "--threshold", "0.9"},
		{"calibrate", "--src", "de", "--tgt", "en", "--features"},
		{"calibrate", "--src", "de", "--tgt", "en", "--resamples", "0"},
		{"data", "get"},
		{"data", "get", "nosuch"},
		{"data", "get", "xsimplusplus"},
		{"data", "get", "flores200", "--mirror", "here"},
	} {
		if code := execute(t.Context(), args); code != exitPermanent {
			t.Errorf("mine %s: exit code %d, want %d", strings.Join(args, " "), code, exitPermanent)
		}
	}
}

// TestScoreAndExplainAgreeWithTheRun: a run's pairs, scored against the run's text, have the run's scores.
func TestScoreAndExplainAgreeWithTheRun(t *testing.T) {
	t.Chdir(t.TempDir())
	must(t, "run", "--src", "de", "--tgt", "en", "--out", "mined", "--dtype", "float32")
	for name, from := range map[string]string{"de.txt": "text/de.txt", "en.txt": "text/en.txt"} {
		data, err := fs.ReadFile(fixtures.Text, from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	must(t, "score", "--src", "de", "--tgt", "en", "mined/de-en.parquet", "--src-corpus", "de.txt",
		"--tgt-corpus", "en.txt", "--prefix", "own_", "--out", "scored.parquet")
	file, err := bitext.Open("scored.parquet")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var first bitext.Row
	for row, err := range file.Rows(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		first = row
		break
	}
	if file.Len() < 150 {
		t.Errorf("%d rows", file.Len())
	}
	out := must(t, "explain", "0", "--bitext", "mined/de-en.parquet")
	for _, part := range []string{first.Source.Text, first.Target.Text, fmt.Sprintf("margin %.6f", first.Score),
		fmt.Sprintf("cosine %.6f", first.Cosine), "<- proposed", "kept"} {
		if !strings.Contains(out, part) {
			t.Errorf("explain does not show %q:\n%s", part, out)
		}
	}
	for _, named := range [][]string{
		{first.Source.Text, first.Target.Text, "--run", "mined"}, {"mined", first.Source.Text, first.Target.Text}, {"mined", "0"},
		{"mined/de-en.parquet", "0"}, {"0", "--run", "mined"},
	} {
		if again := must(t, append([]string{"explain"}, named...)...); again != out {
			t.Errorf("mine explain %q says something else:\n%s", named, again)
		}
	}
	if err := os.Rename("mined/work", "elsewhere"); err != nil {
		t.Fatal(err)
	}
	if _, err := command(t, "explain", "mined", "0"); !badinput.Is(err) || !strings.Contains(err.Error(), "give mine run again") ||
		strings.Contains(err.Error(), "--work") {
		t.Errorf("a run without its work directory: %v", err)
	}
	scored, err := parquet.ReadFile[struct {
		Score float32  `parquet:"score"`
		Own   *float32 `parquet:"own_score,optional"`
	}]("scored.parquet")
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range scored {
		if row.Own == nil || math.Abs(float64(*row.Own-row.Score)) > 1e-6 {
			t.Fatalf("row %d: own_score %v, the run's score %v", i, row.Own, row.Score)
		}
	}
}

// TestScoreByRun: a run's pairs, scored by the run's own vectors and neighbours, have exactly its scores; what the run
// does not have is counted, left empty or refused.
func TestScoreByRun(t *testing.T) {
	t.Chdir(t.TempDir())
	must(t, "run", "--src", "de", "--tgt", "en", "--out", "mined")
	must(t, "score", "mined/de-en.parquet", "--run", "mined", "--prefix", "own_", "--out", "scored.parquet")
	scored, err := parquet.ReadFile[struct {
		Source string   `parquet:"src_text"`
		Target string   `parquet:"tgt_text"`
		Score  float32  `parquet:"score"`
		Own    *float32 `parquet:"own_score,optional"`
	}]("scored.parquet")
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range scored {
		if row.Own == nil || *row.Own != row.Score {
			t.Fatalf("row %d: own_score %v, the run's score %v", i, row.Own, row.Score)
		}
	}
	pairs := fmt.Sprintf("src_text\ttgt_text\n%s\t%s\nDas gibt es nicht.\t%s\n", scored[0].Source,
		scored[0].Target, scored[0].Target)
	for name, text := range map[string]string{"pairs.tsv": pairs,
		"none.tsv": "src_text\ttgt_text\nDas gibt es nicht.\tThat is not there.\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lines := strings.Split(must(t, "score", "pairs.tsv", "--run", "mined/de-en.parquet"), "\n")
	if !strings.HasSuffix(lines[0], "\tscore\tcosine\tsrc_mean\ttgt_mean\tsrc_rank\ttgt_rank") ||
		!strings.Contains(lines[1], fmt.Sprintf("\t%v\t", scored[0].Score)) ||
		!strings.HasSuffix(lines[2], scored[0].Target+"\t\t\t\t\t\t") {
		t.Errorf("%q", lines)
	}
	for want, args := range map[string][]string{
		"holds none of the 1 pairs": {"none.tsv", "--run", "mined"},
		"--k says nothing of a run": {"pairs.tsv", "--run", "mined", "--k", "2"},
		"de-en, not of fr-en":       {"pairs.tsv", "--run", "mined", "--src", "fr"},
		"neither a run's output":    {"pairs.tsv", "--run", "nowhere"},
	} {
		if _, err := command(t, append([]string{"score"}, args...)...); !badinput.Is(err) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("mine score %s: %v, want bad input with %q", strings.Join(args, " "), err, want)
		}
	}
}

// TestDataGet downloads the catalogue's smallest kind of set from a server here; a server that has something else is
// refused.
func TestDataGet(t *testing.T) {
	t.Setenv("MINE_CACHE", t.TempDir())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
		r *http.Request) {
		fmt.Fprintf(w, "content of %s\n", r.URL.Path)
	}))
	defer server.Close()
	out := must(t, "data", "get", "xsimplusplus", "--mirror", server.URL, "--trust-first")
	if !strings.Contains(out, "licence") || !strings.Contains(out, "2 files") {
		t.Error(out)
	}
	for file, says := range map[string]string{
		"nosuch":                   "none of the sets has a file of that name",
		"flores200_dataset.tar.gz": "the file is pinned",
	} {
		if _, err := command(t, "data", "get", "xsimplusplus", "flores200", "--mirror", server.URL, "--trust-first", "--sha256", file+"="+strings.Repeat("0a", 32)); !badinput.Is(err) ||
			!strings.Contains(err.Error(), "--sha256 "+file+": "+says) {
			t.Errorf("a digest of %s: %v", file, err)
		}
	}
	if code := execute(t.Context(), []string{"data", "get", "flores200", "--mirror", server.URL}); code == exitDone {
		t.Error("another content than the pinned one is accepted")
	}
	if out := must(t, "data", "list"); !strings.Contains(out, "flores200") || !strings.Contains(out, "not pinned") {
		t.Error(out)
	}
}
