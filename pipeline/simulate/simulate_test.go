package simulate

import (
	"math"
	"strings"
	"testing"

	"bitextmine/corpus"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/setting"
	"bitextmine/pipeline/stage"
	_ "bitextmine/pipeline/stage/align" // and the other stages of a run
	_ "bitextmine/pipeline/stage/judge"
	_ "bitextmine/pipeline/stage/match"
	_ "bitextmine/pipeline/stage/refine"
)

func request(shardSize int) stage.Request {
	return stage.Request{Version: "test", Threads: 4, Settings: plan.Settings{
		Corpus: corpus.Options{ShardSize: shardSize}, Encoding: setting.Encoding{Encoder: "e"}, Dim: 512,
		Vectors: setting.Vectors{DType: "float16"}, Searching: setting.Searching{Search: "exact"}, Decision: setting.Decision{K: 4},
	}}
}

func simulated(t testing.TB, c *Cluster) map[string]Stage {
	t.Helper()
	s, err := Run(c, request(1_000_000))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Problems) > 0 {
		t.Fatal(s.Problems)
	}
	stages := map[string]Stage{}
	for _, st := range s.Stages {
		stages[st.Name] = st
	}
	return stages
}

func TestEveryCellAndShardIsPlanned(t *testing.T) {
	stages := simulated(t, edited(t, "EUR", "EUR"))
	for name, want := range map[string]Stage{
		"shard":  {Tasks: 5, Items: 5e8, Seconds: 1},              // a file on each of 8 cores
		"encode": {Tasks: 5, Items: 5e6, Seconds: 75},             // 3 turns of a shard on 4 cores
		"search": {Tasks: 6, Items: 6e12, Seconds: 7500},          // 3 turns of a cell
		"merge":  {Tasks: 5, Items: 5e6, Seconds: 1},              //
		"match":  {Tasks: 1, Items: 5e6, Seconds: 5e6 / 1e5 / 4.}, // one machine does it
	} {
		got := stages[name]
		if got.Tasks != want.Tasks || got.Items != want.Items || math.Abs(got.Seconds-want.Seconds) > 1e-6 {
			t.Errorf("%s: %d tasks, %v items, %v s; want %d, %v, %v", name, got.Tasks, got.Items, got.Seconds, want.Tasks, want.Items, want.Seconds)
		}
	}
	if stages["match"].BoundBy != byOneTask || stages["search"].Memory == 0 || stages["search"].Read == 0 {
		t.Errorf("the stages are %+v", stages)
	}
}

func TestANightComputesWhatIsNew(t *testing.T) {
	c := edited(t, "sentences: 3e6", "sentences: 3e6, added: 1e6")
	german, english := c.Languages["de"], c.Languages["en"]
	english.Sentences, english.Added = 3e6, 1e6
	c.Languages["de"], c.Languages["en"] = german, english
	stages := simulated(t, c)
	for name, want := range map[string]int{"shard": 2, "encode": 2, "search": 9 - 4, "merge": 6, "match": 1} {
		if left := stages[name].Tasks - stages[name].Done; left != want {
			t.Errorf("%s: %d tasks are left, want %d", name, left, want)
		}
	}
	if stages["search"].Tasks != 5 { // the merges start from those of the night before, which hold the other cells
		t.Errorf("%d cells are planned, want 5", stages["search"].Tasks)
	}
}

func TestPairsShareTheirLanguages(t *testing.T) {
	c := edited(t, "[de-en]", "[de-en]")
	c.Pairs = []string{"de-en", "de-fr", "en-fr"}
	c.Languages["fr"] = Corpus{Sentences: 1e6, Bytes: 100}
	stages := simulated(t, c)
	for name, want := range map[string]int{"encode": 3 + 2 + 1, "search": 6 + 3 + 2, "match": 3} {
		if stages[name].Tasks != want {
			t.Errorf("%s has %d tasks, want %d", name, stages[name].Tasks, want)
		}
	}
}

// TestALanguageMayHaveAScript: the hyphen between languages is not that before a script.
func TestALanguageMayHaveAScript(t *testing.T) {
	for _, pair := range []string{"zh-Hant-en", "en-zh-Hant"} {
		c, err := decode([]byte(strings.NewReplacer("  de:", "  zh-Hant:", "[de-en]", "["+pair+"]").Replace(small)))
		if err != nil {
			t.Fatal(err)
		}
		if got := simulated(t, c)["search"].Tasks; got != 6 {
			t.Errorf("%s has %d cells, want 6", pair, got)
		}
		base := request(1_000_000)
		base.Settings.Aligning = setting.Aligning{Documents: setting.DocumentsOn, DocScore: 0.5}
		for _, code := range []string{"en", "zh-Hant"} {
			if _, err := Run(c, base); err == nil {
				t.Errorf("%s: no error without the length of documents in %s", pair, code)
			}
			corpus := c.Languages[code]
			corpus.Document = 20
			c.Languages[code] = corpus
		}
		if _, err := Run(c, base); err != nil {
			t.Errorf("%s with documents: %v", pair, err)
		}
	}
}

func TestTheStoreCanBeWhatItWaitsFor(t *testing.T) {
	c := edited(t, "currency: EUR", "store: {read: 1MB/s}")
	if st := simulated(t, c)["search"]; st.BoundBy != byStore || math.Abs(st.Seconds-st.Read/1e6) > 1e-6 {
		t.Errorf("reading %v bytes at 1 MB/s took %v s, bound by %s", st.Read, st.Seconds, st.BoundBy)
	}
}

func TestWhatNoMachineCanDoIsSaid(t *testing.T) {
	for _, test := range []struct{ old, with, want string }{
		{"memory: 16GiB", "memory: 200MiB", "match: a task needs"},
		{", match: 1e5", "", "match: no machine has a rate"},
		{"price: 1", "stages: [shard, encode, search, merge]", "match: no machine has a rate"},
		{"price: 1, rates: {shard: 1e8, encode: 1e4", "failures: 1, rates: {shard: 1e8, encode: 0.01", "encode: a task of 1000000 sentences would not end between failures"},
	} {
		s, err := Run(edited(t, test.old, test.with), request(1_000_000))
		if err != nil {
			t.Fatal(err)
		}
		if all := strings.Join(s.Problems, "\n"); !strings.Contains(all, test.want) {
			t.Errorf("with %q the problems are %q, want %q", test.with, all, test.want)
		}
	}
	for _, test := range []struct{ old, with, want string }{
		{"match: 1e5", "macth: 1e5", `no stage is called "macth"`},
		{"price: 1", "stages: [serach]", `no stage is called "serach"`},
		{"price: 1", "runs: [none/run.json]", "none/run.json"},
		{"sentences: 3e6", "sentences: 3e12", "languages.de"},
		{"sentences: 3e6", "sentences: 9e11", "raise --shard-size"},
	} {
		c, err := decode([]byte(strings.Replace(small, test.old, test.with, 1)))
		if err == nil {
			_, err = Run(c, request(1000))
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("with %q the error is %v, want %q", test.with, err, test.want)
		}
	}
}

// BenchmarkRun simulates 160,000 cells.
func BenchmarkRun(b *testing.B) {
	c := edited(b, "sentences: 3e6", "sentences: 4e8")
	english := c.Languages["en"]
	english.Sentences = 4e8
	c.Languages["en"] = english
	c.Machines[0].Memory = 1 << 50
	for b.Loop() {
		if _, err := Run(c, request(1_000_000)); err != nil {
			b.Fatal(err)
		}
	}
}
