package encoders

import (
	"context"
	"errors"
	"strings"
	"testing"

	"bitextmine/cmd/mine/program"
	"bitextmine/train/checkpoint"
	"bitextmine/train/weights"
)

// TestAfterStop: a training that ended before its first checkpoint does not go on.
func TestAfterStop(t *testing.T) {
	out := t.TempDir()
	if said := afterStop(out); !strings.Contains(said, "begins again") {
		t.Error(said)
	}
	dir := checkpoint.Dir{Path: out + "/checkpoints"}
	files := map[string][]*weights.Tensor{checkpoint.Encoder: nil, checkpoint.Heads: nil, checkpoint.Optimiser: nil}
	if err := errors.Join(dir.Open(), dir.Save(checkpoint.State{Step: 5}, nil, files)); err != nil {
		t.Fatal(err)
	}
	err := program.StoppedBut(context.Canceled, afterStop(out))
	if said := program.AfterStop(err); !strings.Contains(said, "--resume") || !strings.Contains(said, "step 5") || !errors.Is(err, context.Canceled) {
		t.Error(said)
	}
	if said := program.AfterStop(context.Canceled); !strings.HasPrefix(said, "the same command") {
		t.Error(said)
	}
}
