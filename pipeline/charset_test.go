package pipeline

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
)

// TestOtherEncoding: a file that is not UTF-8 is warned about with the encoding that it seems to be in and the flag
// that reads it, and with that flag it is mined as UTF-8 is. One with columns that are not read is warned about, too.
func TestOtherEncoding(t *testing.T) {
	dir := t.TempDir()
	de, lines := sentencesOf(t, dir, "de.txt")
	en, _ := sentencesOf(t, dir, "en.txt")
	cfg := testConfig(dir, filepath.Join(dir, "out"))
	cfg.SourceText, cfg.TargetText = []string{de}, []string{en}
	want := mustRun(t, cfg)
	for i, line := range lines {
		lines[i] = "id\t\t" + line
	}
	if err := os.WriteFile(de, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg.Out = filepath.Join(dir, "columns")
	if got := mustRun(t, cfg); !slices.ContainsFunc(got.Warnings, func(w string) bool { return strings.Contains(w, "--format bucc") }) {
		t.Errorf("lines with columns: warnings %q", got.Warnings)
	}
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, "id\t\t")
	}
	data, err := charmap.Windows1252.NewEncoder().String(strings.Join(lines, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(de, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg.Out = filepath.Join(dir, "lost")
	report := mustRun(t, cfg)
	if !slices.ContainsFunc(report.Warnings, func(w string) bool {
		return strings.Contains(w, "are not UTF-8") && strings.Contains(w, "--src-encoding windows-1252")
	}) {
		t.Errorf("warnings %q", report.Warnings)
	}
	cfg.Out, cfg.SourceCharset = filepath.Join(dir, "read"), "windows-1252"
	if got := mustRun(t, cfg); got.Counts.Kept != want.Counts.Kept || len(got.Warnings) != len(want.Warnings) {
		t.Errorf("%d pairs are kept, of UTF-8 %d; warnings %q", got.Counts.Kept, want.Counts.Kept, got.Warnings)
	}
	cfg.Out, cfg.SourceCharset = filepath.Join(dir, "wrong"), "shift_jis"
	if got := mustRun(t, cfg); !slices.ContainsFunc(got.Warnings, func(w string) bool {
		return strings.Contains(w, "cannot be read as shift_jis") && strings.HasSuffix(w, "another encoding with --src-encoding")
	}) {
		t.Errorf("another encoding: warnings %q", got.Warnings)
	}
}
