package laser

import "strings"

// Values are nil, bool, int64, float64, string, []byte, *list, tuple, *dict, class, *object, *storage and *tensor.
type (
	list  struct{ items []any }
	tuple []any
	// dict keeps the order of its keys. Keys that are neither strings nor numbers are left out.
	dict struct {
		keys   []any
		values map[any]any
	}
	class struct{ module, name string }
	// object is an instance of an inert class: what it was made of, and its fields.
	object struct {
		class class
		args  tuple
		state any
	}
	// mark is the place of the instruction MARK on the stack.
	mark struct{}
)

func (c class) String() string { return c.module + "." + c.name }

func (d *dict) set(key, value any) {
	switch key.(type) {
	case string, int64, float64, bool:
		if _, ok := d.values[key]; !ok {
			d.keys = append(d.keys, key)
		}
		d.values[key] = value
	}
}

func newDict() *dict { return &dict{values: map[any]any{}} }

// inert are the classes whose instances are data.
var inert = map[string]bool{"argparse.Namespace": true, "collections.OrderedDict": true,
	"collections.defaultdict": true, "torch._utils._rebuild_tensor_v2": true, "torch._utils._rebuild_parameter": true,
	"torch.Size": true, "torch.device": true, "builtins.set": true, "__builtin__.set": true, "builtins.object": true,
	"__builtin__.object": true, "builtins.dict": true, "builtins.list": true, "copyreg._reconstructor": true,
	"copy_reg._reconstructor": true, "_codecs.encode": true, "numpy.dtype": true,
	"numpy.core.multiarray.scalar": true, "numpy._core.multiarray.scalar": true, "typing.Any": true}

// known reports whether a class is inert. fairseq's and omegaconf's keep the settings of a training.
func (c class) known() bool {
	if inert[c.String()] || c.module == "torch" && strings.HasSuffix(c.name, "Storage") && kinds[c.name].width > 0 {
		return true
	}
	from, _, _ := strings.Cut(c.module, ".")
	return from == "fairseq" || from == "omegaconf"
}

// build makes an instance of an inert class.
func build(c class, args tuple) (any, error) {
	switch c.String() {
	case "collections.OrderedDict", "collections.defaultdict", "builtins.dict":
		d := newDict()
		if len(args) > 0 {
			if l, ok := args[len(args)-1].(*list); ok {
				for _, item := range l.items {
					switch pair := item.(type) {
					case tuple:
						if len(pair) == 2 {
							d.set(pair[0], pair[1])
						}
					case *list:
						if len(pair.items) == 2 {
							d.set(pair.items[0], pair.items[1])
						}
					}
				}
			}
		}
		return d, nil
	case "torch._utils._rebuild_tensor_v2":
		return newTensor(args)
	case "torch._utils._rebuild_parameter":
		if len(args) > 0 {
			return args[0], nil
		}
	case "copyreg._reconstructor", "copy_reg._reconstructor":
		if len(args) > 0 {
			if c, ok := args[0].(class); ok {
				return &object{class: c}, nil
			}
		}
	}
	return &object{class: c, args: args}, nil
}

// field is a field of an object or a key of a dictionary; nil if it is missing.
func field(v any, name string) any {
	if o, ok := v.(*object); ok {
		v = o.state
		if t, ok := v.(tuple); ok && len(t) > 0 { // the class has slots
			v = t[0]
		}
	}
	if d, ok := v.(*dict); ok {
		return d.values[name]
	}
	return nil
}
