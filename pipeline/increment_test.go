package pipeline

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"bitextmine/pipeline/record"
)

// mineNights lays a corpus out as a file for every night and side; some lines stand in two nights' files, some twice in
// one.
func mineNights(t testing.TB, n int) (files [2][][]byte) {
	t.Helper()
	dir := corpora(t, 60*n)
	for side, name := range []string{"de.txt", "en.txt"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		lines := bytes.SplitAfter(bytes.TrimSpace(data), []byte("\n"))
		for night := range n {
			part := slices.Clone(lines[night*len(lines)/n : (night+1)*len(lines)/n])
			part = append(part, lines[(night*7)%len(lines)], lines[(night*13)%len(lines)], part[0])
			files[side] = append(files[side], bytes.Join(part, nil))
		}
	}
	return files
}

// text is the directories that a run reads.
type text struct {
	t    testing.TB
	dirs [2]string
}

func newText(t testing.TB) text { return text{t, [2]string{t.TempDir(), t.TempDir()}} }

func (x text) put(side int, name string, content []byte) {
	x.t.Helper()
	if err := os.WriteFile(filepath.Join(x.dirs[side], name), content, 0o600); err != nil {
		x.t.Fatal(err)
	}
}

// putNight puts both sides of a night of mineNights.
func (x text) putNight(files [2][][]byte, i int) {
	x.t.Helper()
	for side := range 2 {
		x.put(side, nightText(i), files[side][i])
	}
}

func (x text) remove(side int, name string) {
	x.t.Helper()
	if err := os.Remove(filepath.Join(x.dirs[side], name)); err != nil {
		x.t.Fatal(err)
	}
}

func (x text) config(out string) Config {
	cfg := testConfig("", out)
	cfg.SourceText, cfg.TargetText = x.dirs[:1], x.dirs[1:]
	cfg.KeepBelow = true
	return cfg
}

// fresh returns the digest of the bitext of a run that knows of no earlier one.
func (x text) fresh() string {
	x.t.Helper()
	return mustRun(x.t, x.config(filepath.Join(x.t.TempDir(), "fresh"))).Bitext.SHA256
}

func nightText(i int) string { return fmt.Sprintf("night%02d.txt", i) }

// searched is the number of cells that a run searched.
func searched(r *record.Report) int {
	for _, s := range r.Stages {
		if s.Name == "search" {
			return s.Tasks - s.Cached
		}
	}
	return -1
}

// TestNightsEqualOneRun: a run after every night's files ends with the bytes of one run over all, in whatever order
// they came.
func TestNightsEqualOneRun(t *testing.T) {
	const n = 5
	files := mineNights(t, n)
	text := newText(t)
	put := func(i int) { text.putNight(files, i) }
	for i := range n {
		put(i)
	}
	want := text.fresh()
	random := rand.New(rand.NewPCG(5, 5))
	for _, order := range [][]int{{0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}, random.Perm(n)} {
		t.Run(fmt.Sprint(order), func(t *testing.T) {
			for i := range n {
				text.remove(0, nightText(i))
				text.remove(1, nightText(i))
			}
			out := filepath.Join(t.TempDir(), "out")
			var last *record.Report
			for at, i := range order {
				put(i)
				last = mustRun(t, text.config(out))
				if got := searched(last); got != 2*at+1 {
					t.Errorf("night %d searched %d cells instead of its row and column of %d", at, got, 2*at+1)
				}
			}
			if last.Bitext.SHA256 != want {
				t.Error("the bytes differ from one run's")
			}
		})
	}
}

// TestWithdrawnTextLeaves: a run after text was deleted or changed equals one that never saw it.
func TestWithdrawnTextLeaves(t *testing.T) {
	files := mineNights(t, 4)
	for name, change := range map[string]func(text){
		"deleted":           func(x text) { x.remove(0, nightText(1)) },
		"deleted on both":   func(x text) { x.remove(0, nightText(0)); x.remove(1, nightText(3)) },
		"changed":           func(x text) { x.put(1, nightText(2), files[1][2][:len(files[1][2])/2]) },
		"replaced by other": func(x text) { x.put(0, nightText(2), files[0][3]) },
		"renamed":           func(x text) { x.remove(0, nightText(0)); x.put(0, "zzz.txt", files[0][0]) },
		"one line more":     func(x text) { x.put(0, nightText(1), append(slices.Clone(files[0][1]), "Ein Satz mehr.\n"...)) },
		"and back again": func(x text) {
			x.remove(0, nightText(1))
			mustRun(x.t, x.config(filepath.Join(filepath.Dir(x.dirs[0]), "out")))
			x.put(0, nightText(1), files[0][1])
		},
	} {
		t.Run(name, func(t *testing.T) {
			text := newText(t)
			for side := range files {
				for i, content := range files[side] {
					text.put(side, nightText(i), content)
				}
			}
			out := filepath.Join(filepath.Dir(text.dirs[0]), "out")
			mustRun(t, text.config(out))
			change(text)
			if got := mustRun(t, text.config(out)); got.Bitext.SHA256 != text.fresh() {
				t.Error("the bitext differs from that of a run which never saw the text")
			}
		})
	}
}

// TestShardsOnBothSides: with 1, 2 and 7 shards a side the same pairs, scores and provenance, shard and row apart.
func TestShardsOnBothSides(t *testing.T) {
	files := mineNights(t, 1)
	text := newText(t)
	text.putNight(files, 0)
	var want string
	for _, shards := range []int{1, 2, 7} {
		cfg := text.config(filepath.Join(t.TempDir(), "out"))
		cfg.ShardSize = (60 + shards - 1) / shards
		rows := pairs(t, mustRun(t, cfg))
		for i := range rows {
			rows[i].Source.Shard, rows[i].Target.Shard, rows[i].Source.Row, rows[i].Target.Row = "", "", 0, 0
		}
		if got := fmt.Sprint(rows); want == "" {
			want = got
		} else if got != want {
			t.Errorf("with %d shards a side the pairs differ", shards)
		}
	}
}
