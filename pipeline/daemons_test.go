package pipeline

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"bitextmine/pipeline/record"
)

// daemons are the programs of a cluster. They run until the test ends, and log to a folder.
type daemons struct {
	t       *testing.T
	dir     string
	running map[string]*exec.Cmd
}

func newDaemons(t *testing.T, dir string) daemons { return daemons{t, dir, map[string]*exec.Cmd{}} }

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// start runs a daemon in the foreground.
func (d *daemons) start(program string, args ...string) {
	d.t.Helper()
	name := filepath.Base(program)
	cmd := exec.Command(program, args...)
	log, err := os.OpenFile(filepath.Join(d.dir, name+".out"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.running[name] = cmd
	d.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may be gone by now
		_ = cmd.Wait()
		_ = log.Close()
	})
}

// kill ends a daemon without warning.
func (d *daemons) kill(name string) {
	d.t.Helper()
	if err := d.running[name].Process.Kill(); err != nil {
		d.t.Errorf("kill %s: %v", name, err)
	}
	_ = d.running[name].Wait() // it was killed
}

func (d *daemons) await(what string, ready func() bool) {
	d.t.Helper()
	for end := time.Now().Add(3 * time.Minute); !ready(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			logs, _ := exec.Command("sh", "-c", "tail -n 5 "+d.dir+"/*.log "+d.dir+"/*.out").CombinedOutput()
			d.t.Fatalf("no sign of %s\n%s", what, logs)
		}
	}
}

// sameBytes runs on a cluster, in folders of dir that its nodes have: as it is, with tasks killed, and disturbed in
// other ways once the first tasks are done. The bytes are those of a local run. Tasks are processes of task's name;
// each file of text has some.
func (d *daemons) sameBytes(program, task, dir string, files int, engine []string, disturbed map[string]func()) {
	text := text{d.t, [2]string{filepath.Join(dir, "de"), filepath.Join(dir, "en")}}
	for _, side := range text.dirs {
		if err := os.Mkdir(side, 0o755); err != nil {
			d.t.Fatal(err)
		}
	}
	for side, contents := range mineNights(d.t, files) {
		for i, content := range contents {
			text.put(side, nightText(i), content)
		}
	}
	run := func(t *testing.T, out string, args []string) *exec.Cmd {
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
	local := filepath.Join(d.t.TempDir(), "local")
	finish(d.t, run(d.t, local, nil))
	want := bitextIn(d.t, local)
	undisturbed := "undisturbed"
	ways := map[string]func(done func(stage string)){
		undisturbed: func(func(stage string)) {},
		"tasks killed": func(done func(stage string)) {
			for _, stage := range []string{"encode", "search"} {
				done(stage)
				for end := time.Now().Add(20 * time.Second); killTasks(d.t, task) == 0 && time.Now().Before(end); {
					time.Sleep(100 * time.Millisecond) // none runs between two pods
				}
			}
		},
	}
	for name, disturb := range disturbed {
		ways[name] = func(done func(stage string)) { done("encode"); disturb() }
	}
	for name, disturb := range ways {
		d.t.Run(name, func(t *testing.T) {
			out := filepath.Join(dir, "the out, "+name)
			cmd := run(t, out, engine)
			disturb(func(stage string) {
				d.await(stage+" tasks", func() bool {
					done, _ := filepath.Glob(filepath.Join(out, "work", stage, "[0-9a-f]*"))
					return len(done) > 0
				})
			})
			if err := cmd.Wait(); err != nil {
				t.Logf("the first run: %v: %s", err, bytes.TrimSpace(cmd.Stderr.(*bytes.Buffer).Bytes()))
				if name == undisturbed {
					t.Fatal("an undisturbed run failed")
				}
				finish(t, run(t, out, engine))
			}
			if got := bitextIn(t, out); got != want {
				t.Error("the bytes differ from a local run's")
			}
		})
	}
}

// killTasks kills the tasks of a program that run, and no other process. It returns how many.
func killTasks(t *testing.T, program string) (killed int) {
	t.Helper()
	found, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
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
	if killed > 0 {
		t.Logf("killed %d tasks", killed)
	}
	return killed
}
