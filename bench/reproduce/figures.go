package main

import "strings"

// yoruba is one of the languages with little text, which are trained on together.
const yoruba = "yo"

// figure is a column: the mean of one or more of the figures of the sets, each named by the set's directory and split
// and the figure's own name in eval's reports, or one that the row's training gave.
type figure struct {
	name     string
	of       []string
	error    bool   // lower is better
	second   bool   // belongs to the second table
	language string // only of parts with this language
}

const (
	flores    = "FLORES"
	ntrex     = "NTREX"
	lafand    = "LAFAND"
	tatoeba   = "Tatoeba"
	stsEN     = "STS en"
	stsES     = "STS es"
	buccLaser = "bucc-laser"
	buccMTEB  = "bucc-mteb fr"
	own       = "own share"
	floresH   = "FLORES by h(u)"
	ntrexH    = "NTREX by h(u)"
	skew      = "hub skewness"
	gap       = "cosine less margin"
	same      = "same sentence"
	matched   = "translation"
	lexical   = "same language"
	other     = "other"
	stepTime  = "time of a step" // no column
)

var figures = []figure{
	{name: flores, of: []string{"flores devtest xsim average error"}, error: true},
	{name: ntrex, of: []string{"ntrex xsim average error"}, error: true},
	{name: lafand, of: []string{"lafand xsim average error"}, error: true, language: yoruba},
	{name: tatoeba, of: []string{"tatoeba tatoeba average accuracy"}},
	{name: buccLaser + " de", of: []string{"bucc bucc-laser de-en f1"}, language: "de"},
	{name: buccLaser + " fr", of: []string{"bucc bucc-laser fr-en f1"}, language: "fr"},
	{name: "bucc-cosine de", of: []string{"bucc bucc-cosine de-en f1"}, language: "de"},
	{name: "bucc-cosine fr", of: []string{"bucc bucc-cosine fr-en f1"}, language: "fr"},
	{name: buccMTEB, of: []string{"bucc bucc-mteb fr-en f1"}, language: "fr"},
	{name: stsEN, of: []string{"sts sts 2013 mean spearman", "sts sts 2016 mean spearman"}},
	{name: stsES, of: []string{"sts sts 2017 track3.es-es spearman"}, language: "es"},
	{name: own, second: true},
	{name: floresH, second: true, error: true},
	{name: ntrexH, second: true, error: true},
	{name: skew, second: true},
	{name: gap, second: true, error: true},
	{name: same, second: true},
	{name: matched, second: true},
	{name: lexical, second: true},
	{name: other, second: true},
}

// gather makes the columns of the figures of the sets. A column of which one is missing is left out.
func gather(found map[string]float64) map[string]float64 {
	out := map[string]float64{}
	for _, f := range figures {
		sum, n := 0.0, 0
		for _, name := range f.of {
			if x, ok := found[name]; ok {
				sum += x
				n++
			}
		}
		if n > 0 && n == len(f.of) {
			out[f.name] = sum / float64(n)
		}
	}
	return out
}

// named is a set's figure's name in a table.
func named(dir, split, figure string) string {
	return strings.Join(strings.Fields(dir+" "+split+" "+figure), " ")
}
