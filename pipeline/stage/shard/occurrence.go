package shard

import (
	"context"

	"bitextmine/corpus/shard"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/stage"
)

// EachOccurrence reads the inputs of a language again and calls do with every place of a sentence, repetitions too, in
// the order of the text. An input that is not as it was in the run is a badinput error.
func EachOccurrence(ctx context.Context, e *stage.Env, language int, do func(shard.Occurrence)) error {
	for inputs := e.Plan.Languages[language].Inputs; len(inputs) > 0; {
		members := together(inputs)
		texts := make([]shard.Text, len(members))
		for i, in := range members {
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
