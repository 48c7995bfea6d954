package engine

import (
	"context"
	"fmt"
	"strings"
	"time"

	"bitextmine/internal/badinput"
)

// How often pods that have not started are looked at, when their reason is told first, and how long a reason that only
// a person can remove may last, in polls: half a minute, one minute and two.
const (
	pollsOfLook  = 6
	pollsOfWarn  = 12
	pollsOfGrace = 24
)

// hopeless are the reasons for which a container does not start until somebody changes something, with the setting.
var hopeless = map[string]string{
	"ErrImagePull":               imageAdvice,
	"ImagePullBackOff":           imageAdvice,
	"InvalidImageName":           imageAdvice,
	"CreateContainerConfigError": "correct kubernetes_pod, or make what it names",
}

const imageAdvice = "set kubernetes_image to an image that the cluster's nodes can pull, or name imagePullSecrets in kubernetes_pod"

// queue watches the pods of an object that have not started. While another pod of it runs they wait for their turn.
type queue struct {
	object
	looked, since time.Time // the last look, and the first at which none ran
	stuck         time.Time // the first look at which the reason was hopeless; zero: it is not
	warned        time.Time
	pause         time.Duration // time until the next warning
}

func newQueue(o object) *queue {
	now := time.Now()
	return &queue{object: o, looked: now, since: now}
}

// look warns of pods that do not start, and is the error of pods that cannot.
func (q *queue) look(ctx context.Context) error {
	now := time.Now()
	if now.Sub(q.looked) < pollsOfLook*q.poll {
		return nil
	}
	q.looked = now
	running, err := q.podsIn(ctx, "Running")
	if err != nil {
		return nil // asked again
	}
	if len(running) > 0 {
		q.since, q.stuck, q.warned, q.pause = now, time.Time{}, time.Time{}, 0
		return nil
	}
	pending, err := q.podsIn(ctx, "Pending")
	if err != nil {
		return nil
	}
	reason, message := whyPending(pending)
	advice, isHopeless := hopeless[reason]
	switch {
	case !isHopeless:
		q.stuck = time.Time{}
	case q.stuck.IsZero():
		q.stuck = now
	case now.Sub(q.stuck) >= pollsOfGrace*q.poll:
		return badinput.Errorf("the pods of %s %s cannot start: %s (%s); %s", q.kind, q.name, reason, message, advice)
	}
	if now.Sub(q.since) >= pollsOfWarn*q.poll && now.Sub(q.warned) >= q.pause {
		q.log.Warn(fmt.Sprintf("no pod of %s %s runs", q.kind, q.name), "reason", reason, "said", message, "pods_that_wait", len(pending),
			"for", now.Sub(q.since).Round(time.Second))
		q.warned, q.pause = now, max(pollsOfWarn*q.poll, min(2*q.pause, 10*pollsOfWarn*q.poll))
	}
	return nil
}

// whyPending is the reason for which pods have not started: of several a hopeless one.
func whyPending(pods []pod) (reason, message string) {
	reason, message = "no pod is there", "kubectl describe says why; quotas and rights may"
	for i := range pods {
		r, m := pods[i].waits()
		if _, is := hopeless[r]; i == 0 || is {
			reason, message = r, m
		}
	}
	return reason, message
}

// waits is why a pod has not started.
func (p *pod) waits() (reason, message string) {
	reason = "Pending"
	for _, c := range p.Status.Conditions {
		if c.Type == "PodScheduled" && c.Status == "False" {
			reason, message = c.Reason, c.Message
		}
	}
	for _, c := range p.containers() {
		w := c.State.Waiting
		if _, is := hopeless[w.Reason]; is || w.Reason != "" && reason == "Pending" {
			reason, message = w.Reason, w.Message
		}
	}
	return reason, strings.Join(strings.Fields(message), " ")
}
