package teacher

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/encode"
	"bitextmine/encode/encodetest"
	"bitextmine/fixtures"
	"bitextmine/internal/badinput"
	"bitextmine/internal/lockfile"
)

func TestMain(m *testing.M) { encodetest.Main(m) }

// fake makes vectors of texts' letters and counts what it encodes.
type fake struct {
	encoded []string
	fail    error
	closed  bool
}

func (f *fake) Name() string   { return "fake" }
func (f *fake) Digest() string { return "d1" }
func (f *fake) Dim() int       { return 3 }
func (f *fake) Close() error   { f.closed = true; return nil }
func (f *fake) Encode(_ context.Context, language string, texts []string, dst []float32) error {
	if f.fail != nil {
		return f.fail
	}
	for i, text := range texts {
		f.encoded = append(f.encoded, language+":"+text)
		copy(dst[3*i:], vector(language, text))
	}
	return nil
}

func vector(language, text string) []float32 {
	return []float32{float32(text[0]), float32(len(text)), float32(language[0])}
}

// opened is a teacher with a fake encoder whose vectors depend on the language.
func opened(t *testing.T, dir string) (*Teacher, *fake) {
	t.Helper()
	f := &fake{}
	teacher, err := New(f, dir, true)
	if err != nil {
		t.Fatal(err)
	}
	return teacher, f
}

func closed(t *testing.T, teacher *Teacher) {
	t.Helper()
	if err := teacher.Close(); err != nil {
		t.Fatal(err)
	}
}

func encoded(t *testing.T, teacher *Teacher, languages, texts []string) {
	t.Helper()
	got, err := teacher.Encode(t.Context(), languages, texts)
	if err != nil {
		t.Fatal(err)
	}
	var want []float32
	for i := range texts {
		want = append(want, vector(languages[i], texts[i])...)
	}
	if !slices.Equal(got, want) {
		t.Errorf("Encode(%v) = %v, want %v", texts, got, want)
	}
}

func TestEachSentenceIsEncodedOnce(t *testing.T) {
	dir := t.TempDir()
	teacher, f := opened(t, dir)
	encoded(t, teacher, []string{"en", "de", "en", "en", "de"}, []string{"one", "zwei", "one", "three", "one"})
	encoded(t, teacher, []string{"en", "en"}, []string{"three", "four"})
	if want := []string{"en:one", "en:three", "de:zwei", "de:one", "en:four"}; !slices.Equal(f.encoded, want) {
		t.Errorf("encoded %v, want %v", f.encoded, want)
	}
	closed(t, teacher)
	if !f.closed {
		t.Error("Close left the encoder open")
	}
	again, f := opened(t, dir)
	defer closed(t, again)
	encoded(t, again, []string{"de", "en"}, []string{"one", "one"})
	if f.encoded != nil || len(again.cache.rows) != 5 {
		t.Errorf("with a cache of %d, encoded %v again", len(again.cache.rows), f.encoded)
	}
}

func TestEncoderErrorLeavesTheCacheWhole(t *testing.T) {
	teacher, f := opened(t, t.TempDir())
	defer closed(t, teacher)
	encoded(t, teacher, []string{"en"}, []string{"one"})
	f.fail = badinput.Errorf("row 0 is zero")
	if _, err := teacher.Encode(t.Context(), []string{"en"}, []string{"two"}); !badinput.Is(err) {
		t.Errorf("error %v, want the encoder's", err)
	}
	f.fail = nil
	encoded(t, teacher, []string{"en", "en"}, []string{"two", "one"})
}

// TestCutCaches opens caches that a broken run left at every length of either file: what is whole is kept, the rest
// encoded again.
func TestCutCaches(t *testing.T) {
	languages, texts := []string{"en", "en", "en"}, []string{"one", "two", "three"}
	for name, record := range map[string]int{"index": entrySize, "vectors": 12} {
		dir := t.TempDir()
		path := filepath.Join(dir, "d1", name)
		head := 0
		if name == "index" {
			head = header
		}
		for size := 0; size <= head+3*record; size++ {
			teacher, _ := opened(t, dir)
			encoded(t, teacher, languages, texts)
			closed(t, teacher)
			if err := os.Truncate(path, int64(size)); err != nil {
				t.Fatal(err)
			}
			teacher, f := opened(t, dir)
			if kept := max(0, size-head) / record; len(teacher.cache.rows) != kept {
				t.Errorf("%s of %d bytes: %d vectors kept, want %d", name, size, len(teacher.cache.rows), kept)
			}
			before := len(teacher.cache.rows)
			encoded(t, teacher, languages, texts)
			if len(f.encoded) != 3-before {
				t.Errorf("%s of %d bytes: encoded %v", name, size, f.encoded)
			}
			closed(t, teacher)
		}
	}
}

func TestDamageIsBadInput(t *testing.T) {
	for name, at := range map[string]int64{"index": 3, "vectors": 13} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			teacher, _ := opened(t, dir)
			encoded(t, teacher, []string{"en", "en"}, []string{"one", "two"})
			closed(t, teacher)
			flip(t, filepath.Join(dir, "d1", name), at)
			again, err := New(&fake{}, dir, true)
			if err == nil {
				_, err = again.Encode(t.Context(), []string{"en", "en"}, []string{"one", "two"})
				closed(t, again)
			}
			if !badinput.Is(err) {
				t.Errorf("error %v, want badinput", err)
			}
		})
	}
}

func TestDamagedEntryIsBadInput(t *testing.T) {
	dir := t.TempDir()
	teacher, _ := opened(t, dir)
	encoded(t, teacher, []string{"en"}, []string{"one"})
	closed(t, teacher)
	flip(t, filepath.Join(dir, "d1", "index"), int64(header+entrySize-1)) // its CRC
	again, _ := opened(t, dir)
	defer closed(t, again)
	if _, err := again.Encode(t.Context(), []string{"en"}, []string{"one"}); !badinput.Is(err) {
		t.Errorf("error %v, want badinput", err)
	}
}

func flip(t *testing.T, path string, at int64) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	raw[at] ^= 0x10
	if err := os.WriteFile(path, raw, 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestOneTrainingAtATime(t *testing.T) {
	dir := t.TempDir()
	teacher, _ := opened(t, dir)
	defer closed(t, teacher)
	locked := (*lockfile.Locked)(nil)
	if _, err := New(&fake{}, dir, true); !errors.As(err, &locked) || badinput.Is(err) || !strings.Contains(err.Error(), dir) {
		t.Errorf("error %v, want that another process holds the cache in %s", err, dir)
	}
}

// TestBuiltIn asks the built-in encoder, with and without a cache.
func TestBuiltIn(t *testing.T) {
	languages, texts := []string{"en", "de", "en"}, []string{"The house is small.", "Das Haus ist klein.", "It rains."}
	dir := t.TempDir()
	var first []float32
	for round := range 2 {
		teacher, err := Open(fixtures.Encoder, dir, encode.Options{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		got, err := teacher.Encode(t.Context(), languages, texts)
		if err != nil {
			t.Fatal(err)
		}
		if round == 0 {
			first = got
		} else if !slices.Equal(first, got) {
			t.Error("the cache has other vectors than the encoder gave")
		}
		dim := teacher.Dim()
		if translation, other := cosine(got[:dim], got[dim:2*dim]), cosine(got[:dim], got[2*dim:]); translation <= other {
			t.Errorf("a translation has the cosine %.3f, another sentence %.3f", translation, other)
		}
		closed(t, teacher)
	}
	if _, err := Open("no-such-encoder", dir, encode.Options{}); !badinput.Is(err) {
		t.Errorf("error %v, want badinput", err)
	}
}

func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab, aa, bb = ab+float64(a[i]*b[i]), aa+float64(a[i]*a[i]), bb+float64(b[i]*b[i])
	}
	return ab / math.Sqrt(aa*bb)
}
