package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bitextmine/cmd/mine/flags"
	"bitextmine/internal/badinput"
)

// TestOutputsAreChecked: every flag that names a file to write is refused before the work if it cannot be written, but
// for those of commands that look at their files themselves.
func TestOutputsAreChecked(t *testing.T) {
	writes := regexp.MustCompile(`\bto write\b|^(also )?write .*(this|into)`)
	own := []string{"mine export --out", "mine align-docs --out", "mine sort --out"}
	missing := filepath.Join(t.TempDir(), "missing", "x")
	checked := 0
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			name, kind := cmd.CommandPath()+" --"+f.Name, flags.OutputOf(f)
			if kind == "" {
				if f.Value.Type() == "string" && writes.MatchString(f.Usage) && !slices.Contains(own, name) {
					t.Errorf("%s (%s) is not marked as an output", name, f.Usage)
				}
				return
			}
			before := f.Value.String()
			bad := missing
			if kind == flags.Folder || kind == flags.Filled {
				bad = filepath.Join(os.DevNull, "x")
			}
			if err := f.Value.Set(bad); err != nil {
				t.Fatal(err)
			}
			if err := flags.CheckOutputs(cmd, nil); !badinput.Is(err) || !strings.Contains(err.Error(), "--"+f.Name) {
				t.Errorf("%s %s: error %v", name, bad, err)
			}
			if err := f.Value.Set(before); err != nil {
				t.Fatal(err)
			}
			checked++
		})
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk(newRoot())
	if checked < 17 {
		t.Errorf("only %d flags were looked at", checked)
	}
	if _, err := command(t, "eval", "bucc-cosine", "--dir", "none", "--curve", missing); err == nil || !strings.Contains(err.Error(), "--curve") {
		t.Errorf("the curve is refused after the sets: %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, flag := range []string{"--out", "--teacher-cache"} {
		if _, err := command(t, "distill", "--teacher", "none", flag, file); !badinput.Is(err) || !strings.HasPrefix(err.Error(), flag) {
			t.Errorf("distill %s: a file is refused after the teacher: %v", flag, err)
		}
	}
}

// TestStreams: what a command writes to a stream, such as standard output, has nothing else in it.
func TestStreams(t *testing.T) {
	t.Chdir(t.TempDir())
	must(t, "run", "--src", "de", "--tgt", "en", "--out", "mined")
	must(t, "export", "mined", "--format", "tsv", "--compress", "gz", "--out", "file.tsv")
	want, err := os.ReadFile("file.tsv.gz")
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create("stream")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if said := must(t, "export", "mined", "--format", "tsv", "--compress", "gz", "--out", fmt.Sprintf("/dev/fd/%d", f.Fd())); said != "" {
		t.Errorf("it said %q where a stream may be", said)
	}
	if got, err := os.ReadFile("stream"); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the stream has %d bytes, a file %d (%v)", len(got), len(want), err)
	}
	if _, err := command(t, "export", "mined", "--compress", "zst", "--out", "twice.tsv.gz"); err == nil || !strings.Contains(err.Error(), "ends in .gz") {
		t.Errorf("a file of two compressions: %v", err)
	}
}

// TestCompressedOutputs: text is compressed as the ending of its name says, in the format that the rest of the name
// says; what is no text is refused under such a name.
func TestCompressedOutputs(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write := writerInto(t, dir)
	write("a.de", "Ein Satz.\nNoch ein Satz.\n")
	write("a.en", "A sentence.\nOne more sentence.\n")
	write("de.jsonl", `{"text":"Ein Satz.","doc":"a","url":""}`+"\n")
	write("en.jsonl", `{"text":"A sentence.","doc":"b","url":""}`+"\n")
	must(t, "run", "--src", "de", "--tgt", "en", "--out", "mined")
	for name, call := range map[string]string{
		"split.jsonl": "split --lang de a.de --out",
		"rest.jsonl":  "rest mined --side src --out",
		"docs.tsv":    "docs de.jsonl en.jsonl --src de --tgt en --out",
		"beads.jsonl": "align-docs a.de a.en --src de --tgt en --out",
		"score.tsv":   "score --src de --tgt en --src-text a.de --tgt-text a.en --out",
		"links":       "align --src de --tgt en --src-text a.de --tgt-text a.en --out",
		"domains.tsv": "export mined --out exported.tsv --domains",
	} {
		must(t, append(strings.Fields(call), name)...)
		must(t, append(strings.Fields(call), name+".gz")...)
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(name + ".gz")
		if err != nil {
			t.Fatal(err)
		}
		var got []byte
		plain, err := gzip.NewReader(f)
		if err == nil {
			got, err = io.ReadAll(plain)
		}
		if err = errors.Join(err, f.Close()); err != nil || !bytes.Equal(got, want) {
			t.Errorf("mine %s %s.gz writes %q (%v), without compression %q", call, name, got, err, want)
		}
		if _, err := command(t, append(strings.Fields(call), name+".xz")...); !badinput.Is(err) || !strings.Contains(err.Error(), ".xz is not written") {
			t.Errorf("mine %s %s.xz: error %v", call, name, err)
		}
	}
	for _, call := range []string{"filter mined --out f.parquet.gz", "align-docs a.de a.en --src de --tgt en --out x.parquet.gz", "report mined -o r.html.gz"} {
		if _, err := command(t, strings.Fields(call)...); !badinput.Is(err) || !strings.Contains(err.Error(), "is not compressed") {
			t.Errorf("mine %s: error %v", call, err)
		}
	}
}

// TestOutputsOfTheirOwn: no command writes over a run's own files, nor two outputs into one file.
func TestOutputsOfTheirOwn(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	writerInto(t, dir)("pairs.tsv", "Ein Satz.\tA sentence.\n")
	must(t, "run", "--src", "de", "--tgt", "en", "--out", "mined")
	must(t, "reject", "mined", "--row", "0")
	before, err := os.ReadFile("mined/labels.jsonl")
	if err = errors.Join(err, os.Symlink("mined/labels.jsonl", "linked.jsonl")); err != nil {
		t.Fatal(err)
	}
	for call, says := range map[string]string{
		"report mined -o mined/run.json":                           "a file of the run",
		"report mined -o mined/labels.jsonl":                       "a file of the run",
		"export mined --out mined/labels.jsonl":                    "a file of the run",
		"align mined/de-en.parquet --out mined/run.json":           "a file of the run",
		"export pairs.tsv --out linked.jsonl":                      "a file of the run",
		"filter pairs.tsv --out mined/de-en.parquet":               "a file of the run",
		"export pairs.tsv --out mined/run.lock --format jsonl":     "a file of the run",
		"export mined --out d.tsv --domains d.tsv":                 "name the same file",
		"align-docs a b --src de --tgt en --out mined/run.json":    "a file of the run",
		"align-docs a b --src de --tgt en --out x --crossings ./x": "name the same file",
		"align pairs.tsv --out x --tokens-out ./x":                 "name the same file",
		"eval bucc-laser --pairs x --curve " + dir + "/x":          "name the same file",
		"align --src-text a --tgt-text b pairs.tsv":                "or one file alone",
		"align --src-text a b --tgt-text b --out y.links":          "or one file alone",
	} {
		if _, err := command(t, strings.Fields(call)...); !badinput.Is(err) || !strings.Contains(err.Error(), says) {
			t.Errorf("mine %s: error %v", call, err)
		}
	}
	if after, err := os.ReadFile("mined/labels.jsonl"); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the labels are %q, %v", after, err)
	}
}

// TestOutputIsNoInput: no command writes over a file that it reads.
func TestOutputIsNoInput(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write := writerInto(t, dir)
	text := write("a.de", "Ein Satz.\nNoch ein Satz.\n")
	write("a.en", "A sentence.\nOne more sentence.\n")
	write("other.jsonl", `{"text":"Ein Satz."}`+"\n")
	write("pairs.tsv", "Ein Satz.\tA sentence.\n")
	write("files.tsv", "a.de\ta.en\n")
	write("de.npy", "")
	write("de.json", `["Ein Satz."]`)
	write("notes.json", `{"read": "me"}`)
	if err := os.Symlink(fixtureSet(t), "set"); err != nil {
		t.Fatal(err)
	}
	must(t, "run", "--src", "de", "--tgt", "en", "--out", "mined")
	languages := []string{"--src", "de", "--tgt", "en"}
	for _, call := range []string{
		"encode --lang de a.de --raw --out a.de",
		"encode --lang de a.* --raw --out a.en",
		"encode --lang de de.json --out de.npy",
		"encode --lang de ./*.json --out notes.npy",
		"split --lang de " + text + " --out a.de",
		"sort other.jsonl --langs de --out .",
		"docs a.de a.en --out a.en",
		"align-docs a.de a.en --out a.en",
		"align-docs a.de a.en --format moses --out a",
		"align-docs --pairs files.tsv --out a.de",
		"align-docs a.de a.en --out x.tsv --crossings a.en",
		"align-docs --pairs files.tsv --out x.tsv --crossings a.en",
		"score --src-text a.de --tgt-text a.en --out a.de",
		"align pairs.tsv --out pairs.tsv",
		"align pairs.tsv --tokens-out pairs.tsv",
		"run --src de --tgt en --src-text mined/*.parquet --tgt-text mined/*.parquet --src-text-column src_text " +
			"--tgt-text-column tgt_text --out mined --overwrite",
		"filter mined --out mined/de-en.parquet",
		"export mined --out mined/de-en.parquet",
		"export a.de a.en --src de --tgt en --format moses --out a",
		"report mined --output mined/de-en.parquet",
		"rest mined --side src --out mined/de-en.parquet",
		"fit-scorer --pairs pairs.tsv --save-examples pairs.tsv",
		"calibrate --pairs pairs.tsv --curve pairs.tsv",
		"eval bucc-mteb bucc-laser --dir set --src de --pairs set/de-en.train.gold",
		"eval bucc-laser --dir set --curve set/de-en.train.de",
		"eval bucc-laser --dir set --src-emb {src}.npy --tgt-emb {src}.npy --curve de.npy",
	} {
		args := strings.Fields(call)
		for _, both := range []string{"docs", "align-docs", "score", "align", "fit-scorer", "calibrate"} {
			if args[0] == both {
				args = append(args, languages...)
			}
		}
		if _, err := command(t, args...); !badinput.Is(err) || !strings.Contains(err.Error(), "is the file that is read") && !strings.Contains(err.Error(), "is a file of the run") {
			t.Errorf("mine %s: error %v", call, err)
		}
	}
	if target, err := os.ReadFile("a.en"); err != nil || string(target) != "A sentence.\nOne more sentence.\n" {
		t.Errorf("a.en is %q, %v", target, err)
	}
}
