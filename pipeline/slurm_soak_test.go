package pipeline

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"bitextmine/pipeline/record"
	"bitextmine/pipeline/store/storetest"
)

// TestSlurmSoak mines the sample on a real SLURM, with up to eight tasks at once and a store in S3, until
// MINE_TEST_SOAK has passed, while the node's daemon, munge, the controller and the store's server are killed at random
// and started again: the bytes are those of a local run, and runs that fail are worth a retry.
func TestSlurmSoak(t *testing.T) {
	text := os.Getenv("MINE_TEST_SOAK")
	if text == "" {
		t.Skip("make soak-slurm sets MINE_TEST_SOAK")
	}
	long, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	c := newCluster(t)
	location, server := storetest.KillableS3(t)
	s := &soak{program: buildProgram(t), want: map[string]*left{}}
	args := []string{"--shard-size", "80"}
	want, err := s.undisturbed(t.TempDir(), args)
	if err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 34))
	killed, runs, failed := map[string]int{}, 0, 0
	begin := time.Now()
	for round := 0; round == 0 || time.Since(begin) < long; round++ {
		work := strings.Replace(location, "/work", fmt.Sprintf("/work-%d", round), 1)
		out := filepath.Join(t.TempDir(), strconv.Itoa(round))
		for try := 1; ; try++ {
			runs++
			cmd := s.command(filepath.Join(out, "cache"), out, work, append(args, "--engine", "slurm"))
			said := &strings.Builder{}
			cmd.Stderr = said
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			err := c.disturb(ended, random, server, killed)
			if err == nil {
				break
			}
			failed++
			t.Logf("round %d, run %d: %v: %s", round, try, err, lastLine(said.String()))
			if cmd.ProcessState.ExitCode() != 1 || try == 8 {
				t.Fatalf("seed %d: %s", seed, said)
			}
		}
		report, err := record.ReadReport(out)
		if err != nil {
			t.Fatal(err)
		}
		if report.Bitext.SHA256 != want.bitext {
			t.Errorf("seed %d, round %d: the bytes differ from a local run's", seed, round)
		}
		if err := checkObjects(storetest.TakeObjects(t, work), want); err != nil {
			t.Errorf("seed %d, round %d: %v", seed, round, err)
		}
		t.Logf("%d rounds in %v: %d runs, %d of them failed; killed %v; the node was drained and resumed %d times",
			round+1, time.Since(begin).Round(time.Second), runs, failed, killed, c.resumed)
	}
	if len(killed) == 0 {
		t.Error("nothing was killed")
	}
}

// lastLine is the last line of what a run said, which has its error.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// resume does what an administrator does about a node that SLURM drained, as a daemon's end makes it do now and then.
func (c *cluster) resume() {
	c.t.Helper()
	node, err := exec.Command("sinfo", "--noheader", "--format=%N %T").Output()
	name, state, _ := strings.Cut(strings.TrimSpace(string(node)), " ")
	if err != nil || !strings.Contains(state, "drain") {
		return // the controller is not up yet, or the node is
	}
	if said, err := exec.Command("scontrol", "update", "nodename="+name, "state=resume").CombinedOutput(); err != nil {
		c.t.Logf("resume the node: %v: %s", err, said)
		return
	}
	c.resumed++
}

// disturb kills something now and then until a run has ended, and returns the run's error. Everything is up then.
// SLURM needs the time between: a controller that was killed again within a few seconds learns of no task's end.
func (c *cluster) disturb(ended <-chan error, random *rand.Rand, server *storetest.Server, killed map[string]int) error {
	c.t.Helper()
	for {
		select {
		case err := <-ended:
			return err
		case <-time.After(8*time.Second + time.Duration(random.Int64N(int64(12*time.Second)))):
		}
		down := time.Duration(random.Int64N(int64(3 * time.Second)))
		name := []string{"munged", "slurmctld", "slurmd", "store"}[random.IntN(4)]
		killed[name]++
		if name != "store" {
			c.kill(name)
			time.Sleep(down)
			c.restart(name)
			c.resume()
			continue
		}
		if err := server.Kill(); err != nil {
			c.t.Error(err)
		}
		time.Sleep(down)
		if err := server.Start(); err != nil {
			c.t.Fatal(err)
		}
	}
}
