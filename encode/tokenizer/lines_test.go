package tokenizer_test

import (
	"archive/tar"
	"bufio"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

func fixtureLines(t testing.TB) []string {
	t.Helper()
	var all []string
	for _, name := range []string{"de.txt", "en.txt"} {
		raw, err := os.ReadFile("../../fixtures/text/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(raw)) {
			_, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			all = append(all, text)
		}
	}
	return all
}

// naturalLines are 20,000 lines of FLORES in 64 languages; nil in short tests and if the archive is not there.
func naturalLines(t testing.TB) []string {
	t.Helper()
	if testing.Short() {
		return nil
	}
	f, err := os.Open("../../../shared/data/flores60.tar.zst")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }() // it is only read
	z, err := zstd.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	files := map[string][]string{}
	for archive := tar.NewReader(z); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(header.Name, ".dev") {
			for lines := bufio.NewScanner(archive); lines.Scan(); {
				files[header.Name] = append(files[header.Name], lines.Text())
			}
		}
	}
	var all []string
	for at := 0; len(all) < 20000; at++ { // a line of each language in turn
		for _, name := range slices.Sorted(mapKeys(files)) {
			if at < len(files[name]) && len(all) < 20000 {
				all = append(all, files[name][at])
			}
		}
	}
	return all
}

func mapKeys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for key := range m {
			if !yield(key) {
				return
			}
		}
	}
}

// hostileLines returns lines of everything that tokenizers treat specially: combining marks, joiners, directions,
// emoji, control characters, compatibility forms, very long words, scripts without spaces, and letters beyond the first
// plane. They have no NUL and no line feed, which ends a line for spm_encode.
func hostileLines(n int) []string {
	rng := rand.New(rand.NewPCG(7, 11))
	blocks := [][2]rune{{0x20, 0x7e}, {0x20, 0x20}, {0x61, 0x7a}, {0x41, 0x5a}, {0x01, 0x09}, {0x0b, 0x1f}, {0x7f, 0xa0}, {0xa1, 0xff}, {0x100, 0x24f}, {0x300, 0x36f}, {0x370, 0x3ff},
		{0x400, 0x52f}, {0x531, 0x587}, {0x591, 0x5f4}, {0x600, 0x6ff}, {0x900, 0x97f}, {0x980, 0x9fe}, {0xb82, 0xbfa}, {0xe01, 0xe5b}, {0x1000, 0x109f},
		{0x10a0, 0x10ff}, {0x1100, 0x11ff}, {0x1200, 0x137c}, {0x1780, 0x17f9}, {0x1e00, 0x1fff}, {0x2000, 0x206f}, {0x2070, 0x218b}, {0x2190, 0x23ff}, {0x2460, 0x24ff},
		{0x2600, 0x27bf}, {0x3000, 0x303f}, {0x3041, 0x30ff}, {0x3131, 0x318e}, {0x3200, 0x33ff}, {0x4e00, 0x9fff}, {0xac00, 0xd7a3}, {0xe000, 0xe010},
		{0xf900, 0xfad9}, {0xfb00, 0xfb4f}, {0xfb50, 0xfdff}, {0xfe00, 0xfe0f}, {0xfe70, 0xfeff}, {0xff01, 0xffef}, {0xfffd, 0xfffd}, {0x10000, 0x100fa},
		{0x1d400, 0x1d7ff}, {0x1f1e6, 0x1f1ff}, {0x1f300, 0x1f64f}, {0x1f900, 0x1f9ff}, {0x20000, 0x20100}, {0x2f800, 0x2fa1d}, {0xe0100, 0xe01ef}}
	special := []string{"\u200d", "\u200c", "\u200b", "\u2060", "\ufeff", "\u202e", "\u2066", "\u2069", "\u00ad", "\u0301", "\u0308", "\u3099", "\u0e33", "\u093c", "ﬁ", "ﷺ", "㍿", "½",
		"İ", "ı", "ß", "ẞ", "Σ", "ς", "ŉ", "ǰ", "  ", "\u3000", "\u00a0", "\u2028", "\u0085", "▁", "##", "👩‍👩‍👧", "🏳️‍🌈", "é", "e\u0301", "각", "ᄀ\u1161\u11a8", "…", "™", "\t", "\r"}
	draw := func(block [2]rune) rune { return block[0] + rng.Int32N(block[1]-block[0]+1) }
	lines := make([]string, n)
	for i := range lines {
		var b strings.Builder
		block := blocks[rng.IntN(len(blocks))]
		length := 1 + rng.IntN(60)
		if i%97 == 0 {
			length = 300 + rng.IntN(1500) // one very long word
		}
		for range length {
			switch k := rng.IntN(100); {
			case k < 60:
				b.WriteRune(draw(block))
			case k < 70 && i%97 != 0:
				b.WriteByte(' ')
			case k < 80:
				b.WriteString(special[rng.IntN(len(special))])
			case k < 90:
				block = blocks[rng.IntN(len(blocks))]
			default:
				b.WriteRune(draw(blocks[rng.IntN(len(blocks))]))
			}
		}
		lines[i] = b.String()
	}
	return lines
}
