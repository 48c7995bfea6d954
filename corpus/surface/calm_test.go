package surface

import "testing"

func TestCalm(t *testing.T) {
	for _, c := range []struct {
		language, text, want string
		loud                 bool
	}{
		{"it", "IL PRESIDENTE HA FIRMATO LA LEGGE", "il presidente ha firmato la legge", true},
		{"de", "DER PRÄSIDENT SPRACH MIT NATO-PARTNERN", "der präsident sprach mit nato-partnern", true},
		{"tr", "BAŞKAN YASAYI İMZALADI, IŞIK SÖNDÜ", "başkan yasayı imzaladı, ışık söndü", true},
		{"en", "President Signs the New Energy Bill After Months of Debate", "president signs the new energy bill after months of debate", true},
		// German nouns have capitals anyway.
		{"de", "Der Präsident Unterzeichnete Freitag Neue Gesetze", "Der Präsident Unterzeichnete Freitag Neue Gesetze", false},
		{"en", "Presidents Macron and Obama talked with Chancellor Merkel in Berlin", "Presidents Macron and Obama talked with Chancellor Merkel in Berlin", false},
		{"en", "NATO, UN", "NATO, UN", false}, // acronyms
		{"en", "HTTP", "HTTP", false},
		{"en", "The NATO summit", "The NATO summit", false},
		{"zh", "我们 的 新 法律 GNOME 3 生效 了 。", "我们的新法律 GNOME 3 生效了。", false},
		{"ja", "新しい 法律 が 施行 さ れ た", "新しい法律が施行された", false},
		{"th", "เขา ไม่ ชอบ กิน ผัก กับ GNOME 3", "เขาไม่ชอบกินผักกับ GNOME 3", false},
		{"th", "ประธานาธิบดีลงนามในกฎหมาย เมื่อวันศุกร์", "ประธานาธิบดีลงนามในกฎหมาย เมื่อวันศุกร์", false},
		{"ko", "새 법률이 시행되었다", "새 법률이 시행되었다", false},
		{"zh-Hant", "新 法律", "新法律", false},
		{"ar", "وقع الرئيس القانون", "وقع الرئيس القانون", false},
		{"ar", "وَقَّعَ الرَّئِيسُ القَانُونَ", "وقع الرئيس القانون", false},
		{"ar", "وقع الرئيس الـقـانـون", "وقع الرئيس القانون", false}, // stretched
		{"ar", "وقّع الرئيس القانون أخيراً", "وقّع الرئيس القانون أخيراً", false},
		{"he", "הַנָּשִׂיא חָתַם עַל הַחֹק", "הנשיא חתם על החק", false},
		{"yi", "דער פּרעזידענט האָט אונטערגעשריבן", "דער פּרעזידענט האָט אונטערגעשריבן", false},
		{"fr", "La pr&eacute;vention d&rsquo;abord &amp; toujours", "La prévention d’abord & toujours", false},
		{"pl", "Kliknij <b>Zapisz</b>, aby <a href=\"#\" class=x>zapisać</a> plik.<br/>Potem", "Kliknij Zapisz, aby zapisać plik. Potem", false},
		{"en", "The &lt;b&gt; tag, List<T> and a<b and c>d", "The <b> tag, List<T> and a<b and c>d", false},
		{"de", "Donau&shy;dampf &#8203;fährt&#9;", "Donaudampf fährt", false},
		{"fr", "caf&#101;&#769; &#38; th&#xe9;", "caf\u00e9 & th\u00e9", false},
		{"de", "https://x.de/a?id=1&section=2&region=at", "https://x.de/a?id=1&section=2&region=at", false},
		{"en", "&ampere; &amp;lt; &semi;&#59;", "&ampere; &lt; ;;", false}, // once, and whole names
		{"en", "<br>", "<br>", false}, // nothing else
		{"en", "AT&T & co.", "AT&T & co.", false},
		{"zh", "", "", false},
	} {
		if calm, loud := Calm(c.text, c.language); calm != c.want || loud != c.loud {
			t.Errorf("%s %q: %q, %v", c.language, c.text, calm, loud)
		}
	}
}

func BenchmarkCalm(b *testing.B) {
	const text = "The president of the republic signed the new law on Friday, as the parliament in Strasbourg had asked for."
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Calm(text, "en")
	}
}
