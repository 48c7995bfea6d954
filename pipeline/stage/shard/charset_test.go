package shard

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"

	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/corpus/shard"
	"bitextmine/internal/badinput"
)

// TestCharsetOfAWholeFile: the error for a file without a line in UTF-8 names the encoding that it seems to be in.
func TestCharsetOfAWholeFile(t *testing.T) {
	const russian = "Сегодня утром в городе открыли новую библиотеку для детей.\nЖители давно ждали этого и пришли целыми семьями."
	data, err := charmap.KOI8R.NewEncoder().String(russian)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{data: "name its encoding with --encoding, which seems to be koi8-r", "\xff\xff\n": "name its encoding with --encoding"} {
		file := input.File{Path: filepath.Join(t.TempDir(), "text.txt")}
		if err := os.WriteFile(file.Path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		texts := []shard.Text{{File: file, Options: corpus.DefaultOptions()}}
		err := withCharset(shard.Check(context.Background(), texts[0]), texts, "ru")
		if !badinput.Is(err) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
