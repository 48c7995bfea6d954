package open

import (
	"reflect"
	"testing"

	"bitextmine/pipeline/setting"
)

// TestNoSettingIsLeftOut: every setting of approximate indexes, and every resource that a search or an encoder takes,
// reaches its options.
func TestNoSettingIsLeftOut(t *testing.T) {
	search := reflect.TypeFor[setting.Searching]()
	for i := range search.NumField() {
		if _, ok := search.Field(i).Tag.Lookup("search"); !ok {
			continue
		}
		var s setting.Searching
		reflect.ValueOf(&s).Elem().Field(i).SetInt(7)
		if got := SearchOptions(s, setting.Resources{}); got == SearchOptions(setting.Searching{}, setting.Resources{}) {
			t.Errorf("%s is not among the options of a search", search.Field(i).Name)
		}
	}
	r := setting.Resources{Threads: 3, ONNXRuntime: "library"}
	if got := SearchOptions(setting.Searching{}, r); got.Threads != 3 {
		t.Errorf("a search is opened with %+v", got)
	}
	if got := EncoderOptions(r); got.Threads != 3 || got.Library != "library" {
		t.Errorf("an encoder is opened with %+v", got)
	}
}
