package tokenizer_test

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"bitextmine/encode/tokenizer"
)

// parts is testdata/references/parts.json.gz: models, and tokenizers that have one of them.
type parts struct {
	Models     map[string]map[string]any `json:"models"`
	Tokenizers map[string]struct {
		File    map[string]any      `json:"file"`
		Max     int                 `json:"max"`
		Digests map[string][]string `json:"digests"`
	} `json:"tokenizers"`
}

func readParts(t testing.TB) parts {
	t.Helper()
	f, err := os.Open("testdata/references/parts.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }() // it is only read
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var all parts
	if err := json.NewDecoder(z).Decode(&all); err != nil {
		t.Fatal(err)
	}
	return all
}

// open reads a tokenizer.
func (p parts) open(t testing.TB, name string) *tokenizer.HuggingFace {
	t.Helper()
	file := p.Tokenizers[name].File
	own := file["model"].(map[string]any)
	whole := maps.Clone(p.Models[own["base"].(string)])
	maps.Copy(whole, own)
	file = maps.Clone(file)
	file["model"] = whole
	raw, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	m, err := tokenizer.NewHuggingFace(raw)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return m
}

// TestParts: every part of a tokenizer.json gives the ids of Hugging Face's library. With REFERENCES=DIR it compares
// all 20,000 natural lines, not 2,000 of them, and shows the lines that differ from what parts.py left there.
func TestParts(t *testing.T) {
	lines := map[string][]string{"fixtures": fixtureLines(t), "natural": naturalLines(t), "hostile": hostileLines(5000)}
	const few = 2000
	if natural := lines["natural"]; os.Getenv("REFERENCES") == "" && natural != nil {
		lines["natural"] = natural[:few]
	}
	all := readParts(t)
	for _, name := range slices.Sorted(maps.Keys(all.Tokenizers)) {
		m := all.open(t, name)
		for kind, text := range lines {
			if text == nil {
				continue
			}
			t.Run(name+", "+kind, func(t *testing.T) {
				var rows [][]int32
				if err := m.Encode(text, all.Tokenizers[name].Max,
					func(_ int, ids []int32) { rows = append(rows, slices.Clone(ids)) }); err != nil {
					t.Fatal(err)
				}
				whole := filepath.Join(os.Getenv("REFERENCES"), name+"."+kind+".ids")
				const together = 500
				digests := all.Tokenizers[name].Digests[kind]
				for i, want := range digests[:min(len(digests), (len(text)+together-1)/together)] {
					var b strings.Builder
					for _, row := range rows[i*together : min((i+1)*together, len(rows))] {
						b.WriteString(format(row))
					}
					if sum := sha256.Sum256([]byte(b.String())); hex.EncodeToString(sum[:])[:8] != want {
						t.Fatalf("the ids of lines from %d differ%s", i*together, difference(text, rows, whole))
					}
				}
			})
		}
	}
}

// BenchmarkEncode splits sentences of 20 words, as fast as 100,000 a second on two cores.
func BenchmarkEncode(b *testing.B) {
	all := readParts(b)
	var text []string
	words := 0
	var sentence strings.Builder
	for _, line := range naturalLines(b) {
		for _, word := range strings.Fields(line) {
			if sentence.WriteString(word); words == 19 {
				text = append(text, sentence.String())
				sentence.Reset()
				words = 0
				continue
			}
			sentence.WriteByte(' ')
			words++
		}
	}
	if text == nil {
		b.Skip("the development data is not beside the checkout")
	}
	for _, name := range []string{"t5", "albert", "gemma", "llama2", "gpt2", "qwen", "llama3", "deepseek", "bert"} {
		b.Run(name, func(b *testing.B) {
			m := all.open(b, name)
			var next atomic.Int64
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					at := int(next.Add(1)) % (len(text) / 64) * 64 // a batch
					if err := m.Encode(text[at:at+64], 512, func(int, []int32) {}); err != nil {
						b.Error(err)
					}
				}
			})
			b.ReportMetric(float64(b.N)*64/b.Elapsed().Seconds(), "sentences/s")
		})
	}
}
