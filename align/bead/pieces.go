package bead

// pieces cuts a path where it is surest, so that what lies between two cuts can be aligned on its own. Each has at most
// size sentences of both documents together, and, if the rest is as long, at least half as many.
func pieces(path []place, sure func(i, j int) float32, size int) [][]place {
	var out [][]place
	for {
		end := piece(path, sure, size)
		out = append(out, path[:end+1])
		if end == len(path)-1 {
			return out
		}
		path = path[end:]
	}
}

// piece is the index of the place where the first piece of a path ends.
func piece(path []place, sure func(i, j int) float32, size int) int {
	length := func(k int) int { return path[k].i - path[0].i + path[k].j - path[0].j }
	if length(len(path)-1) <= size {
		return len(path) - 1
	}
	best, at := float32(-1), 0
	for k := 1; k < len(path) && (length(k) <= size || at == 0); k++ {
		if at == 0 && length(k) > size/2 {
			at = k // the path may have no 1:1 step at all
		}
		p, q := path[k-1], path[k]
		if length(k) <= size/2 || q.i-p.i != 1 || q.j-p.j != 1 {
			continue
		}
		if s := sure(p.i, p.j); s > best {
			best, at = s, k
		}
	}
	return at
}

// shifted is a path that begins at (0, 0).
func shifted(path []place) []place {
	out := make([]place, len(path))
	for k, p := range path {
		out[k] = place{p.i - path[0].i, p.j - path[0].j}
	}
	return out
}
