// Command strict decodes Kubernetes manifests from standard input into the API types and fails on any field that they
// do not have.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

func main() {
	if err := decode(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func decode(in io.Reader) error {
	documents := utilyaml.NewYAMLReader(bufio.NewReader(in))
	for n := 0; ; n++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			if n == 0 {
				return errors.New("no manifest")
			}
			return nil
		}
		if err != nil {
			return err
		}
		var kind metav1.TypeMeta
		if err := yaml.Unmarshal(document, &kind); err != nil {
			return err
		}
		var object any
		switch kind.APIVersion + " " + kind.Kind {
		case "batch/v1 Job":
			object = &batchv1.Job{}
		case "batch/v1 CronJob":
			object = &batchv1.CronJob{}
		case " ":
			continue // what stands before the first separator
		default:
			return fmt.Errorf("manifest %d is %q", n, kind)
		}
		if err := yaml.UnmarshalStrict(document, object); err != nil {
			return fmt.Errorf("manifest %d: %w", n, err)
		}
		if job, ok := object.(*batchv1.Job); ok {
			fmt.Printf("%s %d\n", job.Name, *job.Spec.Completions)
		}
	}
}
