package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bitextmine/encode/encodetest"
	"bitextmine/fixtures"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/record"
)

func TestMain(m *testing.M) { encodetest.Main(m) }

func TestRefusedCallsExitWithTwo(t *testing.T) {
	preset := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(preset, []byte("thresold: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"walk"},
		{"run", "--bogus"},
		{"run", "--k", "four"},
		{"run", "--src", "de", "--tgt", "en", "--threshold", "nan"},
		{"run", "--src", "de", "--tgt", "en", "--threshold", "-inf"},
		{"run", "--src", "de", "--tgt", "en", "--out", "s3://bucket/mined"},
		{"run", "--src", "de", "--tgt", "en", "--precision", "nan"},
		{"calibrate", "--src", "de", "--tgt", "en", "--for-precision", "nan"},
		{"run", "stray"},
		{"run"},
		{"run", "--config", "nowhere"},
		{"run", "--config", preset, "--src", "de", "--tgt", "en"},
		{"run", "--src", "de", "--tgt", "en", "--gold", "nowhere"},
		{"config", "stray"},
		{"config", "--src", "de", "--tgt", "en", "--threads", "4097"},
		{"encode", preset, "--lang", "de", "--out", preset + ".npy", "--threads", "4097"},
		{"train"},
		{"train", "--config", "nowhere.yaml", "--out", "trained"},
		{"round", "--train", "nowhere.yaml"},
	} {
		if code := execute(t.Context(), args); code != exitPermanent {
			t.Errorf("mine %s: exit code %d, want %d", strings.Join(args, " "), code, exitPermanent)
		}
	}
}

// TestWithoutTakesNames: commas stand between the names of rules, as between those of features and columns.
func TestWithoutTakesNames(t *testing.T) {
	pairs := writerInto(t, t.TempDir())("pairs.tsv", "src_text\ttgt_text\nEins.\tOne.\n")
	_, err := command(t, "filter", pairs, "--src", "de", "--tgt", "en", "--without", "one,two", "--out", pairs+".parquet")
	if !badinput.Is(err) || !strings.Contains(err.Error(), `no rule "one"`) {
		t.Errorf("error %v", err)
	}
}

// TestRefusedBeforeAnyWork: what a run could not search or encode with is told before it makes its output directory.
func TestRefusedBeforeAnyWork(t *testing.T) {
	noLibrary := filepath.Join(t.TempDir(), "libonnxruntime.so")
	if err := os.WriteFile(noLibrary, []byte("no library"), 0o600); err != nil {
		t.Fatal(err)
	}
	wrongOption := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(wrongOption, []byte("slurm_options: {encode: [gpu]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	wrongStage := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(wrongStage, []byte("slurm_options: {all: [--partition=main], encoding: [--gres=gpu:1]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	pods := filepath.Join(t.TempDir(), "pods.yaml")
	if err := os.WriteFile(pods, []byte("kubernetes_image: mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", t.TempDir())
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"no such backend":         {[]string{"--search", "annoy"}, "annoy"},
		"no such index":           {[]string{"--search", "faiss:Blah"}, "Blah"},
		"codes that do not fit":   {[]string{"--search", "faiss:IVF8,PQ7np"}, "512 dimensions"},
		"a GPU that is not there": {[]string{"--search", "faiss-gpu:Flat"}, "GPU"},
		"no driver":               {[]string{"--search", "cuda"}, "the NVIDIA driver is not installed here"},
		"nprobe of exact":         {[]string{"--nprobe", "4"}, "nprobe"},
		"nprobe of a graph":       {[]string{"--search", "faiss:HNSW8,Flat", "--nprobe", "4"}, "nprobe"},
		"negative ef_search":      {[]string{"--search", "faiss:HNSW8,Flat", "--ef-search", "-4"}, "ef_search"},
		"no such library":         {[]string{"--onnxruntime", "nowhere.so"}, "nowhere.so"},
		"no library":              {[]string{"--onnxruntime", noLibrary}, noLibrary},
		"no such engine":          {[]string{"--engine", "pbs"}, "pbs"},
		"no SLURM":                {[]string{"--engine", "slurm"}, "sbatch is not installed"},
		"no option of sbatch":     {[]string{"--engine", "slurm", "--config", wrongOption}, "no option of sbatch"},
		"no stage of options":     {[]string{"--config", wrongStage}, `no stage is called "encoding"; is "encode" meant?`},
		"no image":                {[]string{"--engine", "kubernetes"}, "names no image"},
		"no image of a workflow":  {[]string{"--engine", "argo"}, "names no image"},
		"nothing that pods see":   {[]string{"--engine", "kubernetes", "--config", pods}, "name a claim with it in kubernetes_claim"},
		"a launcher for nobody":   {[]string{"--command", "srun {}"}, "of --engine command only"},
		"nights without nights":   {[]string{"--metrics", "mine.prom"}, "of --nightly only"},
		"no night to keep":        {[]string{"--keep", "3"}, "of --nightly only"},
		"bead score of no bead":   {[]string{"--bead-score", "0.5"}, "of --documents on only"},
		"doc score of no pages":   {[]string{"--doc-score", "0.5", "--documents", "off"}, "of --documents on only"},
		"no splitter":             {[]string{"--splitter-threshold", "0.5"}, "of --splitter only"},
		"dtype of no vectors":     {[]string{"--emb-dtype", "float16"}, "of --emb-dim only"},
		"doubt of no encoder":     {[]string{"--refine-doubt", "0.1"}, "of --refine only"},
		"doubt of no judge":       {[]string{"--judge-doubt", "0.1"}, "of --judge only"},
		"nothing to fit again":    {[]string{"--refit", "--scorer", "none", "--threshold", "1.1"}, "of --scorer auto only"},
		"default scorer again":    {[]string{"--refit", "--scorer", "default"}, "of --scorer auto only"},
		"cut without a scorer":    {[]string{"--cut", "f2", "--scorer", "none"}, "need a scorer"},
		"no launcher":             {[]string{"--engine", "command", "--command", "srun"}, "give a command line"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, command := range []string{"run", "plan"} {
				out := filepath.Join(t.TempDir(), "mined")
				root := newRoot()
				root.SetArgs(append([]string{command, "--src", "de", "--tgt", "en", "--out", out}, c.args...))
				err := root.ExecuteContext(t.Context())
				if !badinput.Is(err) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
					t.Errorf("mine %s: error %v; want one badinput sentence that says %q", command, err, c.says)
				}
				if _, err := os.Stat(out); err == nil {
					t.Errorf("mine %s has made the output directory", command)
				}
			}
		})
	}
}

// TestManyPairsAreRefusedBeforeAnyWork: an engine's settings are those of all pairs.
func TestManyPairsAreRefusedBeforeAnyWork(t *testing.T) {
	out := filepath.Join(t.TempDir(), "mined")
	_, err := command(t, "run", "--nightly", "--langs", "de,en,fr", "--engine", "kubernetes", "--out", out)
	if !badinput.Is(err) || strings.Count(err.Error(), "names no image") != 1 {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("mine run has made the output directory")
	}
}

// TestTooFewSentences: lists of k neighbours need k sentences on either side.
func TestTooFewSentences(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"three": "Ein Satz.\nNoch einer.\nDer dritte.\n",
		"again": "Der dritte.\nEin Satz.\n", "none": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		files []string
		want  int
	}{
		"three lines":           {[]string{"three"}, exitPermanent},
		"three, and some again": {[]string{"three", "again"}, exitPermanent},
		"three, and lower k":    {[]string{"three", "--k", "3", "--scorer=none"}, exitDone},
		"no line":               {[]string{"none"}, exitPermanent},
	} {
		t.Run(name, func(t *testing.T) {
			args := []string{"run", "--src", "de", "--tgt", "en", "--tgt-text", "fixtures:text/en.txt",
				"--out", filepath.Join(t.TempDir(), "mined")}
			for _, f := range c.files {
				if strings.HasPrefix(f, "--") || f == "3" {
					args = append(args, f)
					continue
				}
				args = append(args, "--src-text", filepath.Join(dir, f))
			}
			if code := execute(t.Context(), args); code != c.want {
				t.Errorf("exit code %d, want %d", code, c.want)
			}
		})
	}
}

// TestRunOnFixtures runs the first command of the README in another output directory.
func TestRunOnFixtures(t *testing.T) {
	t.Chdir(t.TempDir())
	root, out := newRoot(), &bytes.Buffer{}
	root.SetOut(out)
	known, err := fixtures.Text.ReadFile("text/de-en.gold")
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(known); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(z.Close(), os.WriteFile("gold.gz", packed.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	root.SetArgs([]string{"run", "--src", "de", "--tgt", "en", "--gold", "gold.gz", "--out", "mined"})
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"de sentences", "pairs kept of", "encode", "peak memory", "mined/de-en.parquet",
		"mined/run.json", "precision"} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("the summary does not show %q:\n%s", part, out)
		}
	}
	data, err := os.ReadFile("mined/run.json")
	if err != nil {
		t.Fatal(err)
	}
	var report record.Report
	if err := json.Unmarshal(data, &report); err != nil {
		t.Fatal(err)
	}
	if report.Counts.Kept < 150 || len(report.Samples) != 5 || report.Counts.SourceIn < 600 {
		t.Errorf("counts %+v, %d samples", report.Counts, len(report.Samples))
	}
	g := report.Gold
	if g == nil || g.SHA256 != fmt.Sprintf("%x", sha256.Sum256(packed.Bytes())) || g.Kept != report.Counts.Kept || g.F1 < 0.8 ||
		g.F1 > 1 || math.Abs(g.F1-2*g.Precision*g.Recall/(g.Precision+g.Recall)) > 1e-9 || !strings.Contains(out.String(), g.String()) {
		t.Errorf("run.json says of gold %+v, and the summary is:\n%s", g, out)
	}
}

// TestHelp: every command and flag says what it is for, and no help text's backticks are taken for the name of a flag's
// value.
func TestHelp(t *testing.T) {
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Short == "" {
			t.Errorf("%s has no short help", cmd.CommandPath())
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if value, usage := pflag.UnquoteUsage(f); strings.ContainsAny(value, " `") || usage == "" {
				t.Errorf("%s --%s: the value is called %q, the help is %q", cmd.CommandPath(), f.Name, value, usage)
			}
		})
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk(newRoot())
}

// TestForeignTextIsPrintedByOneWriter: every command writes to the root's writers, which keep escape sequences of
// foreign text from a terminal, and no other file prints to the standard streams.
func TestForeignTextIsPrintedByOneWriter(t *testing.T) {
	root := newRoot()
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		if c.OutOrStdout() != root.OutOrStdout() || c.ErrOrStderr() != root.ErrOrStderr() {
			t.Errorf("%s has a writer of its own", c.CommandPath())
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(root)
	direct := regexp.MustCompile(`Fprint\w*\(os\.Std|os\.Stdout|\bfmt\.Print`)
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || path == "root.go" {
			return err
		}
		text, err := os.ReadFile(path)
		if found := direct.Find(text); found != nil {
			t.Errorf("%s has %s: print to the command's writer, or to program.Output", path, found)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
