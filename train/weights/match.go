package weights

import (
	"fmt"
	"slices"
	"strings"

	"bitextmine/internal/badinput"
)

// Match reports all tensors that are missing, have another shape or are not expected, in one badinput error.
func Match(specs []Spec, tensors []*Tensor) error {
	byName := map[string]*Tensor{}
	for _, t := range tensors {
		byName[t.Name] = t
	}
	var wrong []string
	for _, s := range specs {
		t := byName[s.Name]
		delete(byName, s.Name)
		switch {
		case t == nil:
			wrong = append(wrong, s.Name+" is missing")
		case !slices.Equal(t.Shape, s.Shape):
			wrong = append(wrong, fmt.Sprintf("%s has the shape %v instead of %v", s.Name, t.Shape, s.Shape))
		}
	}
	for _, t := range tensors {
		if byName[t.Name] == t {
			wrong = append(wrong, t.Name+" has no place in the model")
		}
	}
	if wrong != nil {
		return badinput.Errorf("the weights do not fit the model: %s", list(wrong))
	}
	return nil
}

// Arrange returns the tensors in the order of specs, with their NoDecay, if Match finds no problem.
func Arrange(specs []Spec, tensors []*Tensor) ([]*Tensor, error) {
	if err := Match(specs, tensors); err != nil {
		return nil, err
	}
	byName := map[string]*Tensor{}
	for _, t := range tensors {
		byName[t.Name] = t
	}
	out := make([]*Tensor, len(specs))
	for i, s := range specs {
		out[i] = byName[s.Name]
		out[i].NoDecay = s.NoDecay
	}
	return out, nil
}

// list joins sentences; of many only the first few.
func list(wrong []string) string {
	const maxListed = 5
	if len(wrong) > maxListed {
		return fmt.Sprintf("%s and %d more", strings.Join(wrong[:maxListed], "; "), len(wrong)-maxListed)
	}
	return strings.Join(wrong, "; ")
}
