package statistic

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
)

// alternating are n answers of which those are right whose place has the remainder 0.
func alternating(n, every int) Items {
	list := make([]float64, n)
	for i := range list {
		if i%every == 0 {
			list[i] = 1
		}
	}
	return Items{list}
}

func TestFigure(t *testing.T) {
	for name, c := range map[string]struct {
		items Items
		want  float64
	}{
		"accuracy":         {Items{{1, 0, 0.5, 0.5}}, 50},
		"the same order":   {Items{{1, 2, 3}, {1, 2, 3}}, 100},
		"the other order":  {Items{{1, 2, 3}, {3, 2, 1}}, -100},
		"no order":         {Items{{1, 2, 3}, {2, 2, 2}}, 0},
		"F1":               {Items{{3, 1}, {2, 1}, {2, 2}}, 75},
		"nothing to mine":  {Items{{0}, {0}, {0}}, 0},
		"nothing is right": {Items{{0, 0}}, 0},
	} {
		if got := c.items.Figure(); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		raw, err := json.Marshal(c.items)
		if err != nil {
			t.Fatal(err)
		}
		var back Items
		if err := json.Unmarshal(raw, &back); err != nil || !reflect.DeepEqual(back, c.items) {
			t.Errorf("%s: %v became %v, %v", name, c.items, back, err)
		}
	}
	if _, err := json.Marshal(Items{{1. / 3}}); err == nil {
		t.Error("a third is written")
	}
}

// TestCompare: the error is that of the closed form. Of 400 sentences a quarter differ, so the standard error over
// sentences is 100 √(0.25·0.75/400); over three seeds it is that of their differences.
func TestCompare(t *testing.T) {
	one := Seed{Better: []Items{alternating(400, 2)}, Worse: []Items{alternating(400, 4)}}
	same := Compare([]Seed{one, one, one})
	if want := 100 * math.Sqrt(0.25*0.75/400); same.Mean != 25 || same.BySeed != 0 || math.Abs(same.BySentence/want-1) > 1e-9 || math.Abs(same.Error/(1.96*same.BySentence)-1) > 1e-3 {
		t.Errorf("%+v, want a standard error of %v over sentences", same, want)
	}
	more := Seed{Better: []Items{alternating(400, 2)}, Worse: []Items{alternating(400, 8)}} // 37.5
	e := Compare([]Seed{one, one, more})
	seeds := 12.5 / 3 // s = 12.5/√3, s/√3
	if math.Abs(e.Mean-87.5/3) > 1e-9 || math.Abs(e.BySeed/seeds-1) > 1e-9 {
		t.Errorf("%+v, want a standard error of %v over seeds", e, seeds)
	}
	if q := Quantile(1, 0, 3); math.Abs(q-4.303) > 1e-3 { // Student's t with 2 degrees of freedom
		t.Errorf("the quantile of three seeds is %v", q)
	}
	if low, high := Quantile(1, 3, 3), Quantile(1, 0.1, 3); low > 2.1 || high < 4 {
		t.Errorf("quantiles of %v and %v: sentences have many degrees of freedom, seeds few", low, high)
	}
	if q := Quantile(1e-15, 0.2, 3); math.Abs(q-1.96) > 1e-3 { // seeds that differ by rounding alone
		t.Errorf("the quantile of seeds that do not differ is %v", q)
	}
	if twice := e.Times(2); twice != (Effect{2 * e.Mean, 2 * e.Error, 3, 2 * e.BySeed, 2 * e.BySentence}) {
		t.Errorf("twice %+v is %+v", e, twice)
	}
	// languages of 400 sentences share their draws, one of 100 has its own
	mixed := Seed{Better: []Items{alternating(400, 2), alternating(400, 2), alternating(100, 2)}, Worse: []Items{alternating(400, 4), alternating(400, 4), alternating(100, 4)}}
	if got, want := Compare([]Seed{mixed, mixed}).BySentence, 100*math.Sqrt(0.25*0.75)*math.Hypot(2./3/20, 1./3/10); math.Abs(got/want-1) > 1e-9 {
		t.Errorf("a standard error of %v over sentences of three languages, want %v", got, want)
	}
}

// TestDraws: what has no closed form is drawn, the same at every call: the error of shares is that of shares drawn.
func TestDraws(t *testing.T) {
	of := func(better, worse Items) Seed { return Seed{Better: []Items{better}, Worse: []Items{worse}} }
	extracted := make([]float64, 400)
	for i := range extracted {
		extracted[i] = 1
	}
	f1 := func(every int) Items { return Items{extracted, alternating(400, every)[0], extracted} } // F1 is the accuracy
	want, e := Compare([]Seed{of(alternating(400, 2), alternating(400, 4))}), Compare([]Seed{of(f1(2), f1(4))})
	if math.Abs(e.BySentence/want.BySentence-1) > 0.03 || e.Mean != want.Mean {
		t.Errorf("drawn %+v, in closed form %+v", e, want)
	}
	if again := Compare([]Seed{of(f1(2), f1(4))}); again != e {
		t.Errorf("%+v, then %+v", e, again)
	}
	if none := Compare(nil); none.Outcome(1) != Untested || none.String() != "no rows" {
		t.Errorf("%+v", none)
	}
}

func TestOutcome(t *testing.T) {
	for name, c := range map[string]struct {
		mean, within, claimed float64
		seeds                 int
		want                  Outcome
	}{
		"far above":                       {11, 1, 5, 3, Held},
		"above, and maybe as large":       {3, 2.5, 5, 3, Held},
		"above, surely smaller":           {1, 0.5, 5, 3, Smaller},
		"of no size in the paper":         {1, 0.5, 0, 3, Held},
		"far below":                       {-11, 1, 5, 3, Contrary},
		"maybe nothing, surely smaller":   {0.5, 1, 5, 3, NotHeld},
		"maybe nothing, maybe as large":   {3, 4, 5, 3, Untested},
		"one seed":                        {11, 0, 5, 1, Untested},
		"below nothing, maybe as claimed": {-1, 7, 5, 3, Untested},
	} {
		if got := (Effect{Mean: c.mean, Error: c.within, Seeds: c.seeds}).Outcome(c.claimed); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestLabels: of two sentences with a cosine of 0, and of three of which the last is in no full batch. The temperature
// is of the first pairs, the share of those drawn.
func TestLabels(t *testing.T) {
	l := Labels{size: 2, first: cosines([][]float32{{1, 0, 0, 1, 0.6, 0.8}}, 2, 2), drawn: [][]float64{{1, 1}, {1, 1}}}
	own := 100 * math.Exp(2) / (math.Exp(2) + 1)
	if got := l.own(l.first, 0.5); len(l.first) != 2 || math.Abs(got-own) > 1e-6 {
		t.Errorf("%v, want %v", got, own)
	}
	if got := l.Soft(own); got != 0.5 {
		t.Errorf("the temperature of that share is %v", got)
	}
	if got := l.Own(0.5); got != 50 {
		t.Errorf("%v of a label lies on one of two pairs that are alike", got)
	}
	// another side that knows no difference: the mean of the cosines is 1 and 0.5
	l.drawn = cosines([][]float32{{1, 0, 0, 1}, {1, 0, 1, 0}}, 2, 2)
	if half := 100 * math.Exp(1) / (math.Exp(1) + 1); math.Abs(l.Own(0.5)-half) > 1e-6 {
		t.Errorf("%v, want %v", l.Own(0.5), half)
	}
}
