package train

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bitextmine/internal/badinput"
)

func TestJournalGoesOnAfterAStep(t *testing.T) {
	dir := t.TempDir()
	j, err := openJournal(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	for step := 1; step <= 4; step++ {
		if err := j.Add(JournalLine{Step: step, Loss: float64(step), Terms: map[string]float64{"forward": 1}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, journalFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text[:len(text)-3], 0o600); err != nil { // a crash leaves it so
		t.Fatal(err)
	}
	if lines, err := readJournal(dir); err != nil || len(lines) != 3 {
		t.Errorf("%d lines, %v, of a log whose fourth is cut short", len(lines), err)
	}
	if j, err = openJournal(dir, 2); err != nil {
		t.Fatal(err)
	}
	if err := j.Add(JournalLine{Step: 3, Dev: map[string]float64{"xsim": 2}}); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	lines, err := readJournal(dir)
	if err != nil || len(lines) != 3 || lines[1].Loss != 2 || lines[2].Dev["xsim"] != 2 {
		t.Errorf("%+v, %v", lines, err)
	}
}

func TestDamagedLogIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, journalFile), []byte("{\"step\":1}\nno line\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openJournal(dir, 5); !badinput.Is(err) || !strings.Contains(err.Error(), "line 2 is not a line of a training log") {
		t.Errorf("got %v", err)
	}
}

func TestConsole(t *testing.T) {
	for terminal, want := range map[bool]string{
		false: "read\nstep 3, epoch 0.50: loss 1.2500, a 1.0000, b 0.2500, 9 sentences/s, 1m0s left\nstep 3: m 50.00\n",
		true:  "\rread\r    \rstep 3: m 50.00\n\r",
	} {
		var out bytes.Buffer
		c := NewConsole(&out, terminal)
		c.Report("read")
		if !terminal {
			c.Progress(JournalLine{Step: 3, Epoch: 0.5, Loss: 1.25, Terms: map[string]float64{"b": 0.25, "a": 1}, Sentences: 9}, time.Minute)
		} else {
			c.Report("")
		}
		c.Progress(JournalLine{Step: 3, Dev: map[string]float64{"m": 50}}, 0)
		c.Close()
		if out.String() != want {
			t.Errorf("terminal %v: %q, want %q", terminal, out.String(), want)
		}
	}
}
