package evaluation

import (
	"os"
	"path/filepath"
	"testing"

	"bitextmine/cmd/mine/flags"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline"
)

// TestScoreKeepsTheFormat: the name of the output says the format of the input, in any of its endings.
func TestScoreKeepsTheFormat(t *testing.T) {
	for _, c := range []struct {
		in, out string
		refused bool
	}{
		{"p.tsv", "", false}, {"p.tsv", "scored.tsv", false}, {"p.tsv", "scored.txt", false}, {"p.tsv.gz", "scored.tsv.zst", false},
		{"p.tsv", "scored.xliff", true}, {"p.tsv", "scored.xlf", true}, {"p.tsv", "scored.po", true}, {"p.tsv", "scored.csv", true},
		{"p.tsv", "scored.jsonl.gz", true}, {"p.tsv", "scored.parquet", true},
		{"p.ndjson", "scored.ndjson", false}, {"p.ndjson", "scored.jsonl", false}, {"p.jsonl", "scored.ndjson.gz", false}, {"p.jsonl", "scored.tsv", true},
		{"p.xlf", "scored.xliff", false}, {"p.xliff", "scored.tmx", true}, {"p.po", "scored.po", false}, {"p.tmx", "scored.tmx", false},
		{"p.parquet", "scored.parquet", false}, {"p.parquet", "scored.tsv", true},
		{"", "scored.tsv", false}, {"", "scored.parquet", true},
	} {
		err := scoreOptions{out: c.out}.checkOut(c.in)
		if badinput.Is(err) != c.refused || err != nil != c.refused {
			t.Errorf("%s to %q: error %v, want refused %v", c.in, c.out, err, c.refused)
		}
	}
}

// TestManyAreSearchedWithLists: the time of mine score does not grow with the square of the pairs, unless somebody asks
// for an exact search.
func TestManyAreSearchedWithLists(t *testing.T) {
	for _, c := range []struct {
		texts        int
		origin, want string
	}{
		{many, flags.ByDefault, "exact"},
		{many + 1, flags.ByDefault, "ivf:512"},
		{1_000_000, flags.ByDefault, "ivf:1024"},
		{1_000_000, "flag --search", "exact"},
	} {
		o := scoreOptions{engine: engine{cfg: &pipeline.Config{}, search: c.origin}}
		o.cfg.Search = "exact"
		if listed := o.searchMany(c.texts); o.cfg.Search != c.want || listed != (c.want != "exact") {
			t.Errorf("%d texts, search from %q: %s, want %s", c.texts, c.origin, o.cfg.Search, c.want)
		}
	}
}

// TestScoreLeavesDevicesAlone: vectors are not written beside a stream, where only root may write, and little fits.
func TestScoreLeavesDevicesAlone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "scored.tsv")
	for out, want := range map[string]string{"": os.TempDir(), "/dev/stdout": os.TempDir(), file: filepath.Dir(file)} {
		if got := (&scoreOptions{out: out}).folder(); got != want {
			t.Errorf("--out %q: the vectors are in %s, want %s", out, got, want)
		}
	}
}
