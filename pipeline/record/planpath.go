package record

import (
	"path"
	"strings"

	"bitextmine/internal/badinput"
	"bitextmine/pipeline/store"
)

// PlanPath is the location of a plan in a store. The options of a bucket stay behind it.
func PlanPath(work, id string) string {
	place, options := splitOptions(work)
	return strings.TrimSuffix(place, "/") + "/" + PlansNote + "/" + id + ".json" + options
}

func splitOptions(location string) (place, options string) {
	if at := strings.IndexByte(location, '?'); at >= 0 && store.Remote(location) {
		return location[:at], location[at:]
	}
	return location, ""
}

// SplitPlanPath returns a plan's store and id.
func SplitPlanPath(location string) (work, id string, err error) {
	place, options := splitOptions(location)
	dir, file := path.Split(place)
	work, inPlans := strings.CutSuffix(dir, "/"+PlansNote+"/")
	id, isJSON := strings.CutSuffix(file, ".json")
	if !inPlans || !isJSON || work == "" || id == "" {
		return "", "", badinput.Errorf("%q is not the place of a plan; it has the form WORK/%s/ID.json, as mine plan prints it", location, PlansNote)
	}
	return work + options, id, nil
}
