package decide

import (
	"context"

	"bitextmine/bitext"
	"bitextmine/corpus/shard"
	"bitextmine/filter/language"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/view"
	"bitextmine/score"
)

// maxHeld is how many sentences of a side are kept once they were read: some 30 MB of ordinary sentences. Others are
// read again when they are asked for again.
const maxHeld = 64 << 10

// Sentence is a sentence with its provenance and what its language was identified as.
type Sentence struct {
	bitext.Sentence
	guess language.Guess
}

// Texts reads sentences of a pair of languages with their provenance and identified languages. It keeps what it read,
// within bounds, so that rules and the bitext read a kept sentence once.
type Texts struct {
	pair    *view.Pair
	threads int
	sides   [2]struct {
		identifier *language.Identifier
		held       map[int32]Sentence // sentences by number
	}
}

// newTexts returns the texts of a pair.
func newTexts(p *view.Pair, threads int) *Texts {
	t := &Texts{pair: p, threads: threads}
	for side := range t.sides {
		t.sides[side].identifier = language.For(p.Language(side).Code)
		t.sides[side].held = map[int32]Sentence{}
	}
	return t
}

// Read returns sentences of a side, given by their numbers.
func (t *Texts) Read(ctx context.Context, side int, numbers []int32) ([]Sentence, error) {
	held := t.sides[side].held
	sentences := make([]Sentence, len(numbers))
	var places, missing []int32
	for i, number := range numbers {
		if known, ok := held[number]; ok {
			sentences[i] = known
		} else {
			places, missing = append(places, int32(i)), append(missing, number)
		}
	}
	code := t.pair.Language(side).Code
	err := t.pair.RowsOf(ctx, side, missing, func(at int, shard *plan.Shard, number uint32, row shard.Row) {
		sentences[places[at]].Sentence = bitext.Sentence{
			Text: row.Text, Lang: code, Key: row.Key, Shard: shard.Origin(number), Row: number, Doc: row.Doc, URL: row.URL, Line: row.Line, Place: row.Place,
		}
	})
	if err == nil {
		err = view.Parallel(ctx, t.threads, len(missing), func(i int) { t.Identify(side, &sentences[places[i]]) })
	}
	if err != nil {
		return nil, err
	}
	for i, number := range missing {
		if len(held) == maxHeld {
			break
		}
		held[number] = sentences[places[i]]
	}
	return sentences, nil
}

// of returns the sentences' texts alone.
func (t *Texts) of(ctx context.Context) score.TextsOf {
	return func(side int, numbers []int32) ([]string, error) {
		sentences, err := t.Read(ctx, side, numbers)
		texts := make([]string, len(sentences))
		for i := range sentences {
			texts[i] = sentences[i].Text
		}
		return texts, err
	}
}

// Identify states the language of a sentence's text.
func (t *Texts) Identify(side int, s *Sentence) {
	s.guess = t.sides[side].identifier.Identify(s.Text)
	s.Identified, s.Share = s.guess.Code, s.guess.Share
}
