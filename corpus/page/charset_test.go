package page

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/unicode/norm"
)

// TestCharsets: a page is read in the encoding of its header or its own, unless its characters say that it lies.
func TestCharsets(t *testing.T) {
	koi := "\xf3\xc5\xc7\xcf\xc4\xce\xd1 \xd5\xd4\xd2\xcf\xcd \xd7 \xc7\xcf\xd2\xcf\xc4\xc5 \xcf\xd4\xcb\xd2\xd9\xcc\xc9 \xce\xcf\xd7\xd5\xc0 \xc2\xc9\xc2\xcc\xc9\xcf\xd4\xc5\xcb\xd5 \xc4\xcc\xd1 \xc4\xc5\xd4\xc5\xca."
	const russian = "Сегодня утром в городе открыли новую библиотеку для детей."
	for name, c := range map[string]struct{ data, kind, text, charset string }{
		"by the header":          {"<p>caf\xe9", "text/html; charset=iso-8859-1", "<p>café", "windows-1252"},
		"by the page":            {"<meta charset=koi8-r><p>" + koi, "", "<meta charset=koi8-r><p>" + russian, "koi8-r"},
		"no word":                {"<p>café", "", "<p>café", "utf-8"},
		"UTF-8 that says Latin":  {"<meta charset=koi8-r><p>café", "", "<meta charset=koi8-r><p>café", "utf-8, not koi8-r"},
		"KOI8 that says Latin":   {strings.Repeat("<p>"+koi, 5), "text/html; charset=iso-8859-1", strings.Repeat("<p>"+russian, 5), "koi8-r, not windows-1252"},
		"KOI8 that says UTF-8":   {strings.Repeat("<p>"+koi, 5), "text/html; charset=utf-8", strings.Repeat("<p>"+russian, 5), "koi8-r, not utf-8"},
		"a broken byte":          {"<p>Käse, Brötchen, Öl, Süßes, Äpfel, T\xffüte\xc3", "text/html; charset=utf-8", "<p>Käse, Brötchen, Öl, Süßes, Äpfel, T\ufffdüte", "utf-8"},
		"a broken byte, no word": {"<p>Käse, Brötchen, Öl, \xa9 Tüte", "", "<p>Käse, Brötchen, Öl, \ufffd Tüte", "utf-8"},
		"Latin that says UTF-8": {"<p>Der K\xe4se liegt neben den Br\xf6tchen und dem \xd6l in der T\xfcte.", "text/html; charset=utf-8",
			"<p>Der Käse liegt neben den Brötchen und dem Öl in der Tüte.", "windows-1252, not utf-8"},
		"a late word": {"<!--" + strings.Repeat(" ", 2000) + "--><meta charset=koi8-r><p>" + koi, "", "<!--" + strings.Repeat(" ", 2000) + "--><meta charset=koi8-r><p>" + russian, "koi8-r"},
		"XHTML":       {`<?xml version="1.0" encoding="koi8-r"?><p>` + koi, "", `<?xml version="1.0" encoding="koi8-r"?><p>` + russian, "koi8-r"},
	} {
		text, charset, ok := decode([]byte(c.data), c.kind)
		if !ok || text != c.text || charset != c.charset {
			t.Errorf("%s: %q in %q, %v", name, text, charset, ok)
		}
	}
}

// TestUndeclared: a page that names no encoding is in that of its language, whatever language its template names.
func TestUndeclared(t *testing.T) {
	for _, c := range []struct{ lang, charset, text string }{
		{"pl", "windows-1250", "Wczoraj po południu w mieście otwarto nową bibliotekę dla dzieci, a w środę zacznie się w niej kurs języka."},
		{"pl", "iso-8859-2", "Wczoraj po południu w mieście otwarto nową bibliotekę dla dzieci, a w środę zacznie się w niej kurs języka."},
		{"cs", "windows-1250", "Včera odpoledne byla ve městě otevřena nová knihovna pro děti, která má šest místností a větší zahradu."},
		{"cs", "iso-8859-2", "Včera odpoledne byla ve městě otevřena nová knihovna pro děti, která má šest místností a větší zahradu."},
		{"hu", "windows-1250", "Tegnap délután új könyvtárat nyitottak a városban a gyerekeknek, amely a hét minden napján nyitva lesz, kivéve hétfőn."},
		{"tr", "windows-1254", "Dün öğleden sonra şehirde çocuklar için yeni bir kütüphane açıldı ve hafta sonu da açık olacağı söylendi."},
		{"th", "windows-874", "เมื่อวานนี้มีการเปิดห้องสมุดใหม่สำหรับเด็กในเมือง และจะเปิดทุกวันยกเว้นวันจันทร์"},
		{"vi", "windows-1258", "Hôm qua thành phố đã mở một thư viện mới cho trẻ em và nó mở cửa vào cuối tuần."},
		{"ru", "windows-1251", "Вчера днём в городе открыли новую библиотеку для детей, которая работает и в выходные."},
		{"uk", "windows-1251", "Учора вдень у місті відкрили нову бібліотеку для дітей, яка працює також у вихідні дні."},
		{"ar", "windows-1256", "افتتحت أمس في المدينة مكتبة جديدة للأطفال وستكون مفتوحة أيضا في عطلة نهاية الأسبوع."},
		{"he", "iso-8859-8-i", "אתמול אחר הצהריים נפתחה בעיר ספרייה חדשה לילדים, והיא תהיה פתוחה גם בסוף השבוע."},
		{"ja", "euc-jp", "昨日の午後、市内に子供のための新しい図書館が開館し、週末も利用できるようになりました。"},
		{"zh", "gb18030", "昨天下午，市里为孩子们开设了一座新的图书馆，周末也对外开放。"},
		{"ko", "euc-kr", "어제 오후 시내에 어린이를 위한 새 도서관이 문을 열었으며 주말에도 이용할 수 있다."},
		{"de", "windows-1252", "Gestern Nachmittag wurde in der Stadt eine neue Bücherei für Kinder eröffnet, die auch am Wochenende geöffnet hat."},
		{"fr", "windows-1252", "Hier après-midi, une nouvelle bibliothèque pour les enfants a été ouverte dans la ville, même le week-end."},
	} {
		for _, lang := range []string{c.lang, "en-US", ""} {
			whole := "<html lang=\"" + lang + "\"><body><p>" + c.text
			of, err := htmlindex.Get(c.charset)
			if err != nil {
				t.Fatal(err)
			}
			data, err := of.NewEncoder().String(whole)
			if c.charset == "windows-1258" { // tones are characters of their own
				data, err = of.NewEncoder().String("<html lang=\"" + lang + "\"><body><p>" + tones(c.text))
			}
			if err != nil {
				t.Fatal(c.charset, err)
			}
			if text, charset, ok := decode([]byte(data), "text/html"); !ok || charset != c.charset || text != whole {
				t.Errorf("%s in %s, lang=%q: %q in %q, %v", c.lang, c.charset, lang, text, charset, ok)
			}
		}
	}
}

// tones writes the tones of Vietnamese as windows-1258 has them, behind the letter.
func tones(text string) string {
	var out strings.Builder
	for _, r := range text {
		parts := []rune(norm.NFD.String(string(r)))
		at := slices.IndexFunc(parts, func(p rune) bool { return strings.ContainsRune("\u0300\u0301\u0303\u0309\u0323", p) })
		if at < 0 {
			out.WriteRune(r)
			continue
		}
		letter := string(slices.Delete(slices.Clone(parts), at, at+1))
		out.WriteString(norm.NFC.String(letter) + string(parts[at]))
	}
	return out.String()
}
