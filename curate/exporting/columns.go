package exporting

import (
	"slices"

	"bitextmine/bitext/table"
	"bitextmine/curate/filtering"
)

// allColumns stands for the names of all columns.
const allColumns = "all"

// columns are the columns to write; nil: all. They have those that the format cannot do without.
func (e *exporter) columns() []string {
	columns := e.opts.Columns
	if columns == nil && e.format.Languages && e.opts.DedupURLs {
		columns = []string{SeenColumns[0].URLs, SeenColumns[1].URLs}
	}
	if columns == nil && e.format.Lines && e.first.Has(PartsColumns[0]) { // commas would not divide sentences
		for _, c := range e.first.Columns() {
			if !slices.Contains(PartsColumns[:], c.Name) {
				columns = append(columns, c.Name)
			}
		}
	}
	if slices.Equal(columns, []string{allColumns}) || columns == nil && !e.format.Languages {
		return nil
	}
	t := e.opts.Table
	must := []string{t.SourceColumn, t.TargetColumn}
	if slices.Contains(columns, must[0]) && slices.Contains(columns, must[1]) {
		must = nil // keeps the order in which they are named
	}
	for _, name := range []string{table.SourceLanguage, table.TargetLanguage} {
		if e.format.Languages && e.first.Has(name) && !slices.Contains(columns, name) {
			must = append(must, name)
		}
	}
	var all []string
	for _, name := range slices.Concat(must, columns) {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// needed are the columns that are written or decide, where not all are written; otherwise nil.
func needed(e *exporter) (columns []string) {
	t := e.opts.Table
	switch {
	case e.opts.Columns != nil:
		columns = slices.Clone(e.opts.Columns)
		if e.opts.Anonymise == InTexts { // the other side's text numbers what is masked
			columns = append(append(columns, filtering.FixedColumns[:]...), PartsColumns[:]...)
		}
	case e.format.Sides:
		columns = []string{t.SourceColumn, t.TargetColumn}
	default:
		return nil
	}
	columns = append(columns, "keep", "score", "src_key", "tgt_key", table.SourceLanguage, table.TargetLanguage, e.opts.Sort, e.report.SplitBy)
	if e.domains != nil || e.opts.DedupURLs {
		columns = append(columns, urlColumns[:]...)
	}
	if e.opts.Where != nil {
		columns = append(columns, e.opts.Where.Columns...)
	}
	return columns
}
