package engine

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strings"
	"text/template"

	"bitextmine/internal/badinput"
)

// Argo runs a plan as one Workflow of Argo Workflows, submitted through kubectl: a group of steps for each wave, with a
// step for each index. Its pods equal those of Kubernetes.
type Argo struct{ Kubernetes }

// A pod is tried four times, as an Indexed Job tries its own, unless it ends with exit code 2.
var workflowManifest = template.Must(template.New("workflow").Funcs(template.FuncMap{"json": toJSON}).Parse(`apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata:
  name: {{.Name}}
  namespace: {{json .K.Namespace}}
  labels:
    app.kubernetes.io/name: mine
spec:
  entrypoint: waves
  podMetadata:
    labels:
      app.kubernetes.io/name: mine
{{- if .Patch}}
  podSpecPatch: {{json .Patch}}
{{- end}}
{{- if .K.Claim}}
  volumes:
    - name: data
      persistentVolumeClaim:
        claimName: {{json .K.Claim}}
{{- end}}
  templates:
    - name: waves
      steps:
{{- range .Waves}}
        - - name: {{.Step}}
            template: {{.Step}}
            arguments:
              parameters:
                - name: index
                  value: "{{"{{item}}"}}"
            withSequence:
              count: "{{.Indices}}"
{{- end}}
{{- range .Waves}}
    - name: {{.Step}}
      inputs:
        parameters:
          - name: index
      retryStrategy:
        limit: "3"
        retryPolicy: Always
        expression: asInt(lastRetry.exitCode) != 2
      metadata:
        labels:
          app.kubernetes.io/component: {{.Stage}}
      container:
{{.Container "{{inputs.parameters.index}}" 8}}
{{- end}}
`))

// argoContainer is the container of a Workflow's pods that has the program.
const argoContainer = "main"

// wavePods are the pods of a wave, with the name of its step.
type wavePods struct {
	pods
	Step    string // its name: hides the stride
	Indices int
}

// Check implements Engine.
func (a Argo) Check(out, work string) error {
	return cmp.Or(a.fits(work), a.Kubernetes.Check(out, work))
}

// fits refuses what cannot stand in a Workflow.
func (a Argo) fits(work string) error {
	if err := a.hasImage(); err != nil {
		return err
	}
	for _, word := range []struct{ what, value string }{{"--work", work}, {"kubernetes_image", a.Image}, {"kubernetes_mount", a.Mount}} {
		if strings.Contains(word.value, "{{") {
			return badinput.Errorf("%s is %q, and Argo Workflows replaces what follows {{; use a name without {{", word.what, word.value)
		}
	}
	return nil
}

// Manifest returns the Workflow of a plan, or nothing if no task is left.
func (a Argo) Manifest(job Job) (string, error) {
	if err := a.fits(job.PlanPath); err != nil {
		return "", err
	}
	var waves []wavePods
	for i := range job.Plan.Waves {
		if !job.empty(i) {
			p := a.pods(job, i)
			waves = append(waves, wavePods{p, fmt.Sprintf("%s-%d", p.Stage, i), p.array.Step})
		}
	}
	if waves == nil {
		return "", nil
	}
	pod, err := readPod(a.Pod)
	if err != nil {
		return "", err
	}
	patch, err := pod.patch(argoContainer)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	err = workflowManifest.Execute(&out, struct {
		Name, Patch string
		K           Kubernetes
		Waves       []wavePods
	}{workflowName(job), patch, a.Kubernetes, waves})
	return out.String(), err
}

func workflowName(job Job) string { return fmt.Sprintf("mine-%.8s", job.ID) }

// Run implements Engine.
func (a Argo) Run(ctx context.Context, job Job) error {
	manifest, err := a.Manifest(job)
	if err != nil || manifest == "" {
		return err
	}
	if a.DryRun != nil {
		_, err := fmt.Fprintf(a.DryRun, "---\n%s", manifest)
		return err
	}
	object := object{
		kind: "workflow.argoproj.io", namespace: a.Namespace, name: workflowName(job), manifest: manifest,
		ends: "{.status.phase}", success: "Succeeded", failures: []string{"Failed", "Error"}, poll: a.Poll,
		pods: "workflows.argoproj.io/workflow", container: argoContainer, logs: logsOf(job), log: a.Log,
	}
	return object.run(ctx)
}

var _ Engine = Argo{}
