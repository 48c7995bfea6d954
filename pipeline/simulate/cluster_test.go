package simulate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/internal/badinput"
)

const small = `
languages:
  de: {sentences: 3e6, bytes: 100}
  en: {sentences: 2e6, bytes: 100}
pairs: [de-en]
currency: EUR
machines:
  - {name: cpu, count: 2, cores: 4, memory: 16GiB, price: 1, rates: {shard: 1e8, encode: 1e4, search: 1e8, merge: 1e6, match: 1e5}}
`

// edited is the small cluster with one change.
func edited(t testing.TB, old, with string) *Cluster {
	t.Helper()
	if !strings.Contains(small, old) {
		t.Fatalf("the cluster has no %q", old)
	}
	c, err := decode([]byte(strings.Replace(small, old, with, 1)))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestABadClusterIsRefusedByName(t *testing.T) {
	for _, test := range []struct{ old, with, want string }{
		{"sentences: 3e6", "sentences: 0", "languages.de.sentences = 0"},
		{"sentences: 3e6", "sentences: .nan", "languages.de.sentences = NaN"},
		{"sentences: 3e6", "sentences: 3e6, added: 4e6", "languages.de.added = 4e+06"},
		{"sentences: 3e6, bytes: 100", "sentences: 3e6", "languages.de.bytes = 0"},
		{"[de-en]", "[]", "pairs names none"},
		{"[de-en]", "[de-fr]", `pairs has "de-fr"`},
		{"[de-en]", "[de-de]", `pairs has "de-de"`},
		{"[de-en]", "[de-en, de-en]", "twice"},
		{"languages:", "languages:\n  fr: {sentences: 1e6, bytes: 100}", "languages.fr is in none of the pairs"},
		{"count: 2", "count: 0", `machine "cpu": count must be 1`},
		{"memory: 16GiB", "memory: lots", `line 8: "lots"`},
		{"memory: 16GiB, ", "", "memory must be given"},
		{"price: 1", "price: -1", "price = -1"},
		{"price: 1", "prize: 1", "field prize not found"},
		{"match: 1e5", "match: 0", "rates.match = 0"},
		{"match: 1e5", "d: 0, c: 0, b: 0, a: 0", "rates.a = 0, which must be more than 0; machine \"cpu\": rates.b = 0, which must be more than 0; machine \"cpu\": rates.c = 0"},
	} {
		path := filepath.Join(t.TempDir(), "cluster.yaml")
		if err := os.WriteFile(path, []byte(strings.Replace(small, test.old, test.with, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := ReadCluster(path)
		if err == nil || !badinput.Is(err) || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("with %q the error is %v, want %q", test.with, err, test.want)
		}
	}
	if _, err := ReadCluster(filepath.Join(t.TempDir(), "none.yaml")); !badinput.Is(err) {
		t.Errorf("without a file the error is %v", err)
	}
}

func FuzzCluster(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte("languages: {de: {sentences: 1e300}}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := decode(data)
		if err != nil {
			return
		}
		for code, corpus := range c.Languages {
			if n := shards(corpus, 1000); !(n >= 1 && n <= maxSentences) {
				t.Errorf("%s has %v shards", code, n)
			}
		}
	})
}
