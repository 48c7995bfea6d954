package simulate

import (
	"math"
	"testing"

	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/stage"
)

// tasksOf are n tasks of so many items.
func tasksOf(n int, items int64) []*plan.Task {
	tasks := make([]*plan.Task, n)
	for i := range tasks {
		tasks[i] = &plan.Task{Items: items, Read: 600, Disk: 400}
	}
	return tasks
}

func TestATaskGoesToTheSlotThatEndsItFirst(t *testing.T) {
	narrow := &stage.Descriptor{Name: "narrow"}
	speeds := map[string]speed{"narrow": {Task: 1, Item: 0.1}}
	slow := &Machine{Count: 2, Cores: 2, Memory: 100}
	fast := &Machine{Count: 1, Cores: 1, Memory: 100}
	for _, test := range []struct {
		what     string
		tasks    int
		machines []*Machine
		want     float64
	}{
		{"four slots, as many tasks: 1 + 10 x 0.1 s", 4, []*Machine{slow}, 2},
		{"one task more has a second turn", 5, []*Machine{slow}, 4},
		{"a slot that is four times as fast does four more meanwhile", 8, []*Machine{slow, fast}, 2},
	} {
		var crews []*crew
		for _, m := range test.machines {
			c := hire(m, narrow, speeds, 10)
			if m == fast {
				c.speed = speed{Item: 0.05}
			}
			crews = append(crews, c)
		}
		if last, lost, _ := schedule(tasksOf(test.tasks, 10), crews); math.Abs(last-test.want) > 1e-9 || lost != 0 {
			t.Errorf("%s: %v s and %v lost, want %v", test.what, last, lost, test.want)
		}
	}
}

func TestSlotsOfAMachine(t *testing.T) {
	m := &Machine{Count: 3, Cores: 8, GPUs: 2, Memory: 100}
	speeds := map[string]speed{"narrow": {Item: 1}, "wide": {Item: 1}, "gpu": {Item: 1}}
	for _, test := range []struct {
		what   string
		d      stage.Descriptor
		memory int64
		slots  int
		cores  float64
	}{
		{"a core each", stage.Descriptor{Name: "narrow"}, 1, 24, 1},
		{"as many as its memory holds", stage.Descriptor{Name: "narrow"}, 30, 9, 1},
		{"one task has all cores", stage.Descriptor{Name: "wide", Wide: true}, 30, 3, 8},
		{"a GPU each", stage.Descriptor{Name: "gpu", GPU: true}, 30, 6, 1},
		{"too large", stage.Descriptor{Name: "wide", Wide: true}, 101, 0, 0},
		{"no rate", stage.Descriptor{Name: "other"}, 1, 0, 0},
	} {
		c := hire(m, &test.d, speeds, test.memory)
		if c == nil {
			c = &crew{}
		}
		if c.slots != test.slots || c.cores != test.cores {
			t.Errorf("%s: %d slots of %v, want %d of %v", test.what, c.slots, c.cores, test.slots, test.cores)
		}
	}
}

func TestNetworkStartAndFailuresCost(t *testing.T) {
	m := &Machine{Count: 1, Cores: 2, Memory: 100, Network: 100, Start: 5, Failures: 36}
	c := hire(m, &stage.Descriptor{Name: "narrow"}, map[string]speed{"narrow": {Item: 1}}, 1)
	// 1,000 bytes over half of 100 bytes a second, 5 s to start, 10 items
	once, expected := c.seconds(tasksOf(1, 10)[0])
	if once != 35 {
		t.Errorf("one attempt takes %v s, want 35", once)
	}
	// A failure every 100 s: the mean of the attempts' sum, by drawing them.
	if want := (math.Exp(0.35) - 1) * 100; math.Abs(expected-want) > 1e-9 {
		t.Errorf("with failures it takes %v s, want %v", expected, want)
	}
}

func TestFitFindsPlantedSpeeds(t *testing.T) {
	planted := speed{Task: 2, Item: 0.003}
	var runs []sample
	for _, r := range [][2]float64{{2, 1000}, {4, 9000}, {10, 10000}} {
		runs = append(runs, sample{r[0], r[1], r[0]*planted.Task + r[1]*planted.Item})
	}
	if got := fit(runs); math.Abs(got.Task-2) > 1e-6 || math.Abs(got.Item-0.003) > 1e-9 {
		t.Errorf("the fit is %+v, want %+v", got, planted)
	}
	if got := fit(runs[:1]); got.Task != 0 || math.Abs(got.Item*1000-7) > 1e-9 {
		t.Errorf("one run gives %+v, want all of its 7 s to its 1,000 items", got)
	}
	noise := []sample{{1, 100, 10}, {2, 200, 19}, {1, 400, 3}} // more items in less time: no such speeds
	if got := fit(noise); got.Task < 0 || got.Item <= 0 {
		t.Errorf("the fit of noise is %+v", got)
	}
}
