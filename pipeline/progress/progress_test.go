package progress

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestLinesSayWhatWasDone(t *testing.T) {
	var out bytes.Buffer
	meter := lines{out: &out}.Start("encode", 300, "sentences")
	var adders sync.WaitGroup
	for range 3 {
		adders.Go(func() { meter.Add(100) })
	}
	adders.Wait()
	meter.Done()
	if !regexp.MustCompile(`^encode   300/300 sentences, [\d.]+[kMGT]?/s\n$`).MatchString(out.String()) {
		t.Errorf("%q", out.String())
	}
}

// TestSkippedItemsHaveNoRate: what was there already is done, but not at a million a second.
func TestSkippedItemsHaveNoRate(t *testing.T) {
	var out bytes.Buffer
	meter := lines{out: &out}.Start("encode", 300, "sentences")
	meter.Skip(300)
	meter.Done()
	if out.String() != "encode   300/300 sentences, done before\n" {
		t.Errorf("%q", out.String())
	}
}

func TestShort(t *testing.T) {
	for n, want := range map[float64]string{0: "0", 9.6: "10", 950: "950", 9_990: "9990", 12_345: "12.3k", 999_900: "1.00M", 4_560_000: "4.56M", 29378457916: "29.4G", 3.56e11: "356G", 2e12: "2.00T"} {
		if got := Short(n); got != want {
			t.Errorf("Short(%v) = %q, want %q", n, got, want)
		}
	}
}

func TestDatedLines(t *testing.T) {
	var out bytes.Buffer
	Dated(&out).Start("encode", 300, "sentences").Done()
	if !regexp.MustCompile(`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d encode   0/300 sentences\n$`).MatchString(out.String()) {
		t.Errorf("%q", out.String())
	}
}

// TestBarsSayWhatLinesSay: the end of a bar has the rate of all that was done now, and only that.
func TestBarsSayWhatLinesSay(t *testing.T) {
	for name, c := range map[string]struct {
		unit       string
		done, said int64
		ends       string
	}{
		"done now":    {"sentences", 10, 0, `encode   10/10 sentences, [\d.]+[kMGT]?/s 100% \[=+\]  `},
		"done before": {"sentences", 0, 10, `encode   10/10 sentences, done before 100% \[=+\]  `},
		"bytes":       {Bytes, 1 << 20, 0, `encode   1.05M/1.05M B, [\d.]+[kMGT]?/s 100% \[=+\]  `},
	} {
		var out bytes.Buffer
		meter := bars{&out, 80}.Start("encode", c.done+c.said, c.unit)
		meter.Skip(c.said)
		meter.Add(c.done)
		meter.Done()
		last := out.String()[strings.LastIndex(out.String(), "\r")+1:]
		if !regexp.MustCompile(`^`+c.ends+"\x1b\\[0K\n$").MatchString(last) || len(last) > 80+len("\x1b[0K\n") {
			t.Errorf("%s: %q", name, last)
		}
	}
}

// TestANarrowTerminalGetsLines: a bar that wraps leaves a line behind at each redraw.
func TestANarrowTerminalGetsLines(t *testing.T) {
	for columns, want := range map[int]bool{40: false, 59: false, 60: true, 200: true} {
		if _, bar := reporter(&bytes.Buffer{}, columns, true).(bars); bar != want {
			t.Errorf("bars in %d columns: %v", columns, bar)
		}
	}
	var out bytes.Buffer
	meter := bars{&out, 60}.Start("search", 1_143_830_143_000, "comparisons of known pairs and others")
	meter.Skip(1_143_830_142_000)
	meter.Add(1000)
	meter.Done()
	for _, drawn := range strings.Split(out.String(), "\r")[1:] {
		if text, _, _ := strings.Cut(drawn, "\x1b"); len(text) > 80 { // a buffer's width for the library
			t.Errorf("%q", text)
		}
		if text, _, _ := strings.Cut(drawn, "%"); len(text) > 60-10 {
			t.Errorf("%q", text)
		}
	}
}

func TestAFileGetsLines(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := New(f).(lines); !ok {
		t.Error("a file gets a terminal's bars")
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestTransfersStartAgain: each file has a meter, and one that is fetched again another.
func TestTransfersStartAgain(t *testing.T) {
	var out bytes.Buffer
	shown := Transfers{Reporter: lines{out: &out}}
	for _, step := range []struct {
		file string
		done int64
	}{{"a", 10}, {"a", 100}, {"b", 50}, {"b", 20}, {"b", 60}} {
		shown.Show(step.file, step.done, 100)
	}
	shown.Done()
	shown.Done()
	if got := strings.Count(out.String(), "\n"); got != 3 || strings.Count(out.String(), "b") < 2 {
		t.Errorf("the meters say %q", out.String())
	}
}
