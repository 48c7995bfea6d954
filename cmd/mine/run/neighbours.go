package run

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"bitextmine/cmd/mine/flags"
	"bitextmine/cmd/mine/program"
	"bitextmine/encode/embedding"
	"bitextmine/index"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline"
)

// NewNeighbours makes mine neighbours.
func NewNeighbours() *cobra.Command {
	var s flags.Settings
	var out string
	cmd := &cobra.Command{
		Use:   "neighbours SOURCE.npy TARGET.npy",
		Short: "Find the nearest rows of two files of vectors, in both directions",
		Long: `Find, for every row of two files of vectors (mine encode), the k rows of the other file with the greatest
cosine, whatever the length of the vectors. The directory OUT gets src_rows.npy and src_cosines.npy,
which have a list for each row of SOURCE, and tgt_rows.npy and tgt_cosines.npy. Rows count from 0, the nearest stands
first, and -1 stands where there are fewer than k. Equal cosines are ordered by row. The files are .npy, or raw values
with --emb-dim, as LASER writes them.`,
		Example: `  mine encode --lang de news.de --out de.npy
  mine encode --lang en news.en --out en.npy
  mine neighbours de.npy en.npy --k 8 --out nearest`,
		Args: flags.Arguments("two files of vectors", 2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, _, err := s.Load()
			if err != nil {
				return err
			}
			return findNeighbours(cmd.Context(), cfg, [2]string(args), out, cmd.OutOrStdout())
		},
	}
	s.RegisterSome(cmd, flags.Declared("k", "search", "nprobe", "ef_search", "threads", "emb_dim", "emb_dtype"))
	cmd.Flags().StringVar(&out, "out", "", "directory of the lists")
	flags.Folder.Mark(cmd.Flags(), "out")
	return cmd
}

func findNeighbours(ctx context.Context, cfg *pipeline.Config, paths [2]string, dir string,
	stdout io.Writer) (err error) {
	if dir == "" {
		return badinput.Errorf("mine neighbours: name the directory to write with --out")
	}
	var sides [2]index.Side
	for i, path := range paths {
		file, failure := embedding.OpenVectors(path, cfg.EmbDim, embedding.DType(cfg.EmbDType), "--emb-dim")
		if failure != nil {
			return failure
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		if sides[i].Vectors, err = file.Unit(path); err != nil {
			return err
		}
	}
	searcher, err := program.OpenSearch(cfg)
	if err != nil {
		return err
	}
	found, err := searcher.Search(ctx, sides[0], sides[1], cfg.K, nil)
	if err != nil {
		return err
	}
	err = atomicfile.WriteDir(dir, map[string][]byte{
		"src_rows.npy":    embedding.RowNumbers(found.Source.IDs, cfg.K),
		"src_cosines.npy": embedding.Array(found.Source.Cosines, cfg.K),
		"tgt_rows.npy":    embedding.RowNumbers(found.Target.IDs, cfg.K),
		"tgt_cosines.npy": embedding.Array(found.Target.Cosines, cfg.K),
	})
	if err != nil {
		return err
	}
	if found.Recall.Min() < 1 {
		fmt.Fprintf(stdout, "recall, measured on a sample: %.4f\n", found.Recall.Min())
	}
	_, err = fmt.Fprintf(stdout, "%s  the %d nearest of %d and %d rows\n", dir, cfg.K,
		sides[0].Vectors.N, sides[1].Vectors.N)
	return err
}
