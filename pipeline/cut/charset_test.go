package cut

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"

	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/pipeline/stage/shard"
)

// TestEncodingsAreNamed: of a file in each of the usual encodings it is said in which it is and what to type, and with
// that its text is read as it was.
func TestEncodingsAreNamed(t *testing.T) {
	for _, c := range []struct {
		name, code, flag string
		of               encoding.Encoding
		text             string
	}{
		{"windows-1252", "de", "windows-1252", charmap.Windows1252,
			"Die Straßenbahn fährt heute später, weil die Brücke über den Fluss geprüft wird.\nÄltere Fahrgäste möchten wissen, wann die nächste kommt."},
		{"windows-1252 that windows-1256 reads, too", "fr", "windows-1252", charmap.Windows1252,
			"Le professeur de l'Université d'Écosse était déjà âgé.\nL'Église et l'État ont été séparés à cette époque-là."},
		{"windows-1250", "hu", "windows-1250", charmap.Windows1250,
			"Az új könyvtárat ma reggel nyitották meg a városban.\nA lakók régóta várták ezt, és egész családok jöttek el, előbb a szülők."},
		{"ISO-8859-2", "pl", "iso-8859-2", charmap.ISO8859_2,
			"Dziś rano w mieście otwarto nową bibliotekę dla dzieci.\nMieszkańcy długo na to czekali i przyszli całymi rodzinami, także później."},
		{"KOI8-U", "uk", "koi8-u", charmap.KOI8U,
			"Сьогодні вранці в місті відкрили нову бібліотеку для дітей.\nМешканці її давно чекали й прийшли цілими сім'ями."},
		{"windows-874", "th", "windows-874", charmap.Windows874,
			"เช้าวันนี้มีการเปิดห้องสมุดสำหรับเด็กแห่งใหม่ในเมือง\nชาวบ้านรอคอยสิ่งนี้มานานแล้ว"},
		{"KOI8-R", "ru", "koi8-r", charmap.KOI8R,
			"Сегодня утром в городе открыли новую библиотеку для детей.\nЖители давно ждали этого и пришли целыми семьями."},
		{"GB18030", "zh", "gb18030", simplifiedchinese.GB18030,
			"今天早上市里新开了一家儿童图书馆，许多家庭都来参观。\n居民们等这一天已经等了很久，图书馆里有三万多册图书。"},
		{"Shift-JIS", "ja", "shift_jis", japanese.ShiftJIS,
			"今朝、市内に新しい子ども図書館が開館し、多くの家族が訪れました。\n住民たちはこの日を長い間待っていました。"},
		{"EUC-JP", "ja", "euc-jp", japanese.EUCJP,
			"今朝、市内に新しい子ども図書館が開館し、多くの家族が訪れました。\n住民たちはこの日を長い間待っていました。"},
		{"Big5", "zh", "big5", traditionalchinese.Big5,
			"今天早上市裡新開了一家兒童圖書館，許多家庭都來參觀。\n居民們等這一天已經等了很久，圖書館裡有三萬多冊圖書。"},
		{"EUC-KR", "ko", "euc-kr", korean.EUCKR,
			"오늘 아침 시내에 새로운 어린이 도서관이 문을 열었습니다.\n주민들은 이 날을 오랫동안 기다려 왔으며 가족과 함께 찾아왔습니다."},
		{"UTF-16", "de", "utf-16", unicode.UTF16(unicode.LittleEndian, unicode.UseBOM),
			"Die Straßenbahn fährt heute später.\nÄltere Fahrgäste warten."},
	} {
		t.Run(c.name, func(t *testing.T) {
			data, err := c.of.NewEncoder().String(c.text)
			if err != nil {
				t.Fatal(err)
			}
			file := input.File{Path: filepath.Join(t.TempDir(), "text.txt")}
			if err := os.WriteFile(file.Path, []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
			said := ""
			if _, err := textsOf([]input.File{file}, corpus.DefaultOptions()); err != nil {
				said = err.Error() // nothing of the file can be used
			}
			if c.flag != "utf-16" {
				counts := corpus.Counts{Lines: 2, Skipped: map[corpus.Reason]uint64{corpus.ReasonNotUTF8: 2}}
				said = shard.OtherCharset(file, counts, "--encoding", "", c.code)
			}
			if !strings.Contains(said, "--encoding "+c.flag) {
				t.Errorf("said %q, which does not name --encoding %s", said, c.flag)
			}
			opts := corpus.DefaultOptions()
			opts.Encoding = c.flag
			texts, err := textsOf([]input.File{file}, opts)
			if err != nil || strings.Join(texts, "\n") != c.text {
				t.Errorf("with --encoding %s the text is %q, error %v", c.flag, texts, err)
			}
		})
	}
}

// textsOf reads the normalised sentences of inputs, in order.
func textsOf(inputs []input.File, opts corpus.Options) (texts []string, err error) {
	for _, in := range inputs {
		for s, err := range corpus.Sentences(in, opts) {
			if err != nil {
				return nil, err
			}
			texts = append(texts, s.Normal)
		}
	}
	return texts, nil
}
