package annotate

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"bitextmine/corpus/surface"
)

// markup tells what is no sentence's text: mark-up, separators of menus, wrongly decoded characters.
var markup = []Annotation{
	value("markup", Count, 0, unlimited, "tags, entities, wiki mark-up and placeholders of programs, on the side with more", higher(func(s *Sentence) float64 {
		return float64(s.markup)
	})),
	value("markup_differs", Count, 0, unlimited, "difference between both sides' counts of mark-up", func(p *Pair) float64 { return math.Abs(float64(p.Source.markup - p.Target.markup)) }),
	value("mojibake", Count, 0, unlimited, "characters that are UTF-8 read as Windows-1252 or Latin-1, and replacement characters, both sides together",
		either(func(s *Sentence) int { return CountMojibake(s.raw) })),
	value("separators", Count, 0, unlimited, "separators as in menus and breadcrumbs (| » > › → · • / between spaces), on the side with more", higher(func(s *Sentence) float64 {
		return float64(s.separators)
	})),
	value("boilerplate", Float, 0, 1, "share of a side's letters in phrases of web pages' frames (cookies, copyright, log in, read more), on the side with more",
		higher(boilerplate)),
}

// markupForms matches mark-up of every kind.
const markupForms = `</?[A-Za-z][^<>]*>|<!--|-->|&#?[A-Za-z0-9]{2,8};|\[\[|\]\]|\{\{|\}\}|'''|\[/?[a-z]{1,6}(?:=[^\]]*)?\]|%[sd]\b|%\d\$s|\$\{|\{\d\}|=\\?"|\+\+\+|\*\*\*|={3,}|\|\||\]\(|/>`

var markupHere = regexp.MustCompile(`^(?:` + markupForms + `)`)

// countMarkup tries the pattern where a character stands that mark-up begins with: searching the whole text by it takes
// a third of all that annotating does.
func countMarkup(text string) (count int) {
	for {
		at := strings.IndexAny(text, `<-&[]{}'%$=+*|/`)
		if at < 0 {
			return count
		}
		text = text[at:]
		if !mayBeMarkup(text) {
			text = text[1:]
			continue
		}
		if found := markupHere.FindStringIndex(text); found != nil {
			count++
			text = text[found[1]:]
		} else {
			text = text[1:]
		}
	}
}

// mayBeMarkup looks at the second character after those that stand in ordinary text, too.
func mayBeMarkup(text string) bool {
	if len(text) < 2 {
		return false
	}
	switch text[0] {
	case '\'', '-', '+', '*', '|', '{', '}':
		return text[1] == text[0] || text[0] == '{' || text[0] == '}'
	case '/':
		return text[1] == '>'
	}
	return true
}

// isSeparator reports whether menus divide their entries by a character.
func isSeparator(r rune) bool {
	switch r {
	case '|', '»', '>', '›', '→', '·', '•', '/', '~', '¦', '▸', '▶', '►':
		return true
	}
	return false
}

// quotation counts the guillemets that are open: one that closes a quotation is no separator.
type quotation [2]int

// closes reports whether a character ends a quotation.
func (q *quotation) closes(r rune) bool {
	switch r {
	case '«':
		q[0]++
	case '‹':
		q[1]++
	case '»':
		q[0]--
		return q.was(0)
	case '›':
		q[1]--
		return q.was(1)
	}
	return false
}

// was reports whether a quotation of a kind was open before it was closed.
func (q *quotation) was(kind int) bool {
	open := q[kind] >= 0
	q[kind] = max(0, q[kind])
	return open
}

// phrases are words of web pages' frames by language, in lower case.
var phrases = map[string][]string{
	"de": {"alle rechte vorbehalten", "cookies", "datenschutzerklärung", "impressum", "mehr lesen", "weiterlesen", "mehr erfahren", "hier klicken", "klicken sie hier",
		"anmelden", "einloggen", "passwort vergessen", "registrieren", "in den warenkorb", "zum warenkorb", "newsletter abonnieren", "nach oben", "startseite", "nutzungsbedingungen",
		"agb", "kontaktieren sie uns", "folgen sie uns", "teilen", "drucken", "weiter zur", "zurück zur"},
	"en": {"all rights reserved", "cookies", "privacy policy", "terms of use", "terms and conditions", "terms of service", "read more", "learn more", "click here", "log in",
		"login", "sign in", "sign up", "forgot your password", "forgot password", "register", "add to cart", "add to basket", "subscribe to our newsletter", "back to top", "home page",
		"contact us", "follow us", "share this", "print this page", "go to", "back to", "skip to content", "imprint", "copyright"},
	"fr": {"tous droits réservés", "cookies", "politique de confidentialité", "mentions légales", "lire la suite", "en savoir plus", "cliquez ici", "se connecter", "connexion",
		"mot de passe oublié", "s'inscrire", "ajouter au panier", "conditions générales", "conditions d'utilisation", "haut de page", "retour en haut", "accueil", "contactez-nous", "suivez-nous", "partager",
		"imprimer", "plan du site"},
	"es": {"todos los derechos reservados", "cookies", "política de privacidad", "aviso legal", "leer más", "más información", "haga clic aquí", "haz clic aquí", "iniciar sesión",
		"olvidó su contraseña", "regístrate", "añadir al carrito", "términos y condiciones", "volver arriba", "inicio", "contáctenos", "síguenos", "compartir", "imprimir", "mapa del sitio"},
	"it": {"tutti i diritti riservati", "cookie", "informativa sulla privacy", "leggi tutto", "per saperne di più", "clicca qui", "accedi", "password dimenticata", "registrati",
		"aggiungi al carrello", "termini e condizioni", "torna su", "contattaci", "seguici", "condividi"},
	"pt": {"todos os direitos reservados", "cookies", "política de privacidade", "leia mais", "saiba mais", "clique aqui", "entrar", "esqueceu sua senha", "cadastre-se",
		"adicionar ao carrinho", "termos de uso", "voltar ao topo", "contacte-nos", "siga-nos", "compartilhar"},
	"ru": {"все права защищены", "политика конфиденциальности", "читать далее", "подробнее", "нажмите здесь", "войти", "забыли пароль", "зарегистрироваться", "добавить в корзину",
		"условия использования", "наверх", "главная", "свяжитесь с нами", "поделиться", "файлы cookie"},
	"zh": {"版权所有", "隐私政策", "使用条款", "阅读更多", "了解更多", "点击这里", "点击此处", "登录", "忘记密码", "注册", "加入购物车", "返回顶部", "首页", "联系我们", "关注我们", "分享"},
	"zh-Hant": {"版權所有", "隱私政策", "隱私權政策", "使用條款", "閱讀更多", "了解更多", "瞭解更多", "點擊這裡", "點擊此處", "登入", "登錄", "忘記密碼", "註冊", "加入購物車", "返回頂部", "首頁",
		"聯絡我們", "聯繫我們", "關注我們", "分享"},
	"ja": {"無断転載", "プライバシーポリシー", "利用規約", "続きを読む", "もっと見る", "詳細はこちら", "こちらをクリック", "ログイン", "パスワードをお忘れ", "新規登録", "カートに入れる", "トップへ戻る", "ホーム", "お問い合わせ", "シェア"},
}

// phrasesBy are the phrases of a language by their first word or character.
var phrasesBy = func() map[string]map[uint32][]string {
	all := map[string]map[uint32][]string{}
	for language, list := range phrases {
		all[language] = map[uint32][]string{}
		for _, phrase := range list {
			s := Sentence{Text: phrase}
			s.findTokens()
			first := s.tokens[0].hash
			all[language][first] = append(all[language][first], phrase)
		}
	}
	return all
}()

// boilerplate is the share of the text that phrases of the language take; of English ones too, which stand on pages of
// all languages.
func boilerplate(s *Sentence) float64 {
	if len(s.lower) != len(s.Text) {
		return 0 // lower case has other lengths in a few languages, so words cannot be found by their place
	}
	covered := 0
	for _, language := range [...]string{s.Language, "en"} {
		known := phrasesBy[language]
		for _, t := range s.tokens {
			for _, phrase := range known[t.hash] {
				if strings.HasPrefix(s.lower[t.begin:], phrase) {
					covered += len(phrase)
					break
				}
			}
		}
		if s.Language == "en" {
			break
		}
	}
	return min(1, float64(covered)/float64(max(1, len(s.Text))))
}

// links compare what is copied in a translation: URLs, addresses, currencies.
var links = []Annotation{
	value("urls", Count, 0, unlimited, "URLs, both sides together", either(func(s *Sentence) int { return len(s.urls) })),
	value("urls_differ", Count, 0, unlimited, "URLs that the other side lacks, apart from case, http and https, www and a slash at the end", func(p *Pair) float64 {
		return float64(differ(p.Source.urls, p.Target.urls))
	}),
	value("emails_differ", Count, 0, unlimited, "e-mail addresses that the other side lacks", func(p *Pair) float64 { return float64(differ(p.Source.emails, p.Target.emails)) }),
	value("link_share", Float, 0, 1, "share of the bytes that URLs and addresses take, on the side with more", higher(func(s *Sentence) float64 {
		return float64(s.linked) / float64(max(1, len(s.Text)))
	})),
	value("currency_differs", Count, 0, 2, "2 if the sides name different currencies, 1 if only one of them names one, 0 otherwise", currencyDiffers),
}

var (
	urlPattern   = regexp.MustCompile(`(?:(?:https?|ftp)://|www\.)[^\s\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}<>"'()\[\]{}，。；：！？、）》」』】]+`)
	emailPattern = regexp.MustCompile(`[a-z0-9._%+-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)+`)
)

// findLinks finds URLs and addresses and replaces them in the lower-case text by spaces, so that no number is found in
// them.
func (s *Sentence) findLinks() {
	if strings.Contains(s.lower, "://") || strings.Contains(s.lower, "www.") {
		s.lower = urlPattern.ReplaceAllStringFunc(s.lower, func(url string) string {
			s.linked += len(url)
			s.urls = append(s.urls, canonical(url))
			return strings.Repeat(" ", len(url))
		})
	}
	if strings.Contains(s.lower, "@") {
		s.lower = emailPattern.ReplaceAllStringFunc(s.lower, func(address string) string {
			s.linked += len(address)
			s.emails = append(s.emails, address)
			return strings.Repeat(" ", len(address))
		})
	}
}

func canonical(url string) string {
	_, rest, found := strings.Cut(url, "://")
	if !found {
		rest = url
	}
	return strings.TrimRightFunc(strings.TrimPrefix(rest, "www."), func(r rune) bool {
		// Quotation marks, ellipses and commas of other scripts are above ASCII.
		return strings.ContainsRune("/.,;:!?", r) || r >= utf8.RuneSelf && unicode.IsPunct(r)
	})
}

// differ counts the elements of each list that the other lacks.
func differ(a, b []string) int {
	count := 0
	for _, x := range a {
		if !slices.Contains(b, x) {
			count++
		}
	}
	for _, x := range b {
		if !slices.Contains(a, x) {
			count++
		}
	}
	return count
}

// currencies are signs, codes and words by currency. A word counts only as a whole one.
var currencies = [][]string{
	{"€", "eur", "euro", "euros", "欧元", "歐元", "ユーロ", "евро", "євро", "يورو", "유로"},
	{"$", "usd", "dollar", "dollars", "dólar", "dólares", "dollari", "dollaro", "us-dollar", "us-dollars", "dolar", "dolarów", "美元", "ドル", "доллар", "доллара", "долларов", "долл", "долар", "доларів", "دولار", "달러"},
	{"£", "gbp", "pound", "pounds", "pfund", "livre", "livres", "libra", "libras", "sterling", "英镑", "英鎊", "ポンド", "фунт", "фунта", "фунтов"},
	{"¥", "￥", "jpy", "yen", "日元", "円", "иен", "йен", "cny", "rmb", "yuan", "人民币", "元", "юань", "юаня", "юаней"},
	{"chf", "franken", "franc", "francs", "瑞士法郎"},
	{"₽", "rub", "rubel", "rouble", "roubles", "ruble", "rubles", "rublos", "рубль", "рубля", "рублей", "руб", "卢布", "ルーブル"},
	{"₹", "inr", "rupee", "rupees", "rupie", "rupien", "roupie", "roupies", "रुपये", "卢比"},
	{"₩", "krw", "won", "원", "韩元", "ウォン"},
	{"₴", "uah", "hryvnia", "hryvnias", "гривня", "гривні", "гривень", "гривна", "гривен"},
}

// currencyWords are the words by currency, currencyParts the signs and the words of scripts without spaces, which may
// stand anywhere.
var currencyWords, currencyParts = func() (words map[string]int, parts [][]string) {
	words, parts = map[string]int{}, make([][]string, len(currencies))
	for i, forms := range currencies {
		for _, form := range forms {
			if r, _ := utf8.DecodeRuneInString(form); surface.IsWordLetter(r) {
				words[form] = i
			} else {
				parts[i] = append(parts[i], form)
			}
		}
	}
	return words, parts
}()

// currenciesOf is the set of currencies that a side names, as bits. Words of currencies
// also mean other things (pound, won), so they count only in a sentence with a number.
func currenciesOf(s *Sentence) (set uint) {
	if len(s.numbers)+s.numerals == 0 {
		return 0
	}
	for _, t := range s.tokens {
		if c, ok := currencyWords[s.lowerText(t)]; ok {
			set |= 1 << c
		}
	}
	for c, parts := range currencyParts {
		if slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(s.lower, part) }) {
			set |= 1 << c
		}
	}
	return set
}

// lowerText is a word in lower case. Lower case has another length in a few languages; then there is no such text.
func (s *Sentence) lowerText(t token) string {
	if len(s.lower) != len(s.Text) {
		return strings.ToLower(s.text(t))
	}
	return s.lower[t.begin:t.end]
}

func currencyDiffers(p *Pair) float64 {
	a, b := currenciesOf(&p.Source), currenciesOf(&p.Target)
	switch {
	case a == b:
		return 0
	case a == 0 || b == 0:
		return 1
	case a&b == 0:
		return 2
	}
	return 0
}
