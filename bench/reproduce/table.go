package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"bitextmine/bench/reproduce/statistic"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/train"
)

// partTables returns the tables of a part and its verdicts, as Markdown.
func partTables(b budget, part []string, t table) string {
	var w strings.Builder
	for _, g := range b.Groups {
		describe(&w, g, t)
	}
	rowTable(&w, b, t)
	detail(&w, b.verdicts(part, t))
	return w.String()
}

// describe writes a sentence with what a group's rows have in common.
func describe(w *strings.Builder, g group, t table) {
	var first *result // any: they share it
	teacher := ""
	var devices []string
	var rows []*result
	for _, s := range g.Systems {
		for _, r := range t.rows(s.Name) {
			rows, first, teacher, devices = append(rows, r), r, cmp.Or(teacher, r.Teacher), append(devices, r.Device)
		}
	}
	if first == nil {
		return
	}
	fmt.Fprintf(w, "%s: %s pairs (%d lines of each file at most%s), %d steps of %d pairs, %d words",
		g.Name, pairsOf(rows), g.Lines, [...]string{"", ", of the odd ones", ", of the even ones"}[g.Half], first.Steps, first.Batch, first.Words)
	if g.Start != "" {
		fmt.Fprintf(w, "; starts from `%s`", g.Start)
	}
	if teacher != "" {
		fmt.Fprintf(w, "; the teacher is `%s`", teacher)
	}
	slices.Sort(devices)
	fmt.Fprintf(w, "; trained on %s.\n\n", strings.Join(slices.Compact(devices), ", "))
}

// pairsOf is on how many pairs rows were trained: a number, or the lowest and the highest.
func pairsOf(rows []*result) string {
	pairs := func(a, b *result) int { return cmp.Compare(a.Pairs, b.Pairs) }
	low, high := slices.MinFunc(rows, pairs).Pairs, slices.MaxFunc(rows, pairs).Pairs
	if low == high {
		return fmt.Sprint(low)
	}
	return fmt.Sprintf("%d to %d", low, high)
}

// rowTable has a line for each system and a column for each measure.
func rowTable(w *strings.Builder, b budget, t table) {
	var names []string
	for _, system := range b.systems() {
		if r := t.any(system); r != nil {
			for _, m := range r.Measures {
				if !slices.Contains(names, m.name()) {
					names = append(names, m.name())
				}
			}
		}
	}
	fmt.Fprintf(w, "| system | vector | seeds | pairs | %s own share | rate | loss | ms a step | core s |\n|%s\n", strings.Join(append(names, ""), " | "),
		strings.Repeat(" --- |", len(names)+9))
	for _, system := range b.systems() {
		r := t.any(system)
		if r == nil {
			continue
		}
		fmt.Fprintf(w, "| `%s` | %s | %d | %s |", system, r.Vector, len(t[system]), pairsOf(t.rows(system)))
		number := func(decimals int, of func(r *result) (float64, bool)) {
			fmt.Fprintf(w, " %s |", statistic.Summary(t.values(system, of), decimals))
		}
		for _, name := range names {
			number(2, func(r *result) (float64, bool) {
				m, ok := r.of(name)
				return m.figure(), ok
			})
		}
		number(0, func(r *result) (float64, bool) { return r.Own, r.Own > 0 })
		rate := fmt.Sprint(r.Rate)
		if edge := r.edge(); edge != "" {
			rate += fmt.Sprintf(" (%s)", edge)
		}
		fmt.Fprintf(w, " %s | %.2f to %.2f |", rate, r.Losses[0], r.Losses[1])
		number(0, func(r *result) (float64, bool) { return 1000 * r.Step, r.Step > 0 })
		number(0, func(r *result) (float64, bool) { return r.Seconds, true })
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w)
}

// detail has a line for each comparison.
func detail(w *strings.Builder, all []verdict) {
	if len(all) == 0 {
		return
	}
	fmt.Fprint(w, "| paper | claim | vectors | verdict | comparison | by | effect ± error | over seeds, sentences | paper | |\n|"+strings.Repeat(" --- |", 10)+"\n")
	for _, v := range all {
		for i, j := range v.judgements {
			if i == 0 {
				fmt.Fprintf(w, "| %s | %s | %s | **%s** |", v.paper, v.says, v.vectors, v.outcome)
			} else {
				fmt.Fprint(w, "| | | | |")
			}
			fmt.Fprintf(w, " `%s` over `%s` | %s | %s | %.2f, %.2f | %s | %s |\n", j.better, j.worse, j.measure, j.size(), j.effect.BySeed, j.effect.BySentence, j.paper(), j.reason())
		}
	}
	fmt.Fprintln(w)
}

// size is the effect in points, or the ratio of times.
func (j judgement) size() string {
	if j.maxRatio > 0 {
		return fmt.Sprintf("x%.3f", j.ratio)
	}
	if n := j.effect.Seeds; n > 1 && n < j.needed {
		return fmt.Sprintf("%s of %d seeds", j.effect, n)
	}
	return j.effect.String()
}

// reason is why a comparison is not tested or of no size, and which seeds it is without.
func (j judgement) reason() string {
	text := strings.TrimSuffix(fmt.Sprintf("%s: %s", j.outcome, j.because), ": ")
	if len(j.apart) > 0 {
		text += "; left out, as their rows are on different pairs: seeds " + strings.Trim(fmt.Sprint(j.apart), "[]")
	}
	return text
}

// set is the name of the set. Those that DATA has as bucc/ are made like BUCC's, and never called by its name.
func (j judgement) set() string {
	if name := strings.TrimPrefix(j.measure, j.protocol+" "); name != "bucc" {
		return name
	}
	return "a BUCC-style set"
}

// paper is the paper's effect.
func (j judgement) paper() string {
	if j.maxRatio > 0 {
		return "x1.05"
	}
	return fmt.Sprintf("%.1f", j.claimed)
}

// summary is the table of claims and budgets, in the claims' order: every claim has a line, and where no rows decide
// it, what would.
func summary(all []verdict, budgets []budget) string {
	var w strings.Builder
	fmt.Fprint(&w, "| paper | claim | budget, vectors | verdict | effect ± error at 95% | paper |\n| --- | --- | --- | --- | --- | --- |\n")
	for _, c := range claims {
		paper, says, would := c.paper, c.says, c.would(all, budgets)
		for _, v := range all {
			if v.paper != c.paper || v.says != c.says {
				continue
			}
			var effects, papers []string
			for _, j := range v.judgements {
				effects, papers = append(effects, fmt.Sprintf("%s (%s)", j.size(), j.set())), append(papers, j.paper())
			}
			outcome := fmt.Sprintf("**%s**", v.outcome)
			if at := slices.IndexFunc(v.judgements, func(j judgement) bool { return j.outcome == v.outcome && j.because != "" }); at >= 0 {
				outcome += ": " + v.judgements[at].because
			}
			if v.outcome == statistic.Untested && would != "" {
				outcome += "; would take " + would
				would = ""
			}
			budget := strings.TrimSuffix(fmt.Sprintf("`%s` %s", v.budget, v.part), " ")
			fmt.Fprintf(&w, "| %s | %s | %s, %s | %s | %s | %s |\n", paper, says, budget, v.vectors, outcome, strings.Join(effects, ", "), strings.Join(slices.Compact(papers), ", "))
			paper, says = "", ""
		}
		if says != "" {
			fmt.Fprintf(&w, "| %s | %s | | **not tested**%s, would take %s | | %s |\n", paper, says, c.reasons(budgets), would, c.size())
		}
	}
	return strings.ReplaceAll(w.String(), "|  ", "| ")
}

// would says what would decide a claim, or is empty if rows have.
func (c claim) would(all []verdict, budgets []budget) string {
	if slices.ContainsFunc(all, func(v verdict) bool { return v.says == c.says && v.outcome != statistic.Untested }) {
		return ""
	}
	var would []string
	for _, b := range budgets {
		made := slices.ContainsFunc(all, func(v verdict) bool {
			return v.says == c.says && v.budget == b.name && slices.ContainsFunc(v.judgements, func(j judgement) bool { return j.effect.Seeds >= b.needed() })
		})
		if b.has(c) && !made {
			would = append(would, strings.TrimSuffix(fmt.Sprintf("`%s`, %g h of a core and %s", b.name, b.Hours, b.Needs), " and "))
		}
	}
	if c.elsewhere != "" {
		would = append(would, "at the paper's size "+c.elsewhere)
	}
	return strings.Join(would, "; ")
}

// reasons says of the budgets that have a claim's systems and cannot decide it, why; empty: there are none.
func (c claim) reasons(budgets []budget) string {
	var all []string
	for _, b := range budgets {
		for _, o := range c.over {
			if why := b.reason(o); why != "" && b.measures(o) {
				all = append(all, fmt.Sprintf("`%s`: %s", b.name, why))
				break
			}
		}
	}
	if len(all) == 0 {
		return ""
	}
	return " (" + strings.Join(all, "; ") + ")"
}

// has reports whether a budget can decide a claim, once it has rows.
func (b budget) has(c claim) bool {
	return slices.ContainsFunc(c.over, func(o comparison) bool { return b.measures(o) && b.reason(o) == "" })
}

// measures reports whether a budget has a comparison's systems and protocol.
func (b budget) measures(o comparison) bool {
	if o.maxRatio > 0 {
		return b.PaperSize && slices.Contains(b.systems(), o.better)
	}
	if o.better == "start" {
		o.better = b.start(o.worse)
	}
	return slices.ContainsFunc(b.Sets, func(s train.DevSet) bool { return s.Protocol == o.protocol }) && slices.Contains(b.comparisons(), o)
}

// size is the paper's effect in a claim's first comparison.
func (c claim) size() string {
	if len(c.over) == 0 {
		return ""
	}
	return judgement{comparison: c.over[0]}.paper()
}

// fill replaces the text between a page's marks.
func fill(page, mark, text string) error {
	raw, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	begin, end := "<!-- "+mark+" -->\n", "<!-- end of "+mark+" -->"
	before, rest, found := strings.Cut(string(raw), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return badinput.Errorf("%s has no lines %s and %s for the tables: add them", page, strings.TrimSpace(begin), end)
	}
	return atomicfile.WriteBytes(page, []byte(before+begin+"\n"+strings.TrimSpace(text)+"\n\n"+end+after))
}
