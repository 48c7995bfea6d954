package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
)

// object is an object of a Kubernetes cluster that runs to an end.
type object struct {
	kind, namespace, name, manifest string

	ends     string   // the JSONPath of its state, which may have several lines
	success  string   // the state of one that is complete
	failures []string // the states of one that failed
	poll     time.Duration
}

// run replaces an object of that name, if an earlier run left one, waits for its end and removes it. It reports whether
// the object is complete.
func (o object) run(ctx context.Context) (complete bool, err error) {
	if err := o.remove(ctx); err != nil {
		return false, err
	}
	if _, err := command(ctx, o.manifest, "kubectl", "apply", "--filename", "-"); err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, o.remove(context.WithoutCancel(ctx))) }()
	if o.poll == 0 {
		o.poll = 5 * time.Second
	}
	for faults := 0; ; {
		state, err := command(ctx, "", "kubectl", "--namespace", o.namespace, "get", o.kind, o.name, "--output", "jsonpath="+o.ends)
		states := strings.Fields(state)
		switch {
		case ctx.Err() != nil:
			return false, ctx.Err()
		case err != nil:
			if faults++; faults > 60 {
				return false, err
			}
		case slices.Contains(states, o.success):
			return true, nil
		case slices.ContainsFunc(o.failures, func(failure string) bool { return slices.Contains(states, failure) }):
			return false, nil
		default:
			faults = 0
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(o.poll):
		}
	}
}

func (o object) remove(ctx context.Context) error {
	_, err := command(ctx, "", "kubectl", "--namespace", o.namespace, "delete", o.kind, o.name, "--ignore-not-found", "--wait")
	return err
}
