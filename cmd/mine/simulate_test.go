package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/internal/badinput"
)

// TestSimulationHasItsLanguages: they are those of the cluster's file. Others are refused, and none need be given.
func TestSimulationHasItsLanguages(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cluster.yaml")
	if err := os.WriteFile(file, []byte(`
languages: {de: {sentences: 3e6, bytes: 100}, en: {sentences: 2e6, bytes: 100}}
pairs: [de-en]
machines: [{name: cpu, count: 2, cores: 4, memory: 16GiB, rates: {shard: 1e8, encode: 1e4, search: 1e8, merge: 1e6, describe: 1e5, features: 1e5, match: 1e5}}]
`), 0o600); err != nil {
		t.Fatal(err)
	}
	want := must(t, "plan", "--simulate", file)
	if !strings.Contains(want, "de: 3000000 sentences") {
		t.Errorf("output %s", want)
	}
	if got := must(t, "plan", "--simulate", file, "--src", "deu", "--tgt", "en"); got != want {
		t.Errorf("with its languages:\n%s, without:\n%s", got, want)
	}
	for _, other := range [][]string{{"--src", "fr", "--tgt", "en"}, {"--langs", "de,en"}} {
		_, err := command(t, append([]string{"plan", "--simulate", file}, other...)...)
		if !badinput.Is(err) || !strings.Contains(err.Error(), file+" is of de-en, not of the languages") {
			t.Errorf("%v: error %v", other, err)
		}
	}
}
