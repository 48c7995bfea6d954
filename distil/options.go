package distil

import (
	"runtime"
	"slices"

	"bitextmine/internal/badinput"
)

// Options are the settings of a distillation. Those that change the student's bytes are in its record.
type Options struct {
	Teacher   string   `json:"-"`         // an argument of model.Load; the record has its digest
	Texts     []Text   `json:"-"`         // read in this order; the record has their names and digests
	Bitexts   []Bitext `json:"-"`         // read after the texts; only the descent needs them
	Languages []string `json:"languages"` // the student's; none: those of the text
	Name      string   `json:"name"`
	Licence   string   `json:"licence"` // the student's; none: the teacher's
	TrainedOn []string `json:"trained_on"`

	// the teacher's tensor that the table's sums stand for; none: the first that everything passes through as one row a
	// sentence
	Features string `json:"features"`
	Sample   int    `json:"sample"` // how many sentences, invented ones among them, are drawn evenly; 0: all
	// how often each piece stands in the sentences, at least, by sentences that are invented for it; 0: none are
	Invent int `json:"invent"`
	Pieces int `json:"pieces"` // size of the vocabulary; 0: the teacher's
	// pieces that stand for frequent sequences of the teacher's; 0: none
	Merges int `json:"merges,omitempty"`
	Rank   int `json:"rank"`  // columns of the table; 0: as many as the features have
	Bits   int `json:"bits"`  // bits of a number of the table: 4 or 8
	Steps  int `json:"steps"` // steps of conjugate gradients
	// share of each piece's own part that is added to the linear map of pieces alone: less than 1 is better on text of
	// other kinds
	Share float64 `json:"share"`
	Seed  uint64  `json:"seed"` // seed of invented sentences and of the descent
	// an encoder whose vectors are sums over tokens, stored in further columns of the table; none: no further columns
	Beside        string  `json:"beside,omitempty"`
	BesideColumns int     `json:"beside_columns,omitempty"`
	BesideShare   float64 `json:"beside_share,omitempty"` // share of the square of a vector's length
	// passes of gradient descent over the sentences and the bitext, after the least squares
	Epochs float64 `json:"epochs"`

	Out     string `json:"-"`
	Cache   string `json:"-"` // directory of the teacher's vectors; none: OUT/teacher
	Library string `json:"-"` // libonnxruntime
	Threads int    `json:"-"` // 0: every core

	Report   func(string)                     `json:"-"`
	Progress func(what string, done, all int) `json:"-"`
}

// DefaultOptions are the default settings.
func DefaultOptions() Options {
	return Options{
		Invent: 10,  // enough, with the ridge, for a row to follow its sentences more than the prior
		Bits:   4,   // the size of 8 bits at half the rank
		Steps:  20,  // the default encoder's fit
		Share:  0.7, // the best of 0.6 to 1 on news, with documentation and short sentences as text
		Seed:   1,
		// Chosen with bag-ngram beside the universal sentence encoder: a share of 0.3 has a lower mean over languages.
		BesideColumns: 128, BesideShare: 0.2,
	}
}

// minSentences is the number of sentences that a fit needs.
const minSentences = 10_000

// Validate reports everything that is wrong with the options in one error.
func (o Options) Validate() error {
	var wrong badinput.Problems
	check := wrong.Unless
	check(o.Teacher != "", "--teacher is missing: name an encoder's model.yaml, its directory or a built-in encoder")
	check(len(o.Texts) > 0, "--text is missing: give LANGUAGE=FILE for each file of sentences")
	check(o.Out != "", "--out is missing: name a directory")
	check(o.Bits == 4 || o.Bits == 8, "--bits is %d: give 4 or 8", o.Bits)
	check(o.Rank >= 0, "--rank is %d: give a number of columns, or 0 for as many as the features have", o.Rank)
	check(o.Pieces >= 0, "--pieces is %d: give a size of the vocabulary, or 0 for the teacher's", o.Pieces)
	check(o.Merges >= 0, "--merges is %d: give a number of pieces, or 0 for none", o.Merges)
	check(o.Invent >= 0, "--invent is %d: give a number of times, or 0 for none", o.Invent)
	check(o.Sample == 0 || o.Sample >= minSentences, "--sample is %d: give at least %d, or 0 for all", o.Sample,
		minSentences)
	check(o.Share >= 0 && o.Share <= 1, "--share is %g: give 0 to 1", o.Share)
	check(o.Steps > 0, "--steps is %d: give at least 1", o.Steps)
	check(o.Epochs >= 0, "--epochs is %g: give a number of passes, or 0 for none", o.Epochs)
	check(o.BesideColumns > 0 && o.BesideColumns%2 == 0, "--beside-columns is %d: give an even number of columns",
		o.BesideColumns)
	check(o.BesideShare > 0 && o.BesideShare < 1, "--beside-share is %g: give a number between 0 and 1", o.BesideShare)
	of := DefaultOptions()
	check(o.Beside != "" || o.BesideColumns == of.BesideColumns && o.BesideShare == of.BesideShare,
		"--beside-columns and --beside-share are of the encoder of --beside: name one, or leave them out")
	check(o.Bitexts == nil || o.Epochs > 0, "--bitext serves the gradient descent only: give --epochs, too")
	check(o.Threads >= 0, "--threads is %d: give a number, or 0 for every core", o.Threads)
	return wrong.Err("")
}

func (o Options) withDefaults() Options {
	if o.Threads == 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.Report == nil {
		o.Report = func(string) {}
	}
	if o.Progress == nil {
		o.Progress = func(string, int, int) {}
	}
	return o
}

// languagesOf are the languages of text and bitext, each once, in the order in which they are named.
func (o Options) languagesOf() []string {
	var all []string
	add := func(language string) {
		if !slices.Contains(all, language) {
			all = append(all, language)
		}
	}
	for _, t := range o.Texts {
		add(t.Language)
	}
	for _, b := range o.Bitexts {
		add(b.Source)
		add(b.Target)
	}
	return all
}
