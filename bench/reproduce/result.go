package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"bitextmine/bench/reproduce/statistic"
	"bitextmine/eval/report"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/train"
)

// result is a row of one seed: a file in the directory of rows.
type result struct {
	System   string    `json:"system"`
	Seed     uint64    `json:"seed"`
	Preset   string    `json:"preset"` // digest of what determines it
	Vector   string    `json:"vector"` // how a sentence's vector is made
	Measures []measure `json:"measures"`
	// share of IMASCL's labels, in percent, on the pair itself in training's batches; 0 for other losses
	Own     float64    `json:"own_share,omitempty"`
	Losses  [2]float64 `json:"losses"` // losses in the log's first and last line; equal if there is only one
	Dim     int        `json:"dim"`
	Words   int        `json:"vocabulary"`
	Steps   int        `json:"steps"`
	Batch   int        `json:"batch"` // pairs
	Pairs   uint64     `json:"pairs"` // pairs of the bitext
	Teacher string     `json:"teacher,omitempty"`
	Rate    float64    `json:"learning_rate"`
	Step    float64    `json:"step_processor_seconds"` // the median over the lines of the log
	Seconds float64    `json:"processor_seconds"`      // training and evaluation together
	Device  string     `json:"device"`                 // that trained it
	tried   []float64  // learning rates of which its own was the best; empty: it had no choice
	// the row that chose the rate and that of half of its steps; nil: there is none
	chosen, half *result
}

// choose notes the row that chose the rate among those of all rates, which rates were tried on the same pairs, and the
// row of half of the steps if it has that rate and these pairs.
func (r *result) choose(all []*result, before *result) {
	if at := slices.IndexFunc(all, func(x *result) bool { return x.Rate == r.Rate }); at >= 0 {
		r.chosen = all[at]
	}
	for _, x := range all {
		if r.chosen == nil || x.Pairs == r.chosen.Pairs {
			r.tried = append(r.tried, x.Rate)
		}
	}
	if r.chosen != nil && before != nil && before.Rate == r.Rate && before.Pairs == r.chosen.Pairs {
		r.half = before
	}
}

// edge is "lowest" or "highest" if the rate is the lowest or highest that was tried, so that the best may be beyond it.
func (r *result) edge() string {
	switch {
	case len(r.tried) == 0:
		return ""
	case r.Rate <= slices.Min(r.tried):
		return "lowest"
	case r.Rate >= slices.Max(r.tried):
		return "highest"
	}
	return ""
}

// measure is a protocol's figure on a set: the mean over its languages.
type measure struct {
	Protocol string            `json:"protocol"`
	Set      string            `json:"set"`
	Of       []string          `json:"of"` // names of eval's rows
	Items    []statistic.Items `json:"items"`
}

func (m measure) name() string { return m.Protocol + " " + m.Set }

func (m measure) figure() (mean float64) {
	for _, x := range m.Items {
		mean += x.Figure() / float64(len(m.Items))
	}
	return mean
}

// unlike is the share of answers, in percent, that are not those of another row.
func (m measure) unlike(other measure) float64 {
	unlike, all := 0, 0
	for i, x := range m.Items {
		if i >= len(other.Items) || len(x[0]) != len(other.Items[i][0]) {
			return 100
		}
		for j, answer := range x[0] {
			if all++; answer != other.Items[i][0][j] {
				unlike++
			}
		}
	}
	return 100 * float64(unlike) / float64(max(all, 1))
}

// of returns the result's measure of that name.
func (r *result) of(name string) (measure, bool) {
	at := slices.IndexFunc(r.Measures, func(m measure) bool { return m.name() == name })
	if at < 0 {
		return measure{}, false
	}
	return r.Measures[at], true
}

// yearsOf are the years of SemEval that STS in English is the mean of, of all sets with equal weights.
var yearsOf = []string{"2013 ", "2016 "}

// languageOf is the measure of STS, en or es, that a set by eval's name of its row is a part of; empty: none.
func languageOf(row string) string {
	if row == "2017 track3.es-es" {
		return "es"
	}
	if slices.ContainsFunc(yearsOf, func(year string) bool { return strings.HasPrefix(row, year) }) {
		return "en"
	}
	return ""
}

// measures makes the measures of eval's report on a set. STS is English, and Spanish where the part has it.
func measures(r *report.Report, set train.DevSet, part []string) (all []measure) {
	m := measure{Protocol: r.Protocol, Set: nameOf(set)}
	if set.Protocol != "sts" {
		for _, row := range r.Rows {
			m.Of, m.Items = append(m.Of, row.Name), append(m.Items, statistic.Items(row.Items))
		}
		return []measure{m}
	}
	english, spanish := measure{Protocol: "sts", Set: "en"}, measure{Protocol: "sts", Set: "es"}
	for _, row := range r.Rows {
		into := &english
		switch language := languageOf(row.Name); {
		case language == "es" && slices.Contains(part, "es"):
			into = &spanish
		case language != "en":
			continue
		}
		into.Of, into.Items = append(into.Of, row.Name), append(into.Items, statistic.Items(row.Items))
	}
	return slices.DeleteFunc([]measure{english, spanish}, func(m measure) bool { return len(m.Items) == 0 })
}

// nameOf is the name of a set of texts in a measure.
func nameOf(set train.DevSet) string {
	return strings.TrimSpace(filepath.Base(set.Dir) + " " + set.Split)
}

// read returns a row, or nil if there is none.
func read(path string) (*result, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var r result
	if err == nil {
		err = json.Unmarshal(raw, &r)
	}
	for _, m := range r.Measures {
		if err == nil && (len(m.Items) == 0 || len(m.Of) != len(m.Items) || slices.ContainsFunc(m.Items, func(x statistic.Items) bool { return len(x) == 0 })) {
			err = fmt.Errorf("%s has no items, or not as many as names", m.name())
		}
	}
	if err != nil {
		return nil, badinput.Errorf("%s is not a valid row: %w; remove it, and it is made again", path, err)
	}
	return &r, nil
}

// write stores a row.
func (r *result) write(path string) error {
	text, err := json.MarshalIndent(r, "", " ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o777)
	}
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(path, append(text, '\n'))
}

// sameAs returns an error if a row was made with another preset than the budget now gives, which has the digest.
func (r *result) sameAs(digest, path string) (err error) {
	if r != nil && digest != r.Preset {
		err = badinput.Errorf("%s was made with another budget, preset or teacher: remove it, or give another -rows", path)
	}
	return err
}

// table is the rows of a part by system and seed.
type table map[string]map[uint64]*result

// readTable reads the rows of a part that exist.
func readTable(rows string, b budget, part []string) (table, error) {
	t := table{}
	for _, system := range b.systems() {
		files, err := filepath.Glob(rowFile(rows, b, part, system, "seed-*"))
		if err != nil {
			return nil, err
		}
		chosen, err := filepath.Glob(rowFile(rows, b, b.Parts[0], system, "rate-*"))
		if err != nil {
			return nil, err
		}
		before, err := read(rowFile(rows, b, b.Parts[0], system, half))
		if err != nil {
			return nil, err
		}
		var all []*result
		for _, file := range chosen {
			r, err := read(file)
			if err != nil {
				return nil, err
			}
			all = append(all, r)
		}
		t[system] = map[uint64]*result{}
		for _, file := range files {
			r, err := read(file)
			if err != nil {
				return nil, err
			}
			r.choose(all, before)
			t[system][r.Seed] = r
		}
	}
	return t, nil
}

// rowFile is the file of a row.
func rowFile(rows string, b budget, part []string, system, seed string) string {
	return filepath.Join(rows, b.name, strings.Join(part, "-"), system+"."+seed+".json")
}

// rows are a system's rows by seed.
func (t table) rows(system string) (all []*result) {
	for _, seed := range slices.Sorted(maps.Keys(t[system])) {
		all = append(all, t[system][seed])
	}
	return all
}

// any returns a row of a system, whatever its seed, or nil.
func (t table) any(system string) *result {
	if all := t.rows(system); len(all) > 0 {
		return all[0]
	}
	return nil
}

// before is the row of a system that a row of a seed starts from: of that seed, else of the one seed that all share.
func (t table) before(start string, seed uint64) *result {
	if r := t[start][seed]; r != nil {
		return r
	}
	if r := t.any(start); r != nil {
		return r
	}
	return &result{}
}

// values are a number of each row of a system, ascending.
func (t table) values(system string, number func(*result) (float64, bool)) (all []float64) {
	for _, r := range t[system] {
		if x, ok := number(r); ok {
			all = append(all, x)
		}
	}
	slices.Sort(all)
	return all
}
