package plan

// The estimates below are bounds that were measured, not derived: bytes of anonymous memory of one task. Mapped files, such
// as embeddings, are the page cache's and are not counted.

const mib = 1 << 20

// shardMemory: a row group, the keys of one shard in a map, the decompressor.
func shardMemory(s Settings) int64 { return 96*mib + 64*int64(s.Corpus.ShardSize) }

// encodeMemory: a window of texts, tokens and vectors; the graph's weights are the process's.
func encodeMemory(s Settings) int64 { return 192*mib + 16384*int64(s.Dim)*8 }

// searchMemory: both sides' lists with their candidates, hashes of both sides, scratch blocks.
func searchMemory(s Settings, rows [2]int) int64 {
	return 128*mib + int64(rows[0]+rows[1])*(24+24*int64(s.K))
}

// mergeMemory: the other side's keys sorted, the shard's lists twice.
func mergeMemory(s Settings, rows, others int) int64 {
	return 32*mib + 40*int64(others) + 16*int64(rows)*int64(s.K)
}

// matchMemory: both sides' keys and lists, the candidates, a chunk of texts.
func matchMemory(s Settings, rows [2]int) int64 {
	return 256*mib + int64(rows[0]+rows[1])*(110+8*int64(s.K))
}
