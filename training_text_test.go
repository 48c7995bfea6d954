package bitextmine

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Sentences that could be taken for Russian ones, and others that tell them from those.
const (
	ukrainian = `Сьогодні вранці діти пішли до школи разом із своїми батьками.
Ця книжка розповідає про життя людей, які мешкали біля великої річки.
Уряд оголосив, що нові правила почнуть діяти наступного місяця.
Ми довго чекали на потяг, але він так і не приїхав.
Вчені знайшли рештки давнього міста неподалік від узбережжя.
Її брат працює інженером на заводі, що виготовляє літаки.
`
	otherUkrainian = `Вночі йшов дощ, і вода в річці піднялася майже на цілий метр.
Поліція шукає свідків аварії, яка сталася у п'ятницю ввечері на мосту.
Моя бабуся щодня розповідала нам казки про лісових звірів і чарівників.
Якщо ви хочете змінити пароль, натисніть кнопку у правому куті екрана.
Він народився в невеликому селі, але більшу частину життя провів у столиці.
Цього року врожай пшениці був значно кращий, ніж очікували селяни.
Музей відчинено щодня, крім понеділка, а вхід для школярів вільний.
Вони вирішили продати будинок і переїхати ближче до дітей.
`
)

var evaluationSets = []string{"bucc_style.tar.xz", "bucc_style2.tar.xz", "flores60.tar.zst", "ntrex40.tar.zst",
	"laser_tatoeba.tar.xz", "sts.tar.xz", "align.tar.xz"}

// trainingText makes a copy of scripts/training-text whose manifest takes sentences of Russian, text of a repository
// made for it, and the folder of the evaluation sets: each holds one of the first sentences of the text.
func trainingText(t *testing.T, text, dev []string) (folder, mirror, shared string) {
	t.Helper()
	for _, program := range []string{"python3", "git", "tar", "xz", "zstd"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program + " is not installed")
		}
	}
	dir := t.TempDir()
	absolute, err := filepath.Abs("scripts/training-text")
	if err != nil {
		t.Fatal(err)
	}
	folder, mirror, shared = filepath.Join(dir, "training-text"), filepath.Join(dir, "mirror"), filepath.Join(dir, "shared")
	repository := filepath.Join(mirror, "some+text")
	run := func(name string, arguments ...string) string {
		command := exec.Command(name, arguments...)
		command.Dir = dir
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, arguments, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	run("cp", "-r", absolute, folder)
	write(t, filepath.Join(repository, "ru.txt"), strings.Join(text, "\n")+"\n"+ukrainian)
	git := func(arguments ...string) string {
		return run("git", append([]string{"-C", repository, "-c", "user.name=n", "-c", "user.email=e"}, arguments...)...)
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-qm", "text")
	write(t, filepath.Join(folder, "manifest.tsv"),
		"language\tregister\tcap\tsource\trepository\tcommit\tlicence\treader\toption\tpaths\tsha256\n"+
			"ru\tnews\t1000\tsome\tsome/text\t"+git("rev-parse", "HEAD")+"\tCC0 1.0\tlines\t-\tru.txt\t-\n")
	flores := filepath.Join(dir, "flores60/dev")
	write(t, flores+"/rus_Cyrl.dev", strings.Join(dev, "\n"))
	write(t, flores+"/ukr_Cyrl.dev", strings.Repeat(otherUkrainian, 3))
	write(t, flores+"/bul_Cyrl.dev", strings.Repeat("Децата отидоха на училище рано сутринта.\n", 500))
	write(t, flores+"/kaz_Cyrl.dev", strings.Repeat("Балалар таңертең мектепке ерте барды.\n", 500))
	if err := os.MkdirAll(shared, 0o755); err != nil {
		t.Fatal(err)
	}
	for i, name := range evaluationSets {
		set := strings.Split(name, ".")[0] + ".txt"
		write(t, filepath.Join(dir, set), text[i]+"\n")
		pack := "-cJf"
		if strings.HasSuffix(name, ".zst") {
			pack = "--zstd -cf"
		}
		arguments := append(strings.Fields(pack), filepath.Join(shared, name), set)
		if strings.HasPrefix(name, "flores60") {
			arguments = append(arguments, "flores60")
		}
		run("tar", arguments...)
	}
	return folder, mirror, shared
}

// russian are the Russian sentences of the program's own text that are long enough to train on.
func russian(t *testing.T) (sentences []string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(read(t, "fixtures/text/parallel.tsv")), "\n")
	column := slices.Index(strings.Split(lines[0], "\t"), "ru")
	for _, line := range lines[1:] {
		if s := strings.Split(line, "\t")[column]; len(strings.Fields(s)) >= 5 && len([]rune(s)) >= 20 {
			sentences = append(sentences, s)
		}
	}
	return sentences
}

// Text in another language, and sentences of the evaluation sets, are left out and counted; a language with too little
// text is refused by its name.
func TestTrainingTextIsOfItsLanguage(t *testing.T) {
	text := russian(t)
	text, dev := text[:len(text)/2], text[len(text)/2:]
	folder, mirror, shared := trainingText(t, text, dev)
	out := filepath.Join(t.TempDir(), "out")
	arguments := []string{filepath.Join(folder, "make"), mirror, shared, out, "--languages", "ru", "--record"}
	refused, err := exec.Command("python3", arguments...).CombinedOutput()
	if err == nil || !strings.Contains(string(refused), "ru has ") || !strings.Contains(string(refused), "fewer than 60000") {
		t.Errorf("too little text: error %v, output %s", err, refused)
	}
	if _, err := os.Stat(filepath.Join(out, "ru.txt")); err == nil {
		t.Error("text of a refused language is written")
	}
	if output, err := exec.Command("python3", append(arguments, "--few")...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	made, table := read(t, filepath.Join(out, "ru.txt")), read(t, filepath.Join(out, "table.tsv"))
	row := strings.Split(strings.Split(table, "\n")[1], "\t")
	if held, wrong := row[5], row[6]; held != "7" || wrong != "7" {
		t.Errorf("%s held out, %s in a wrong language, want 7 each, one of them Russian:\n%s", held, wrong, table)
	}
	for line := range strings.Lines(ukrainian) {
		if strings.Contains(made, line) {
			t.Errorf("text has a sentence of another language: %s", line)
		}
	}
	if strings.Contains(made, text[0]+"\n") || !strings.Contains(made, text[7]+"\n") {
		t.Error("text has a sentence of the evaluation sets, or lacks others")
	}
}
