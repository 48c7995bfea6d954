package engine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"time"

	"bitextmine/internal/badinput"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/store"
)

// Kubernetes runs each wave as an Indexed Job, through kubectl.
type Kubernetes struct {
	Image     string // holds the program as mine
	Namespace string
	Claim     string // a PersistentVolumeClaim, mounted at Mount in every pod; empty: none, as with a bucket
	Mount     string
	Pod       string   // what is merged into a pod's spec: a YAML mapping, or the path of a file with one; empty: nothing
	Text      []string // paths of text, and of what else pods read beside the work directory
	GPUs      int      // GPUs of a pod whose stage uses them
	Cores     int
	MaxMemory int64
	Log       *slog.Logger
	DryRun    io.Writer
	Poll      time.Duration // 0: 5 s
}

// containerName is the container of a Job's pods that has the program.
const containerName = "mine"

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
workingDir: {{json .K.WorkingDir}}
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
func (k Kubernetes) Check(out, work string) error {
	err := cmp.Or(k.hasImage(), k.sees(cmp.Or(work, filepath.Join(out, "work"))))
	if err == nil && k.DryRun == nil {
		err = installed("kubectl")
	}
	return err
}

// sees refuses a work directory, and beside a claim text, that pods do not have at the path that it has here.
func (k Kubernetes) sees(work string) error {
	pod, err := readPod(k.Pod)
	if err != nil {
		return err
	}
	mounts, paths := pod.mounts(), []string{work}
	if k.Claim != "" {
		mounts, paths = append(mounts, k.Mount), append(paths, k.Text...)
	}
	for _, path := range paths {
		absolute, err := filepath.Abs(path)
		if err != nil {
			return err
		}
		switch {
		case store.Remote(path) || slices.ContainsFunc(mounts, func(mount string) bool { return record.Within(mount, absolute) }):
		case k.Claim != "":
			return badinput.Errorf("pods do not see %s: it is not below kubernetes_mount = %s, where they have the claim %s; set "+
				"kubernetes_mount to the path that the claim's volume has here, and put text and work directory below it", path, k.Mount, k.Claim)
		default:
			return badinput.Errorf("pods do not see the work directory %s: name a claim with it in kubernetes_claim, or a bucket with --work", path)
		}
	}
	return nil
}

// WorkingDir is where a pod with the claim begins: in the current directory if the claim has it, for relative paths.
func (k Kubernetes) WorkingDir() string {
	if dir, err := os.Getwd(); err == nil && record.Within(k.Mount, dir) {
		return dir
	}
	return k.Mount
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
	pod, err := readPod(k.Pod)
	if err != nil {
		return "", err
	}
	return pod.addTo(out.String())
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
		array := k.pods(job, wave).array
		object := object{
			kind: "job", namespace: k.Namespace, name: array.Name, manifest: manifest,
			ends:    `{range .status.conditions[?(@.status=="True")]}{.type}{"\n"}{end}`,
			success: "Complete", failures: []string{"Failed"}, poll: k.Poll,
			pods: "job-name", container: containerName, logs: logsOf(job), log: k.Log,
		}
		ended := (*podFailure)(nil)
		if err := object.run(ctx); errors.As(err, &ended) {
			there, unread := job.Done(ctx)
			if unread != nil || len(missing(array, job.Plan.Waves[wave].Tasks, there)) > 0 {
				return err
			}
		} else if err != nil {
			return err
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
