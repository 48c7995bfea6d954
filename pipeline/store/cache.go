package store

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// sweepCache removes from this machine's cache the outputs that the bucket has no record of, as another machine swept
// them there, and that last changed before the given time.
func sweepCache(ctx context.Context, b bucket, before time.Time) (swept int, bytes int64, err error) {
	old := map[string]map[string]bool{} // names of outputs, by stage
	found, err := fs.Glob(os.DirFS(b.cache), "*/*")
	if err != nil {
		return 0, 0, err
	}
	for _, name := range found {
		path := b.Local(name)
		info, err := os.Lstat(path)
		if err != nil || !info.IsDir() || strings.HasPrefix(info.Name(), ".") || lastChange(path).After(before) {
			continue // an index, a leftover, or gone meanwhile
		}
		stage := filepath.Base(filepath.Dir(path))
		if old[stage] == nil {
			old[stage] = map[string]bool{}
		}
		old[stage][stage+"/"+info.Name()] = true
	}
	for stage, outputs := range old {
		for entry, err := range b.List(ctx, stage) {
			if err != nil {
				return swept, bytes, err
			}
			delete(outputs, entry.Name)
		}
		for name := range outputs {
			size := sizeOf(b.Local(name))
			if err := (directory{b.cache}).discard(b.Local(name)); err != nil {
				return swept, bytes, err
			}
			swept++
			bytes += size
		}
	}
	return swept, bytes, nil
}
