package pipeline

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"bitextmine/corpus/corpustest"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/config"
	"bitextmine/pipeline/night"
	"bitextmine/pipeline/record"
)

// TestNightSetsBadFilesAside: files that cannot be used cost a night nothing but a warning; the bitext is that of the
// others. A run that must not skip them fails, also after a night that did.
func TestNightSetsBadFilesAside(t *testing.T) {
	files := mineNights(t, 3)
	text, out := newText(t), filepath.Join(t.TempDir(), "out")
	for i := range 3 {
		text.putNight(files, i)
	}
	cfg := text.config(out)
	want := text.fresh()
	cfg.OnBadFile, cfg.Metrics = config.SkipBadFile, filepath.Join(t.TempDir(), "mine.prom")
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(files[0][0]); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	bad := map[string][]byte{
		"picture.txt": []byte("\x89PNG\r\n\x1a\n"), "half.txt.gz": packed.Bytes()[:packed.Len()/2], "stray.pdf": []byte("%PDF-1.7\n\xe2\xe3\xcf\xd3\n1 0 obj\n"),
		"noise.txt": []byte("\xff\n\xfe\xff\xff\n"),
	}
	for name, data := range bad {
		text.put(0, name, data)
	}
	for i := range 2 { // the second finds what the first recorded
		opts, log := optionsLogged()
		_, err := Nightly(t.Context(), cfg, opts)
		if !badinput.Is(err) || !strings.Contains(err.Error(), "too much of the input") {
			t.Fatalf("night %d: 4 of 7 files are set aside: error %v", i, err)
		}
		if metrics := read(t, cfg.Metrics); !strings.Contains(metrics, `mine_set_aside_files{src="de",tgt="en"} 4`) {
			t.Errorf("metrics:\n%s", metrics)
		}
		text.remove(0, "stray.pdf")
		text.remove(0, "picture.txt")
		report, err := Nightly(t.Context(), cfg, opts)
		if err != nil {
			t.Fatal(err)
		}
		page, log2 := read(t, out, record.LatestName, night.SummaryName), log.String()
		for _, name := range []string{"half.txt.gz", "noise.txt"} {
			if !strings.Contains(page, name) || !strings.Contains(log2, name) {
				t.Errorf("night %d: %s is not named in the summary or the warning:\n%s\n%s", i, name, page, log2)
			}
		}
		if len(report.SetAside) != 2 || len(report.Warnings) != 1 || report.Bitext.SHA256 != want {
			t.Errorf("night %d: set aside %+v, warnings %q, the bitext is that of the other files: %v", i, report.SetAside, report.Warnings, report.Bitext.SHA256 == want)
		}
		text.put(0, "stray.pdf", bad["stray.pdf"])
		text.put(0, "picture.txt", bad["picture.txt"])
	}
	if metrics := read(t, cfg.Metrics); !strings.Contains(metrics, `mine_set_aside_files{src="de",tgt="en"} 2`) {
		t.Errorf("metrics:\n%s", metrics)
	}
	cfg.OnBadFile = config.FailBadFile
	if _, err := Nightly(t.Context(), cfg, options()); !badinput.Is(err) || !strings.Contains(err.Error(), ".txt") && !strings.Contains(err.Error(), ".pdf") {
		t.Errorf("a night that must not skip: error %v", err)
	}
}

// TestNightSetsBrokenLinksAside: a link that leads to no file, or to itself, is a bad file like others.
func TestNightSetsBrokenLinksAside(t *testing.T) {
	files := mineNights(t, 3)
	text, out := newText(t), filepath.Join(t.TempDir(), "out")
	for i := range 3 {
		text.putNight(files, i)
	}
	cfg := text.config(out)
	want := text.fresh()
	gone, loop := filepath.Join(text.dirs[0], "gone.txt"), filepath.Join(text.dirs[0], "loop.txt")
	for link, target := range map[string]string{gone: "nowhere.txt", loop: "loop.txt"} {
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Nightly(t.Context(), cfg, options()); !badinput.Is(err) || !strings.Contains(err.Error(), gone) || !strings.Contains(err.Error(), "--on-bad-file skip") {
		t.Errorf("a night that must not skip: error %v", err)
	}
	cfg.OnBadFile = config.SkipBadFile
	for range 2 {
		report, err := Nightly(t.Context(), cfg, options())
		if err != nil {
			t.Fatal(err)
		}
		if len(report.SetAside) != 2 || report.SetAside[0].Path != gone || report.SetAside[1].Path != loop || report.Bitext.SHA256 != want {
			t.Errorf("set aside %+v, the bitext is that of the other files: %v", report.SetAside, report.Bitext.SHA256 == want)
		}
	}
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	text.put(0, "gone.txt", files[0][0]) // the file is back
	if report, err := Nightly(t.Context(), cfg, options()); err != nil || len(report.SetAside) != 1 || len(report.Inputs) != 7 {
		t.Errorf("%+v, %v", report, err)
	}
}

// TestNightStopsWhereTextIsGone: half of a side's text is missing, as when a disk was not mounted.
func TestNightStopsWhereTextIsGone(t *testing.T) {
	files := mineNights(t, 3)
	text := newText(t)
	for i := range 3 {
		text.putNight(files, i)
	}
	cfg := text.config(filepath.Join(t.TempDir(), "out"))
	cfg.OnBadFile = config.SkipBadFile
	mustNight(t, cfg)
	mustNight(t, cfg)
	text.remove(0, nightText(0))
	text.remove(0, nightText(1))
	report := filepath.Join(cfg.Out, night.LatestName, record.ReportName)
	for _, damage := range []struct {
		name string
		do   func() error
	}{
		{"as it is", func() error { return nil }},
		{"an empty report", func() error { return os.Truncate(report, 0) }},
		{"no report", func() error { return os.Remove(report) }},
		{"no link", func() error { return os.Remove(filepath.Join(cfg.Out, night.LatestName)) }},
	} {
		if err := damage.do(); err != nil {
			t.Fatal(err)
		}
		if _, err := Nightly(t.Context(), cfg, options()); !badinput.Is(err) || !strings.Contains(err.Error(), "has shrunk from") || !strings.Contains(err.Error(), "--on-bad-file fail") {
			t.Errorf("%s: error %v", damage.name, err)
		}
	}
	cfg.OnBadFile = config.FailBadFile
	mustNight(t, cfg)
}

// TestOverwriteTakesLessText: a run that replaces another may have less text.
func TestOverwriteTakesLessText(t *testing.T) {
	files := mineNights(t, 3)
	text := newText(t)
	for i := range 3 {
		text.putNight(files, i)
	}
	cfg := text.config(filepath.Join(t.TempDir(), "out"))
	cfg.OnBadFile = config.SkipBadFile
	mustRun(t, cfg)
	text.remove(0, nightText(0))
	text.remove(0, nightText(1))
	if _, err := Run(t.Context(), cfg, options()); !badinput.Is(err) || !strings.Contains(err.Error(), "has shrunk from") {
		t.Errorf("without --overwrite: %v", err)
	}
	cfg.Overwrite = true
	mustRun(t, cfg)
}

// TestMaxMemoryBoundsPages: a page of Parquet that is too large for max_memory stops the run, also one that sets bad
// files aside, because another run may have more memory.
func TestMaxMemoryBoundsPages(t *testing.T) {
	text := newText(t)
	for side, files := range mineNights(t, 1) {
		text.put(side, nightText(0), files[0])
	}
	type row struct {
		Text string `parquet:"text"`
	}
	large := slices.Repeat([]row{{strings.Repeat("ab c", 1<<13)}}, 24<<20>>15) // rows of one page
	text.put(0, "large.parquet", corpustest.Parquet(t, large, parquet.Compression(&parquet.Zstd), parquet.PageBufferSize(64<<20)))
	cfg := text.config(filepath.Join(t.TempDir(), "out"))
	cfg.OnBadFile, cfg.MaxMemory = config.SkipBadFile, "400MB"
	cfg.Threads = 1
	if _, err := Run(t.Context(), cfg, options()); !badinput.Is(err) || !strings.Contains(err.Error(), "--max-memory") || !strings.Contains(err.Error(), "large.parquet") {
		t.Fatalf("error %v", err)
	}
	cfg.MaxMemory = "900MB"
	if summary := mustRun(t, cfg); len(summary.SetAside) > 0 {
		t.Errorf("set aside %v", summary.SetAside)
	}
}
