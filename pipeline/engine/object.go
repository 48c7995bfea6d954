package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
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

	pods      string // label of its pods, whose value is its name
	container string // container of the pods that has the program
	logs      string // directory for what is known of pods that failed
	log       *slog.Logger
}

// logsOf is the directory for what is known of a job's pods.
func logsOf(job Job) string { return filepath.Join(job.Out, "kubernetes") }

// pollsOfAbsence is how often in a row an object is not there before it counts as removed: another run of the same plan
// replaces it by one of the same name.
const pollsOfAbsence = 3

// run replaces an object of that name, if an earlier run left one, waits for its end and removes it. If the object
// failed, or somebody removed it, the error is a *podFailure.
func (o object) run(ctx context.Context) (err error) {
	if err := o.remove(ctx); err != nil {
		return err
	}
	if _, err := command(ctx, o.manifest, "kubectl", "apply", "--filename", "-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.remove(context.WithoutCancel(ctx))) }()
	if o.poll == 0 {
		o.poll = 5 * time.Second
	}
	queue := newQueue(o)
	for faults, absent := 0, 0; ; {
		state, err := o.get(ctx, o.kind, o.name, "--output", "jsonpath="+o.ends)
		states := strings.Fields(state)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && strings.Contains(err.Error(), "(NotFound)"):
			if absent++; absent >= pollsOfAbsence {
				return &podFailure{what: o.kind + " " + o.name, reasons: []string{
					"it was removed before its end was seen, as another run of the same plan does, or somebody",
				}}
			}
		case err != nil:
			if faults++; faults > 60 {
				return err
			}
		case slices.Contains(states, o.success):
			return nil
		case slices.ContainsFunc(o.failures, func(failure string) bool { return slices.Contains(states, failure) }):
			return o.failure(ctx)
		default:
			faults, absent = 0, 0
			if err := queue.look(ctx); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(o.poll):
		}
	}
}

func (o object) remove(ctx context.Context) error {
	_, err := command(ctx, "", "kubectl", "--namespace", o.namespace, "delete", o.kind, o.name, "--ignore-not-found", "--wait")
	return err
}

func (o object) get(ctx context.Context, args ...string) (string, error) {
	return command(ctx, "", "kubectl", append([]string{"--namespace", o.namespace, "get"}, args...)...)
}

// podsIn returns the object's pods in a phase.
func (o object) podsIn(ctx context.Context, phase string) ([]pod, error) {
	data, err := o.get(ctx, "pods", "--selector", o.pods+"="+o.name, "--field-selector", "status.phase="+phase, "--output", "json")
	if err != nil || data == "" {
		return nil, err
	}
	var list struct {
		Items []pod `json:"items"`
	}
	if err := json.Unmarshal([]byte(data), &list); err != nil {
		return nil, fmt.Errorf("read the list of pods of %s %s: %w", o.kind, o.name, err)
	}
	return list.Items, nil
}

// pod is what is read of a pod.
type pod struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Status struct {
		Reason     string      `json:"reason"` // such as Evicted
		Message    string      `json:"message"`
		Conditions []condition `json:"conditions"`
		Init       []container `json:"initContainerStatuses"`
		Containers []container `json:"containerStatuses"`
	} `json:"status"`
}

type condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

type container struct {
	Name  string `json:"name"`
	State struct {
		Waiting struct {
			Reason  string `json:"reason"`
			Message string `json:"message"`
		} `json:"waiting"`
		Terminated struct {
			Reason   string `json:"reason"`
			Message  string `json:"message"`
			ExitCode int    `json:"exitCode"`
		} `json:"terminated"`
	} `json:"state"`
}

// containers are those of a pod, the ones that begin it first.
func (p *pod) containers() []container { return slices.Concat(p.Status.Init, p.Status.Containers) }
