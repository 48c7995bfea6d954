package approximate

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

const kind Kind = "toy"

func TestSaveAndVerify(t *testing.T) {
	l := Label{Factory: "toy:3", Rows: 3, Dim: 2}
	path := kind.Path(t.TempDir(), l)
	if err := kind.Save(path, l, func(f *os.File) error { _, err := f.WriteString("payload"); return err }); err != nil {
		t.Fatal(err)
	}
	if n, err := kind.Verify(path, l); n != int64(len("payload")) || err != nil {
		t.Errorf("payload of %d bytes, error %v", n, err)
	}
	other := l
	other.Rows = 4
	if _, err := kind.Verify(path, other); !errors.As(err, new(Damage)) {
		t.Errorf("another label: error %v; want Damage", err)
	}
	if kind.Path("", other) == kind.Path("", l) {
		t.Error("two labels have one path")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[0] ^= 1
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := kind.Verify(path, l); !errors.As(err, new(Damage)) {
		t.Errorf("a changed payload: error %v; want Damage", err)
	}
}

func TestOpenMakesADamagedFileAgain(t *testing.T) {
	saved := 0
	build := func() (int, error) { return 7, nil }
	save := func(int) error { saved++; return nil }
	for name, c := range map[string]struct {
		err   error
		value int
		saves int
	}{
		"kept": {nil, 3, 0}, "missing": {os.ErrNotExist, 7, 1}, "damaged": {Damaged("x", "is bad"), 7, 1}, "unreadable": {os.ErrPermission, 3, 0},
	} {
		saved = 0
		got, err := Open(filepath.Join("dir", "x"), func() (int, error) { return 3, c.err }, build, save)
		if got != c.value || saved != c.saves || (err != nil) != (name == "unreadable") {
			t.Errorf("%s: value %d after %d saves, error %v; want %d after %d", name, got, saved, err, c.value, c.saves)
		}
	}
}

func FuzzLabel(f *testing.F) {
	f.Add([]byte(kind.Magic() + `{"factory":"IVF8,Flat","rows":3,"dim":2}` + "\n"))
	f.Add([]byte("IxFI" + kind.Magic() + kind.Magic() + "{}"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, tail []byte) {
		if _, _, err := kind.parse("x.toy", tail); err != nil && !errors.As(err, new(Damage)) {
			t.Errorf("error %v; want Damage", err)
		}
	})
}
