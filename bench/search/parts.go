package main

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// part is a part of the tables of bench/results/search.md that takes some minutes on two cores: values for this
// command's flags.
type part map[string]string

var parts = map[string]part{
	"d256":           {"shapes": "200000x20000x256x4", "contestants": "sgemm,go-faiss,faiss:Flat,exact,exact/avx512"},
	"d256k16":        {"shapes": "200000x20000x256x16", "contestants": "sgemm,go-faiss,faiss:Flat,exact,exact/avx512"},
	"d768":           {"shapes": "200000x20000x768x4", "contestants": "sgemm,exact,exact/avx512"},
	"d768-faiss":     {"shapes": "200000x20000x768x4", "contestants": "go-faiss,exact", "repeat": "2"},
	"d768k16":        {"shapes": "200000x20000x768x16", "contestants": "sgemm,exact,exact/avx512"},
	"d768k16-faiss":  {"shapes": "200000x20000x768x16", "contestants": "go-faiss,exact", "repeat": "2"},
	"d1024":          {"shapes": "200000x20000x1024x4", "contestants": "sgemm,exact,exact/avx512"},
	"d1024-faiss":    {"shapes": "200000x20000x1024x4", "contestants": "go-faiss,exact", "repeat": "2"},
	"d1024k16":       {"shapes": "200000x20000x1024x16", "contestants": "sgemm,exact,exact/avx512"},
	"d1024k16-faiss": {"shapes": "200000x20000x1024x16", "contestants": "go-faiss,exact", "repeat": "2"},
	"data":           {"shapes": "200000x20000x256x4", "data": "random,skewed,duplicates,near", "contestants": "sgemm,exact"},
	"large":          {"shapes": "1000000x50000x256x4", "contestants": "sgemm,exact", "repeat": "1"},
	"large-faiss":    {"shapes": "1000000x50000x256x4", "contestants": "go-faiss,exact", "repeat": "1"},
	"large-flat":     {"shapes": "1000000x50000x256x4", "contestants": "faiss:Flat,exact", "repeat": "1"},
	// On embeddings of real text, which -embeddings names, recall 0.95 and 0.99 are between these points.
	"ivf":  {"contestants": "exact,faiss:IVF128,Flat@64,faiss:IVF128,Flat@80,faiss:IVF128,Flat@112", "float16": "true", "repeat": "1"},
	"hnsw": {"contestants": "exact,faiss:HNSW32,Flat@64,faiss:HNSW32,Flat@256,faiss:HNSW32,Flat@1024", "float16": "true", "repeat": "1"},
}

// apply sets the flags of the part that the command line does not set.
func apply(name string) error {
	p, ok := parts[name]
	if !ok {
		return fmt.Errorf("part %q is not one of %s", name, partNames())
	}
	given := map[string]bool{}
	flag.Visit(func(f *flag.Flag) { given[f.Name] = true })
	for key, value := range p {
		if given[key] {
			continue
		}
		if err := flag.Set(key, value); err != nil {
			return err
		}
	}
	return nil
}

func partNames() string { return strings.Join(slices.Sorted(maps.Keys(parts)), ", ") }
