package pipeline

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"bitextmine/pipeline/record"
)

// TestBUCCNights: on real text, ten nights in two orders, on one thread and on two, and one run give the same bytes.
// MINE_TEST_LINES says how many lines of each side are read; 0: all of them.
func TestBUCCNights(t *testing.T) {
	archive := filepath.Join("..", "..", "shared", "data", "bucc_style.tar.xz")
	if _, err := os.Stat(archive); err != nil {
		t.Skipf("no %s: this test needs the shared test sets beside the repository", archive)
	}
	if testing.Short() {
		t.Skip("21 runs of thousands of sentences take half a minute; not in -short")
	}
	const n = 10
	limit := 5000
	if text := os.Getenv("MINE_TEST_LINES"); text != "" {
		var err error
		if limit, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	if out, err := exec.Command("tar", "-xJf", archive, "-C", dir).CombinedOutput(); err != nil {
		t.Fatalf("unpack %s: %v: %s", archive, err, out)
	}
	var files [2][][]byte
	for side, language := range []string{"de", "en"} {
		found, err := filepath.Glob(filepath.Join(dir, "*", "de-en", "de-en.train."+language))
		if err != nil || len(found) != 1 {
			t.Fatalf("found %v of language %s, error %v", found, language, err)
		}
		data, err := os.ReadFile(found[0])
		if err != nil {
			t.Fatal(err)
		}
		lines := bytes.SplitAfter(data, []byte("\n"))
		if limit > 0 {
			lines = lines[:limit]
		}
		for i := range n {
			part := slices.Clone(lines[i*len(lines)/n : (i+1)*len(lines)/n])
			for j := range 50 { // sentences that other nights have, too
				part = append(part, lines[(i*977+j*131)%(len(lines)-1)])
			}
			files[side] = append(files[side], bytes.Join(part, nil))
		}
	}
	x := newText(t)
	put := func(i int) { x.putNight(files, i) }
	run := func(out string, threads int) *record.Report {
		cfg := x.config(out)
		cfg.Threads, cfg.KeepBelow = threads, false
		return mustRun(t, cfg)
	}
	for i := range n {
		put(i)
	}
	full := run(filepath.Join(t.TempDir(), "full"), 2)
	t.Logf("%+v", full.Counts)
	for threads, order := range [][]int{rand.New(rand.NewPCG(1, 1)).Perm(n), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}} {
		for i := range n {
			x.remove(0, nightText(i))
			x.remove(1, nightText(i))
		}
		out := filepath.Join(t.TempDir(), "nightly")
		var last *record.Report
		for _, i := range order {
			put(i)
			last = run(out, threads+1)
		}
		if last.Bitext.SHA256 != full.Bitext.SHA256 {
			t.Errorf("ten nights in the order %v and one run differ", order)
		}
	}
}
