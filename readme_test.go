package bitextmine

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what the program prints into docs/tutorial.md and docs/crawl.md, and the figures of bench/results/figures.tsv into all pages")

const (
	tutorial = "docs/tutorial.md"
	crawl    = "docs/crawl.md"
)

// TestREADMECommands runs the commands of the sh blocks of README.md, and then of both tutorials, as they stand there,
// one after another, in a fresh checkout. The text block after an sh block is what its commands print.
func TestREADMECommands(t *testing.T) {
	if testing.Short() {
		t.Skip("the program is built and run; not in -short")
	}
	clone := checkout(t)
	for _, page := range []string{"README.md", tutorial, crawl} {
		lines := readLines(t, page)
		var printed []string
		ran := 0
		for _, b := range codeBlocks(lines) {
			switch b.language {
			case "sh":
				printed = nil
				for _, command := range lines[b.first:b.end] {
					if command != "" && !strings.HasPrefix(command, "make test") { // it runs this test
						printed = append(printed, runIn(t, clone, command)...)
						ran++
					}
				}
			case "text":
				compareShown(t, page, lines, b, printed)
			}
		}
		if ran < 5 {
			t.Errorf("%s has only %d commands", page, ran)
		}
		if *update && page != "README.md" {
			writeLines(t, page, lines)
		}
	}
	for _, path := range []string{"mined/de-en.parquet", "mined-text/de-en.parquet", "trained/model/model.onnx", "mined-again/de-en.parquet",
		"crawl/labels.jsonl", "dataset/README.md", "strict.de", "strict.tmx", "own/model/model.onnx", "crawl-again/de-en.parquet",
		"site/de-en.parquet", "site-html/de-en.parquet", "pairs.tsv", "documents.jsonl", "rest.en.txt"} {
		if _, err := os.Stat(filepath.Join(clone, path)); err != nil {
			t.Errorf("after the commands: %v", err)
		}
	}
	if !*update {
		checkDecisions(t, clone)
	}
}

// runIn returns the lines that a command prints on standard output.
func runIn(t *testing.T, dir, command string) []string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.Command("bash", "-c", command)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s%s", command, err, &stdout, &stderr)
	}
	var lines []string
	for line := range strings.Lines(stdout.String()) {
		lines = append(lines, strings.TrimRight(line, " \r\n"))
	}
	return lines
}

// codeBlock is a fenced block of a page: the lines first to end, without the fences.
type codeBlock struct {
	language   string
	first, end int
}

func codeBlocks(lines []string) (blocks []codeBlock) {
	inside := false
	for i, line := range lines {
		switch {
		case inside && line == "```":
			blocks[len(blocks)-1].end, inside = i, false
		case !inside && strings.HasPrefix(line, "```"):
			blocks, inside = append(blocks, codeBlock{language: line[3:], first: i + 1}), true
		}
	}
	return blocks
}

// compareShown compares a text block with what the commands before it print. The block's lines stand in the output in
// their order; output between them may be missing, which "..." says to readers. With -update a line that the program no
// longer prints is replaced by the next printed line that differs from it in numbers alone.
func compareShown(t *testing.T, page string, lines []string, b codeBlock, printed []string) {
	t.Helper()
	from := 0
	for i, shown := range lines[b.first:b.end] {
		if shown == "..." || shown == "" {
			continue
		}
		rest := printed[from:]
		at := slices.Index(rest, shown)
		if at < 0 && *update {
			at = slices.IndexFunc(rest, func(line string) bool { return withoutNumbers(line) == withoutNumbers(shown) })
		}
		if at < 0 {
			t.Errorf("%s:%d shows the line\n%s\nwhich the commands above it do not print there. What they print after the lines shown before it:\n%s\n"+
				"`go test -run README . -update` writes lines whose numbers alone changed; other lines are to be replaced by hand, and so is prose about them",
				page, b.first+i+1, shown, strings.Join(rest, "\n"))
			continue
		}
		lines[b.first+i] = rest[at]
		from += at + 1
	}
}

var digits = regexp.MustCompile(`[ -]*[0-9][0-9.,]*`)

func withoutNumbers(line string) string { return digits.ReplaceAllString(line, "0") }

// checkDecisions checks that the tutorial rejects only pairs that are no translations, and accepts only translations.
func checkDecisions(t *testing.T, clone string) {
	t.Helper()
	ids := map[string]string{} // a sentence's id, by its key: the first 128 bits of its text's digest
	for _, file := range []string{"fixtures/text/de.txt", "fixtures/text/en.txt"} {
		for _, line := range readLines(t, file) {
			id, text, _ := strings.Cut(line, "\t")
			sum := sha256.Sum256([]byte(text))
			ids[hex.EncodeToString(sum[:16])] = id
		}
	}
	gold := readLines(t, "fixtures/text/de-en.gold")
	decided, wrong := map[bool]int{}, 0
	for _, line := range readLines(t, filepath.Join(clone, "crawl/labels.jsonl")) {
		var label struct {
			Src      string `json:"src_key"`
			Tgt      string `json:"tgt_key"`
			Accepted bool
		}
		if err := json.Unmarshal([]byte(line), &label); err != nil {
			t.Fatal(err)
		}
		decided[label.Accepted]++
		if slices.Contains(gold, ids[label.Src]+"\t"+ids[label.Tgt]) != label.Accepted {
			wrong++
		}
	}
	if wrong > 0 || decided[true] < 5 || decided[false] == 0 {
		t.Errorf("%s accepts %d pairs and rejects %d, and %d of these decisions contradict fixtures/text/de-en.gold; of the first rows of a first run these are translations: %v",
			tutorial, decided[true], decided[false], wrong, translations(t, clone, gold))
	}
}

// translations lists those of the first 60 rows of the tutorial's first run that gold has.
func translations(t *testing.T, clone string, gold []string) (rows []int) {
	t.Helper()
	runIn(t, clone, "bin/mine run --src de --tgt en --src-text fixtures/text/de.txt --tgt-text fixtures/text/en.txt --out first")
	runIn(t, clone, "bin/mine export first --columns src_doc,tgt_doc --out first.tsv")
	for row, line := range readLines(t, filepath.Join(clone, "first.tsv"))[1:61] {
		cells := strings.Split(line, "\t")
		if slices.Contains(gold, strings.Join(cells[len(cells)-2:], "\t")) {
			rows = append(rows, row)
		}
	}
	return rows
}

// checkout copies the repository's files, as they are in the working tree, into a directory of the test.
func checkout(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	args := append([]string{"--no-dereference", "--parents", "--target-directory", dir}, tracked(t)...)
	if out, err := exec.Command("cp", args...).CombinedOutput(); err != nil {
		t.Fatalf("copy the repository: %v: %s", err, out)
	}
	return dir
}

func writeLines(t *testing.T, path string, lines []string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}
