package score

import (
	"context"
	"errors"
	"slices"
	"testing"

	"bitextmine/encode/tokenizer"
	"bitextmine/mine"
)

// fakeTokens has one token for each byte of a text, and logs what is asked of it.
type fakeTokens struct{ calls []string }

func (f *fakeTokens) Dim() int     { return 256 }
func (f *fakeTokens) Static() bool { return true }

func (f *fakeTokens) IDs(_ context.Context, _ string, texts []string) (s tokenizer.Sequences, err error) {
	f.calls = append(f.calls, "ids")
	for _, text := range texts {
		for _, b := range []byte(text) {
			s.IDs = append(s.IDs, int32(b))
		}
		s.Ends = append(s.Ends, len(s.IDs))
	}
	return s, nil
}

func (f *fakeTokens) Vectors(_ context.Context, ids []int32) ([]float32, error) {
	f.calls = append(f.calls, "vectors")
	rows := make([]float32, len(ids)*f.Dim())
	for i, id := range ids {
		rows[i*f.Dim()+int(id)] = 1
	}
	return rows, nil
}

func (f *fakeTokens) Contextual(context.Context, string, []string, func(int, []int32, []float32) error) error {
	return errors.New("not contextual")
}

// TestReleaseOfTokens checks that the tokens are released once, after all were read, and that this changes no value.
func TestReleaseOfTokens(t *testing.T) {
	texts := [2][]string{{"ab", "cd", "ef"}, {"abx", "cdy", "efz"}}
	sides := [2]mine.Neighbours{mine.NewNeighbours(3, 1), mine.NewNeighbours(3, 1)}
	for _, side := range sides {
		for i := range 3 {
			ids, cosines := side.Row(i)
			ids[0], cosines[0] = int32(i), 0.8
		}
	}
	lists, err := mine.NewLists(sides[0], sides[1], 1, mine.Ratio)
	if err != nil {
		t.Fatal(err)
	}
	tokens := &fakeTokens{}
	problem := Problem{Languages: [2]string{"de", "en"}, Lists: lists, Tokens: tokens, Read: Texts(texts), Threads: 1}
	_, want, err := problem.Candidates(t.Context())
	if err != nil || want.Len() != 3 {
		t.Fatalf("%d candidates, error %v", want.Len(), err)
	}
	tokens.calls = nil
	problem.Release = func() error { tokens.calls = append(tokens.calls, "release"); return nil }
	if _, got, err := problem.Candidates(t.Context()); err != nil || !slices.Equal(got, want) {
		t.Errorf("values differ, error %v", err)
	}
	if at := slices.Index(tokens.calls, "release"); at != len(tokens.calls)-1 || at < 3 {
		t.Errorf("calls %v, want one release, the last", tokens.calls)
	}
	problem.Release = func() error { return errors.New("cannot be freed") }
	if _, _, err := problem.Candidates(t.Context()); err == nil {
		t.Error("an error of Release is lost")
	}
}
