package mine

// Retrieval is the way in which bitext is chosen among candidates.
type Retrieval string

// The retrieval modes of LASER's mine_bitexts and stopes.
const (
	Max       Retrieval = "max"       // best first, each sentence at most once
	Intersect Retrieval = "intersect" // proposed by both sentences; always one-to-one
	Union     Retrieval = "union"     // proposed by either sentence (stopes); not one-to-one
	Forward   Retrieval = "forward"   // proposed by the source sentence; a target may repeat
	Backward  Retrieval = "backward"  // proposed by the target sentence; a source may repeat
)

// Retrievals lists every retrieval mode by name.
var Retrievals = []Retrieval{Max, Intersect, Union, Forward, Backward}

// ParseRetrieval finds a retrieval mode by its name.
func ParseRetrieval(name string) (Retrieval, error) { return parse("retrieval", name, Retrievals) }

// Verdict says whether a candidate is in the bitext, and if not, why.
type Verdict uint8

// A candidate whose sentence was taken and whose score is too low counts as Taken.
const (
	Kept           Verdict = iota
	BelowThreshold         // the score is not above the threshold
	Taken                  // a better candidate has one of its sentences (max)
	NotProposed            // not proposed by the side or sides that this retrieval mode requires
	BelowFloor             // the margin is too low for the strong encoder to see the pair (two-stage mining)
	Rejected               // Candidate.Rejected
)

func (v Verdict) String() string {
	return [...]string{"kept", "below_threshold", "taken", "not_proposed", "below_floor", "rejected"}[v]
}

// Judge returns each candidate's verdict. candidates must be sorted best first, as Lists.Candidates returns them.
// sources and targets are the numbers of sentences of the two sides. With Max, a pair uses up both its sentences before
// the threshold is applied, as in LASER. A rejected pair uses up none.
func Judge(candidates []Candidate, sources, targets int, retrieval Retrieval, threshold float64) []Verdict {
	verdicts := make([]Verdict, len(candidates))
	sourceTaken, targetTaken := make([]bool, sources), make([]bool, targets)
	for i, c := range candidates {
		switch {
		case c.Rejected:
			verdicts[i] = Rejected
			continue
		case !retrieval.Asks(c):
			verdicts[i] = NotProposed
		case retrieval == Max && (sourceTaken[c.Source] || targetTaken[c.Target]):
			verdicts[i] = Taken
		case float64(c.Score) <= threshold:
			verdicts[i] = BelowThreshold
		}
		if verdicts[i] != Taken {
			sourceTaken[c.Source], targetTaken[c.Target] = true, true
		}
	}
	return verdicts
}

// Asks reports whether the sides that the mode requires proposed a candidate.
func (r Retrieval) Asks(c Candidate) bool {
	switch r {
	case Intersect:
		return c.Forward && c.Backward
	case Forward:
		return c.Forward
	case Backward:
		return c.Backward
	default:
		return true
	}
}

// Pairs returns the candidates in the bitext, best first.
func Pairs(candidates []Candidate, sources, targets int, retrieval Retrieval, threshold float64) []Candidate {
	kept := candidates[:0:0]
	for i, v := range Judge(candidates, sources, targets, retrieval, threshold) {
		if v == Kept {
			kept = append(kept, candidates[i])
		}
	}
	return kept
}
