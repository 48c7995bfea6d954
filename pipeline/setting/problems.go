package setting

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Problems lists the numbers of a group, or of a struct that embeds groups, that are outside the bounds of their tags.
func Problems(group any) []string {
	var problems []string
	values := reflect.ValueOf(group)
	for _, field := range reflect.VisibleFields(values.Type()) {
		low, hasLow := bound(field, "min")
		high, hasHigh := bound(field, "max")
		if !hasLow && !hasHigh {
			continue
		}
		key, _, _ := strings.Cut(field.Tag.Get("setting"), ",")
		value := values.FieldByIndex(field.Index)
		number := value.Convert(reflect.TypeFor[float64]()).Float()
		inside := (!hasLow || number >= low) && (!hasHigh || number <= high) // a NaN is not
		switch {
		case inside:
		case hasLow && hasHigh:
			problems = append(problems, fmt.Sprintf("%s = %v must be from %v to %v", key, value, low, high))
		case hasLow:
			problems = append(problems, fmt.Sprintf("%s = %v must be at least %v", key, value, low))
		default:
			problems = append(problems, fmt.Sprintf("%s = %v must be at most %v", key, value, high))
		}
	}
	return problems
}

// bound is the number that a tag gives.
func bound(field reflect.StructField, tag string) (number float64, ok bool) {
	text, ok := field.Tag.Lookup(tag)
	if !ok {
		return 0, false
	}
	number, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(fmt.Sprintf("setting %s: the tag %s is no number: %q", field.Name, tag, text))
	}
	return number, true
}
