package checkpoint

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"bitextmine/internal/badinput"
	"bitextmine/train/weights"
)

// files are those of a checkpoint, with values that tell its step.
func files(step int) map[string][]*weights.Tensor {
	one := func(name string) []*weights.Tensor {
		return []*weights.Tensor{{Name: name, Shape: []int{2}, Data: []float32{float32(step), 1}}}
	}
	return map[string][]*weights.Tensor{Encoder: one("e"), Heads: one("h"), Optimiser: one("o")}
}

// saved is a directory with checkpoints of steps, whose metric m is the step modulo 7.
func saved(t *testing.T, steps ...int) Dir {
	t.Helper()
	d := Dir{filepath.Join(t.TempDir(), "checkpoints")}
	if err := d.Open(); err != nil {
		t.Fatal(err)
	}
	for _, step := range steps {
		s := State{Step: step, Config: "c", Bitext: "b", Dev: map[string]float64{"m": float64(step % 7)}, Best: 0.1}
		if err := d.Save(s, map[string]string{"encoder": "{}"}, files(step)); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func steps(t *testing.T, d Dir) (found []int, incomplete []string) {
	t.Helper()
	all, incomplete, err := d.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		found = append(found, s.Step)
	}
	return found, incomplete
}

func TestSavedAndLoaded(t *testing.T) {
	d := saved(t, 20, 3)
	if found, incomplete := steps(t, d); !slices.Equal(found, []int{3, 20}) || incomplete != nil {
		t.Errorf("found %v, incomplete %v", found, incomplete)
	}
	to := []*weights.Tensor{{Name: "h", Shape: []int{2}, Data: make([]float32, 2)}}
	if err := d.Load(20, Heads, to); err != nil || to[0].Data[0] != 20 {
		t.Errorf("loaded %v, %v", to[0].Data, err)
	}
	to[0].Shape = []int{1, 2}
	if err := d.Load(20, Heads, to); !badinput.Is(err) || !strings.Contains(err.Error(), "another preset") {
		t.Errorf("a tensor of another shape: %v", err)
	}
	all, _, err := d.List()
	if err != nil || all[1].Dev["m"] != 6 || all[1].Best != 0.1 || len(all[1].Files) != 3 {
		t.Errorf("the state became %+v, %v", all[1], err)
	}
	if err := d.Save(State{Step: 20, Config: "again"}, nil, files(20)); err != nil {
		t.Fatal(err)
	}
	if all, _, err = d.List(); err != nil || len(all) != 2 || all[1].Config != "again" {
		t.Errorf("a checkpoint that was saved again: %v, %v", all, err)
	}
}

func TestPruneAndBest(t *testing.T) {
	for _, c := range []struct {
		metric string
		keep   int
		want   []int
		best   int
	}{{"", 5, []int{9}, 9}, {"m", 1, []int{6, 9}, 6}, {"m", 2, []int{5, 6, 9}, 6}, {"m", 0, []int{9}, 9}, {"no such metric", 1, []int{4, 9}, 4}} {
		d := saved(t, 4, 5, 6, 7, 8, 9)
		if err := d.Prune(c.metric, c.keep); err != nil {
			t.Fatal(err)
		}
		if found, _ := steps(t, d); !slices.Equal(found, c.want) {
			t.Errorf("metric %q, keep %d: %v are left, want %v", c.metric, c.keep, found, c.want)
		}
		if best, err := d.Best(c.metric); err != nil || best != c.best {
			t.Errorf("metric %q: the best is %d, want %d, %v", c.metric, best, c.best, err)
		}
		if left, _ := filepath.Glob(filepath.Join(d.Path, "*.tmp")); left != nil {
			t.Errorf("%v was left", left)
		}
	}
	if _, err := saved(t).Best(""); !badinput.Is(err) {
		t.Errorf("the best of none: %v", err)
	}
}

func TestBetter(t *testing.T) {
	var s State
	for i, c := range []struct {
		figure float64
		better bool
		since  int
	}{{-3, true, 0}, {-3, false, 1}, {-4, false, 2}, {1, true, 0}, {0, false, 1}} {
		if s.Better("m", c.figure) != c.better || s.Since != c.since {
			t.Errorf("figure %d: %+v", i, s)
		}
	}
}

// TestBestOfNegatives: a checkpoint that was not evaluated is no better than one with a negative correlation.
func TestBestOfNegatives(t *testing.T) {
	d := saved(t)
	for step, dev := range []map[string]float64{nil, {"m": -12}, {"m": -5}, {"n": 3}} {
		if err := d.Save(State{Step: step, Dev: dev}, nil, files(step)); err != nil {
			t.Fatal(err)
		}
	}
	if best, err := d.Best("m"); err != nil || best != 2 {
		t.Errorf("best is step %d, %v", best, err)
	}
}

// TestFollow: by another metric the best is that of the kept checkpoints; by the same one, or in a state of an earlier
// version, which names none, it stays.
func TestFollow(t *testing.T) {
	kept := []*State{{Step: 1, Dev: map[string]float64{"m": 90, "n": 3}}, {Step: 2}, {Step: 3, Dev: map[string]float64{"m": 80, "n": 2}}}
	for name, c := range map[string]struct {
		was, metric string
		best        float64
		since       int
	}{
		"the same": {"m", "m", 90, 5}, "an earlier version": {"", "n", 90, 5}, "no metric": {"m", "", 90, 5},
		"another": {"m", "n", 3, 1}, "one that no checkpoint has": {"m", "o", 0, 0},
	} {
		s := State{Metric: c.was, Best: 90, Since: 5, Evaluated: true}
		if s.Follow(c.metric, kept); s.Best != c.best || s.Since != c.since || s.Evaluated != (c.best > 0) {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// TestOpenABracketedDirectory takes what was left there, not in a directory whose path it would match as a pattern.
func TestOpenABracketedDirectory(t *testing.T) {
	dir := t.TempDir()
	left := func(name string) string { return filepath.Join(dir, name, "step-00000001.tmp") }
	for _, name := range []string{"o1", "o[1]"} {
		if err := os.MkdirAll(left(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := (Dir{filepath.Join(dir, "o[1]")}).Open(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"o1": true, "o[1]": false} {
		if _, err := os.Stat(left(name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestIncompleteIsIgnoredAndNamed: whichever files of a checkpoint are missing, the others are found.
func TestIncompleteIsIgnoredAndNamed(t *testing.T) {
	names := []string{Encoder, Heads, Optimiser, stateFile}
	for removed := 1; removed < 1<<len(names); removed++ {
		d := saved(t, 1, 2, 3)
		for i, name := range names {
			if removed>>i&1 == 1 {
				if err := os.Remove(filepath.Join(d.At(2), name)); err != nil {
					t.Fatal(err)
				}
			}
		}
		found, incomplete := steps(t, d)
		if !slices.Equal(found, []int{1, 3}) || len(incomplete) != 1 || !strings.Contains(incomplete[0], d.At(2)) {
			t.Errorf("without %04b found %v, incomplete %v", removed, found, incomplete)
		}
		if err := d.Save(State{Step: 2}, nil, files(2)); err != nil {
			t.Fatal(err)
		}
		if found, incomplete = steps(t, d); len(found) != 3 || incomplete != nil {
			t.Errorf("saved again, found %v, incomplete %v", found, incomplete)
		}
	}
}

// TestChangedIsRefused: a bit of any byte of any file.
func TestChangedIsRefused(t *testing.T) {
	d := saved(t, 5)
	for name, tensors := range files(5) {
		flipped(t, filepath.Join(d.At(5), name), func() error { return d.Load(5, name, tensors) })
		flipped(t, filepath.Join(d.At(5), name), func() error { return Verify(d.At(5), name) })
	}
	flipped(t, filepath.Join(d.At(5), stateFile), func() error {
		_, _, err := d.List()
		return err
	})
	if err := os.Rename(d.At(5), d.At(6)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := d.List(); !badinput.Is(err) || !strings.Contains(err.Error(), "holds the checkpoint of step 5") {
		t.Errorf("a checkpoint under another name: %v", err)
	}
}

func flipped(t *testing.T, path string, try func() error) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range text {
		changed := slices.Clone(text)
		changed[i] ^= 1 << (i % 8)
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := try(); !badinput.Is(err) || !strings.Contains(err.Error(), filepath.Base(path)) {
			t.Fatalf("%s with byte %d changed: %v", path, i, err)
		}
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := try(); err != nil {
		t.Fatal(err)
	}
}

const killedDir = "MINE_TEST_CHECKPOINTS"

// TestKilledAnywhere: a process that saves and removes checkpoints is killed, and its last saved one is there.
func TestKilledAnywhere(t *testing.T) {
	if dir := os.Getenv(killedDir); dir != "" {
		saveForEver(Dir{dir})
	}
	d := saved(t)
	rng := rand.New(rand.NewPCG(1, 1))
	for range 15 {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestKilledAnywhere$")
		cmd.Env = append(os.Environ(), killedDir+"="+d.Path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Duration(30+rng.IntN(120))*time.Millisecond, func() { _ = cmd.Process.Kill() })
		last := 0
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if _, err := fmt.Sscan(lines.Text(), &last); err != nil {
				t.Fatalf("the process said %q", lines.Text())
			}
		}
		if err := cmd.Wait(); err == nil {
			t.Fatal("the process ended by itself")
		}
		found, incomplete := steps(t, d)
		if incomplete != nil || last > 0 && (len(found) == 0 || found[len(found)-1] < last) {
			t.Fatalf("step %d was saved, and %v are there, %v", last, found, incomplete)
		}
		for _, step := range found {
			for name, tensors := range files(0) {
				if err := d.Load(step, name, tensors); err != nil || tensors[0].Data[0] != float32(step) {
					t.Fatalf("step %d, %s: %v, %v", step, name, tensors[0].Data, err)
				}
			}
		}
	}
}

// saveForEver goes on from the last checkpoint, prints each step when it is saved, and keeps two.
func saveForEver(d Dir) {
	fail := func(err error) {
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	fail(d.Open())
	all, _, err := d.List()
	fail(err)
	step := 0
	if len(all) > 0 {
		step = all[len(all)-1].Step
	}
	for {
		step++
		fail(d.Save(State{Step: step, Dev: map[string]float64{"m": float64(step % 7)}}, nil, files(step)))
		fmt.Println(step)
		fail(d.Prune("m", 1))
	}
}
