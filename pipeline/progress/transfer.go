package progress

// Transfers shows a meter for each of several files, one after another.
type Transfers struct {
	Reporter
	meter  Meter
	file   string
	before int64
}

// Show reports how many bytes of a file are there. Another name, or fewer bytes than before, starts another meter.
func (t *Transfers) Show(file string, done, size int64) {
	if file != t.file || done < t.before || t.meter == nil {
		t.Done()
		t.meter, t.file, t.before = t.Start(file, size, Bytes), file, 0
	}
	t.meter.Add(done - t.before)
	t.before = done
}

// Done ends the last meter.
func (t *Transfers) Done() {
	if t.meter != nil {
		t.meter.Done()
		t.meter = nil
	}
}
