package engine

import (
	"context"
	"time"

	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/stage"
)

// watchEvery is how often the tasks of other processes are looked at, and watchTasks how many finished ones of a wave.
const (
	watchEvery = 30 * time.Second
	watchTasks = 64
)

// watch names stragglers, once each, until the function that it returns is called.
func watch(ctx context.Context, p *plan.Plan, env *stage.Env) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		named := map[string]bool{}
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(watchEvery):
			}
			if err := nameStragglers(ctx, p, env, named); err != nil && ctx.Err() == nil {
				env.Log.Debug("stragglers are not looked for", "reason", err)
			}
		}
	}()
	return func() { cancel(); <-ended }
}

func nameStragglers(ctx context.Context, p *plan.Plan, env *stage.Env, named map[string]bool) error {
	running, err := record.Holders(ctx, env.Store, record.RunningNote)
	if err != nil || len(running) == 0 {
		return err
	}
	done, err := env.Done(ctx)
	if err != nil {
		return err
	}
	for wave := range p.Waves {
		var finished []*plan.Task
		at := map[int]record.Holder{}
		for i := range p.Waves[wave].Tasks {
			t := &p.Waves[wave].Tasks[i]
			if done(t.Stage, t.Key) {
				finished = append(finished, t)
			} else if by, runs := running[t.Stage+"-"+t.Key]; runs && !by.Dead() && !named[t.Stage+t.Key] {
				at[i] = by
			}
		}
		if len(at) == 0 {
			continue
		}
		pace, err := stage.PaceOf(ctx, env.Store, finished[:min(len(finished), watchTasks)], time.Time{})
		if err != nil {
			return err
		}
		for i, by := range at {
			t := &p.Waves[wave].Tasks[i]
			if expected, is := pace.Straggles(t, by); is {
				named[t.Stage+t.Key] = true
				env.Log.Warn("a task takes ten times as long as others of its stage would have", "task", p.First(wave)+i,
					"stage", t.Stage, "host", by.Host, "process", by.PID, "running", time.Since(by.Since).Round(time.Second),
					"expected", expected.Round(time.Second))
			}
		}
	}
	return nil
}

// nameKilled names the tasks in whose middle a process of this machine ended without an error, as one does that is
// killed, by the kernel when memory lacks or by hand, or whose machine stops.
func nameKilled(ctx context.Context, p *plan.Plan, env *stage.Env) {
	running, err := record.Holders(ctx, env.Store, record.RunningNote)
	if err != nil || len(running) == 0 {
		return // only a hint is lost
	}
	for wave := range p.Waves {
		for i := range p.Waves[wave].Tasks {
			t := &p.Waves[wave].Tasks[i]
			if by, is := running[t.Stage+"-"+t.Key]; is && by.Dead() {
				env.Log.Warn("a task's process was killed, or its machine stopped; if the kernel's log (dmesg) says that memory ran out, "+
					"lower --max-memory or --shard-size", "task", p.First(wave)+i, "stage", t.Stage, "process", by.PID, "needs", plan.Bytes(t.Memory))
			}
		}
	}
}
