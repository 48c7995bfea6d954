package index

// Spread returns the row that is number i of n spread evenly over all rows.
func Spread(i, n, all int) int { return int(int64(i) * int64(all) / int64(n)) }
