package pipeline

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"bitextmine/pipeline/record"
	"bitextmine/pipeline/store"
	"bitextmine/pipeline/store/storetest"
)

// soak runs the program on object stores with faults, again and again.
type soak struct {
	program string
	want    map[string]*left // by the arguments of a run
	stores  []*soaked
}

// soaked is an object store with faults, and what happened on it.
type soaked struct {
	name, location       string
	faults               *storetest.Faults
	rounds, runs, failed int
	seconds              float64 // of all runs
}

// left is what a run leaves: the bitext's digest, and that of each file of an output by STAGE/KEY/NAME.
type left struct {
	bitext string
	files  map[string]string
}

// TestSoakStores mines the sample on servers of S3 and GCS that refuse, are slow and cut or lose their answers, with
// other seeds until MINE_TEST_SOAK (a duration; without it, one round of each) has passed: the bytes of the bitext and
// of every output are those of an undisturbed run, what is under a final name is whole, nothing is computed twice, and
// a run that gives up says that the same command continues. MINE_TEST_SEED is the first seed.
func TestSoakStores(t *testing.T) {
	long, seed := time.Duration(0), uint64(1)
	if text := os.Getenv("MINE_TEST_SOAK"); text != "" {
		var err error
		if long, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
		seed = rand.Uint64N(1e9)
	}
	if text := os.Getenv("MINE_TEST_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	s := &soak{program: buildProgram(t), want: map[string]*left{}, stores: []*soaked{{name: "S3"}, {name: "GCS"}}}
	s.stores[0].location, s.stores[0].faults = storetest.FaultyS3(t)
	s.stores[1].location, s.stores[1].faults = storetest.FaultyGCS(t)
	begin := time.Now()
	for n := 0; n < len(s.stores) || time.Since(begin) < long; n++ {
		at := s.stores[n%len(s.stores)]
		if err := s.round(t, at, seed+uint64(n)); err != nil {
			t.Errorf("%s, MINE_TEST_SEED=%d: %v", at.name, seed+uint64(n), err)
			break
		}
	}
	for _, at := range s.stores {
		if kinds := at.faults.Counts(); !t.Failed() && len(kinds) < 2 { // one is what was left alone
			t.Errorf("no request to %s was disturbed: %v", at.name, kinds)
		}
	}
	t.Logf("seeds from %d, %v\n%s", seed, time.Since(begin).Round(time.Second), s.table())
}

// buildProgram builds the program.
func buildProgram(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "mine")
	if out, err := exec.Command("go", "build", "-o", path, "../cmd/mine").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// round mines on one machine, again on another one with an empty cache, and stores an output of several parts.
func (s *soak) round(t *testing.T, at *soaked, seed uint64) (err error) {
	random := rand.New(rand.NewPCG(seed, 7))
	dir, err := os.MkdirTemp("", "soak")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	args := []string{"--shard-size", []string{"200", "1000"}[random.IntN(2)]}
	want, err := s.undisturbed(dir, args)
	if err != nil {
		return err
	}
	location := strings.Replace(at.location, "/work", fmt.Sprintf("/work-%d", seed), 1)
	at.rounds++
	at.faults.Disturb(seed, 0.02+0.3*random.Float64())
	for machine := range 2 {
		if machine == 0 && random.IntN(8) == 0 {
			args = append(args, "--engine", "command", "--command", "env {}")
		}
		if err := s.mine(at, filepath.Join(dir, strconv.Itoa(machine)), location, args, want, machine == 1); err != nil {
			return fmt.Errorf("machine %d, %q: %w", machine, args, err)
		}
	}
	if err := s.storeLarge(t, dir, location, seed); err != nil {
		return fmt.Errorf("an output of several parts: %w", err)
	}
	at.faults.Disturb(seed, 0)
	objects := storetest.TakeObjects(t, location)
	return checkObjects(objects, want)
}

// undisturbed is what a run in a directory leaves.
func (s *soak) undisturbed(dir string, args []string) (*left, error) {
	name := strings.Join(args, " ")
	if known := s.want[name]; known != nil {
		return known, nil
	}
	out := filepath.Join(dir, "undisturbed")
	if said, err := s.command(dir, out, filepath.Join(out, "work"), args).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, said)
	}
	report, err := record.ReadReport(out)
	if err != nil {
		return nil, err
	}
	m := &left{report.Bitext.SHA256, map[string]string{}}
	records, err := filepath.Glob(filepath.Join(out, "work", "*", "*", "task.json"))
	if err != nil {
		return nil, err
	}
	for _, path := range records {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if err := m.add(filepath.Base(filepath.Dir(filepath.Dir(path)))+"/"+filepath.Base(filepath.Dir(path)), data); err != nil {
			return nil, err
		}
	}
	if len(m.files) < 12 {
		return nil, fmt.Errorf("an undisturbed run left only %d files", len(m.files))
	}
	s.want[name] = m
	return m, nil
}

// add adds the files of an output's record.
func (m *left) add(output string, data []byte) error {
	var out store.Output
	if err := json.Unmarshal(data, &out); err != nil {
		return fmt.Errorf("the record of %s: %w", output, err)
	}
	for _, file := range out.Files {
		m.files[output+"/"+file.Name] = file.SHA256
	}
	return nil
}

func (s *soak) command(cache, out, work string, args []string) *exec.Cmd {
	cmd := exec.Command(s.program, append([]string{"run", "--src", "de", "--tgt", "en", "--gold", "fixtures:text/de-en.gold", "--threads", "2",
		"--out", out, "--work", work}, args...)...)
	cmd.Env = append(os.Environ(), "MINE_CACHE="+cache)
	return cmd
}

// mine runs the program until it succeeds. Given up is an error that names the store and says what to do.
func (s *soak) mine(at *soaked, dir, location string, args []string, want *left, cached bool) error {
	out := filepath.Join(dir, "out")
	for try := 0; ; try++ {
		cmd := s.command(filepath.Join(dir, "cache"), out, location, args)
		begin := time.Now()
		said, err := cmd.CombinedOutput()
		at.runs++
		at.seconds += time.Since(begin).Seconds()
		if err == nil {
			break
		}
		at.failed++
		gaveUp := bytes.Contains(said, []byte("did not answer well")) && bytes.Contains(said, []byte("run the same command again"))
		if cmd.ProcessState.ExitCode() != 1 || !gaveUp || try == 5 {
			return fmt.Errorf("run %d: %w\n%s", try+1, err, said)
		}
	}
	report, err := record.ReadReport(out)
	if err != nil {
		return err
	}
	if report.Bitext.SHA256 != want.bitext {
		return errors.New("the bytes of the bitext differ")
	}
	for _, stage := range report.Stages {
		if cached && stage.Cached != stage.Tasks {
			return fmt.Errorf("%s computed %d of %d tasks again", stage.Name, stage.Tasks-stage.Cached, stage.Tasks)
		}
	}
	return nil
}

// largeTask is an output of more than S3's five million bytes of a part.
var largeTask = store.Task{Stage: "large", Key: "0123456789abcdef"}

// storeLarge stores an output on one machine and gets it on another one.
func (s *soak) storeLarge(t *testing.T, dir, location string, seed uint64) error {
	content := make([]byte, 12<<20)
	key := [32]byte{byte(seed), byte(seed >> 8)}
	if _, err := rand.NewChaCha8(key).Read(content); err != nil {
		return err
	}
	for machine := range 2 {
		st, err := store.OpenCached(t.Context(), location, filepath.Join(dir, "large", strconv.Itoa(machine)), storetest.Quiet)
		if err != nil {
			return err
		}
		out, err := st.Do(t.Context(), largeTask, func(dir string) (any, error) {
			return nil, os.WriteFile(filepath.Join(dir, "bytes"), content, 0o600)
		})
		if err != nil {
			return errors.Join(err, st.Close())
		}
		got, err := os.ReadFile(out.Path("bytes"))
		if err := errors.Join(err, st.Close()); err != nil {
			return err
		}
		if !bytes.Equal(got, content) || out.Cached != (machine == 1) {
			return fmt.Errorf("machine %d: %d bytes, stored before: %v", machine, len(got), out.Cached)
		}
	}
	return nil
}

// checkObjects compares a bucket with what is expected, and the digest in the name of each file with its bytes.
func checkObjects(objects map[string][]byte, want *left) error {
	got := &left{files: map[string]string{}}
	for name, data := range objects {
		switch parts := strings.Split(name, "/"); {
		case len(parts) == 4:
			if sum := sha256.Sum256(data); hex.EncodeToString(sum[:16]) != parts[2] {
				return fmt.Errorf("%s is not whole: %d bytes", name, len(data))
			}
		case path.Base(name) == "task.json" && parts[0] != largeTask.Stage:
			if err := got.add(path.Dir(name), data); err != nil {
				return err
			}
		case strings.HasSuffix(name, ".json") && !json.Valid(data):
			return fmt.Errorf("%s is not whole: %d bytes", name, len(data))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want.files)) {
		if got.files[name] != want.files[name] {
			return fmt.Errorf("%s has the digest %q and not %q", name, got.files[name], want.files[name])
		}
	}
	if len(got.files) != len(want.files) {
		return fmt.Errorf("%d files in place of %d", len(got.files), len(want.files))
	}
	return nil
}

// table is what was done, in Markdown.
func (s *soak) table() string {
	var b strings.Builder
	row := func(name string, value func(*soaked) int) {
		fmt.Fprintf(&b, "| %s |", name)
		for _, at := range s.stores {
			fmt.Fprintf(&b, " %d |", value(at))
		}
		b.WriteByte('\n')
	}
	row("rounds", func(at *soaked) int { return at.rounds })
	row("runs", func(at *soaked) int { return at.runs })
	row("runs that gave up", func(at *soaked) int { return at.failed })
	row("seconds of a run", func(at *soaked) int { return int(at.seconds / float64(max(at.runs, 1))) })
	kinds := map[string]bool{}
	for _, at := range s.stores {
		for kind := range at.faults.Counts() {
			kinds[kind] = true
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		row(kind, func(at *soaked) int { return at.faults.Counts()[kind] })
	}
	return b.String()
}
