package shard

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"bitextmine/corpus/shard"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/stage"
)

// EachOccurrence reads the inputs of a language again and calls do with every place of a sentence, repetitions too, in
// the order of the text. An input that is not as it was in the run is a badinput error.
func EachOccurrence(ctx context.Context, e *stage.Env, language int, do func(shard.Occurrence)) error {
	for inputs := e.Plan.Languages[language].Inputs; len(inputs) > 0; {
		members := together(inputs)
		texts := make([]shard.Text, len(members))
		for i, in := range members {
			if err := refuseMissing(in); err != nil {
				return err
			}
			same, err := same(in)
			if err == nil && !same {
				err = badinput.Errorf("%s was changed since the run, and has to be read again; mine it again", in.Path)
			}
			if err == nil {
				texts[i], err = textOf(e, memory(in.Options(e.Plan.Settings), in.Splitter != nil), in)
			}
			if err != nil {
				return err
			}
		}
		if err := shard.EachOccurrence(ctx, texts, do); err != nil {
			return err
		}
		inputs = inputs[len(members):]
	}
	return nil
}

// refuseMissing refuses an input of a finished run that is not there.
func refuseMissing(in plan.Input) error {
	if in.Builtin {
		return nil
	}
	_, err := os.Stat(in.Path)
	switch {
	case !errors.Is(err, fs.ErrNotExist):
		return nil // reading it says what else is wrong
	case filepath.IsAbs(in.Path):
		return badinput.Errorf("%s, which the run has read, is not there, and has to be read again; put it back", in.Path)
	}
	return badinput.Errorf("%s is not there: its path is relative to the directory in which the run was started; give the command there", in.Path)
}
