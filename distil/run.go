// Package distil makes a fast static encoder, the student, of a slow one, the teacher: a table of subword vectors,
// fitted by least squares to the teacher's features of text that needs no translations.
//
// A distillation chooses the student's pieces (pieces.go, merge.go), cuts the text into those of teacher and student,
// invents sentences for rare ones (cut.go, invent.go), asks the teacher for its features and fits the table
// (teacher.go, package fit), trains table and head by gradient descent if asked (descend), fits further columns for a
// second encoder if there is one (second.go), and rounds, checks and publishes the student (publish.go). Each step
// takes values and returns values.
package distil

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"bitextmine/corpus"
	"bitextmine/distil/fit"
	"bitextmine/encode/model"
	"bitextmine/internal/badinput"
)

// Run distils a student into Options.Out.
func Run(ctx context.Context, o Options) (_ *Summary, err error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if err := refuseReplacing(filepath.Join(o.Out, modelDir), o); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	m, err := model.Load(o.Teacher)
	if err != nil {
		return nil, err
	}
	if len(o.Languages) == 0 {
		o.Languages = o.languagesOf()
	}
	warnings := languageWarnings(o, m)
	for _, warning := range warnings {
		o.Report("warning: " + warning)
	}
	t, err := openTeacher(o, m)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.cached.Close()) }()
	b, err := openSecond(o, t)
	if err != nil {
		return nil, err
	}
	if b != nil {
		defer func() { err = errors.Join(err, b.cached.Close()) }()
	}
	if err := checkRank(o, wideOf(o, t)); err != nil {
		return nil, err
	}
	r, err := distil(ctx, o, t, b)
	if err != nil {
		return nil, err
	}
	r.Warnings = warnings
	if r.LeftOut > 0 {
		r.Warnings = append(r.Warnings, leftOut(r.LeftOut, o.Pieces))
	}
	if err := publish(ctx, o, t, r); err != nil {
		return nil, err
	}
	return &r.Summary, nil
}

// result is a distillation before it is published.
type result struct {
	Summary
	pieces  *pieces
	problem *fit.Problem // its features are the part of the teacher's that the table does not explain
	table   *table
	second  *secondTable // nil without a second encoder
}

// distil fits the student's tables: pieces, features, least squares, descent, and the second encoder's columns.
func distil(ctx context.Context, o Options, t, b *source) (*result, error) {
	p, err := readPieces(ctx, o, t)
	if err != nil {
		return nil, err
	}
	problem, err := features(ctx, o, t, p)
	if err != nil {
		return nil, err
	}
	table, err := fitTeacher(ctx, o, t, p, problem)
	if err != nil {
		return nil, err
	}
	if o.Epochs > 0 {
		if table, err = descend(ctx, o, p, problem, table); err != nil {
			return nil, err
		}
	}
	var second *secondTable
	if b != nil {
		if second, err = fitSecond(ctx, o, t, b, p, problem, table.Power); err != nil {
			return nil, err
		}
	}
	table.values = fit.Cut(table.values, problem.Dim, table.dim)
	r := &result{pieces: p, problem: problem, table: table, second: second}
	r.Summary = Summary{
		Tensor: t.tensor, TeacherDigest: t.model.Digest, Text: p.text.Sources, Invented: p.invented,
		Sentences: len(p.kept), LeftOut: p.lacking, Tokens: len(p.rows.IDs), Rows: len(p.vocabulary.Teacher),
		Fitted: table.Fitted, Descent: table.descent, Losses: table.losses,
	}
	if second != nil {
		r.Second = &second.Second
	}
	return r, nil
}

// wideOf is the number of columns of the features and, with a second encoder, of its columns.
func wideOf(o Options, t *source) int {
	if o.Beside == "" {
		return t.cached.Dim()
	}
	return t.cached.Dim() + o.BesideColumns
}

// checkRank refuses a number of columns that the table cannot have.
func checkRank(o Options, wide int) error {
	switch {
	case o.Rank > wide:
		return badinput.Errorf("--rank %d: the features have %d columns; ask for no more", o.Rank, wide)
	case cmp.Or(o.Rank, wide)%2 != 0 && o.Bits == 4:
		return badinput.Errorf("--rank %d: a table of 4 bits needs an even number of columns", cmp.Or(o.Rank, wide))
	}
	return nil
}

// languageWarnings names the languages that the teacher was not trained on, and those without text.
func languageWarnings(o Options, m *model.Model) (warnings []string) {
	written := o.languagesOf()
	var unknown, unwritten []string
	for _, l := range o.Languages {
		if !corpus.Lists(m.Languages, l) {
			unknown = append(unknown, l)
		}
		if !slices.Contains(written, l) {
			unwritten = append(unwritten, l)
		}
	}
	if unknown != nil {
		warnings = append(warnings, fmt.Sprintf("the teacher %s was not trained on %s, and its student will be no better there", m.Name, strings.Join(unknown, ", ")))
	}
	if unwritten != nil {
		warnings = append(warnings, fmt.Sprintf("there is no text of %s: their pieces are learnt from invented sentences and from what the teacher says of a piece alone", strings.Join(unwritten, ", ")))
	}
	return warnings
}

// cacheOf is the directory of the cached vectors.
func cacheOf(o Options) string { return cmp.Or(o.Cache, filepath.Join(o.Out, "teacher")) }
