package config

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"bitextmine/encode/model"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/setting"
	"bitextmine/pipeline/stage/search"
)

// defaultConfig is configs/default.yaml for German and English.
func defaultConfig() Config {
	return Config{
		Languages: setting.Languages{Source: "de", Target: "en"}, Output: setting.Output{Out: "mined"},
		Text:     setting.Text{Format: "auto", TextColumn: "text", OnBadLine: "skip", MaxLineBytes: 65536, ShardSize: 250000},
		Encoding: setting.Encoding{Encoder: "bag-ngram"}, Vectors: setting.Vectors{DType: "float16"}, Searching: setting.Searching{Search: "exact"},
		Decision: setting.Decision{K: 4, Margin: "ratio", Retrieval: "max", Threshold: -1, Scorer: "default"}, Nights: setting.Nights{Keep: 14},
	}
}

const (
	encoderDigest = "e0abff28ee651da2e170fe74704f1257306474eb48bd404c6b4746426dd65971"
	scorerOf      = "43d127da5e2389184cfe68ba13062eec"
)

// TestKeysStay: the records, specs and keys below are those that version 0.1.0 wrote for the fixtures. Work directories
// and outputs hold them.
func TestKeysStay(t *testing.T) {
	model := &model.Model{Digest: encoderDigest}
	model.Name, model.Dim = "bag-ngram", 512
	for name, c := range map[string]struct {
		change         func(*Config)
		scorer, search string // digest, whose lists
		record, digest string
		settings       string
		source, target string // a cell's encodings
		cell, family   string
	}{
		"defaults": {
			func(c *Config) { c.Threads, c.MaxMemory, c.ONNXRuntime, c.SearchRecall = 2, "4GiB", "lib.so", 0.9 }, scorerOf, "exact",
			`{"src":"de","tgt":"en","format":"auto","text_column":"text","doc_column":"","url_column":"","on_bad_line":"skip","max_line_bytes":65536,"shard_size":250000,"encoder":"e0abff28ee651da2e170fe74704f1257306474eb48bd404c6b4746426dd65971","dtype":"float16","search":"exact","k":4,"margin":"ratio","retrieval":"max","threshold":0,"keep_below":false,"scorer":"43d127da5e2389184cfe68ba13062eec","cut":"f1"}`,
			"1c6a2a7261e3396957465fdf7ef93667",
			`{"corpus":{"Format":"auto","OnBadLine":"skip","TextColumn":"text","DocColumn":"","URLColumn":"","MaxLineBytes":65536,"ShardSize":250000},"encoder_name":"bag-ngram","encoder":"e0abff28ee651da2e170fe74704f1257306474eb48bd404c6b4746426dd65971","dim":512,"dtype":"float16","search":"exact","k":4,"margin":"ratio","retrieval":"max","threshold":0,"keep_below":false,"scorer":"43d127da5e2389184cfe68ba13062eec","cut":"f1","config_digest":"1c6a2a7261e3396957465fdf7ef93667"}`,
			"0720f476b39e43e17d26f5e1f78d6398", "c09e23fa1c890e2a1eb6a9b5c857fdc2", "6123a2367a3c550833f49271dcee8aec", "d5ebea1dd2ac2cd8c99e7074591fa6aa",
		},
		"an approximate search, no scorer": {
			func(c *Config) {
				c.Search, c.NProbe, c.K, c.Margin, c.Threshold, c.Scorer = "faiss:IVF8,Flat", 3, 5, "distance", 0.01, "none"
				c.KeepBelow, c.DType, c.DocColumn, c.URLColumn, c.ShardSize = true, "float32", "doc", "url", 500
			}, "", "faiss:IVF8,Flat",
			`{"src":"de","tgt":"en","format":"auto","text_column":"text","doc_column":"doc","url_column":"url","on_bad_line":"skip","max_line_bytes":65536,"shard_size":500,"encoder":"e0abff28ee651da2e170fe74704f1257306474eb48bd404c6b4746426dd65971","dtype":"float32","search":"faiss:IVF8,Flat","nprobe":3,"k":5,"margin":"distance","retrieval":"max","threshold":0.01,"keep_below":true}`,
			"1c0bee986321c6af323786c406453baa",
			`{"corpus":{"Format":"auto","OnBadLine":"skip","TextColumn":"text","DocColumn":"doc","URLColumn":"url","MaxLineBytes":65536,"ShardSize":500},"encoder_name":"bag-ngram","encoder":"e0abff28ee651da2e170fe74704f1257306474eb48bd404c6b4746426dd65971","dim":512,"dtype":"float32","search":"faiss:IVF8,Flat","nprobe":3,"k":5,"margin":"distance","retrieval":"max","threshold":0.01,"keep_below":true,"config_digest":"1c0bee986321c6af323786c406453baa"}`,
			"fbdefe8aadb11da063023927c6da8dba", "a6bf06ab5e1c74b88fc495e3381d6404", "73d00b1dc97f9964272516fd9d049c86", "1f12e7715e6e6f2ed5dcab78cc3f2e97",
		},
		"auto, and everything the scorer has": {
			func(c *Config) {
				c.Search, c.SearchApproximate, c.EfSearch, c.Precision, c.Features = "auto", "faiss:HNSW8,Flat  faiss:HNSW16,Flat", 20, 0.9, true
			}, scorerOf, "exact",
			`{"src":"de","tgt":"en","format":"auto","text_column":"text","doc_column":"","url_column":"","on_bad_line":"skip","max_line_bytes":65536,"shard_size":250000,"encoder":"e0abff28ee651da2e170fe74704f1257306474eb48bd404c6b4746426dd65971","dtype":"float16","search":"auto","search_approximate":"faiss:HNSW8,Flat faiss:HNSW16,Flat","ef_search":20,"k":4,"margin":"ratio","retrieval":"max","threshold":0,"keep_below":false,"scorer":"43d127da5e2389184cfe68ba13062eec","precision":0.9,"features":true}`,
			"4d906684832433a9914448b8ba532fba",
			`{"corpus":{"Format":"auto","OnBadLine":"skip","TextColumn":"text","DocColumn":"","URLColumn":"","MaxLineBytes":65536,"ShardSize":250000},"encoder_name":"bag-ngram","encoder":"e0abff28ee651da2e170fe74704f1257306474eb48bd404c6b4746426dd65971","dim":512,"dtype":"float16","search":"exact","ef_search":20,"k":4,"margin":"ratio","retrieval":"max","threshold":0,"keep_below":false,"scorer":"43d127da5e2389184cfe68ba13062eec","precision":0.9,"features":true,"config_digest":"4d906684832433a9914448b8ba532fba"}`,
			"0720f476b39e43e17d26f5e1f78d6398", "c09e23fa1c890e2a1eb6a9b5c857fdc2", "e92811dd0e0fb0b52199a01ecf824233", "4e7e8fe24c8432cbf3f5c6c669f5cb17",
		},
		"auto among exact searches": {
			func(c *Config) { c.Search = "auto" }, scorerOf, "exact",
			`{"src":"de","tgt":"en","format":"auto","text_column":"text","doc_column":"","url_column":"","on_bad_line":"skip","max_line_bytes":65536,"shard_size":250000,"encoder":"e0abff28ee651da2e170fe74704f1257306474eb48bd404c6b4746426dd65971","dtype":"float16","search":"exact","k":4,"margin":"ratio","retrieval":"max","threshold":0,"keep_below":false,"scorer":"43d127da5e2389184cfe68ba13062eec","cut":"f1"}`,
			"1c6a2a7261e3396957465fdf7ef93667",
			`{"corpus":{"Format":"auto","OnBadLine":"skip","TextColumn":"text","DocColumn":"","URLColumn":"","MaxLineBytes":65536,"ShardSize":250000},"encoder_name":"bag-ngram","encoder":"e0abff28ee651da2e170fe74704f1257306474eb48bd404c6b4746426dd65971","dim":512,"dtype":"float16","search":"exact","k":4,"margin":"ratio","retrieval":"max","threshold":0,"keep_below":false,"scorer":"43d127da5e2389184cfe68ba13062eec","cut":"f1","config_digest":"1c6a2a7261e3396957465fdf7ef93667"}`,
			"0720f476b39e43e17d26f5e1f78d6398", "c09e23fa1c890e2a1eb6a9b5c857fdc2", "6123a2367a3c550833f49271dcee8aec", "d5ebea1dd2ac2cd8c99e7074591fa6aa",
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := defaultConfig()
			c.change(&cfg)
			if err := cfg.Validate(); err != nil {
				t.Fatal(err)
			}
			record := RecordOf(&cfg, Models{Encoder: model}, nil)
			record.Scorer = c.scorer
			sameJSON(t, "record", record, c.record)
			if got := plan.Digest(record); got != c.digest {
				t.Errorf("config digest %s, want %s", got, c.digest)
			}
			settings := SettingsOf(&cfg, c.search, Models{Encoder: model}, nil)
			settings.Scorer, settings.ConfigDigest = c.scorer, c.digest
			sameJSON(t, "settings in the key of the bitext", settings, c.settings)
			if got := search.Key(settings, c.source, c.target); got != c.cell {
				t.Errorf("key of a cell %s, want %s", got, c.cell)
			}
			if got := plan.Family(settings, "de", "en"); got != c.family {
				t.Errorf("family %s, want %s", got, c.family)
			}
		})
	}
}

func sameJSON(t *testing.T, what string, value any, want string) {
	t.Helper()
	got, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s\ngot  %s\nwant %s", what, got, want)
	}
}

// TestEveryTextSettingReachesTheReader: a setting of Text or Sides that CorpusOptions left out would be ignored.
func TestEveryTextSettingReachesTheReader(t *testing.T) {
	for _, s := range slices.Concat(setting.List[setting.Text](), setting.List[setting.Sides]()) {
		var cfg Config
		before := cfg.CorpusOptions()
		set(t, &cfg, s)
		after := cfg.CorpusOptions()
		want := [2]bool{!strings.HasPrefix(s.Key, "tgt_"), !strings.HasPrefix(s.Key, "src_")}
		if got := [2]bool{after[0] != before[0], after[1] != before[1]}; got != want {
			t.Errorf("%s changes how source and target are read: %v, want %v", s.Key, got, want)
		}
	}
}

// set gives a setting a value that is not zero.
func set(t *testing.T, cfg *Config, s setting.Declared) {
	t.Helper()
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Config]()) {
		if key, _, _ := strings.Cut(field.Tag.Get("setting"), ","); key != s.Key {
			continue
		}
		switch v := reflect.ValueOf(cfg).Elem().FieldByIndex(field.Index); v.Kind() {
		case reflect.String:
			v.SetString("x")
		case reflect.Int:
			v.SetInt(7)
		default:
			t.Fatalf("%s is a %v", s.Key, v.Kind())
		}
		return
	}
	t.Fatalf("the configuration has no %s", s.Key)
}

// TestSampleAgainstTheUsersText: the sample in the program does not stand for a side that the user forgot to name.
func TestSampleAgainstTheUsersText(t *testing.T) {
	sample := map[string][]string{"de": {"fixtures:text/de.txt"}, "en": {"fixtures:text/en.txt"}}
	for name, c := range map[string]struct {
		change func(*Config)
		says   string // empty: accepted
	}{
		"the sample alone":    {func(*Config) {}, ""},
		"both sides":          {func(c *Config) { c.SourceText, c.TargetText = []string{"a.de"}, []string{"a.en"} }, ""},
		"the sample, by name": {func(c *Config) { c.SourceText, c.TargetText = []string{"a.de"}, sample["en"] }, ""},
		"a source":            {func(c *Config) { c.SourceText = []string{"a.de"} }, "name the en text with --tgt-text"},
		"a target":            {func(c *Config) { c.TargetText = []string{"a.en"} }, "name the de text with --src-text"},
		"a corpus of one":     {func(c *Config) { c.Corpora = map[string][]string{"de": {"a.de"}, "en": sample["en"]} }, "name the en text with --tgt-text"},
		"one of many pairs": {func(c *Config) {
			c.Corpora, c.OneOfMany = map[string][]string{"de": {"a.de"}, "en": sample["en"]}, true
		},
			"name the en text with --text en=FILES"},
		"a source, other sample": {func(c *Config) { c.SourceText = sample["en"] }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := defaultConfig()
			cfg.Scorer, cfg.Corpora = "none", sample
			c.change(&cfg)
			err := cfg.Validate()
			if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("error %v, want %q", err, c.says)
			}
		})
	}
}

// TestThresholdOfTheMargin: it is found where a scorer can tell, and otherwise has a default or must be given.
// TestARunReadsNoFileOfItsOwn: a run may not write below a directory that it reads.
func TestARunReadsNoFileOfItsOwn(t *testing.T) {
	dir := t.TempDir()
	text, link := filepath.Join(dir, "text"), filepath.Join(dir, "link")
	if err := errors.Join(os.MkdirAll(filepath.Join(text, "de"), 0o755), os.Symlink(text, link),
		os.Symlink(dir, filepath.Join(text, "away"))); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		text, out, work string
		refused         bool
	}{
		"beside":              {"text", "mined", "", false},
		"in it":               {"text", "text/mined", "", true},
		"it itself":           {"text", "text", "", true},
		"deep in it":          {"text", "text/de/new/mined", "", true},
		"hidden in it":        {"text", "text/.mine/out", "", false},
		"the work directory":  {"text", "mined", "text/work", true},
		"a bucket":            {"text", "mined", "s3://text/work", false},
		"by a link":           {"text", "link/mined", "", true},
		"a link that is read": {"link", "text/mined", "", true},
		"a link in it":        {"text", "text/away/mined", "", false},
		"by a glob":           {"text/*", "text/mined", "", true},
		"a glob beside":       {"text/*.txt", "text/mined", "", false},
		"around it":           {"text/de", "text", "", false},
		"around a glob":       {"text/*/de.txt", "text", "", false},
	} {
		c := defaultConfig()
		c.Out = filepath.Join(dir, test.out)
		if c.Work = test.work; test.work != "" && !strings.Contains(test.work, ":") {
			c.Work = filepath.Join(dir, test.work)
		}
		if err := c.Outside([]string{filepath.Join(dir, test.text)}); (err != nil) != test.refused || err != nil && !badinput.Is(err) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	c := defaultConfig()
	c.SourceText, c.TargetText, c.Out = []string{text}, []string{"fixtures:text/en.txt"}, filepath.Join(text, "mined")
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "name a directory elsewhere") {
		t.Errorf("validated: %v", err)
	}
}

func TestThresholdOfTheMargin(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Config)
		want   float64
		says   string
	}{
		"found":             {func(*Config) {}, setting.AutoThreshold, ""},
		"of another margin": {func(c *Config) { c.Margin = "distance" }, setting.AutoThreshold, ""},
		"given":             {func(c *Config) { c.Threshold = 1.06 }, 1.06, ""},
		"k of 3":            {func(c *Config) { c.K = 3 }, 1.06, ""},
		"k of 3, distance":  {func(c *Config) { c.K, c.Margin = 3, "distance" }, 0, "give --threshold"},
		"two stages":        {func(c *Config) { c.Refine = "x" }, 0.78, ""},
		"an unnamed encoder": {func(c *Config) {
			c.Encoder, c.SourceEmb, c.TargetEmb, c.EmbDType = "", []string{"x"}, []string{"y"}, "float32"
		}, setting.AutoThreshold, ""},
	} {
		cfg := defaultConfig()
		cfg.Scorer, cfg.RefineFloor = "none", setting.AutoThreshold
		c.change(&cfg)
		err := cfg.Validate()
		if c.says == "" && (err != nil || cfg.Threshold != c.want) || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: threshold %v, error %v; want %v %s", name, cfg.Threshold, err, c.want, c.says)
		}
	}
}

// TestValidatedOnce: settings that a caller has validated are not validated again; their files may be gone since.
func TestValidatedOnce(t *testing.T) {
	cfg := defaultConfig()
	cfg.Scorer, cfg.Exclude = "none", filepath.Join(t.TempDir(), "known.tsv")
	if err := cfg.Validate(); !badinput.Is(err) {
		t.Fatalf("without the file: error %v", err)
	}
	if err := os.WriteFile(cfg.Exclude, []byte("eins\tone\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(cfg.Exclude); err != nil {
		t.Fatal(err)
	}
	run := cfg
	if err := run.Validate(); err != nil {
		t.Errorf("validated again: %v", err)
	}
}

// TestRangesOfWhatIsOff: a value that cannot be is refused, whether or not what it is of is asked for.
func TestRangesOfWhatIsOff(t *testing.T) {
	for want, change := range map[string]func(*Config){
		"judge_doubt = 2 must be":  func(c *Config) { c.JudgeDoubt = 2 },
		"refine_doubt = 5 must be": func(c *Config) { c.RefineDoubt = 5 },
		"refine_doubt = NaN must":  func(c *Config) { c.RefineDoubt = math.NaN() },
		`emb_dtype "int" is not`:   func(c *Config) { c.EmbDType = "int" },
	} {
		c := defaultConfig()
		change(&c)
		if err := c.Validate(); !badinput.Is(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// TestOneErrorOfRetrieval: one that is not known is not judged further.
func TestOneErrorOfRetrieval(t *testing.T) {
	c := defaultConfig()
	c.Retrieval = "foo"
	if err := c.Validate(); !badinput.Is(err) || strings.Count(err.Error(), "retrieval") != 1 {
		t.Errorf("error %v", err)
	}
}
