package web

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"bitextmine/bitext"
	"bitextmine/mine"
	"bitextmine/pipeline/decide"
	"bitextmine/pipeline/view"
	"bitextmine/web/page"
)

// explaining holds the parts of a run's work directory that explanations need. The first question starts reading it in
// the background: a large run takes a while, and memory for all its sentences.
type explaining struct {
	mu        sync.Mutex
	cancel    context.CancelFunc
	ended     chan struct{}
	began     time.Time
	run       *view.Run
	explainer *decide.Explainer
	err       error
}

// begin starts reading, unless that was done.
func (e *explaining) begin(s *Server, dir string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ended != nil {
		return
	}
	var ctx context.Context
	ctx, e.cancel = context.WithCancel(s.ctx) //nolint:gosec // close cancels it
	e.began, e.ended = time.Now(), make(chan struct{})
	go func() {
		defer close(e.ended)
		e.run, e.explainer, e.err = openExplainer(ctx, s.opts, dir)
	}()
}

func openExplainer(ctx context.Context, opts Options, dir string) (run *view.Run, _ *decide.Explainer, err error) {
	if run, err = view.Open(ctx, dir, opts.Version, opts.Log); err != nil {
		return nil, nil, err
	}
	pair, err := run.Pair(0)
	if err != nil {
		return run, nil, err
	}
	explainer, err := decide.NewExplainer(ctx, pair, run.Model, opts.Encoding)
	return run, explainer, err
}

func (e *explaining) close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ended == nil {
		return nil
	}
	e.cancel()
	<-e.ended
	var err error
	if e.explainer != nil {
		err = e.explainer.Close()
	}
	if e.run != nil {
		err = errors.Join(err, e.run.Close())
	}
	return err
}

// patience is how long a request waits for what is read in the background.
const patience = 2 * time.Second

// explain says why a pair has its score.
func explain(ctx context.Context, s *Server, one *shown, row *bitext.Row) (*page.Explanation, error) {
	if row.Spans() {
		return &page.Explanation{Problem: "its sides are spans of sentences, " + row.Aligned() + "."}, nil
	}
	one.why.begin(s, one.Run.Run)
	select {
	case <-one.why.ended:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(patience):
		return &page.Explanation{Waiting: true, Seconds: time.Since(one.why.began).Seconds()}, nil
	}
	if one.why.err != nil {
		return &page.Explanation{Problem: one.why.err.Error() + "."}, nil
	}
	x, err := one.why.explainer.Explain(ctx, row.Source.Text, row.Target.Text)
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil, err
	}
	if err != nil {
		return &page.Explanation{Problem: err.Error() + "."}, nil
	}
	return explained(x, one.why.run), nil
}

// explained sets an explanation for the page.
func explained(x *decide.Explanation, run *view.Run) *page.Explanation {
	languages := [2]string{run.Plan.Side(0, 0).Code, run.Plan.Side(0, 1).Code}
	e := &page.Explanation{Explanation: x, Languages: languages, Margin: run.Plan.Settings.Margin,
		Verdict: verdict(x, run)}
	if x.Product != nil {
		e.Refiner = run.Plan.Refiner.Name
	}
	for side, of := range [2]decide.ExplainedSide{x.Source, x.Target} {
		e.Sides[side] = neighbourhood(of, [2]uint8{x.SourceRank, x.TargetRank}[side], languages[side],
			languages[1-side])
	}
	for _, w := range x.Winners {
		e.Winners = append(e.Winners, page.Winner{
			Score: w.Score,
			Sides: [2]page.Sentence{page.NewSentence(languages[0], w.Source, nil),
				page.NewSentence(languages[1], w.Target, nil)},
		})
	}
	e.LogOdds = x.Intercept + x.Adapted + x.ByJudge
	for _, part := range x.Contributions {
		e.LogOdds += part.Logit
	}
	return e
}

func neighbourhood(of decide.ExplainedSide, rank uint8, own, other string) page.Side {
	side := page.Side{
		Title: fmt.Sprintf("Nearest sentences in %s of the one in %s", page.LanguageName(other),
			page.LanguageName(own)),
		Place: "The partner is not among them.",
	}
	if rank != mine.Unranked {
		side.Place = fmt.Sprintf("The partner is number %d.", rank+1)
	}
	for i, n := range of.Neighbours {
		side.Neighbours = append(side.Neighbours, page.Neighbour{
			Sentence: page.NewSentence(other, n.Text, nil), Cosine: min(n.Cosine,
				1), Score: n.Score, Partner: n.Partner, Proposed: i == of.Best,
		})
	}
	return side
}

// verdict says in words what became of a pair.
func verdict(x *decide.Explanation, run *view.Run) string {
	decides := "score"
	if x.Scored {
		decides = "probability"
	}
	switch {
	case x.Verdict == mine.Rejected:
		return "Not kept, whatever its score: " + strings.Join(x.Rejection.Reasons(), ", ") + "."
	case !x.Candidate && len(x.Winners) == 0:
		return "Neither sentence proposed the other, so the pair was not scored."
	case !x.Candidate:
		return "Neither sentence proposed the other, so the pair was not scored. Their sentences were kept in:"
	case x.Verdict == mine.Kept:
		return fmt.Sprintf("Kept: no better pair has one of its sentences, and its %s passes the threshold %.3f.",
			decides, x.Threshold)
	case x.Verdict == mine.BelowThreshold:
		return fmt.Sprintf("Not kept: its %s does not pass the threshold %.3f.", decides, x.Threshold)
	case x.Verdict == mine.BelowFloor:
		return fmt.Sprintf("Not kept: the margin is not above refine_floor = %g, so %s did not look at it.",
			x.RefineFloor, run.Plan.Refiner.Name)
	case x.Verdict == mine.NotProposed:
		return fmt.Sprintf("Not kept: %s retrieval asks for a proposal from the other side, too.",
			run.Plan.Settings.Retrieval)
	}
	return "Not kept: a better pair has one of its sentences:"
}
