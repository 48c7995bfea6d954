package page

import (
	"html/template"

	"bitextmine/bitext"
	"bitextmine/pipeline/decide"
)

// Item is a pair in a list.
type Item struct {
	Row     int
	Key     string // source:target, hexadecimal
	Sides   [2]Sentence
	Mined   []Sentence // both sides as they were mined, beside corrected ones that a search shows
	Value   float32
	Kept    bool
	Reasons []string
	Label   string // what people decided, as label.Label names it, or nothing
	By      string // who decided; may be empty
	Version string // version of the label, for the decision that replaces it
}

// Choice is an option that a form offers.
type Choice struct {
	Value, Label string
	Chosen       bool
}

// Selection selects the pairs of a list or a review.
type Selection struct {
	Query         template.URL // query of addresses of this list
	Show, Order   string
	Text          string // words that are looked for
	Min, Max      string // bounds of the value; empty: none
	Shows, Orders []Choice
	Decides       string
	Total         int
}

// ListBody is a page of a list of pairs.
type ListBody struct {
	Selection
	Items          []Item
	From           int // index of the first item
	Previous, Next int // first items of the neighbouring pages; -1: there is none
	OnlyKept       bool
	Labels, People []Choice // decisions, and who took them
	ByDecision     bool     // the list is of some decisions
	Missing        []Item   // pairs with such decisions that the bitext does not have
	MissingTotal   int
}

// SearchBody is a page of what a search found.
type SearchBody struct {
	Query          string
	Modes, Sides   []Choice
	Mode, In       string
	Searched       bool
	Problem        string
	Items          []Item
	Corrections    ListBody // pairs whose corrected texts were found
	Total, From    int
	More           bool // there may be more than Total
	Previous, Next int
	Indexed        bool
	Decides        string
	HowToIndex     string
	Indexing       string // how far an index is that is being made; empty: none is
	IndexProblem   string // why the last one was not made; empty: it was, or none was asked for
}

// PairBody is a pair with all that the bitext says of it.
type PairBody struct {
	Item
	Pair      *bitext.Row
	Features  []Feature
	Decides   string
	Threshold float64
	Languages [2]string
}

// Feature is a feature of the scorer.
type Feature struct {
	Name  string
	Value float32
}

// Explanation is why a pair has its score, or why that is not known (yet).
type Explanation struct {
	*decide.Explanation
	Waiting   bool
	Seconds   float64 // seconds waited so far
	Problem   string
	Verdict   string
	Sides     [2]Side
	Winners   []Winner
	LogOdds   float64
	Margin    string // kind
	Refiner   string
	Languages [2]string
}

// Side is the neighbourhood of a side's sentence.
type Side struct {
	Title      string
	Place      string
	Neighbours []Neighbour
}

// Neighbour is a sentence of the other side.
type Neighbour struct {
	Sentence
	Cosine, Score     float32
	Partner, Proposed bool
}

// Winner is a better pair that took a sentence.
type Winner struct {
	Sides [2]Sentence
	Score float32
}

// ReviewBody is the review.
type ReviewBody struct {
	Selection
	Card               Card
	Accepted, Rejected int // decisions so far
}

// Card is the pair that is reviewed.
type Card struct {
	Item
	At, Total int
	End       bool // the list has no pair here
	Decides   string
	Origins   [2]string
	Sample    *Sample // nil: the list is no random sample of kept pairs
}

// Sample is the pairs at the beginning of a random order that were decided on without a gap: a random sample.
type Sample struct {
	Decided, Accepted    int
	Chosen               bool    // they are none: some that stood among them were rejected before the run
	Precision, Low, High float64 // Wilson's 95% interval
}

// ProblemBody says what went wrong.
type ProblemBody struct {
	Status  int
	Heading string
	Text    string
}
