package plan

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"bitextmine/internal/badinput"
	"bitextmine/pipeline/setting"
)

var settings = Settings{
	Encoding: setting.Encoding{Encoder: "e"}, Dim: 256, Vectors: setting.Vectors{DType: "float16"},
	Searching: setting.Searching{Search: "exact"}, Decision: setting.Decision{K: 4, Margin: "ratio", Retrieval: "max", Threshold: 1.06},
}

// sides has n source and m target shards of 1000 rows, each of a file of its own.
func sides(n, m int) (s [2]Side) {
	for i, count := range []int{n, m} {
		s[i] = Side{Name: [...]string{"src", "tgt"}[i], Language: [...]string{"de", "en"}[i]}
		for j := range count {
			in := Input{Path: fmt.Sprintf("%s/%03d.txt", s[i].Language, j), Bytes: 10, SHA256: fmt.Sprintf("%s%d", s[i].Language, j)}
			s[i].Inputs = append(s[i].Inputs, in)
			s[i].Shards = append(s[i].Shards, ShardFile{Name: in.Path + "#0", Task: ShardKey(in, settings), SHA256: "shard of " + in.SHA256, Rows: 1000})
		}
	}
	return s
}

// shape is the number of tasks of each wave, and how many cells merges read.
func shape(p *Plan) (tasks [4]int, read int) {
	for w, wave := range p.Waves {
		tasks[w] = len(wave.Tasks)
		for _, t := range wave.Tasks {
			read += len(t.Cells)
		}
	}
	return tasks, read
}

func TestMining(t *testing.T) {
	three := Mining("v", settings, sides(3, 2), nil)
	ledger := LedgerOf(three)
	doubled := sides(3, 2)
	doubled[0].Shards[2].SHA256 = doubled[0].Shards[0].SHA256 // one text under two names
	fewer := sides(3, 2)
	fewer[0].Shards, fewer[0].Inputs = fewer[0].Shards[1:], fewer[0].Inputs[1:]
	other := settings
	other.K = 5
	for name, c := range map[string]struct {
		plan  *Plan
		tasks [4]int
		read  int
	}{
		"everything":          {three, [4]int{5, 6, 5, 1}, 12},
		"nothing new":         {Mining("v", settings, sides(3, 2), ledger), [4]int{5, 0, 5, 1}, 0},
		"a row":               {Mining("v", settings, sides(4, 2), ledger), [4]int{6, 2, 6, 1}, 4},
		"a row and a column":  {Mining("v", settings, sides(4, 3), ledger), [4]int{7, 6, 7, 1}, 12},
		"withdrawn":           {Mining("v", settings, fewer, ledger), [4]int{4, 4, 4, 1}, 4},
		"one text twice":      {Mining("v", settings, doubled, nil), [4]int{4, 4, 4, 1}, 8},
		"a ledger of nothing": {Mining("v", settings, sides(3, 2), &Ledger{}), [4]int{5, 6, 5, 1}, 12},
	} {
		tasks, read := shape(c.plan)
		if tasks != c.tasks || read != c.read {
			t.Errorf("%s: %v tasks that read %d cells, want %v and %d", name, tasks, read, c.tasks, c.read)
		}
		if err := c.plan.check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if a, b := Mining("v", settings, sides(2, 2), nil), Mining("v", other, sides(2, 2), nil); a.Waves[1].Tasks[0].Key == b.Waves[1].Tasks[0].Key || a.Waves[0].Tasks[0].Key != b.Waves[0].Tasks[0].Key {
		t.Error("another k must change the keys of cells and not those of embeddings")
	}
	if a, b := Family(settings, "de", "en"), Family(other, "de", "en"); a == b {
		t.Error("two families have one name")
	}
}

// TestMergeKeysDoNotTellTheWay: a merge's key is the same from a base as from cells alone, and another after any change of the cover.
func TestMergeKeysDoNotTellTheWay(t *testing.T) {
	ledger := LedgerOf(Mining("v", settings, sides(3, 2), nil))
	direct, increment := Mining("v", settings, sides(4, 3), nil), Mining("v", settings, sides(4, 3), ledger)
	for i, task := range direct.Waves[2].Tasks {
		if increment.Waves[2].Tasks[i].Key != task.Key {
			t.Errorf("merge %d has another key from a base", i)
		}
	}
	if direct.Waves[3].Tasks[0].Key != increment.Waves[3].Tasks[0].Key {
		t.Error("the match has another key")
	}
	if a, b := Mining("v", settings, sides(4, 3), nil), Mining("v", settings, sides(4, 2), nil); a.Waves[2].Tasks[0].Key == b.Waves[2].Tasks[0].Key {
		t.Error("two covers have one merge")
	}
}

func TestFile(t *testing.T) {
	p := Mining("v", settings, sides(3, 2), nil)
	data, id, err := p.Encode()
	if err != nil || id == "" {
		t.Fatal(err)
	}
	got, err := Decode(data, "plan", "v")
	if err != nil {
		t.Fatal(err)
	}
	again, sameID, err := got.Encode()
	if err != nil || string(again) != string(data) || sameID != id {
		t.Error("a plan that was decoded encodes to other bytes")
	}
	for i := range p.Len() {
		a, _ := p.Task(i)
		b, ok := got.Task(i)
		if !ok || a.Key != b.Key {
			t.Errorf("task %d differs", i)
		}
	}
	for _, i := range []int{-1, p.Len()} {
		if _, ok := p.Task(i); ok {
			t.Errorf("there is a task %d", i)
		}
	}
}

func TestFits(t *testing.T) {
	p := Mining("v", settings, sides(3, 2), nil)
	all := CostOf(p, func(string, string) bool { return false })
	if all.Sentences != [2]int{3000, 2000} || all.Cells != 6 || all.Encodings != 5000 || all.Comparisons != 6_000_000 || all.FLOP != 6e6*512 {
		t.Errorf("cost %+v", all)
	}
	if got := all.Time(Rates{Encodings: 500, Comparisons: 1e6}); got.Round(time.Second) != 16*time.Second {
		t.Errorf("time %v", got)
	}
	if none := CostOf(p, func(string, string) bool { return true }); none.Comparisons+none.Disk+none.Memory != 0 || none.Done[Search] != 6 {
		t.Errorf("cost of what is done %+v", none)
	}
	if err := all.Fits(Bounds{}); err != nil {
		t.Error(err)
	}
	for name, err := range map[string]error{
		"--max-memory": all.Fits(Bounds{MaxMemory: 1 << 20}), "--work": all.Fits(Bounds{Disk: 1 << 10}), "this machine has 1.0 MiB": all.Fits(Bounds{Memory: 1 << 20}),
	} {
		if !badinput.Is(err) || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v does not name %s", err, name)
		}
	}
}

func FuzzDecode(f *testing.F) {
	data, _, err := Mining("v", settings, sides(2, 1), nil).Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(data))
	f.Add(`{"digest":"","plan":{}}`)
	f.Fuzz(func(t *testing.T, text string) {
		// The digest is made to fit, so that what is behind it is reached.
		var of file
		if json.Unmarshal([]byte(text), &of) == nil {
			of.Digest = digest(of.Plan)
			if fitted, err := json.Marshal(of); err == nil {
				text = string(fitted)
			}
		}
		p, err := Decode([]byte(text), "plan", "v")
		if err != nil {
			if !badinput.Is(err) {
				t.Errorf("error %v is no bad input", err)
			}
			return
		}
		for i := range p.Len() {
			if _, ok := p.Task(i); !ok {
				t.Errorf("no task %d of %d", i, p.Len())
			}
		}
	})
}
