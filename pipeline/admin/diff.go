package admin

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"bitextmine/bitext"
	"bitextmine/bitext/label"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/record"
)

// Change is a pair that two bitexts do not both have with the same score: the probability where both runs had a scorer,
// otherwise the margin, and 0 of a pair without one.
type Change struct {
	Kind   string  `json:"kind"`            // "added", "removed", "rescored"
	Cause  string  `json:"cause,omitempty"` // why a pair was added or removed
	Before float32 `json:"before"`          // its score, 0 if added
	After  float32 `json:"after"`           // 0 if removed
	Source string  `json:"src"`
	Target string  `json:"tgt"`
}

// Difference lists how the kept pairs changed from one run to another.
type Difference struct {
	Before, After            int // kept pairs
	Added, Removed, Rescored int
	Causes                   map[string]map[string]int // numbers of pairs by kind and cause
	Files                    []FileChange              // sorted by path; empty without the run.json of both
	Changes                  []Change                  // removed, added, rescored, each the best first
}

// FileChange is an input file that came, went or changed.
type FileChange struct {
	Kind string `json:"kind"` // "new", "changed", "gone"
	Path string `json:"path"`
}

// The kinds of changes.
const (
	Added    = "added"
	Removed  = "removed"
	Rescored = "rescored"
)

// Kinds are the kinds of changes, in the order in which they are shown.
var Kinds = []string{Removed, Added, Rescored}

// The kinds of changes of files, which are causes of changes of pairs too.
const (
	NewFile     = "new file"
	ChangedFile = "changed file"
	GoneFile    = "gone file"
)

// The other causes of an added or removed pair.
const (
	Labelled     = "label"         // a person accepted or rejected it since
	OtherPartner = "other partner" // a sentence of it is in another pair of the other run
	OtherScore   = "other score"   // its score is on the other side of the threshold now, or a rule rejects it
)

type (
	pair   [2][16]byte
	scored struct{ margin, probability float32 }
)

// comparison is a Diff under way.
type comparison struct {
	Difference
	languages     [2]map[[2]string]bool // languages of the runs' pairs
	files         map[string]string     // kinds of changes by path
	pairs         map[pair]scored       // the first run's pairs that the second has not shown yet
	before, after [2][]uint64           // halves of the keys of the runs' sentences, sorted once a run is read
	labels        label.Index           // the second run's
	scores        [][2]scored           // scores of Changes, before and after, until both runs are read
	rated         [2]bool               // whether the runs have probabilities; a pair of aligned documents alone has none
}

// DiffMemory is how many bytes of memory Diff takes for the kept pairs of both runs together, as it was measured,
// without the texts of what changed.
func DiffMemory(kept int) int64 { return 120 * int64(kept) }

// Diff compares the kept pairs of two runs, named by their output directories or their bitext files. Pairs are the same
// if their sentence keys are.
func Diff(ctx context.Context, before, after string) (*Difference, error) {
	c := &comparison{pairs: map[pair]scored{}}
	c.Causes = map[string]map[string]int{Added: {}, Removed: {}}
	for side := range 2 {
		c.languages[side] = map[[2]string]bool{}
	}
	if err := c.compareFiles(before, after); err != nil {
		return nil, err
	}
	if err := c.readLabels(after); err != nil {
		return nil, err
	}
	if err := kept(ctx, before, c.first); err != nil {
		return nil, err
	}
	sortSides(c.before)
	if err := kept(ctx, after, c.second); err != nil {
		return nil, err
	}
	sortSides(c.after)
	if err := c.refuseStrangers(before, after); err != nil {
		return nil, err
	}
	if c.Removed = len(c.pairs); c.Removed > 0 { // their texts are in the first file alone
		if err := kept(ctx, before, c.removed); err != nil {
			return nil, err
		}
	}
	c.score()
	slices.SortStableFunc(c.Changes, func(a, b Change) int {
		return cmp.Or(
			cmp.Compare(slices.Index(Kinds, a.Kind), slices.Index(Kinds, b.Kind)),
			cmp.Compare(max(b.Before, b.After), max(a.Before, a.After)),
		)
	})
	return &c.Difference, nil
}

// refuseStrangers refuses runs that have no pair of languages in common, as no pair of sentences can stay.
func (c *comparison) refuseStrangers(before, after string) error {
	var named [2][2]string
	for side, of := range c.languages {
		for languages := range of {
			if c.languages[1-side][languages] {
				return nil
			}
			named[side] = languages
		}
		if len(of) == 0 {
			return nil // it keeps no pair
		}
	}
	return badinput.Errorf("%s has pairs of %s and %s of %s: name two runs of the same languages", before,
		strings.Join(named[0][:], "-"), after, strings.Join(named[1][:], "-"))
}

// digests is the set of the digests of files, by which one that has another name now is known.
func digests(files map[string]string) map[string]bool {
	set := map[string]bool{}
	for _, digest := range files {
		set[digest] = true
	}
	return set
}

// compareFiles compares the input files of both runs, where both have a run.json.
func (c *comparison) compareFiles(before, after string) error {
	c.files = map[string]string{}
	was, err := inputsOf(before)
	if err != nil || was == nil {
		return err
	}
	is, err := inputsOf(after)
	if err != nil || is == nil {
		return err
	}
	old, now := digests(was), digests(is)
	for path, digest := range is {
		if sum, there := was[path]; !there && !old[digest] {
			c.files[path] = NewFile
		} else if there && sum != digest {
			c.files[path] = ChangedFile
		}
	}
	for path, digest := range was {
		if _, there := is[path]; !there && !now[digest] {
			c.files[path] = GoneFile
		}
	}
	for _, path := range slices.Sorted(maps.Keys(c.files)) {
		kind, _, _ := strings.Cut(c.files[path], " ")
		c.Files = append(c.Files, FileChange{kind, path})
	}
	return nil
}

// readLabels reads the labels of a run.
func (c *comparison) readLabels(run string) error {
	path, err := record.BitextAt(run)
	if err != nil {
		return err
	}
	labels, err := label.Latest(filepath.Dir(path))
	c.labels = label.IndexOf(labels)
	return err
}

// inputsOf returns the digests of a run's input files by path; nil if the bitext has no run.json beside it.
func inputsOf(run string) (map[string]string, error) {
	path, err := record.BitextAt(run)
	if err != nil {
		return nil, err
	}
	report, err := record.ReadReport(filepath.Dir(path))
	if errors.Is(err, os.ErrNotExist) || err == nil && filepath.Base(report.Bitext.Path) != filepath.Base(path) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	digests := map[string]string{}
	for _, in := range report.Inputs {
		digests[in.Path] = in.SHA256
	}
	return digests, nil
}

func (c *comparison) first(row *bitext.Row) {
	c.pairs[pair{row.Source.Key, row.Target.Key}] = c.scored(row, 0)
	c.languages[0][[2]string{row.Source.Lang, row.Target.Lang}] = true
	addSides(&c.before, row)
	c.Before++
}

func (c *comparison) second(row *bitext.Row) {
	c.After++
	c.languages[1][[2]string{row.Source.Lang, row.Target.Lang}] = true
	addSides(&c.after, row)
	p := pair{row.Source.Key, row.Target.Key}
	was, there := c.pairs[p]
	delete(c.pairs, p)
	switch now := c.scored(row, 1); {
	case !there:
		c.Added++
		c.change(Added, c.cause(Added, row), was, now, row)
	case was != now:
		c.change(Rescored, "", was, now, row)
	}
}

func (c *comparison) removed(row *bitext.Row) {
	if was, gone := c.pairs[pair{row.Source.Key, row.Target.Key}]; gone {
		c.change(Removed, c.cause(Removed, row), was, scored{}, row)
	}
}

func (c *comparison) scored(row *bitext.Row, run int) scored {
	one := scored{margin: row.Score}
	if row.Prob != nil {
		one.probability = *row.Prob
		c.rated[run] = true
	}
	return one
}

func (c *comparison) change(kind, cause string, before, after scored, row *bitext.Row) {
	if cause != "" {
		c.Causes[kind][cause]++
	}
	c.Changes = append(c.Changes, Change{Kind: kind, Cause: cause, Source: row.Source.Text, Target: row.Target.Text})
	c.scores = append(c.scores, [2]scored{before, after})
}

// score gives changes their scores, and leaves out pairs whose score is the same.
func (c *comparison) score() {
	changes := c.Changes[:0]
	for i, change := range c.Changes {
		before, after := c.scores[i][0], c.scores[i][1]
		change.Before, change.After = before.margin, after.margin
		if c.rated[0] && c.rated[1] {
			change.Before, change.After = before.probability, after.probability
		}
		if change.Kind == Rescored {
			if change.Before == change.After {
				continue
			}
			c.Rescored++
		}
		changes = append(changes, change)
	}
	c.Changes = changes
}

// cause says why a pair is in one run alone.
func (c *comparison) cause(kind string, row *bitext.Row) string {
	keys := label.Label{Source: hex.EncodeToString(row.Source.Key[:]), Target: hex.EncodeToString(row.Target.Key[:])}
	if l, ok := c.labels.Find(keys); ok && l.Accepted == (kind == Added) {
		return Labelled
	}
	for _, shard := range []string{row.Source.Shard, row.Target.Shard} {
		if at := strings.LastIndexByte(shard, '#'); at >= 0 {
			if cause, ok := c.files[shard[:at]]; ok {
				return cause
			}
		}
	}
	other := c.after
	if kind == Added {
		other = c.before
	}
	for side, key := range [2][16]byte{row.Source.Key, row.Target.Key} {
		if _, there := slices.BinarySearch(other[side], half(key)); there {
			return OtherPartner
		}
	}
	return OtherScore
}

// half stands for a sentence's key, which is a hash.
func half(key [16]byte) uint64 { return binary.BigEndian.Uint64(key[:8]) }

func addSides(to *[2][]uint64, row *bitext.Row) {
	to[0], to[1] = append(to[0], half(row.Source.Key)), append(to[1], half(row.Target.Key))
}

func sortSides(of [2][]uint64) {
	slices.Sort(of[0])
	slices.Sort(of[1])
}

// kept calls do with every kept row of a run.
func kept(ctx context.Context, run string, do func(*bitext.Row)) (err error) {
	path, err := record.BitextAt(run)
	if err != nil {
		return err
	}
	file, err := bitext.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	for row, err := range file.Rows(ctx) {
		if err != nil {
			return err
		}
		if row.Keep {
			do(&row)
		}
	}
	return nil
}
