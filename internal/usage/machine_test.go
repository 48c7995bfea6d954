package usage

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
)

// TestMemoryOfAControlGroup starts this test in a control group of 256 MiB.
func TestMemoryOfAControlGroup(t *testing.T) {
	const limit = 256 << 20
	if os.Getenv("MINE_TEST_IN_GROUP") != "" {
		if got := MachineMemory(); got != limit {
			t.Errorf("a process in a group of %d bytes may have %d", limit, got)
		}
		LimitHeap(0)
		if got := debug.SetMemoryLimit(-1); got != limit/4*3 {
			t.Errorf("the heap's limit in a group of %d bytes is %d", limit, got)
		}
		LimitHeap(100 << 20)
		if got := debug.SetMemoryLimit(-1); got != 75<<20 {
			t.Errorf("the heap's limit with a bound of 100 MiB is %d", got)
		}
		return
	}
	group := memoryGroup(t, limit)
	test := exec.Command("sh", "-c", `echo $$ > "$0/cgroup.procs" && exec "$@"`, group, os.Args[0], "-test.run", "^"+t.Name()+"$")
	test.Env = append(os.Environ(), "MINE_TEST_IN_GROUP=1")
	if output, err := test.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}

// memoryGroup makes a control group with a limit, of whichever version is mounted.
func memoryGroup(t *testing.T, limit int64) string {
	t.Helper()
	for root, file := range map[string]string{"/sys/fs/cgroup/memory": "memory.limit_in_bytes", "/sys/fs/cgroup": "memory.max"} {
		group := filepath.Join(root, "mine-test-"+strconv.Itoa(os.Getpid()))
		if os.Mkdir(group, 0o755) != nil {
			continue
		}
		t.Cleanup(func() { _ = os.Remove(group) })
		value, err := os.ReadFile(filepath.Join(group, file))
		if err == nil && strings.TrimSpace(string(value)) != "" && os.WriteFile(filepath.Join(group, file), []byte(strconv.FormatInt(limit, 10)), 0o644) == nil {
			return group
		}
	}
	t.Skip("no memory control group can be made here (root and a writable /sys/fs/cgroup are needed)")
	return ""
}
