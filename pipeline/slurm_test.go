package pipeline

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"bitextmine/pipeline/record"
)

// cluster is a SLURM of this machine alone: munged, slurmctld and slurmd on loopback.
type cluster struct {
	t   *testing.T
	dir string
	// daemons are those that run, and munge starts its own.
	daemons map[string]*exec.Cmd
	munge   func() *exec.Cmd
	resumed int // how often the node was drained and resumed
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	if os.Getenv("MINE_TEST_SLURM") == "" {
		t.Skip("needs Debian's slurmctld, slurmd and munge, and root; make test-slurm sets MINE_TEST_SLURM")
	}
	// Paths of sockets must be short.
	dir, err := os.MkdirTemp("", "slurm")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	c := &cluster{t: t, dir: dir}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, content string, mode os.FileMode) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("munge.key", strings.Repeat("a key of a test ", 64), 0o400)
	for _, d := range []string{"state", "spool"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	ports := []int{freePort(t), freePort(t)}
	write("slurm.conf", fmt.Sprintf(`ClusterName=test
SlurmctldHost=%[1]s(127.0.0.1)
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmctldPort=%[3]d
SlurmdPort=%[4]d
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=%[2]s/munge.socket
CryptoType=crypto/munge
StateSaveLocation=%[2]s/state
SlurmdSpoolDir=%[2]s/spool
SlurmctldPidFile=%[2]s/slurmctld.pid
SlurmdPidFile=%[2]s/slurmd.pid
SlurmctldLogFile=%[2]s/slurmctld.log
SlurmdLogFile=%[2]s/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerParameters=sched_min_interval=0,batch_sched_delay=0
ReturnToService=2
SlurmdParameters=config_overrides
SlurmdTimeout=10
MpiDefault=none
NodeName=%[1]s NodeAddr=127.0.0.1 CPUs=8 RealMemory=8192 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`, host, dir, ports[0], ports[1]), 0o644)
	t.Setenv("SLURM_CONF", filepath.Join(dir, "slurm.conf"))
	in := func(name string) string { return filepath.Join(dir, name) }
	c.munge = func() *exec.Cmd {
		return c.start("munged", "--foreground", "--force", "--key-file="+in("munge.key"), "--socket="+in("munge.socket"), "--pid-file="+in("munge.pid"),
			"--log-file="+in("munge.log"), "--seed-file="+in("munge.seed"))
	}
	c.daemons = map[string]*exec.Cmd{"munged": c.munge()}
	c.await("munge", func() bool { _, err := os.Stat(in("munge.socket")); return err == nil })
	c.daemons["slurmctld"] = c.start("slurmctld", "-D", "-c")
	c.startNode()
	c.await("an idle node", func() bool {
		out, err := exec.Command("sinfo", "--noheader", "--format=%T").Output()
		return err == nil && strings.TrimSpace(string(out)) == "idle"
	})
	return c
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// start runs a daemon in the foreground until the test ends.
func (c *cluster) start(name string, args ...string) *exec.Cmd {
	c.t.Helper()
	cmd := exec.Command(name, args...)
	log, err := os.Create(filepath.Join(c.dir, name+".out"))
	if err != nil {
		c.t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may be gone by now
		_ = cmd.Wait()
		_ = log.Close()
	})
	return cmd
}

func (c *cluster) startNode() { c.daemons["slurmd"] = c.start("slurmd", "-D") }

// kill ends a daemon without warning.
func (c *cluster) kill(name string) {
	c.t.Helper()
	if err := c.daemons[name].Process.Kill(); err != nil {
		c.t.Errorf("kill %s: %v", name, err)
	}
	_ = c.daemons[name].Wait() // it was killed
}

// restart starts a daemon that was killed. The controller keeps its jobs.
func (c *cluster) restart(name string) {
	switch name {
	case "munged":
		c.daemons[name] = c.munge()
	case "slurmctld":
		c.daemons[name] = c.start(name, "-D")
	default:
		c.startNode()
	}
}

func (c *cluster) await(what string, ready func() bool) {
	c.t.Helper()
	for end := time.Now().Add(60 * time.Second); !ready(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			logs, _ := exec.Command("sh", "-c", "tail -n 5 "+c.dir+"/*.log "+c.dir+"/*.out").CombinedOutput()
			c.t.Fatalf("no sign of %s\n%s", what, logs)
		}
	}
}

// TestSlurm runs on a real SLURM: as it is, with tasks killed, and with the node's daemon killed; the bytes are those
// of a local run.
func TestSlurm(t *testing.T) {
	c := newCluster(t)
	program := buildProgram(t)
	text := newText(t)
	for side, files := range mineNights(t, 4) {
		for i, content := range files {
			text.put(side, nightText(i), content)
		}
	}
	run := func(t *testing.T, out string, args ...string) *exec.Cmd {
		cmd := exec.Command(program, append([]string{
			"run", "--src", "de", "--tgt", "en", "--src-text", text.dirs[0], "--tgt-text", text.dirs[1], "--keep-below",
			"--shard-size", "40", "--out", out, "--threads", "1",
		}, args...)...)
		cmd.Dir = filepath.Join(t.TempDir(), "a b's") // names that sbatch's options must quote
		if err := os.Mkdir(cmd.Dir, 0o755); err != nil {
			t.Fatal(err)
		}
		cmd.Stderr = &bytes.Buffer{}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	finish := func(t *testing.T, cmd *exec.Cmd) {
		t.Helper()
		if err := cmd.Wait(); err != nil {
			t.Fatalf("%v\n%s", err, cmd.Stderr)
		}
	}
	bitextIn := func(t *testing.T, out string) string {
		t.Helper()
		report, err := record.ReadReport(out)
		if err != nil {
			t.Fatal(err)
		}
		return report.Bitext.SHA256
	}
	local := filepath.Join(t.TempDir(), "local")
	finish(t, run(t, local))
	want := bitextIn(t, local)
	anyDone := func(work, stage string) func() bool {
		return func() bool { done, _ := filepath.Glob(filepath.Join(work, stage, "[0-9a-f]*")); return len(done) > 0 }
	}
	for name, disturb := range map[string]func(t *testing.T, work string){
		"undisturbed": func(*testing.T, string) {},
		"tasks killed": func(t *testing.T, work string) {
			for _, stage := range []string{"encode", "search"} {
				c.await(stage+" tasks", anyDone(work, stage))
				killTasks(t, program)
			}
		},
		"node daemon killed": func(t *testing.T, work string) {
			c.await("encode tasks", anyDone(work, "encode"))
			c.kill("slurmd")
			killTasks(t, program)
			time.Sleep(2 * time.Second)
			c.startNode()
		},
	} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "the out")
			cmd := run(t, out, "--engine", "slurm")
			disturb(t, filepath.Join(out, "work"))
			if err := cmd.Wait(); err != nil {
				t.Logf("the first run: %v: %s", err, bytes.TrimSpace(cmd.Stderr.(*bytes.Buffer).Bytes()))
				if name == "undisturbed" {
					t.Fatal("an undisturbed run failed")
				}
				finish(t, run(t, out, "--engine", "slurm"))
			}
			if got := bitextIn(t, out); got != want {
				t.Error("the bytes differ from a local run's")
			}
		})
	}
}

// killTasks kills the tasks that run, and no other process.
func killTasks(t *testing.T, program string) {
	t.Helper()
	found, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	killed := 0
	for _, path := range found {
		line, err := os.ReadFile(path)
		if err != nil || !bytes.HasPrefix(line, []byte(program+"\x00task\x00")) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			t.Fatal(err)
		}
		if syscall.Kill(pid, syscall.SIGKILL) == nil {
			killed++
		}
	}
	t.Logf("killed %d tasks", killed)
}
