package corpus

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/corpus/corpustest"
	"bitextmine/internal/badinput"
)

// The languages of the test sets that this program is evaluated on.
const (
	tatoebaCodes = `afr amh ang ara arq arz ast awa aze bel ben ber bos bre bul cat cbk ceb ces cha cmn cor csb cym dan deu
		dsb dtp ell eng epo est eus fao fin fra fry gla gle glg gsw heb hin hrv hsb hun hye ido ile ina ind isl ita jav jpn
		kab kat kaz khm kor kur kzj lat lfn lit lvs mal mar max mhr mkd mon nds nld nno nob nov oci orv pam pes pms pol por
		ron rus slk slv spa sqi srp swe swg swh tam tat tel tgl tha tuk tur tzl uig ukr urd uzb vie war wuu xho yid yue zsm`
	floresCodes = `afr_Latn amh_Ethi arb_Arab arb_Latn ben_Beng bul_Cyrl cat_Latn ces_Latn cym_Latn dan_Latn deu_Latn
		ell_Grek eng_Latn est_Latn eus_Latn fin_Latn fra_Latn gle_Latn guj_Gujr hau_Latn heb_Hebr hin_Deva hun_Latn hye_Armn
		ibo_Latn ind_Latn isl_Latn ita_Latn jpn_Jpan kat_Geor kaz_Cyrl khm_Khmr kor_Hang lit_Latn lvs_Latn mar_Deva mlt_Latn
		mya_Mymr nld_Latn nob_Latn npi_Deva pan_Guru pes_Arab pol_Latn por_Latn ron_Latn rus_Cyrl sin_Sinh som_Latn spa_Latn
		swe_Latn swh_Latn tam_Taml tel_Telu tha_Thai tur_Latn ukr_Cyrl urd_Arab vie_Latn xho_Latn yor_Latn zho_Hans zho_Hant
		zul_Latn`
	ntrexCodes = `afr amh arb ben ces deu eng fas fin fra hau heb hin hun ibo ind ita jpn kat kaz khm kor nep nld pol por rus
		sin som spa swa tam tel tha tur ukr urd vie xho yor zho-CN zul`
)

func TestParseLanguage(t *testing.T) {
	tests := []struct{ name, codes, want string }{
		{"German", "de deu ger deu_Latn de-AT DE", "de"},
		{"Chinese", "zh zho cmn chi zho_Hans zho-CN zh-Hans cmn_Hans", "zh"},
		{"traditional Chinese", "zho_Hant zh-TW cmn_Hant", "zh-Hant"},
		{"Cantonese is not Chinese", "yue yue_Hant", "yue"},
		{"Wu is not Chinese", "wuu", "wuu"},
		{"Arabic", "ar ara arb arb_Arab", "ar"},
		{"Arabic in Latin letters", "arb_Latn", "ar-Latn"},
		{"Egyptian is not Arabic", "arz arz_Arab", "arz"},
		{"Persian", "fa fas per pes pes_Arab", "fa"},
		{"Dari is not Persian", "prs", "prs"},
		{"Latvian", "lv lav lvs lvs_Latn", "lv"},
		{"Swahili", "sw swa swh swh_Latn", "sw"},
		{"Nepali", "ne nep npi npi_Deva", "ne"},
		{"Malay", "ms msa zsm zsm_Latn", "ms"},
		{"Estonian", "et est ekk est_Latn", "et"},
		{"Albanian", "sq sqi als_Latn", "sq"},
		{"Norwegian", "no nor nb nob nob_Latn", "no"},
		{"Nynorsk", "nn nno nno_Latn", "nn"},
		{"Serbian", "sr srp srp_Cyrl", "sr"},
		{"Serbian in Latin letters", "srp_Latn sh", "sr-Latn"},
		{"Azerbaijani", "az aze azj_Latn", "az"},
		{"Mongolian", "mn mon khk_Cyrl", "mn"},
		{"Tagalog and Filipino", "tl tgl fil tgl_Latn", "fil"},
		{"Korean", "ko kor", "ko"},
		{"Japanese", "ja jpn jpn_Jpan", "ja"},
		{"Hebrew's old code", "he heb iw", "he"},
		{"Kadazan's old code", "dtp kzj", "dtp"},
		{"no usual script known", "nov", "nov"},
		{"no usual script known, one given", "nov_Latn", "nov-Latn"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for code := range strings.FieldsSeq(tt.codes) {
				if got, err := ParseLanguage(code); got != tt.want || err != nil {
					t.Errorf("ParseLanguage(%q) = %q, %v; want %q", code, got, err, tt.want)
				}
			}
		})
	}
}

func TestParseLanguageRejects(t *testing.T) {
	for _, code := range []string{"", "xx", "zzz", "und", "mul", "zxx", "deu_Lat", "german", "x-mine", "de en", "🇩🇪"} {
		got, err := ParseLanguage(code)
		if err == nil || !badinput.Is(err) || !strings.Contains(err.Error(), code) {
			t.Errorf("ParseLanguage(%q) = %q, %v; want a badinput error that names it", code, got, err)
		}
	}
}

func TestParseLanguageTestSets(t *testing.T) {
	for name, codes := range map[string]string{"tatoeba": tatoebaCodes, "flores": floresCodes, "ntrex": ntrexCodes} {
		t.Run(name, func(t *testing.T) { checkCodes(t, strings.Fields(codes)) })
	}
}

// checkCodes checks that every code is known, that its name is a fixed point, and that no two codes of one set are the
// same language, except kzj, which ISO 639-3 merged into dtp.
func checkCodes(t *testing.T, codes []string) {
	t.Helper()
	first := make(map[string]string)
	for _, code := range codes {
		form, err := ParseLanguage(code)
		if err != nil {
			t.Error(err)
			continue
		}
		if again, err := ParseLanguage(form); again != form || err != nil {
			t.Errorf("ParseLanguage(%q) = %q, whose form is %q, %v", code, form, again, err)
		}
		if other, dup := first[form]; dup && other+code != "dtpkzj" {
			t.Errorf("%s and %s are both %q", other, code, form)
		}
		first[form] = code
	}
}

// TestParseLanguageSharedData checks that the lists above contain every language of the data sets.
func TestParseLanguageSharedData(t *testing.T) {
	tests := []struct {
		archive string
		known   string
		code    func(base string) string // "" for a file of no language
	}{
		{"laser_tatoeba.tar.xz", tatoebaCodes, func(base string) string {
			if !strings.HasPrefix(base, "tatoeba.") {
				return ""
			}
			return strings.TrimPrefix(filepath.Ext(base), ".")
		}},
		{"flores60.tar.zst", floresCodes, func(base string) string {
			code, _, _ := strings.Cut(base, ".")
			return code
		}},
		{"ntrex40.tar.zst", ntrexCodes, func(base string) string {
			parts := strings.Split(base, ".")
			if len(parts) != 3 {
				return ""
			}
			return parts[1]
		}},
	}
	for _, tt := range tests {
		t.Run(tt.archive, func(t *testing.T) {
			known := make(map[string]bool)
			for code := range strings.FieldsSeq(tt.known) {
				known[code] = true
			}
			seen := make(map[string]bool)
			for _, base := range archiveNames(t, tt.archive) {
				code := tt.code(base)
				if code == "" || seen[code] {
					continue
				}
				seen[code] = true
				if !known[code] {
					t.Errorf("%s: %s is not in this test's list", base, code)
				}
			}
			if len(seen) != len(known) {
				t.Errorf("the archive has %d languages, the list %d", len(seen), len(known))
			}
		})
	}
}

func archiveNames(t *testing.T, name string) []string {
	t.Helper()
	var names []string
	corpustest.Archive(t, name, func(file string, _ io.Reader) {
		if base := filepath.Base(file); !strings.HasPrefix(base, "README") && !strings.HasPrefix(base, "LICENSE") {
			names = append(names, base)
		}
	})
	return names
}

func TestLists(t *testing.T) {
	for _, c := range []struct {
		codes    string
		language string
		want     bool
	}{
		{"de en", "deu_Latn", true}, {"deu_Latn zho_Hans", "zh-Hant", true}, {"de en", "sw", false}, {"", "sw", true}, {"cc", "cc", true},
	} {
		if got := Lists(strings.Fields(c.codes), c.language); got != c.want {
			t.Errorf("%q lists %s: %v", c.codes, c.language, got)
		}
	}
}
