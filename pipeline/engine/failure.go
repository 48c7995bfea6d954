package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"bitextmine/internal/atomicfile"
)

const (
	maxReasons = 3 // reasons that a message has
	maxLogged  = 5 // pods whose last lines are kept
)

// podFailure is the end of an object that failed: what the cluster says of its pods, which are removed with it. Which
// tasks failed, and what they said themselves, the store tells.
type podFailure struct {
	what    string
	reasons []string // most frequent first
	file    string   // has the reasons and the pods' last lines; empty: it could not be written
}

func (f *podFailure) Error() string {
	text := fmt.Sprintf("%s failed", f.what)
	if len(f.reasons) > 0 {
		text += ": " + strings.Join(f.reasons[:min(len(f.reasons), maxReasons)], ", ")
	}
	if f.file != "" {
		text += "; " + f.file + " has what its pods said last"
	}
	return text
}

// afterFailure adds to the error of the tasks that are not done what the scheduler knows of their end.
func afterFailure(tasks error, ended *podFailure) error {
	if tasks == nil {
		return nil // their outputs are there all the same
	}
	return fmt.Errorf("%w; %w", tasks, ended)
}

// failure reads what the cluster knows of pods that failed.
func (o object) failure(ctx context.Context) error {
	f := &podFailure{what: o.kind + " " + o.name}
	var file strings.Builder
	said, err := o.get(ctx, o.kind, o.name, "--output", "jsonpath={.status.conditions[*].message}{.status.message}")
	fmt.Fprintf(&file, "%s: %s\n", f.what, cmp.Or(said, "failed"))
	pods, unread := o.podsIn(ctx, "Failed")
	if err = errors.Join(err, unread); err != nil {
		fmt.Fprintf(&file, "%v\n", err)
	}
	counts, logged := map[string]int{}, 0
	for i := range pods {
		reason := pods[i].ended()
		counts[reason]++
		fmt.Fprintf(&file, "%s: %s\n", pods[i].Metadata.Name, reason)
		if counts[reason] > 1 || logged == maxLogged {
			continue // another pod with this reason has told
		}
		logged++
		lines, err := command(ctx, "", "kubectl", "--namespace", o.namespace, "logs", pods[i].Metadata.Name, "--container", o.container, "--tail=20")
		if err != nil {
			lines = err.Error()
		}
		fmt.Fprintf(&file, "    %s\n", strings.ReplaceAll(lines, "\n", "\n    "))
	}
	for _, reason := range slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b)) }) {
		f.reasons = append(f.reasons, fmt.Sprintf("%d pods ended with %s", counts[reason], reason))
	}
	if len(f.reasons) == 0 && said != "" {
		f.reasons = []string{oneLine(said)}
	}
	path := filepath.Join(o.logs, o.name+".txt")
	err = os.MkdirAll(o.logs, 0o777)
	if err == nil {
		err = atomicfile.WriteBytes(path, []byte(file.String()))
	}
	if err != nil {
		o.log.Warn("what the cluster knows of the failed pods is not kept", "reason", err)
		return f
	}
	f.file = path
	return f
}

// ended is why a pod failed.
func (p *pod) ended() string {
	for _, c := range p.containers() {
		if t := c.State.Terminated; t.Reason != "" && t.ExitCode != 0 {
			reason := fmt.Sprintf("%s (exit code %d)", t.Reason, t.ExitCode)
			if t.Message != "" {
				reason += ": " + strings.Join(strings.Fields(t.Message), " ")
			}
			if t.Reason == "OOMKilled" {
				reason += ", which more --max-memory prevents"
			}
			return reason
		}
	}
	return strings.TrimSuffix(cmp.Or(p.Status.Reason, "an unknown reason")+": "+strings.Join(strings.Fields(p.Status.Message), " "), ": ")
}
