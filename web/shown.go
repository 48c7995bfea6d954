package web

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"bitextmine/bitext/concordance"
	"bitextmine/bitext/label"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
	"bitextmine/web/overview"
	"bitextmine/web/pairs"
)

// shown is the run that is shown, and what was made of it so far.
type shown struct {
	*overview.Run
	ctx    context.Context
	cancel context.CancelFunc // ends work in the background once another run is shown
	users  sync.WaitGroup     // requests that use it
	stamp  stamp              // stamp of run.json
	labels labels
	why    explaining
	looked [2]stamp // directories of indexes as they were when one was looked for, of Named and Out

	mu       sync.Mutex
	index    *concordance.Index // nil: there is none
	indexing bool               // it is being made
	failed   error              // why it was not made the last time
	indexed  atomic.Int64       // pairs that are in it so far
	overview []byte             // the page, of the labels with the digest
	digest   string
	changes  map[string]*overview.Changes // changes by night
}

// load opens the run and what goes with it.
func (s *Server) load(ctx context.Context, progress pairs.Progress) (*shown, error) {
	place, _, err := overview.Locate(s.opts.Dir)
	if err != nil {
		return nil, err
	}
	now := stampOf(filepath.Join(place.Run, record.ReportName)) // taken before reading, so that a later change is noticed
	run, err := overview.Open(ctx, s.opts.Dir, progress)
	if err != nil {
		return nil, err
	}
	one := &shown{Run: run, stamp: now, changes: map[string]*overview.Changes{}}
	one.labels.run = run
	if _, err := one.labels.now(); err != nil {
		return nil, errors.Join(err, run.Close())
	}
	one.ctx, one.cancel = context.WithCancel(s.ctx) //nolint:gosec // close cancels it
	one.openIndex(s)
	return one, nil
}

// openIndex opens the bitext's index, if none is open and one was written since it was looked for; a damaged one is as
// good as none. Only one goroutine may call it at a time.
func (o *shown) openIndex(s *Server) {
	if index, indexing := o.searchable(); index != nil || indexing {
		return
	}
	for i, out := range [2]string{o.Named, o.Out} {
		dir := concordance.Directory(out, o.Pairs.Path)
		now := stampOf(dir) // taken before reading; the file that is written last is renamed into the directory
		if now == o.looked[i] {
			continue
		}
		o.looked[i] = now
		index, err := concordance.OpenExisting(dir, o.Pairs.Path)
		if err == nil {
			err = o.hold(index)
		}
		if err == nil {
			return
		}
		if !errors.Is(err, fs.ErrNotExist) {
			s.opts.Log.Warn("search goes without the index", "reason", err)
		}
	}
}

// hold takes an index to search, unless there is one by now.
func (o *shown) hold(index *concordance.Index) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.index != nil {
		return index.Close()
	}
	o.index = index
	return nil
}

// searchable returns the index; nil: there is none, or it is being made.
func (o *shown) searchable() (index *concordance.Index, indexing bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.index, o.indexing
}

// indexFailed says why the index was not made the last time, if that is so.
func (o *shown) indexFailed() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.failed == nil {
		return ""
	}
	return "The index was not made: " + o.failed.Error() + "."
}

// makeIndex makes the index in the background, unless there is one or it is being made.
func (s *Server) makeIndex(o *shown) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.index != nil || o.indexing {
		return
	}
	o.indexing, o.failed = true, nil
	o.users.Add(1)
	s.work.Go(func() {
		defer o.users.Done()
		index, err := concordance.Open(o.ctx, concordance.Directory(o.Named, o.Pairs.Path), o.Pairs.Path, func(done, _ int) { o.indexed.Store(int64(done)) })
		if err != nil && o.ctx.Err() == nil {
			s.opts.Log.Error("the index was not made; search goes without it", "reason", err)
		}
		if err == nil {
			if err := o.hold(index); err != nil {
				s.opts.Log.Warn("an index was not closed well", "reason", err)
			}
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		o.indexing, o.failed = false, err
	})
}

func (o *shown) close() error {
	o.cancel()
	err := errors.Join(o.why.close(), o.Run.Close())
	if o.index != nil {
		err = errors.Join(err, o.index.Close())
	}
	return err
}

// use takes the run that is shown; done is to be called when it is not needed any more.
func (s *Server) use() (one *shown, done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown.users.Add(1)
	return s.shown, s.shown.users.Done
}

// stamp tells whether a file was written again.
type stamp struct {
	path string
	time time.Time
	size int64
}

// stampOf returns the stamp of a file or directory; without one its time is zero.
func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{path: path}
	}
	return stamp{path, info.ModTime(), info.Size()}
}

// followEvery is how often the output directory is looked at.
const followEvery = 3 * time.Second

// follow shows a run that is made again, or the next night, and uses an index that mine search makes meanwhile.
func (s *Server) follow() {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	var refused stamp
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
		}
		place, _, err := overview.Locate(s.opts.Dir)
		if err != nil {
			continue // it is being written
		}
		now := stampOf(filepath.Join(place.Run, record.ReportName))
		if now == s.shown.stamp || now == refused { // no other goroutine replaces what is shown
			s.shown.openIndex(s)
			continue
		}
		next, err := s.load(s.ctx, nil)
		if err != nil {
			if s.ctx.Err() == nil {
				s.opts.Log.Warn("the run before is shown still: the new one cannot be read", "reason", err)
				refused = now
			}
			continue
		}
		s.mu.Lock()
		before := s.shown
		s.shown = next
		s.mu.Unlock()
		before.cancel()
		s.work.Go(func() { // a request may take long
			before.users.Wait()
			if err := before.close(); err != nil {
				s.opts.Log.Warn("the run before was not closed well", "reason", err)
			}
		})
		s.opts.Log.Info("a new run is shown", "pairs", next.Pairs.Kept(), "of", next.Pairs.Path)
	}
}

// labels holds people's decisions, and reads the file again when it changes: mine reject may write, too.
type labels struct {
	run *overview.Run

	mu     sync.Mutex
	stamp  stamp
	latest *decisions
}

// decisions are the labels at one time. They do not change.
type decisions struct {
	list               []label.Label
	digest             string
	byKeys             map[[2][16]byte]label.Label
	accepted, rejected int
}

func (l *labels) now() (*decisions, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := stampOf(label.Path(l.run.Out))
	if l.latest != nil && now == l.stamp {
		return l.latest, nil
	}
	list, err := label.Latest(l.run.Out)
	if err != nil {
		return nil, err
	}
	d := &decisions{list: list, digest: plan.DigestLabels(list), byKeys: make(map[[2][16]byte]label.Label, len(list))}
	for _, one := range list {
		keys, err := pairs.Keys(one.Source, one.Target)
		if err != nil {
			return nil, err
		}
		d.byKeys[keys] = one
		if one.Accepted {
			d.accepted++
		} else {
			d.rejected++
		}
	}
	l.latest, l.stamp = d, now
	return d, nil
}

// of returns the decision on a pair, as Label.Decision names it, or the empty string.
func (d *decisions) of(keys [2][16]byte) string {
	l, ok := d.byKeys[keys]
	if !ok {
		return ""
	}
	return l.Decision()
}
