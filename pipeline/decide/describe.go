package decide

import (
	"context"

	"bitextmine/encode"
	"bitextmine/encode/tokenizer"
	"bitextmine/pipeline/view"
	"bitextmine/score"
)

// describeChunk is how many texts are in memory at once.
const describeChunk = 16 << 10

// Describe reads the texts of a side's distinct sentences, each from its first occurrence, into what features need of
// them.
func Describe(ctx context.Context, p *view.Pair, side int, into *score.SideBuilder) error {
	for shard := range p.Language(side).Shards {
		s := &p.Language(side).Shards[shard]
		vectors, err := p.Output(ctx, view.Encode, s.Vector)
		if err != nil {
			return err
		}
		known, tokenised, err := encode.ReadTokens(vectors.Path(view.EmbeddingFile), s.Rows)
		if err != nil {
			return err
		}
		d := describing{into: into}
		if tokenised {
			d.known = &known
		}
		err = p.EachText(ctx, side, shard, func(row uint32, number int32, text string) error {
			d.rows, d.numbers, d.texts = append(d.rows, row), append(d.numbers, number), append(d.texts, text)
			if len(d.texts) < describeChunk {
				return nil
			}
			return d.flush(ctx)
		})
		if err == nil {
			err = d.flush(ctx)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// describing is some sentences of a shard on their way into a side.
type describing struct {
	into    *score.SideBuilder
	known   *tokenizer.Sequences // of the shard's rows; nil: none
	rows    []uint32
	numbers []int32
	texts   []string
}

func (d *describing) flush(ctx context.Context) (err error) {
	if d.known != nil {
		err = d.into.AddTokenized(ctx, d.numbers, d.texts, d.rows, *d.known)
	} else {
		err = d.into.Add(ctx, d.numbers, d.texts)
	}
	d.rows, d.numbers, d.texts = d.rows[:0], d.numbers[:0], d.texts[:0]
	return err
}
