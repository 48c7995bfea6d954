package faiss

import (
	"context"
	"math"
	"runtime"

	gofaiss "github.com/DataIntelligenceCrew/go-faiss"
	"golang.org/x/sync/errgroup"

	"bitextmine/index"
	"bitextmine/index/blas"
)

// flatExtra is how many candidates beyond k a flat search keeps. FAISS's scores are float32 and in its own order; these
// leave room for the few rows that change places when cosines are computed again. Lists that need more are found out
// and computed from all rows.
const flatExtra = 8

// flat searches two flat indexes one after the other: every inner product twice. Its results are exact.
type flat struct{ threads int }

func (f *flat) Name() string { return Prefix + "Flat" }

// Search implements index.Searcher.
func (f *flat) Search(ctx context.Context, src, tgt index.Side, k int, report func(float64)) (index.Result, error) {
	cell, err := index.NewCell(ctx, src, tgt, k)
	if err != nil {
		return index.Result{}, err
	}
	progress := index.NewProgress(float64(cell.Source.Len()+cell.Target.Len()), report)
	for _, half := range cell.Halves() {
		if err := f.searchHalf(ctx, half, progress); err != nil {
			return index.Result{}, err
		}
	}
	progress.Finish()
	return cell.Result(), nil
}

func (f *flat) searchHalf(ctx context.Context, half *index.Half, progress *index.Progress) error {
	// FAISS keeps its error text and OpenMP its thread count by OS thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	blas.SetThreads(f.threads)

	idx, err := gofaiss.NewIndexFlatIP(half.Base.Dim())
	if err != nil {
		return failed("make a flat index", err)
	}
	defer idx.Delete()
	if err := addAll(ctx, idx, half.Base); err != nil {
		return err
	}
	keep := min(half.K+flatExtra, half.Base.Len())
	chunk := chunkRows(half.Base.Len(), half.Base.Dim())
	buf := make([]float32, min(chunk, half.Queries.Len())*half.Queries.Dim())
	for lo := 0; lo < half.Queries.Len(); lo += chunk {
		if err := ctx.Err(); err != nil {
			return err
		}
		hi := min(lo+chunk, half.Queries.Len())
		queries := half.Queries.Block(lo, hi, buf)
		scores, ids, err := idx.Search(queries, int64(keep))
		if err != nil {
			return failed("search", err)
		}
		if err := f.refine(ctx, half, lo, hi, queries, scores, ids); err != nil {
			return err
		}
		progress.Add(float64(hi - lo))
	}
	return nil
}

// refine writes the lists of distinct queries lo to hi from FAISS's candidates scores and ids [hi-lo, keep].
func (f *flat) refine(ctx context.Context, half *index.Half, lo, hi int, queries, scores []float32, ids []int64) error {
	g, ctx := errgroup.WithContext(ctx)
	keep, dim, slack := len(ids)/(hi-lo), half.Base.Dim(), half.Slack()
	for w := range f.threads {
		g.Go(func() error {
			refiner := half.NewRefiner()
			candidates := make([]int32, keep)
			for q := lo + w; q < hi; q += f.threads {
				if err := ctx.Err(); err != nil {
					return err
				}
				at := (q - lo) * keep
				for i, id := range ids[at : at+keep] {
					candidates[i] = int32(id)
				}
				query := queries[(q-lo)*dim : (q-lo+1)*dim]
				ceiling := float64(scores[at+keep-1]) + slack
				if keep == half.Base.Len() {
					ceiling = math.Inf(-1)
				}
				if !refiner.Refine(q, query, candidates, ceiling) {
					refiner.Exhaust(q, query)
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// chunkRows is how many queries go into one FAISS call, which cannot be interrupted: about a fifth of a second's work on two
// processors, within FAISS's own block of 4,096.
func chunkRows(rows, dim int) int {
	const flops = 4e10
	return min(max(int(flops/(2*float64(rows)*float64(dim))), 64), 4096)
}
