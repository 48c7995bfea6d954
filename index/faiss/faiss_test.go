package faiss

import (
	"regexp"
	"testing"

	"go.uber.org/goleak"

	"bitextmine/internal/badinput"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestOpenBadInput(t *testing.T) {
	if _, err := Open("Flat", Options{Threads: -1}); !badinput.Is(err) {
		t.Errorf("negative threads: error %v; want badinput", err)
	}
	if _, err := Open("", Options{}); !badinput.Is(err) {
		t.Errorf("no factory: error %v; want badinput", err)
	}
}

func TestVersion(t *testing.T) {
	if v := Version(); !regexp.MustCompile(`^1\.\d+\.\d+$`).MatchString(v) {
		t.Errorf("version %q", v)
	}
}
