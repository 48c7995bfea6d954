package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
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
	GPUs      int // GPUs of a pod whose stage uses them
	Cores     int
	MaxMemory int64
	DryRun    io.Writer
	Poll      time.Duration // 0: 5 s
}

// A pod lost to a drained node does not count as a failure; exit code 2 fails the Job at once, as no retry would help.
var jobManifest = template.Must(template.New("job").Funcs(template.FuncMap{"json": toJSON}).Parse(`apiVersion: batch/v1
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
{{.Container "$(JOB_COMPLETION_INDEX)" 10}}
{{- if .K.Claim}}
      volumes:
        - name: data
          persistentVolumeClaim:
            claimName: {{json .K.Claim}}
{{- end}}
`))

// containerManifest is a pod's container without its name.
var containerManifest = template.Must(template.New("container").Funcs(template.FuncMap{"json": toJSON, "word": word}).Parse(`image: {{json .K.Image}}
command: ["mine", "task", {{word .Plan}}, "{{.Index}}"]
args: [{{range $i, $flag := .Flags}}{{if $i}}, {{end}}"{{$flag}}"{{end}}]
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
{{- end}}`))

// Container is the container of a wave's pods for a template: its lines after so many spaces. The scheduler replaces
// index with a task's index.
func (p pods) Container(index string, spaces int) (string, error) {
	var out strings.Builder
	err := containerManifest.Execute(&out, struct {
		pods
		Index string
	}{p, index})
	indent := strings.Repeat(" ", spaces)
	return indent + strings.ReplaceAll(out.String(), "\n", "\n"+indent), err
}

// hasImage refuses settings without an image.
func (k Kubernetes) hasImage() error {
	if k.Image == "" {
		return badinput.Errorf("kubernetes_image names no image; name one that holds mine")
	}
	return nil
}

// Check implements Engine.
func (k Kubernetes) Check(string, string) error {
	err := k.hasImage()
	if err == nil && k.DryRun == nil {
		err = installed("kubectl")
	}
	return err
}

// Manifest returns the Job of a wave.
func (k Kubernetes) Manifest(job Job, wave int) (string, error) {
	if err := k.hasImage(); err != nil {
		return "", err
	}
	var out bytes.Buffer
	if err := jobManifest.Execute(&out, k.pods(job, wave)); err != nil {
		return "", err
	}
	return out.String(), nil
}

// pods describes a wave's pods for its manifest.
type pods struct {
	array
	K    Kubernetes
	GPUs int
}

func (k Kubernetes) pods(job Job, wave int) pods {
	p := pods{array: newArray(job, wave, maxArray, k.Cores, k.MaxMemory), K: k}
	if job.Plan.Waves[wave].GPU {
		p.GPUs = k.GPUs
	}
	return p
}

// Run implements Engine.
func (k Kubernetes) Run(ctx context.Context, job Job) error {
	for wave := range job.Plan.Waves {
		if job.empty(wave) {
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
		object := object{
			kind: "job", namespace: k.Namespace, name: newArray(job, wave, maxArray, k.Cores, k.MaxMemory).Name, manifest: manifest,
			ends:    `{range .status.conditions[?(@.status=="True")]}{.type}{"\n"}{end}`,
			success: "Complete", failures: []string{"Failed"}, poll: k.Poll,
		}
		complete, err := object.run(ctx)
		if err != nil || !complete {
			return err // the store tells which tasks failed, and why
		}
	}
	return nil
}

// toJSON writes a string as JSON, which is YAML too.
func toJSON(value string) (string, error) {
	data, err := json.Marshal(value)
	return string(data), err
}

// word is a word of a container's command. Kubernetes replaces $(NAME) there and takes $$ for a dollar sign.
func word(value string) (string, error) { return toJSON(strings.ReplaceAll(value, "$", "$$")) }

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
