package pipeline

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// cluster is a SLURM of this machine alone: munged, slurmctld and slurmd on loopback.
type cluster struct {
	daemons
	munge   func() // starts munged
	resumed int    // how often the node was drained and resumed
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
	c := &cluster{daemons: newDaemons(t, dir)}
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
	c.munge = func() {
		c.start("munged", "--foreground", "--force", "--key-file="+in("munge.key"), "--socket="+in("munge.socket"), "--pid-file="+in("munge.pid"),
			"--log-file="+in("munge.log"), "--seed-file="+in("munge.seed"))
	}
	c.munge()
	c.await("munge", func() bool { _, err := os.Stat(in("munge.socket")); return err == nil })
	c.start("slurmctld", "-D", "-c")
	c.startNode()
	c.await("an idle node", func() bool {
		out, err := exec.Command("sinfo", "--noheader", "--format=%T").Output()
		return err == nil && strings.TrimSpace(string(out)) == "idle"
	})
	return c
}

func (c *cluster) startNode() { c.start("slurmd", "-D") }

// restart starts a daemon that was killed. The controller keeps its jobs.
func (c *cluster) restart(name string) {
	switch name {
	case "munged":
		c.munge()
	case "slurmctld":
		c.start(name, "-D")
	default:
		c.startNode()
	}
}

// TestSlurm runs on a real SLURM: as it is, with tasks killed, and with the node's daemon killed; the bytes are those
// of a local run.
func TestSlurm(t *testing.T) {
	c := newCluster(t)
	program := buildProgram(t)
	c.sameBytes(program, program, t.TempDir(), 4, []string{"--engine", "slurm"}, map[string]func(){
		"node daemon killed": func() {
			c.kill("slurmd")
			killTasks(t, program)
			time.Sleep(2 * time.Second)
			c.startNode()
		},
	})
}
