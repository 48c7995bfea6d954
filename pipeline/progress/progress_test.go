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
	out.Reset()
	drawn := bars{&out}.Start("encode", 10, "sentences")
	drawn.Skip(10)
	drawn.Done()
	if !bytes.Contains(out.Bytes(), []byte("10/10")) {
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

func TestBarIsDrawnToTheEnd(t *testing.T) {
	var out bytes.Buffer
	meter := bars{&out}.Start("encode", 10, "sentences")
	meter.Add(10)
	meter.Done()
	if !bytes.Contains(out.Bytes(), []byte("encode")) || !bytes.Contains(out.Bytes(), []byte("10/10")) {
		t.Errorf("%q", out.String())
	}
}

func TestABarOfBytesHasOneRate(t *testing.T) {
	var out bytes.Buffer
	meter := bars{&out}.Start("shard", 1<<20, Bytes)
	meter.Add(1 << 20)
	meter.Done()
	if last := out.String(); strings.Count(last[strings.LastIndex(last, "100%"):], "/s") != 1 {
		t.Errorf("%q", last)
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
