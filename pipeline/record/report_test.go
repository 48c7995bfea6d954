package record

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/internal/badinput"
	"bitextmine/pipeline/setting"
)

// TestBitextAt: a run is named by its directory, by that of nightly runs or by its bitext; any other file is itself.
func TestBitextAt(t *testing.T) {
	out := t.TempDir()
	night := filepath.Join(out, "runs", "000001-2026-11-22")
	if err := os.MkdirAll(night, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(night, filepath.Join(out, LatestName)); err != nil {
		t.Fatal(err)
	}
	var report Report
	report.Bitext.Path = "/moved/from/de-en.parquet"
	if err := report.Write(filepath.Join(night, ReportName)); err != nil {
		t.Fatal(err)
	}
	bitext, other, alone := filepath.Join(night, "de-en.parquet"), filepath.Join(night, "fr-en.parquet"), filepath.Join(t.TempDir(), "x.tsv")
	for _, file := range []string{bitext, other, alone} {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	latest, own := filepath.Join(out, LatestName), t.TempDir() // own has a file of that name
	if err := os.WriteFile(filepath.Join(own, LatestName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	pairs := t.TempDir()
	if err := os.WriteFile(filepath.Join(pairs, "train-0.parquet"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for location, want := range map[string]struct {
		bitext, at string // empty: an error that says
		says       string
	}{
		night:                   {bitext, night, ""},
		out:                     {filepath.Join(latest, "de-en.parquet"), latest, ""},
		bitext:                  {bitext, night, ""},
		other:                   {other, "", "wrote de-en.parquet, not fr-en.parquet"},
		alone:                   {alone, "", "x.tsv is the bitext of no run: "},
		filepath.Join(out, "x"): {"", "", "neither a run's output directory"},
		t.TempDir():             {"", "", "has no run.json"},
		own:                     {"", "", "has no run.json"},
		pairs:                   {"", "", "one at a time, such as " + filepath.Join(pairs, "train-0.parquet")},
	} {
		got, err := BitextAt(location)
		if got != want.bitext || (err != nil) != (want.bitext == "") || err != nil && (!badinput.Is(err) || !strings.Contains(err.Error(), want.says)) {
			t.Errorf("the bitext at %s is %q, want %q, error %v", location, got, want.bitext, err)
		}
		r, at, err := ReadLatest(location)
		if at != want.at || (r != nil) != (want.at != "") || err != nil && (!badinput.Is(err) || !strings.Contains(err.Error(), want.says)) {
			t.Errorf("run.json of %s is in %q, want %q, error %v", location, at, want.at, err)
		}
	}
}

// TestDifferences: models and scorers are told by name, by their digests only where those have one name.
func TestDifferences(t *testing.T) {
	of := func(encoder, scorer, name, judge string, threshold float64) *Report {
		var r Report
		r.Settings.Encoder, r.Encoder.Name, r.Settings.Cut = encoder, "labse", setting.DefaultCut
		if r.Settings.Threshold, r.Settings.Scorer = threshold, scorer; scorer != "" {
			r.Scorer = &ScorerReport{Name: name}
		}
		if r.Settings.Judge = judge; judge != "" {
			r.Judge = &EncoderReport{Name: "judge"}
		}
		return &r
	}
	before := of("0123456789abcdef", "ffff", "default", "", 0)
	for want, now := range map[string]*Report{
		"": before,
		"encoder was labse (0123456789ab), is labse (abcdefabcdef)": of("abcdefabcdefabcd", "ffff", "default", "", 0),
		"scorer was default, is mine":                               of("0123456789abcdef", "eeee", "mine", "", 0),
		"scorer was default, is none":                               of("0123456789abcdef", "ffff", "default", "", setting.AutoThreshold),
		"judge was none, is judge":                                  of("0123456789abcdef", "ffff", "default", "aaaa", 0),
		"scorer was default, is eeee":                               of("0123456789abcdef", "eeee", "", "", 0),
	} {
		if got := before.Differences(now); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestRejectedWarning: of pairs that rules rejected, not of those that people did.
func TestRejectedWarning(t *testing.T) {
	r := &Report{}
	r.Counts.Kept = 10
	for _, reason := range []string{"label", "untranslated"} {
		r.Rejected = append(r.Rejected, Rejected{reason, 7, []Sample{{Source: "a", Target: "b"}}})
		warning := r.RejectedWarning()
		if want := map[string]string{"label": "", "untranslated": "7 pairs are rejected and 10 kept (untranslated 7,"}[reason]; !strings.HasPrefix(warning, want) || want == "" && warning != "" {
			t.Errorf("with %s: %q", reason, warning)
		}
	}
}
