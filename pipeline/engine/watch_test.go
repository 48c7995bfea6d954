package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	"bitextmine/internal/lockfile"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/store"
	"bitextmine/pipeline/view"
)

// TestStragglersAreNamedOnce: of tasks that others work on, the one that has run for an hour where those of its stage
// take a second is named, and not again at the next look.
func TestStragglersAreNamedOnce(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	log := slog.New(slog.NewTextHandler(&said, nil))
	st, err := store.Open(t.Context(), t.TempDir(), log)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}()
	p := job(1, 6).Plan
	tasks := p.Waves[1].Tasks
	for i := range tasks {
		tasks[i].Key, tasks[i].Items = fmt.Sprint(i), 20
		if i > 2 {
			continue
		}
		tasks[i].Items = 1 // the others, of 20 times as many items, would have taken a second
		task := store.Task{Stage: tasks[i].Stage, Key: tasks[i].Key}
		if _, err := st.Do(t.Context(), task, func(string) (any, error) { time.Sleep(50 * time.Millisecond); return nil, nil }); err != nil {
			t.Fatal(err)
		}
	}
	for i, by := range map[int]lockfile.Process{
		2: {Host: "done", Since: time.Now().Add(-time.Hour)}, // its note stayed behind
		3: {Host: "slow", PID: 7, Since: time.Now().Add(-time.Hour)},
		4: {Host: "quick", Since: time.Now().Add(-30 * time.Second)},
		5: {Host: lockfile.Self().Host, PID: 1 << 30, Since: time.Now().Add(-time.Hour)}, // the process is gone
	} {
		note, err := json.Marshal(record.Holder{Process: by})
		if err == nil {
			err = st.WriteNote(t.Context(), record.RunningNote, tasks[i].Stage+"-"+tasks[i].Key, note)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	env, named := &stage.Env{Files: view.NewFiles(st, p, "work"), Log: log}, map[string]bool{}
	for range 2 {
		if err := nameStragglers(t.Context(), p, env, named); err != nil {
			t.Fatal(err)
		}
	}
	warning := regexp.MustCompile(`level=WARN msg="a task takes ten times .* task=4 stage=search host=slow process=7 running=1h0m\ds expected=[1-9]\d*s\n`)
	if !warning.MatchString(said.String()) || strings.Count(said.String(), "\n") != 1 {
		t.Errorf("want one warning, about task 4 on host slow, got:\n%s", said.String())
	}
}
