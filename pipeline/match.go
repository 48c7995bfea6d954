package pipeline

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"bitextmine/bitext"
	"bitextmine/index"
	"bitextmine/internal/atomicfile"
	"bitextmine/mine"
	"bitextmine/pipeline/store"
)

// matchSides joins the cells, scores the candidates, matches them and writes the bitext.
func (r *run) matchSides(ctx context.Context, source, target *side, cells []cell) error {
	stage := r.start("match", int64(source.rows()+target.rows()), "sentences")
	sources, err := numberSentences(source)
	if err != nil {
		return err
	}
	targets, err := numberSentences(target)
	if err != nil {
		return err
	}
	lists, err := r.mergeCells(ctx, cells, sources, targets)
	if err != nil {
		return err
	}
	candidates := lists.Candidates()
	verdicts := mine.Judge(candidates, sources.len(), targets.len(), mine.Retrieval(r.cfg.Retrieval), r.cfg.Threshold)
	kept := 0
	for _, v := range verdicts {
		if v == mine.Kept {
			kept++
		}
	}
	stage.meter.Add(int64(source.rows() + target.rows()))
	stage.items = int64(sources.len() + targets.len())
	stage.task(false)
	stage.done(r.report)

	c := &r.report.Counts
	c.SourceUnique, c.TargetUnique, c.Candidates, c.Kept = sources.len(), targets.len(), len(candidates), kept
	return r.writeBitext(ctx, table{source, target, sources, targets, candidates, verdicts})
}

// mergeCells joins the lists of all cells over the numbered sentences.
func (r *run) mergeCells(ctx context.Context, cells []cell, sources, targets *sentences) (*mine.Lists, error) {
	forward, backward := mine.NewMerger(sources.len(), r.cfg.K), mine.NewMerger(targets.len(), r.cfg.K)
	for _, c := range cells {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rows, columns := sources.rows[c.source], targets.rows[c.target]
		result, err := index.OpenResult(c.path, len(rows), len(columns), r.cfg.K)
		if err != nil {
			return nil, err
		}
		forward.Add(result.Source, rows, columns)
		backward.Add(result.Target, columns, rows)
	}
	return mine.NewLists(forward.Neighbours(), backward.Neighbours(), r.cfg.K, mine.Margin(r.cfg.Margin))
}

// writeBitext publishes the bitext file and says so in the report.
func (r *run) writeBitext(ctx context.Context, t table) error {
	path := filepath.Join(r.cfg.Out, fmt.Sprintf("%s-%s.parquet", r.cfg.Source, r.cfg.Target))
	wanted := t.wanted(r.cfg.KeepBelow)
	stage := r.start("write", int64(len(wanted)), "pairs")
	err := atomicfile.Write(path, func(f *os.File) error {
		w, err := bitext.NewWriter(f, r.report.metadata())
		if err != nil {
			return err
		}
		for chunk := range slices.Chunk(wanted, writeChunk) {
			if err := ctx.Err(); err != nil {
				return err
			}
			rows, err := t.rows(chunk)
			if err != nil {
				return err
			}
			for _, row := range rows {
				if err := w.Append(row); err != nil {
					return err
				}
			}
			r.report.sample(rows)
			stage.meter.Add(int64(len(rows)))
		}
		return w.Close()
	})
	if err != nil {
		return err
	}
	stage.items = int64(len(wanted))
	stage.task(false)
	stage.done(r.report)
	size, sum, err := store.Digest(path)
	if err != nil {
		return err
	}
	r.report.Bitext = BitextReport{Path: path, Rows: len(wanted), Bytes: size, SHA256: sum}
	return nil
}
