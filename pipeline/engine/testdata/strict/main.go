// Command strict checks manifests from standard input. Kubernetes' own are decoded into the API types, given their
// defaults and validated as its API server does; Argo's are decoded into its types. A field that the types do not have
// is an error.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	argo "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/batch"
	apibatchv1 "k8s.io/kubernetes/pkg/apis/batch/v1"
	batchvalidation "k8s.io/kubernetes/pkg/apis/batch/validation"
	apicorev1 "k8s.io/kubernetes/pkg/apis/core/v1"
	"sigs.k8s.io/yaml"
)

func main() {
	if err := checkAll(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func checkAll(in io.Reader) error {
	documents := utilyaml.NewYAMLReader(bufio.NewReader(in))
	for n := 0; ; n++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			if n == 0 {
				return errors.New("no manifest")
			}
			return nil
		}
		if err == nil {
			err = check(document)
		}
		if err != nil {
			return fmt.Errorf("manifest %d: %w", n, err)
		}
	}
}

func check(document []byte) error {
	var kind metav1.TypeMeta
	if err := yaml.Unmarshal(document, &kind); err != nil {
		return err
	}
	switch kind.APIVersion + " " + kind.Kind {
	case " ":
		return nil // what stands before the first separator
	case "batch/v1 Job":
		return checkJob(document)
	case "batch/v1 CronJob":
		return checkCronJob(document)
	case "argoproj.io/v1alpha1 Workflow":
		var workflow argo.Workflow
		if err := yaml.UnmarshalStrict(document, &workflow); err != nil {
			return err
		}
		fmt.Printf("%s %d\n", workflow.Name, len(workflow.Spec.Templates))
		return nil
	}
	return fmt.Errorf("it is %q", kind)
}

func checkJob(document []byte) error {
	var sent batchv1.Job
	var job batch.Job
	if err := decode(document, &sent, &job); err != nil {
		return err
	}
	// What the API server adds before it validates.
	job.UID = "0d1e5a52-0000-4000-8000-000000000000"
	job.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{batch.ControllerUidLabel: string(job.UID)}}
	labels := job.Spec.Template.Labels
	for _, name := range []string{batch.ControllerUidLabel, batch.LegacyControllerUidLabel} {
		labels[name] = string(job.UID)
	}
	for _, name := range []string{batch.JobNameLabel, batch.LegacyJobNameLabel} {
		labels[name] = job.Name
	}
	fmt.Printf("%s %d\n", job.Name, *job.Spec.Completions)
	return batchvalidation.ValidateJob(&job, batchvalidation.JobValidationOptions{
		PodValidationOptions:  pod.GetValidationOptionsFromPodTemplate(&job.Spec.Template, nil),
		RequirePrefixedLabels: true,
	}).ToAggregate()
}

func checkCronJob(document []byte) error {
	var sent batchv1.CronJob
	var job batch.CronJob
	if err := decode(document, &sent, &job); err != nil {
		return err
	}
	if job.Namespace == "" {
		job.Namespace = metav1.NamespaceDefault // kubectl sends it
	}
	return batchvalidation.ValidateCronJobCreate(&job, pod.GetValidationOptionsFromPodTemplate(&job.Spec.JobTemplate.Spec.Template, nil)).ToAggregate()
}

// decode decodes a manifest into the type that is sent, sets the defaults and converts it to the server's own type.
func decode(document []byte, sent, own runtime.Object) error {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{batch.AddToScheme, apibatchv1.AddToScheme, apicorev1.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	if err := yaml.UnmarshalStrict(document, sent); err != nil {
		return err
	}
	scheme.Default(sent)
	return scheme.Convert(sent, own, nil)
}
