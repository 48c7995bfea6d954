package main

import "bitextmine/train/dev"

// devs are the test sets on which every row is evaluated, under DATA.
var devs = []dev.Set{
	{Protocol: "tatoeba", Dir: "tatoeba", Src: []string{"de", "fr", "es", "ja", "zh", "ru"}, Tgt: "en"},
	{Protocol: "bucc-laser", Dir: "bucc", Src: []string{"de", "fr", "zh"}, Tgt: "en"},
	{Protocol: "bucc-cosine", Dir: "bucc", Src: []string{"de", "fr", "zh"}, Tgt: "en"},
	{Protocol: "bucc-mteb", Dir: "bucc", Src: []string{"fr"}, Tgt: "en"}, // the figure that IMASCL reports
	{Protocol: "xsim", Dir: "flores", Split: "devtest", Src: []string{"de", "fr", "es", "ja", "zh", "ru"}, Tgt: "en"},
	{Protocol: "sts", Dir: "sts"},
}

// figure is a column: the mean of one or more figures of the devs.
type figure struct {
	name   string
	of     []string
	error  bool // lower is better
	second bool // belongs to the second table
}

const (
	tatoeba   = "Tatoeba"
	xsim      = "xsim error"
	stsEN     = "STS en"
	stsES     = "STS es"
	buccLaser = "bucc-laser"
	buccMTEB  = "bucc-mteb fr"
)

var figures = []figure{
	{name: tatoeba, of: []string{"tatoeba average accuracy"}},
	{name: buccLaser + " de", of: []string{"bucc-laser de-en f1"}},
	{name: buccLaser + " fr", of: []string{"bucc-laser fr-en f1"}},
	{name: buccLaser + " zh", of: []string{"bucc-laser zh-en f1"}},
	{name: "bucc-cosine de", of: []string{"bucc-cosine de-en f1"}},
	{name: "bucc-cosine fr", of: []string{"bucc-cosine fr-en f1"}},
	{name: "bucc-cosine zh", of: []string{"bucc-cosine zh-en f1"}},
	{name: xsim, of: []string{"xsim average error"}, error: true},
	{name: buccMTEB, of: []string{"bucc-mteb fr-en f1"}, second: true},
	{name: stsEN, of: []string{"sts 2012 mean spearman", "sts 2013 mean spearman", "sts 2014 mean spearman", "sts 2015 mean spearman", "sts 2016 mean spearman"}, second: true},
	{name: stsES, of: []string{"sts 2017 track3.es-es spearman"}, second: true},
}
