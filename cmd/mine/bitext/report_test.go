package bitext

import (
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"bitextmine/internal/badinput"
	"bitextmine/web/webtest"
)

// TestReportWithoutRoomForTexts: a report does not say that its own disk is full where that of temporary files is.
func TestReportWithoutRoomForTexts(t *testing.T) {
	dir := t.TempDir()
	webtest.Run(t, dir, 1000) // its texts are larger than the limit
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 16 << 10, Max: limit.Max}); err != nil {
		t.Fatal(err)
	}
	cmd := NewReport()
	cmd.SetArgs([]string{dir, "--output", filepath.Join(dir, "report.html")})
	err := cmd.ExecuteContext(t.Context())
	if restored := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); restored != nil {
		t.Fatal(restored)
	}
	if !badinput.Is(err) || !strings.Contains(err.Error(), "TMPDIR names another") || strings.Contains(err.Error(), "report.html") {
		t.Errorf("error %v", err)
	}
}
