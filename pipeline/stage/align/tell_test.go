package align

import "testing"

// told is a meter that adds up what it is told.
type told int64

func (m *told) Add(n int64) { *m += told(n) }
func (m *told) Skip(int64)  {}
func (m *told) Done()       {}

// TestProgressIsOfTheTotal: it ends at the task's items, whatever part of them stands in documents, and however often.
func TestProgressIsOfTheTotal(t *testing.T) {
	for sentences, half := range map[int64]told{4000: 50, 10: 50, 0: 100} {
		var m told
		w := task{meter: &m, items: 100, sentences: sentences, done: sentences / 2}
		if w.tell(); m != half {
			t.Errorf("%d of 100 items at half of %d sentences", m, sentences)
		}
		w.done = sentences
		if w.tell(); m != 100 {
			t.Errorf("%d of 100 items after %d sentences", m, sentences)
		}
	}
}
