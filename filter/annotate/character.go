package annotate

// characters are shares of kinds of characters.
var characters = []Annotation{
	value("script_src", Float, 0, 1, "share of the width of the source's letters that is in the script of its language; null if the language is unknown", ofSource(ownScript)),
	value("script_tgt", Float, 0, 1, "the same of the target", ofTarget(ownScript)),
	value("letter_share", Float, 0, 1, "share of letters among the characters other than spaces, on the side with fewer", func(p *Pair) float64 {
		return min(p.Source.share(p.Source.letters), p.Target.share(p.Target.letters))
	}),
	value("digit_share", Float, 0, 1, "share of digits, on the side with more", higher(func(s *Sentence) float64 { return s.share(s.digits) })),
	value("punctuation_share", Float, 0, 1, "share of punctuation, on the side with more", higher(func(s *Sentence) float64 { return s.share(s.punctuation) })),
	value("symbol_share", Float, 0, 1, "share of what is no letter, digit or punctuation, on the side with more",
		higher(func(s *Sentence) float64 { return s.share(s.symbols) })),
	value("punctuation_differs", Float, 0, 1, "difference between both sides' shares of punctuation", func(p *Pair) float64 {
		a, b := p.Source.share(p.Source.punctuation), p.Target.share(p.Target.punctuation)
		return max(a-b, b-a)
	}),
	value("marks_differ", Count, 0, 16, "differences in the counts of eight kinds of punctuation marks, at most two each", func(p *Pair) float64 {
		sum := 0
		for i, n := range p.Source.surface.Marks {
			a, b := int(n), int(p.Target.surface.Marks[i])
			sum += min(2, max(a-b, b-a))
		}
		return float64(sum)
	}),
}

func ownScript(s *Sentence) float64 {
	switch {
	case s.scripts == nil:
		return unknown
	case s.letters == 0:
		return 1
	}
	return float64(s.own) / float64(s.letterWidth)
}
