package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"bitextmine/internal/badinput"
	"bitextmine/pipeline/store"
)

// OneProcessor refuses a process of a plan whose results differ in their last bits from those of the plan's first
// process: its processor, as encode.Processor names it, is another. Which process is the first is decided as for
// outputs, so of two that ask at once one is refused. A process that has computed nothing yet is not the first.
func OneProcessor(ctx context.Context, st *store.Store, id, processor string, computed bool) error {
	type process struct {
		Holder
		Processor string `json:"processor"`
	}
	self, first := process{Self(), processor}, process{}
	note := store.Task{Stage: ProcessorsNote, Key: id}
	if !computed {
		if _, err := st.Stat(ctx, note); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	}
	out, err := st.Do(ctx, note, func(string) (any, error) { return self, nil })
	if err == nil {
		err = json.Unmarshal(out.Info, &first)
	}
	if err != nil {
		return fmt.Errorf("compare the processor with those of the plan's other processes: %w", err)
	}
	if first.Processor == processor {
		return nil
	}
	return badinput.Errorf("host %s began this plan with %s, and this process on %s has %s, whose vectors may differ in their last bits: run its tasks with one "+
		"ONNX Runtime on hosts of one kind, such as by slurm_options, or take an encoder that is the same on all, such as use-static; to go on here "+
		"with what the others have done, end them and remove %s/%s in the work directory", first.Host, first.Processor, self.Host, processor, ProcessorsNote, id)
}
