package step

import (
	"fmt"
	"math"
	"strings"
)

// Value is the computed value of a term. The loss is the sum of Weight x Value.
type Value struct {
	Name   string
	Weight float64
	Value  float32
}

// Describe lists the terms of a loss that is NaN or infinite. If only some of them are, it says which.
func Describe(values []Value) string {
	var all, wrong []string
	for _, v := range values {
		all = append(all, fmt.Sprintf("%s %v", v.Name, v.Value))
		if x := float64(v.Value); math.IsNaN(x) || math.IsInf(x, 0) {
			wrong = append(wrong, v.Name)
		}
	}
	text := strings.Join(all, ", ")
	if len(wrong) > 0 && len(wrong) < len(values) {
		text += "; because of " + strings.Join(wrong, " and ")
	}
	return text
}
