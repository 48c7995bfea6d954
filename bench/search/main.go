// Command search measures the search implementations against each other and against the BLAS that limits their speed.
// Every table is for one shape. All contestants of a shape run in turn in one process, several times, and the median
// counts, so a noisy machine affects all of them alike.
//
//	scripts/bench search -part d256             one part of the tables of bench/results/search.md
//	scripts/bench search                        the shapes of bench/results/search.md but the largest
//	scripts/bench search -shapes 1000000x50000x256x4 -repeat 1
//	scripts/bench search -data skewed,duplicates,near -shapes 200000x20000x256x4
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"text/tabwriter"

	"bitextmine/index"
	"bitextmine/index/faiss"
	"bitextmine/index/kernel"
)

const shapesOfDocs = "200000x20000x256x4,200000x20000x256x16,200000x20000x768x4,200000x20000x768x16,200000x20000x1024x4,200000x20000x1024x16"

func main() {
	log.SetFlags(0)
	shapes := flag.String("shapes", shapesOfDocs, "comma-separated NxQxDIMxK")
	data := flag.String("data", "random", "comma-separated: random, skewed (clusters of Zipf's sizes, sorted by similarity), duplicates (a third of all rows are copies), near (every row is in a group of a hundred whose cosines differ in the fourth digit)")
	contestants := flag.String("contestants", "sgemm,go-faiss,faiss:Flat,exact,exact/avx512,exact/avx2", "comma-separated, in order; exact/KERNEL for one instruction set, skipped if the CPU lacks it, or any search backend; for an approximate one, append @ and its nprobe or efSearch")
	repeat := flag.Int("repeat", 3, "number of runs of each contestant")
	threads := flag.Int("threads", runtime.NumCPU(), "threads of every contestant")
	half := flag.Bool("float16", false, "use float16 rows")
	nprobe := flag.Int("nprobe", 0, "nprobe of approximate indexes with inverted lists")
	ef := flag.Int("efsearch", 0, "efSearch of approximate graph indexes")
	files := flag.String("embeddings", "", "instead of shapes and data, SRC.npy,TGT.npy")
	k := flag.Int("k", 4, "neighbours, of -embeddings")
	rows := flag.Int("rows", 0, "take only so many rows of each of -embeddings")
	piece := flag.String("part", "", "take shapes, data and contestants from a part of bench/results/search.md unless they are given: "+partNames())
	peaks := flag.Bool("peaks", false, "only measure the peak speed of one core in float32, bfloat16, int16 and int8")
	run := flag.String("run", "", "only measure the recall of the finished run in this folder, of -rows rows of each side (5,000)")
	flag.Parse()
	if *peaks {
		printPeaks()
		return
	}
	if *piece != "" {
		if err := apply(*piece); err != nil {
			log.Fatal(err)
		}
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if *run != "" {
		if err := measureRun(ctx, *run, cmp.Or(*rows, 5000), *threads); err != nil {
			log.Fatal(err)
		}
		return
	}
	fmt.Printf("%s; best kernel %s; %d threads; medians of %d\n\n", faiss.RunningBLAS(), kernel.Best.Name, *threads, *repeat)
	cs, err := parseContestants(*contestants, settings{*threads, *nprobe, *ef})
	if err != nil {
		log.Fatal(err)
	}
	if srcPath, tgtPath, ok := strings.Cut(*files, ","); ok {
		s, src, tgt, err := fromFiles(srcPath, tgtPath, *k, *half, *rows)
		if err == nil {
			err = compare(ctx, s, src, tgt, cs, *repeat)
		}
		if err != nil {
			log.Fatal(err)
		}
		return
	}
	for _, kind := range strings.Split(*data, ",") {
		for _, text := range strings.Split(*shapes, ",") {
			if err := compareShape(ctx, text, kind, *half, cs, *repeat); err != nil {
				log.Fatal(err)
			}
		}
	}
}

func compareShape(ctx context.Context, text, kind string, half bool, cs []contestant, repeat int) error {
	s, err := parseShape(text)
	if err != nil {
		return err
	}
	s.kind, s.float16 = kind, half
	src, tgt, err := s.sides()
	if err != nil {
		return err
	}
	return compare(ctx, s, src, tgt, cs, repeat)
}

// compare prints one table.
func compare(ctx context.Context, s shape, src, tgt index.Side, contestants []contestant, repeat int) error {
	measured := make([]measurements, len(contestants))
	for range repeat {
		for i, c := range contestants {
			if err := measured[i].add(func() (float64, error) { return c.run(ctx, src, tgt, s.k) }); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
		}
	}
	fmt.Printf("%s %s\n", s, s.kind)
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "contestant\tseconds\tcpu seconds\tGFLOP/s\tof sgemm\tof sgemm, cpu\tover go-faiss\tpeak MiB\trecall\t")
	work := 2 * float64(s.n) * float64(s.q) * float64(s.dim) / 1e9
	base := medianOf(contestants, measured, "sgemm")
	flat := medianOf(contestants, measured, "go-faiss")
	for i, c := range contestants {
		m := measured[i].median()
		fmt.Fprintf(w, "%s\t%.2f\t%.2f\t%.0f\t%s\t%s\t%s\t%.0f\t%s\t\n", c.name, m.wall, m.cpu, work/m.wall,
			ratio(base.wall, m.wall), ratio(base.cpu, m.cpu), ratio(flat.wall, m.wall), m.peak, recallText(c, m.recall))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Println()
	return nil
}

func ratio(of, over float64) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", of/over)
}

func recallText(c contestant, recall float64) string {
	if !c.searches {
		return "-"
	}
	return fmt.Sprintf("%.4f", recall)
}
