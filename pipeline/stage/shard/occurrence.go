package shard

import (
	"context"

	"bitextmine/corpus/shard"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/stage"
)

// EachOccurrence reads the inputs of a language again and calls do with every place of a sentence, repetitions too, in
// the order of the text. An input that is not as it was in the run is a badinput error.
func EachOccurrence(ctx context.Context, e *stage.Env, language int, do func(shard.Occurrence)) error {
	for inputs := e.Plan.Languages[language].Inputs; len(inputs) > 0; {
		n := 1
		for inputs[0].Group != "" && n < len(inputs) && inputs[n].Group == inputs[0].Group {
			n++
		}
		texts := make([]shard.Text, n)
		for i, in := range inputs[:n] {
			now, err := plan.DigestInput(in.Source())
			if err == nil && now.SHA256 != in.SHA256 {
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
		inputs = inputs[n:]
	}
	return nil
}
