package setting

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"bitextmine/internal/badinput"
)

// config has every group.
type config struct {
	Languages
	Many
	Input
	Given
	Checks
	Output
	Text
	Sides
	Dividing
	Aligning
	Encoding
	Vectors
	Searching
	Decision
	Refining
	Judging
	Resources
	Scheduling
	Nights
}

// TestDeclaredOnce: what is declared and what configs/default.yaml lists are the same, and each has a help text and a
// default of its type.
func TestDeclaredOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range List[config]() {
		if seen[s.Key] {
			t.Errorf("%s is declared twice", s.Key)
		}
		seen[s.Key] = true
		if s.Doc == "" || strings.ContainsAny(s.Doc, "`#") {
			t.Errorf("%s: the comment above it in configs/default.yaml is %q; it is the help of the flag", s.Key, s.Doc)
		}
		kind := s.Type.Kind()
		got := reflect.ValueOf(s.Default)
		switch {
		case s.Default == nil:
			t.Errorf("%s has no default in configs/default.yaml", s.Key)
		case kind == reflect.Slice || kind == reflect.Map || kind == reflect.Float64 && got.CanInt():
		case kind != got.Kind():
			t.Errorf("%s is a %v, its default in configs/default.yaml a %v", s.Key, kind, got.Kind())
		}
	}
	for key := range defaults() {
		if !seen[key] {
			t.Errorf("configs/default.yaml has %s, which no group declares", key)
		}
	}
}

// TestEverySettingSaysWhatItDoesToKeys: by its json tag, and those of a record are those with a name.
func TestEverySettingSaysWhatItDoesToKeys(t *testing.T) {
	var named, recorded []string
	for _, field := range reflect.VisibleFields(reflect.TypeFor[config]()) {
		if field.Anonymous {
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if key, _, _ := strings.Cut(field.Tag.Get("setting"), ","); name != "-" && name != key {
			t.Errorf("the tag json of %s is %q: give its key, or - if it changes no result", field.Name, name)
		}
		if name != "-" {
			named = append(named, name)
		}
	}
	for _, s := range List[Record]() {
		recorded = append(recorded, s.Key)
	}
	if !slices.Equal(named, recorded) {
		t.Errorf("settings that change results: %v\nsettings of a record:        %v", named, recorded)
	}
}

func TestSearchKey(t *testing.T) {
	for want, s := range map[string]Searching{
		"exact":                        {Search: "exact"},
		"faiss:IVF8,Flat nprobe=3":     {Search: "faiss:IVF8,Flat", NProbe: 3},
		"exact efSearch=20":            {Search: "exact", EfSearch: 20},
		"faiss:X nprobe=3 efSearch=20": {Search: "faiss:X", NProbe: 3, EfSearch: 20},
		"ivf:64 nprobe=3 lopsided=8 taken whole small": {Search: "ivf:64", NProbe: 3},
		"faiss:HNSW8,Flat": {Search: "faiss:HNSW8,Flat", SearchApproximate: "auto may take it"},
	} {
		if got := s.SearchKey(); got != want {
			t.Errorf("%+v: %q, want %q", s, got, want)
		}
	}
}

func TestDifferences(t *testing.T) {
	of := func(encoder string, d Decision) Record { return Record{Encoding: Encoding{encoder}, Decision: d} }
	before := of("a", Decision{K: 4, Scorer: "a", Cut: "f1"})
	for _, c := range []struct {
		now  Record
		want string
	}{
		{before, ""},
		{of("b", Decision{K: 8, Scorer: "a", Cut: "f1"}), "encoder was a, is b, k was 4, is 8"},
		{of("a", Decision{K: 4, Scorer: "a", Threshold: 0.9}), "threshold was -1, is 0.9"},
		{of("a", Decision{K: 4, Scorer: "a"}), "threshold was -1, is 0"},
		{of("a", Decision{K: 4, Scorer: "a", Precision: 0.9}), "precision was 0, is 0.9"},
		{of("a", Decision{K: 4, Scorer: "a", Cut: "f2"}), "cut was f1, is f2"},
		{of("a", Decision{K: 4, Scorer: "a", Threshold: -1}), "scorer was a, is none"},
		{of("a", Decision{K: 4, Threshold: 1.06}), "threshold was -1, is 1.06, scorer was a, is none"},
	} {
		if got := before.Differences(c.now); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	pages := before
	pages.Dividing = Dividing{Split: "on", Dedup: "pages"}
	pages.Aligning = Aligning{Documents: "on", DocScore: 0.5, BeadScore: 0.4}
	const want = "split was auto, is on, dedup was off, is pages, documents was off, is on"
	if got := before.Differences(pages); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestParseBytes(t *testing.T) {
	for text, want := range map[string]int64{
		"": 0, "1500000": 1500000, "4e6": 4000000, "512KiB": 512 << 10, "512MiB": 512 << 20, "1.5 GiB": 3 << 29, "2TiB": 2 << 40,
		"7B": 7, "8kB": 8000, "8KB": 8000, "300MB": 300000000, "4GB": 4000000000, "0.5 TB": 500000000000,
	} {
		if got, err := ParseBytes(text); err != nil || got != want {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"GiB", "4gb", "4 G", "-1", "0", "0.3", "nan", "inf", "1e30", "2000000TiB", "4GiB4"} {
		if got, err := ParseBytes(text); err == nil || !strings.Contains(err.Error(), "kB, MB, GB, TB, KiB, MiB, GiB or TiB") {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
}

func TestProblems(t *testing.T) {
	good := config{Decision: Decision{K: 4}, Nights: Nights{Keep: 1}, Checks: Checks{SearchRecall: 1}}
	for want, change := range map[string]func(*config){
		"":                            func(*config) {},
		"k = 0 must be from 1 to 64":  func(c *config) { c.K = 0 },
		"k = 65 must be from 1 to 64": func(c *config) { c.K = 65 },
		"keep = 0 must be at least 1": func(c *config) { c.Keep = 0 },
		"search_recall = NaN must be from 0 to 1":                           func(c *config) { c.SearchRecall = math.NaN() },
		"search_recall = 1.5 must be from 0 to 1":                           func(c *config) { c.SearchRecall = 1.5 },
		"nprobe = -3 must be at least 0; ef_search = -1 must be at least 0": func(c *config) { c.NProbe, c.EfSearch = -3, -1 },
	} {
		c := good
		change(&c)
		if got := strings.Join(Problems(c), "; "); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestResolve(t *testing.T) {
	r := Resources{}
	if err := r.Resolve(); err != nil || r.Threads < 1 {
		t.Errorf("%d threads, %v", r.Threads, err)
	}
	r.Threads = -1
	if err := r.Resolve(); !badinput.Is(err) || err.Error() != "settings: threads = -1 must be from 0 to 4096" {
		t.Errorf("error %v", err)
	}
}
