package split

import (
	"regexp/syntax"
	"unicode"
)

// maxWords is the number of words that an alternative may have.
const maxWords = 20_000

// wordSet is the characters of words.
var wordSet = func() *charset {
	tree, err := syntax.Parse(`[\p{L}\p{M}\p{N}_]`, syntax.Perl)
	if err != nil {
		panic(err)
	}
	return newCharset(tree.Rune)
}()

// itemsOf divides an expression into items, if it is nothing else than a sequence of them.
func itemsOf(tree *syntax.Regexp, after bool) ([]item, bool) {
	if isBoundary(tree, after) {
		return []item{{boundary: true}}, true
	}
	if one, ok := single(tree); ok {
		return []item{{class: one, min: 1, max: 1}}, true
	}
	switch tree.Op {
	case syntax.OpCapture:
		return itemsOf(tree.Sub[0], after)
	case syntax.OpConcat:
		var all []item
		for _, sub := range tree.Sub {
			items, ok := itemsOf(sub, after)
			if !ok {
				return nil, false
			}
			all = append(all, items...)
		}
		// A boundary may only be where the text ends that the pattern sees.
		for k := range all {
			if all[k].boundary && (after && k != len(all)-1 || !after && k != 0) {
				return nil, false
			}
		}
		return all, true
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		one, ok := single(tree.Sub[0])
		if !ok || tree.Flags&syntax.NonGreedy != 0 {
			return nil, false
		}
		lowest, highest := tree.Min, tree.Max
		switch tree.Op {
		case syntax.OpStar:
			lowest, highest = 0, -1
		case syntax.OpPlus:
			lowest, highest = 1, -1
		case syntax.OpQuest:
			lowest, highest = 0, 1
		}
		return []item{{class: one, min: lowest, max: highest}}, true
	case syntax.OpLiteral, syntax.OpAlternate:
		if list, ok := literals(tree); ok {
			return []item{{words: newWords(list, after)}}, true
		}
	}
	return nil, false
}

// isBoundary recognises what translate writes for \b.
func isBoundary(tree *syntax.Regexp, after bool) bool {
	edge := syntax.OpBeginText
	if after {
		edge = syntax.OpEndText
	}
	return tree.Op == syntax.OpAlternate && len(tree.Sub) == 2 && tree.Sub[0].Op == edge &&
		tree.Sub[1].Op == syntax.OpCharClass && !newCharset(tree.Sub[1].Rune).overlap(wordSet)
}

// single is the class of an expression that matches one character.
func single(tree *syntax.Regexp) (*charset, bool) {
	switch tree.Op {
	case syntax.OpCapture:
		return single(tree.Sub[0])
	case syntax.OpCharClass:
		return newCharset(tree.Rune), true
	case syntax.OpLiteral:
		if len(tree.Rune) == 1 && tree.Flags&syntax.FoldCase == 0 {
			return newCharset([]rune{tree.Rune[0], tree.Rune[0]}), true
		}
	case syntax.OpAnyCharNotNL:
		return newCharset([]rune{0, '\n' - 1, '\n' + 1, unicode.MaxRune}), true
	case syntax.OpAnyChar:
		return newCharset([]rune{0, unicode.MaxRune}), true
	}
	return nil, false
}

// literals are the texts that an expression matches, if they are few. Go's parser divides alternatives into their
// common beginnings, so they are put together again.
func literals(tree *syntax.Regexp) ([]string, bool) {
	if tree.Flags&syntax.FoldCase != 0 && tree.Op == syntax.OpLiteral {
		return nil, false
	}
	switch tree.Op {
	case syntax.OpEmptyMatch:
		return []string{""}, true
	case syntax.OpLiteral:
		return []string{string(tree.Rune)}, true
	case syntax.OpCapture:
		return literals(tree.Sub[0])
	case syntax.OpQuest:
		list, ok := literals(tree.Sub[0])
		return append(list, ""), ok
	case syntax.OpCharClass:
		var list []string
		for k := 0; k < len(tree.Rune); k += 2 {
			for r := tree.Rune[k]; r <= tree.Rune[k+1]; r++ {
				if list = append(list, string(r)); len(list) > maxWords {
					return nil, false
				}
			}
		}
		return list, true
	case syntax.OpAlternate:
		var all []string
		for _, sub := range tree.Sub {
			list, ok := literals(sub)
			if !ok || len(all)+len(list) > maxWords {
				return nil, false
			}
			all = append(all, list...)
		}
		return all, true
	case syntax.OpConcat:
		all := []string{""}
		for _, sub := range tree.Sub {
			list, ok := literals(sub)
			if !ok || len(all)*len(list) > maxWords {
				return nil, false
			}
			var longer []string
			for _, a := range all {
				for _, b := range list {
					longer = append(longer, a+b)
				}
			}
			all = longer
		}
		return all, true
	}
	return nil, false
}
