package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/template"
	"time"

	"bitextmine/internal/badinput"
)

// Kubernetes runs each wave as an Indexed Job, through kubectl.
type Kubernetes struct {
	Image     string // holds the program as mine
	Namespace string
	Claim     string // a PersistentVolumeClaim, mounted at Mount in every pod; empty: none, as with a bucket
	Mount     string
	GPUs      int // of a pod whose stage uses them
	Cores     int
	MaxMemory int64
	DryRun    io.Writer
	Poll      time.Duration // 0: 5 s
}

// A pod lost to a drained node does not count as a failure; exit code 2 fails the Job at once, as no retry would help.
var jobManifest = template.Must(template.New("job").Funcs(template.FuncMap{"json": toJSON, "word": word}).Parse(`apiVersion: batch/v1
kind: Job
metadata:
  name: {{.Name}}
  namespace: {{json .K.Namespace}}
  labels:
    app.kubernetes.io/name: mine
    app.kubernetes.io/component: {{.Stage}}
spec:
  completionMode: Indexed
  completions: {{.Step}}
  parallelism: {{.Step}}
  backoffLimitPerIndex: 3
  maxFailedIndexes: 0
  podFailurePolicy:
    rules:
      - action: Ignore
        onPodConditions:
          - type: DisruptionTarget
      - action: FailJob
        onExitCodes:
          containerName: mine
          operator: In
          values: [2]
  template:
    metadata:
      labels:
        app.kubernetes.io/name: mine
        app.kubernetes.io/component: {{.Stage}}
    spec:
      restartPolicy: Never
      containers:
        - name: mine
          image: {{json .K.Image}}
          command: ["mine", "task", {{word .Plan}}, "$(JOB_COMPLETION_INDEX)"]
          args: ["--offset", "{{.First}}", "--step", "{{.Step}}", "--end", "{{.End}}", "--threads", "{{.Cores}}"]
          resources:
            requests:
              cpu: "{{.Cores}}"
              memory: {{.Memory}}Mi
            limits:
              memory: {{.Memory}}Mi
{{- if .GPUs}}
              nvidia.com/gpu: "{{.GPUs}}"
{{- end}}
{{- if .K.Claim}}
          workingDir: {{json .K.Mount}}
          volumeMounts:
            - name: data
              mountPath: {{json .K.Mount}}
      volumes:
        - name: data
          persistentVolumeClaim:
            claimName: {{json .K.Claim}}
{{- end}}
`))

// Manifest returns the Job of a wave.
func (k Kubernetes) Manifest(job Job, wave int) (string, error) {
	if k.Image == "" {
		return "", badinput.Errorf("kubernetes_image names no image; name one that holds mine")
	}
	a := struct {
		array
		K    Kubernetes
		GPUs int
	}{array: newArray(job, wave, maxArray, k.Cores, k.MaxMemory), K: k}
	if job.Plan.Waves[wave].GPU {
		a.GPUs = k.GPUs
	}
	var out bytes.Buffer
	if err := jobManifest.Execute(&out, a); err != nil {
		return "", err
	}
	return out.String(), nil
}

// Run implements Engine.
func (k Kubernetes) Run(ctx context.Context, job Job) error {
	for wave := range job.Plan.Waves {
		if len(job.Plan.Waves[wave].Tasks) == 0 {
			continue
		}
		manifest, err := k.Manifest(job, wave)
		if err != nil {
			return err
		}
		if k.DryRun != nil {
			if _, err := fmt.Fprintf(k.DryRun, "---\n%s", manifest); err != nil {
				return err
			}
			continue
		}
		complete, err := k.runJob(ctx, newArray(job, wave, maxArray, k.Cores, k.MaxMemory).Name, manifest)
		if err != nil || !complete {
			return err // the store tells which tasks failed, and why
		}
	}
	return nil
}

// runJob replaces a Job of that name, if an earlier run left one, waits for its end and removes it. It reports whether
// the Job is complete.
func (k Kubernetes) runJob(ctx context.Context, name, manifest string) (complete bool, err error) {
	remove := func(ctx context.Context) error {
		_, err := command(ctx, "", "kubectl", "--namespace", k.Namespace, "delete", "job", name, "--ignore-not-found", "--wait")
		return err
	}
	if err := remove(ctx); err != nil {
		return false, err
	}
	if _, err := command(ctx, manifest, "kubectl", "apply", "--filename", "-"); err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, remove(context.WithoutCancel(ctx))) }()
	poll := k.Poll
	if poll == 0 {
		poll = 5 * time.Second
	}
	for failures := 0; ; {
		ended, err := command(ctx, "", "kubectl", "--namespace", k.Namespace, "get", "job", name,
			"--output", `jsonpath={range .status.conditions[?(@.status=="True")]}{.type} {.message}{"\n"}{end}`)
		switch {
		case ctx.Err() != nil:
			return false, ctx.Err()
		case err != nil:
			if failures++; failures > 60 {
				return false, err
			}
		case strings.HasPrefix(ended, "Complete"), strings.Contains(ended, "\nComplete"):
			return true, nil
		case strings.HasPrefix(ended, "Failed"), strings.Contains(ended, "\nFailed"):
			return false, nil
		default:
			failures = 0
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(poll):
		}
	}
}

// toJSON writes a string as JSON, which is YAML too.
func toJSON(value string) (string, error) {
	data, err := json.Marshal(value)
	return string(data), err
}

// word is a word of a container's command. Kubernetes replaces $(NAME) there and takes $$ for a dollar sign.
func word(value string) (string, error) { return toJSON(strings.ReplaceAll(value, "$", "$$")) }
