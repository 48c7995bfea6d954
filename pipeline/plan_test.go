package pipeline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"bitextmine/encode/model"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/setting"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/stage/align"
	stagefit "bitextmine/pipeline/stage/fit"
	"bitextmine/pipeline/stage/shard"
	"bitextmine/pipeline/view"
	"bitextmine/score"
)

var planned = plan.Settings{
	Encoding: setting.Encoding{Encoder: "e"}, Dim: 256, Vectors: setting.Vectors{DType: "float16"},
	Searching: setting.Searching{Search: "exact"}, Decision: setting.Decision{K: 4, Margin: "ratio", Retrieval: "max", Threshold: 1.06},
}

// language has n shards of 1000 rows, each of a file of its own.
func language(code string, n int) plan.Language {
	l := plan.Language{Code: code}
	for j := range n {
		in := plan.Input{Path: fmt.Sprintf("%s/%03d.txt", code, j), Bytes: 10, SHA256: fmt.Sprintf("%s%d", code, j)}
		l.Inputs = append(l.Inputs, in)
		l.Shards = append(l.Shards, plan.Shard{Name: in.Path + "#0", Task: shard.Key(in, planned), SHA256: "shard of " + in.SHA256, Rows: 1000})
	}
	return l
}

func request(n, m int, ledger *plan.Ledger) stage.Request {
	return stage.Request{
		Version: "v", Settings: planned, Languages: []plan.Language{language("de", n), language("en", m)},
		Pairs: []plan.Pair{{Source: 0, Target: 1}}, Earlier: map[string]any{view.Merge: []*plan.Ledger{ledger}}, Threads: 2,
	}
}

func build(t testing.TB, r stage.Request) *plan.Plan {
	t.Helper()
	p, err := stage.Build(r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// keysOf lists the keys of a plan's tasks by stage.
func keysOf(p *plan.Plan) map[string][]string {
	keys := map[string][]string{}
	for _, w := range p.Waves {
		for _, t := range w.Tasks {
			keys[w.Stage] = append(keys[w.Stage], t.Key)
		}
	}
	return keys
}

// shape is the number of tasks of each wave, and how many cells merges read.
func shape(t testing.TB, p *plan.Plan) (tasks [4]int, read int) {
	t.Helper()
	for w, wave := range p.Waves {
		tasks[w] = len(wave.Tasks)
		for i := range wave.Tasks {
			var of struct{ Cells []any }
			if err := json.Unmarshal(wave.Tasks[i].Args, &of); err != nil {
				t.Fatal(err)
			}
			read += len(of.Cells)
		}
	}
	return tasks, read
}

func TestPlan(t *testing.T) {
	ledger := plan.NewLedger(build(t, request(3, 2, nil)), 0)
	doubled := request(3, 2, nil)
	doubled.Languages[0].Shards[2].SHA256 = doubled.Languages[0].Shards[0].SHA256 // one text under two names
	fewer := request(3, 2, ledger)
	fewer.Languages[0].Shards, fewer.Languages[0].Inputs = fewer.Languages[0].Shards[1:], fewer.Languages[0].Inputs[1:]
	for name, c := range map[string]struct {
		request stage.Request
		tasks   [4]int
		read    int
	}{
		"everything":          {request(3, 2, nil), [4]int{5, 6, 5, 1}, 12},
		"nothing new":         {request(3, 2, ledger), [4]int{5, 0, 5, 1}, 0},
		"a row":               {request(4, 2, ledger), [4]int{6, 2, 6, 1}, 4},
		"a row and a column":  {request(4, 3, ledger), [4]int{7, 6, 7, 1}, 12},
		"withdrawn":           {fewer, [4]int{4, 4, 4, 1}, 4},
		"one text twice":      {doubled, [4]int{4, 4, 4, 1}, 8},
		"a ledger of nothing": {request(3, 2, &plan.Ledger{}), [4]int{5, 6, 5, 1}, 12},
	} {
		tasks, read := shape(t, build(t, c.request))
		if tasks != c.tasks || read != c.read {
			t.Errorf("%s: %v tasks that read %d cells, want %v and %d", name, tasks, read, c.tasks, c.read)
		}
	}
	other := request(2, 2, nil)
	other.Settings.K = 5
	a, b := keysOf(build(t, request(2, 2, nil))), keysOf(build(t, other))
	if a["search"][0] == b["search"][0] || a["encode"][0] != b["encode"][0] {
		t.Error("another k must change the keys of cells and not those of embeddings")
	}
	if a, b := plan.Family(planned, "de", "en"), plan.Family(other.Settings, "de", "en"); a == b {
		t.Error("two families have one name")
	}
}

// TestKeysAreStable compares keys with those of version 0.1.0, and of shards and the bitext with those of their stages'
// versions: stored work must be found by every later version.
func TestKeysAreStable(t *testing.T) {
	full := planned
	full.EncoderName, full.Scorer, full.Precision, full.Features, full.NProbe, full.EfSearch = "name", "sc", 0.9, true, 3, 7
	for _, c := range []struct {
		settings             plan.Settings
		digest, family       string
		search, merge, match string
	}{
		{planned, "", "54f04b8d8dfc1519b8b385ba47bfc9cf", "55470f9f2082129b1fc4d00650888349 47f1ad4a1249acad0de967090243a9ff 5ae09538261481d7bdb28701e5dea4ba 642b3bb54d44d1cfaccfa304349dabbe",
			"5270423a8a6d54c0e9d8aebd9c341d81 0a9d97e7272fdf4bd9a5c7c6f543bc13 86b3558bc7802574e672022acb349cd5 45a0210dc254a5cd743bc89642d5f38a", "f6d9ceef8364df23dec6bcf456b3f51c"},
		{full, "cd", "db01ab9267b1b22771b81d19c7686438", "09e7c59ca22f8d14c74cde3725c29d7c 421ed4c11fd1115857f4ddeb7965e492 12515206d23179d12418d19a66a8fb8a 1cd419371b91a21d830a4cc1a8655b3a",
			"b5c4224694b28c12686a209bcf942fc0 42502e21a785eebf6dadedfe638a5283 f9b1a3a9a04b5f9cf156e0b8220b097c 13bc116587f8c051a50afc8a73f37904", "3a9013e42f09ba75f8ad1ce11c8b9102"},
	} {
		r := request(2, 2, nil)
		r.Settings, r.Pairs[0].ConfigDigest = c.settings, c.digest
		if got := r.Languages[0].Shards[0].Task; got != "38517087d3e222c537eb5dc1589c85f0" {
			t.Errorf("shard %s", got)
		}
		got := keysOf(build(t, r))
		for name, want := range map[string]string{
			"encode": "ad248264d65b208e6b9f1ad3ff2800bc 503bc876539401a95122b50dd19fd923 4e89a59855efdc3ba435a73a58607e08 afe9635f32f486295159774ace822a27",
			"search": c.search, "merge": c.merge, "match": c.match,
		} {
			if strings.Join(got[name], " ") != want {
				t.Errorf("%s: %s, want %s", name, got[name], want)
			}
		}
		if family := plan.Family(c.settings, "de", "en"); family != c.family {
			t.Errorf("family %s, want %s", family, c.family)
		}
	}
}

// TestKeysOfTokens: what is known of tokens is computed anew where the tokens of a prefix that is text were among them,
// or where the encoder has no output of tokens any more or another, and only there; vectors only where the tokens' ids
// lie beside them. Features follow what is known of tokens, and examples of known pairs the output.
func TestKeysOfTokens(t *testing.T) {
	scorer, err := score.OfDefault()
	if err != nil {
		t.Fatal(err)
	}
	r := request(1, 1, nil)
	if r.Scorer, err = scorer.Encode(); err != nil {
		t.Fatal(err)
	}
	r.Tokens.Output = "o"
	keys := func() map[string][]string {
		r.Goal = nil
		keys := keysOf(build(t, r))
		r.Goal = func(b *stage.Builder) error {
			stagefit.Want(b, 0, stagefit.Known{}, false)
			return nil
		}
		keys[stagefit.Stage.Name] = keysOf(build(t, r))[stagefit.Stage.Name]
		return keys
	}
	before := keys()
	for tokens, anew := range map[stage.Tokens][4]bool{
		{Output: "o"}:                                 {},
		{Output: "o", Static: true}:                   {},
		{Output: "o", TextPrefix: true}:               {true, true, false, false},
		{Output: "o", TextPrefix: true, Static: true}: {true, true, true, true},
		{Output: "other"}:                             {true, true, false, true},
		{}:                                            {true, true, false, true},
	} {
		r.Tokens = tokens
		after := keys()
		for i, name := range []string{view.Describe, view.Features, view.Encode, stagefit.Stage.Name} {
			if len(before[name]) == 0 || reflect.DeepEqual(before[name], after[name]) == anew[i] {
				t.Errorf("%+v: %s has the keys %v, and had %v", tokens, name, after[name], before[name])
			}
		}
	}
}

// TestKeysOfBeads: the beads of listed documents have other keys in another language, and the bitext's key changes with
// those of beads.
func TestKeysOfBeads(t *testing.T) {
	r := request(1, 1, nil)
	r.Settings.Aligning = setting.Aligning{Documents: setting.DocumentsOn, DocPairs: "digest of a list"}
	before := build(t, r).Pairs[0]
	r.Languages[0].Code = "fr"
	other := build(t, r).Pairs[0]
	if len(before.Aligned) != 1 || slices.Equal(other.Aligned, before.Aligned) || other.DocumentPairs != before.DocumentPairs {
		t.Errorf("in another language the keys are %+v, before %+v", other, before)
	}
	align.Stage.Version++
	defer func() { align.Stage.Version-- }()
	if changed := build(t, r).Pairs[0]; changed.DocumentPairs != other.DocumentPairs || changed.Bitext == other.Bitext {
		t.Errorf("with other beads the keys are %+v, before %+v", changed, other)
	}
}

// TestTokensOf: encoders that differ in the output of tokens alone have other tokens.
func TestTokensOf(t *testing.T) {
	seen := map[string]model.TokenOutput{}
	for _, of := range []model.TokenOutput{{}, {Output: "a"}, {Output: "b"}, {Output: "a", Static: true}, {Output: "a", Dim: 2}} {
		output := tokensOf(&model.Model{Manifest: model.Manifest{Tokens: of}}).Output
		if other, ok := seen[output]; ok || (output == "") != (of.Output == "") {
			t.Errorf("%+v is %q, as %+v", of, output, other)
		}
		seen[output] = of
	}
}

// TestKeysOfUnknownLanguages: where a scorer has weights for languages that the encoder does not know, what they decide
// is decided anew once the encoder lists the languages; an encoder without a list knows all.
func TestKeysOfUnknownLanguages(t *testing.T) {
	scorer, err := score.OfDefault()
	if err != nil {
		t.Fatal(err)
	}
	r := request(1, 1, nil)
	if r.Scorer, err = scorer.Encode(); err != nil {
		t.Fatal(err)
	}
	r.Settings.Threshold, r.Settings.Cut, r.Settings.Scorer = 0, setting.DefaultCut, "scorer"
	r.Settings.Judge, r.Judge, r.Refiner = "judge", &plan.Judge{}, &plan.Refiner{Dim: 2}
	keys := func(encoder string, listed ...string) [3]string {
		r.Settings.Encoder, r.Listed = encoder, listed
		r.Settings.Refining = setting.Refining{}
		pair := build(t, r).Pairs[0]
		r.Settings.Refining = setting.Refining{Refine: "strong", RefineDoubt: 0.01}
		return [3]string{build(t, r).Pairs[0].Shortlist, pair.Judged, pair.Bitext}
	}
	known, unknown := keys(scorer.Encoder.Digest, "en", "de"), keys(scorer.Encoder.Digest, "en", "fr")
	for i := range known {
		if known[i] == "" || known[i] == unknown[i] {
			t.Errorf("%s is the key of either", known[i])
		}
	}
	if all := keys(scorer.Encoder.Digest); all != known {
		t.Errorf("without a list the keys are %v, and %v with both languages", all, known)
	}
	if of, other := keys("other", "en", "de"), keys("other", "en", "fr"); of != other {
		t.Errorf("the scorer of another encoder has the keys %v and %v", of, other)
	}
}

// TestMergeKeysDoNotShowTheWay: a merge's key is the same from a base as from cells alone, and another after any change
// of the shard set.
func TestMergeKeysDoNotShowTheWay(t *testing.T) {
	ledger := plan.NewLedger(build(t, request(3, 2, nil)), 0)
	direct, increment := keysOf(build(t, request(4, 3, nil))), keysOf(build(t, request(4, 3, ledger)))
	if !slices.Equal(direct["merge"], increment["merge"]) || !slices.Equal(direct["match"], increment["match"]) {
		t.Error("merges from a base have other keys")
	}
	if fewer := keysOf(build(t, request(4, 2, nil))); direct["merge"][0] == fewer["merge"][0] {
		t.Error("two shard sets have one merge")
	}
}

// TestPairsDoNotDependOnOthers: in a plan of three pairs every pair has the keys of a plan of its own, and a language
// is encoded once.
func TestPairsDoNotDependOnOthers(t *testing.T) {
	languages := []plan.Language{language("de", 2), language("en", 3), language("fr", 1)}
	pairs := []plan.Pair{{Source: 0, Target: 1, ConfigDigest: "a"}, {Source: 2, Target: 1, ConfigDigest: "b"}, {Source: 0, Target: 2, ConfigDigest: "c"}}
	many := build(t, stage.Request{Version: "v", Settings: planned, Languages: languages, Pairs: pairs})
	keys := keysOf(many)
	if n := len(keys["encode"]); n != 6 {
		t.Errorf("%d shards are encoded, want 6", n)
	}
	for i, pair := range pairs {
		one := build(t, stage.Request{
			Version: "v", Settings: planned, Languages: []plan.Language{languages[pair.Source], languages[pair.Target]},
			Pairs: []plan.Pair{{Source: 0, Target: 1, ConfigDigest: pair.ConfigDigest}},
		})
		if one.Pairs[0].Bitext != many.Pairs[i].Bitext || !slices.Equal(one.Pairs[0].Merges[0], many.Pairs[i].Merges[0]) || !slices.Equal(one.Pairs[0].Merges[1], many.Pairs[i].Merges[1]) {
			t.Errorf("pair %d has other keys beside others", i)
		}
		for name, alone := range keysOf(one) {
			for _, key := range alone {
				if !slices.Contains(keys[name], key) {
					t.Errorf("pair %d: %s/%s is not in the plan of all", i, name, key)
				}
			}
		}
	}
}

func TestPlanFile(t *testing.T) {
	p := build(t, request(3, 2, nil))
	data, id, err := p.Encode()
	if err != nil || id == "" {
		t.Fatal(err)
	}
	got, err := stage.Decode(data, "plan", "v")
	if err != nil {
		t.Fatal(err)
	}
	again, sameID, err := got.Encode()
	if err != nil || string(again) != string(data) || sameID != id {
		t.Error("a plan that was decoded encodes to other bytes")
	}
	for i := range p.Len() {
		a, _, _ := p.Task(i)
		b, wave, ok := got.Task(i)
		if !ok || a.Key != b.Key || wave.Stage != b.Stage {
			t.Errorf("task %d differs", i)
		}
	}
	for _, i := range []int{-1, p.Len()} {
		if _, _, ok := p.Task(i); ok {
			t.Errorf("there is a task %d", i)
		}
	}
	outputs, err := plan.Outputs(data, "plan")
	if err != nil || len(outputs) != p.Len() || outputs[0] != [2]string{"encode", p.Waves[0].Tasks[0].Key} {
		t.Errorf("outputs %v, error %v", outputs, err)
	}
}

func TestPlanFileRefuses(t *testing.T) {
	damage := func(change func(p *plan.Plan)) []byte {
		p := build(t, request(2, 2, nil))
		change(p)
		data, _, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	whole := damage(func(*plan.Plan) {})
	args := func(wave int, text string) func(*plan.Plan) {
		return func(p *plan.Plan) { p.Waves[wave].Tasks[0].Args = json.RawMessage(text) }
	}
	for name, c := range map[string]struct {
		data []byte
		says string
	}{
		"cut short":            {whole[:len(whole)-2], "is not a plan"},
		"changed":              {bytes.Replace(whole, []byte(`"k":4`), []byte(`"k":5`), 1), "was changed"},
		"another version":      {damage(func(p *plan.Plan) { p.Version = "w" }), "another version"},
		"another stage":        {damage(func(p *plan.Plan) { p.Waves[1].Version++ }), "another version"},
		"a language of none":   {damage(func(p *plan.Plan) { p.Pairs[0].Target = 2 }), "language 2 of 2"},
		"too few merges":       {damage(func(p *plan.Plan) { p.Pairs[0].Merges[0] = p.Pairs[0].Merges[0][1:] }), "1 merges for 2 shards"},
		"another stage's task": {damage(func(p *plan.Plan) { p.Waves[0].Tasks[0].Stage = "search" }), "in the wave of"},
		"an unknown stage":     {damage(func(p *plan.Plan) { p.Waves = append(p.Waves, plan.Wave{Stage: "sing"}) }), `"sing"`},
		"encode: shard":        {damage(args(0, `{"language":0,"shard":2}`)), "shard 2 of 2"},
		"encode: language":     {damage(args(0, `{"language":-1}`)), "language -1 of 2"},
		"search: shard":        {damage(args(1, `{"shards":[0,7]}`)), "shard 7 of 2"},
		"search: pair":         {damage(args(1, `{"pair":1}`)), "pair 1 of 1"},
		"merge: side":          {damage(args(2, `{"side":2}`)), "side 2 of 2"},
		"merge: base":          {damage(args(2, `{"base":{"key":"k","set":0}}`)), "shard set 0 of 0"},
		"merge: cell":          {damage(args(2, `{"cells":[{"other":5}]}`)), "shard 5 of 2"},
		"match: no arguments":  {damage(args(3, `7`)), "arguments of task"},
	} {
		if _, err := stage.Decode(c.data, "plan", "v"); !badinput.Is(err) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v does not say %q", name, err, c.says)
		}
	}
}

func TestFits(t *testing.T) {
	p := build(t, request(3, 2, nil))
	all := plan.CostOf(p, func(string, string) bool { return false }, plan.Process{Threads: 2})
	if all.Languages[0] != (plan.LanguageCost{Code: "de", Sentences: 3000, Shards: 3}) || all.Languages[1].Sentences != 2000 {
		t.Errorf("languages %+v", all.Languages)
	}
	if e, s := all.Stages[0], all.Stages[1]; e.Items != 5000 || s.Items != 6_000_000 || s.Tasks != 6 || s.Done != 0 {
		t.Errorf("cost %+v", all.Stages)
	}
	all.Stages[0].Rate, all.Stages[1].Rate = 500, 1e6
	if got := all.Time().Round(time.Second); got != 16*time.Second {
		t.Errorf("time %v", got)
	}
	none := plan.CostOf(p, func(string, string) bool { return true }, plan.Process{Threads: 2})
	if none.Stages[1].Items+none.Disk+none.Memory != 0 || none.Stages[1].Done != 6 {
		t.Errorf("cost of a plan that is done %+v", none)
	}
	if err := all.Fits(plan.Bounds{}); err != nil {
		t.Error(err)
	}
	for name, err := range map[string]error{
		"--max-memory": all.Fits(plan.Bounds{MaxMemory: 1 << 20}), "--work": all.Fits(plan.Bounds{Disk: 1 << 10}),
		"this machine has 1.0 MiB": all.Fits(plan.Bounds{Memory: 1 << 20}),
	} {
		if !badinput.Is(err) || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v does not name %s", err, name)
		}
	}
}

func FuzzDecodePlan(f *testing.F) {
	data, _, err := build(f, request(2, 1, nil)).Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(data))
	f.Add(`{"digest":"","plan":{}}`)
	f.Fuzz(func(t *testing.T, text string) {
		// The digest is made to fit, so that what is behind it is reached.
		var of struct {
			Digest string          `json:"digest"`
			Plan   json.RawMessage `json:"plan"`
		}
		if json.Unmarshal([]byte(text), &of) == nil {
			of.Digest = plan.Digest(of.Plan)
			if fitted, err := json.Marshal(of); err == nil {
				text = string(fitted)
			}
		}
		p, err := stage.Decode([]byte(text), "plan", "v")
		if err != nil {
			if !badinput.Is(err) {
				t.Errorf("error %v is no bad input", err)
			}
			return
		}
		stage.Outputs(p, false, func(string, string) {})
		for i := range p.Len() {
			if _, _, ok := p.Task(i); !ok {
				t.Errorf("no task %d of %d", i, p.Len())
			}
		}
	})
}
