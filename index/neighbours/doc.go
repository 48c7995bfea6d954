// Package neighbours reads and writes neighbour lists: cell files, which have the lists of both sides of a cell, and
// list files, which have the lists of one shard over several shards of the other side. docs/formats.md has both
// formats.
package neighbours
