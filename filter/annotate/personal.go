package annotate

import (
	"cmp"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/publicsuffix"

	"bitextmine/corpus/surface"
)

// personal is a piece of personal data in a text.
type personal struct {
	kind     string
	from, to int
	value    string // equal for two spellings of the same
}

// kinds of personal data, in the order in which they are looked for; a later one never overlaps an earlier one. find
// lists places in a text that have passed the kind's own checks; likely says cheaply whether to look at all.
var kinds = []struct {
	name   string
	likely func(text string, digits int) bool
	find   func(text string, add func(from, to int, value string))
}{
	{"EMAIL", func(text string, _ int) bool { return strings.Contains(text, "@") }, findEmails},
	{"IBAN", func(_ string, digits int) bool { return digits >= 10 }, findIBANs},
	{"CARD", func(_ string, digits int) bool { return digits >= 14 }, findCards},
	{"IP", func(text string, digits int) bool { return digits >= 4 || strings.Contains(text, "::") }, findIPs},
	{"PHONE", func(_ string, digits int) bool { return digits >= 7 }, findPhones},
}

// Mask replaces the e-mail addresses, account numbers (IBAN), card numbers, IP addresses and telephone numbers of a
// pair by placeholders such as [EMAIL_1]. The same value has the same placeholder on both sides, and a number that one
// side marks as personal is masked on the other, too. The kinds that stand in a side come with it, each once.
func Mask(texts [2]string) (masked [2]string, found [2][]string) {
	var all [2][]personal
	var spelled [2]inASCII
	for side, text := range texts {
		spelled[side] = spell(text)
		all[side] = personalOf(spelled[side].text)
	}
	if len(all[0])+len(all[1]) == 0 {
		return texts, found
	}
	for side := range texts {
		all[side] = sameAs(spelled[side].text, all[side], all[1-side])
	}
	numbers, counts := map[[2]string]int{}, map[string]int{}
	for side, text := range texts {
		var out strings.Builder
		end := 0
		for _, p := range all[side] {
			p.from, p.to = spelled[side].place(p.from), spelled[side].place(p.to)
			name := [2]string{p.kind, p.value}
			if numbers[name] == 0 {
				counts[p.kind]++
				numbers[name] = counts[p.kind]
			}
			fmt.Fprintf(&out, "%s[%s_%d]", text[end:p.from], p.kind, numbers[name])
			if end = p.to; !slices.Contains(found[side], p.kind) {
				found[side] = append(found[side], p.kind)
			}
		}
		out.WriteString(text[end:])
		masked[side] = out.String()
	}
	return masked, found
}

// inASCII is a text with digits, letters and signs of data as ASCII has them.
type inASCII struct {
	text   string
	places []int // places in the original of the bytes of text; nil: the same
}

func (t inASCII) place(at int) int {
	if t.places == nil {
		return at
	}
	return t.places[at]
}

// spell has the digits of every script, letters and signs of full width that stand in personal data, and what divides
// groups of digits, as ASCII.
func spell(text string) inASCII {
	all := surface.Plain(text)
	if all == text && !strings.ContainsFunc(text, func(r rune) bool { return typeset(r) != r }) {
		return inASCII{text: text}
	}
	var plain []byte
	var places []int
	for i, r := range text {
		p, width := utf8.DecodeRuneInString(all)
		all = all[width:]
		data := p < utf8.RuneSelf && latinOrDigit(p)
		switch p {
		case '+', '(', ')', '@', '%', ',':
			data = true
		case '.', '-': // punctuation between words
			before, _ := utf8.DecodeLastRune(plain)
			data = latinOrDigit(before) || before == ')'
		}
		if !data {
			p = typeset(r)
		}
		for range utf8.RuneLen(p) {
			places = append(places, i)
		}
		plain = utf8.AppendRune(plain, p)
	}
	return inASCII{string(plain), append(places, len(text))}
}

// typeset has the spaces and hyphens that typesetters put between groups of digits as ASCII.
func typeset(r rune) rune {
	switch {
	case '\u2000' <= r && r <= '\u200a', r == '\u202f', r == '\u3000':
		return ' '
	case '\u2010' <= r && r <= '\u2012':
		return '-'
	}
	return r
}

// personalOf finds all personal data of a text, in its order.
func personalOf(text string) (all []personal) {
	digits := 0
	for _, c := range []byte(text) {
		if '0' <= c && c <= '9' {
			digits++
		}
	}
	for _, k := range kinds {
		if k.likely(text, digits) {
			k.find(text, func(from, to int, value string) { all = insert(all, personal{k.name, from, to, value}) })
		}
	}
	return all
}

// insert adds a place unless it overlaps one that is there.
func insert(all []personal, p personal) []personal {
	at, _ := slices.BinarySearchFunc(all, p, func(a, b personal) int { return cmp.Compare(a.from, b.from) })
	if at > 0 && all[at-1].to > p.from || at < len(all) && all[at].from < p.to {
		return all
	}
	return slices.Insert(all, at, p)
}

// tail is the number of last digits that two spellings of a telephone number share.
const tail = 7

// sameAs adds the numbers of a text that are personal on the other side, and names telephone numbers as that side does.
func sameAs(text string, own, other []personal) []personal {
	known := map[string]personal{}
	for _, p := range other {
		known[ending(p.value)] = p
	}
	for i, p := range own {
		if o, ok := known[ending(p.value)]; ok && p.kind == "PHONE" && len(o.value) > len(p.value) {
			own[i].value = o.value
		}
	}
	for _, n := range numbersOf(text) {
		value := digitsOf(text[n.from:n.to])
		if o, ok := known[ending(value)]; ok && o.kind != "IP" && n.alone(text, n.from) && len(value) >= tail &&
			(o.value == value || o.kind == "PHONE") {
			own = insert(own, personal{o.kind, n.from, n.to, o.value})
		}
	}
	return own
}

func ending(value string) string { return value[max(0, len(value)-tail):] }

func digitsOf(text string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, text)
}

// alone says that what stands before and after is no part of a longer number or word.
func alone(text string, from, to int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:from])
	after, _ := utf8.DecodeRuneInString(text[to:])
	next := strings.TrimLeft(text[to:], ".,-/")
	joined := len(next) < len(text[to:]) && next != "" && unicode.IsDigit(rune(next[0]))
	begins := !latinOrDigit(before) && !strings.ContainsRune(".,-/_#=", before) || strings.HasSuffix(text[:from], "//")
	return begins && !latinOrDigit(after) && !strings.ContainsRune("_%", after) && !joined
}

// latinOrDigit reports whether a number that stands beside it goes on. Scripts without spaces put words beside numbers.
func latinOrDigit(r rune) bool {
	return unicode.IsDigit(r) || unicode.In(r, unicode.Latin, unicode.Cyrillic, unicode.Greek)
}

var mailPattern = regexp.MustCompile(`[\p{Latin}\p{Cyrillic}\p{Greek}\d_%+'-]+(?:\.[\p{Latin}\p{Cyrillic}\p{Greek}\d_%+'-]+)*@(?:[\p{Latin}\p{Cyrillic}\p{Greek}\d](?:[\p{Latin}\p{Cyrillic}\p{Greek}\d-]*[\p{Latin}\p{Cyrillic}\p{Greek}\d])?\.)+[a-zA-Z]{2,24}`)

// findEmails: the last part of the host is one that there is. What is followed by : or / and a path is a host's user,
// unless another address follows.
func findEmails(text string, add func(from, to int, value string)) {
	found := mailPattern.FindAllStringIndex(text, -1)
	for i, at := range found {
		value := strings.ToLower(text[at[0]:at[1]])
		suffix, known := publicsuffix.PublicSuffix(value[strings.LastIndexByte(value, '@')+1:])
		rest := text[at[1]:]
		listed := i+1 < len(found) && found[i+1][0] == at[1]+1
		path := len(rest) > 1 && (rest[0] == ':' || rest[0] == '/') && !unicode.IsSpace(rune(rest[1])) && !listed
		if (known || strings.Contains(suffix, ".")) && !path {
			add(at[0], at[1], value)
		}
	}
}

// ibanLengths has the length of each country's numbers (SWIFT's registry, release 99).
const ibanLengths = "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 " +
	"ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 " +
	"LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 " +
	"SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30"

var ibanPattern = regexp.MustCompile(`[A-Za-z]{2}\d{2}[A-Za-z0-9 \x{a0}]`)

// findIBANs: a country's length, and ISO 13616's check digits. With small letters most are digits, as words have none.
func findIBANs(text string, add func(from, to int, value string)) {
	for _, at := range ibanPattern.FindAllStringIndex(text, -1) {
		_, digits, known := strings.Cut(ibanLengths, strings.ToUpper(text[at[0]:at[0]+2]))
		if !known {
			continue
		}
		length, value, end := int(digits[0]-'0')*10+int(digits[1]-'0'), "", at[0]
		for i, r := range text[at[0]:] {
			if len(value) == length || r != 0xa0 && (r != ' ' && !latinOrDigit(r) || r >= utf8.RuneSelf) {
				break
			}
			if r != ' ' && r != 0xa0 {
				value, end = value+string(r), at[0]+i+1
			}
		}
		capitals := strings.ToUpper(value)
		if len(value) == length && (value == capitals || 2*len(digitsOf(value)) > length) && alone(text, at[0], end) &&
			remainder97(capitals[4:]+capitals[:4]) == 1 {
			add(at[0], end, capitals)
		}
	}
}

func remainder97(value string) (rest int) {
	for _, c := range []byte(value) {
		if c >= 'A' {
			rest = (rest*100 + int(c-'A') + 10) % 97
		} else {
			rest = (rest*10 + int(c-'0')) % 97
		}
	}
	return rest
}

var (
	cardPattern = regexp.MustCompile(`\d{14,19}|\d{4}(?:[ \x{a0}-]\d{4}){3}(?:[ \x{a0}-]\d{3})?|\d{4}[ \x{a0}-]\d{6}[ \x{a0}-]\d{4,5}`)
	// cardIssuer: Visa, Mastercard, American Express, Diners, Discover, JCB, UnionPay, each with its length.
	cardIssuer = regexp.MustCompile(`^(?:4\d{15}|4\d{18}|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|6(?:011|5\d\d|4[4-9]\d)\d{12}|35\d{14}|62\d{14,17})$`)
)

// findCards: an issuer's digits, and Luhn's check.
func findCards(text string, add func(from, to int, value string)) {
	for _, at := range cardPattern.FindAllStringIndex(text, -1) {
		value, sum := digitsOf(text[at[0]:at[1]]), 0
		for i, c := range []byte(value) {
			d := int(c - '0')
			if (len(value)-i)%2 == 0 {
				d = d*2 - d/5*9
			}
			sum += d
		}
		if sum%10 == 0 && cardIssuer.MatchString(value) && alone(text, at[0], at[1]) {
			add(at[0], at[1], value)
		}
	}
}

var (
	ipPattern  = regexp.MustCompile(`\d{1,3}(?:\.\d{1,3}){3}|[0-9A-Fa-f]{1,4}(?::{1,2}[0-9A-Fa-f]{1,4}){2,7}(?:::)?|[0-9A-Fa-f]{4}(?::[0-9A-Fa-f]{1,4})*::`)
	versionCue = regexp.MustCompile(`(?i)(?:\pL*version\pL*|\bv|ver|rev|build|release|firmware|kernel|driver|section|chapter|clause|paragraph|article|abschnitt|kapitel|artikel|ziffer|§|oid|版本|版|バージョン|вер\pL*)[.:\s]*$`)
)

// findIPs: addresses that are of one machine, and neither a version nor the number of a section, whose parts are small.
func findIPs(text string, add func(from, to int, value string)) {
	for _, at := range ipPattern.FindAllStringIndex(text, -1) {
		address, err := netip.ParseAddr(text[at[0]:at[1]])
		if err != nil || address.IsUnspecified() || address.IsLoopback() || !alone(text, at[0], at[1]) || versionCue.MatchString(text[max(0, at[0]-24):at[0]]) {
			continue
		}
		if b := address.AsSlice(); len(b) == 4 && (slices.Max(b) < 32 || b[0] == 255 || b[3] == 0) {
			continue
		}
		if address.Is6() && strings.Count(text[at[0]:at[1]], ":") < 3 && len(digitsOf(text[at[0]:at[1]])) < 4 {
			continue // a name in a program's scope, as in Ab::Cd
		}
		add(at[0], at[1], address.String())
	}
}

// callingCodes begin international numbers (ITU-T E.164), as a regular expression.
const callingCodes = `(?:1|7|2(?:0|7|[1-689]\d)|3(?:[0-469]|[578]\d)|4(?:[013-9]|2\d)|5(?:[1-8]|[09]\d)|6(?:[0-6]|[7-9]\d)|8(?:[1246]|[05789]\d)|9(?:[0-58]|[679]\d))`

var (
	numberPattern = regexp.MustCompile(`(?:\(\+|[+(])?\d[\d \x{a0}().\-–/]{5,24}\d`)
	// international: with + or 00 and a country's code. nationals are spellings that telephone numbers alone have.
	international = regexp.MustCompile(`^(?:\(?\+ ?|00 ?)` + callingCodes + `[ \x{a0}().\-–/\d]`)
	nationals     = regexp.MustCompile(`^(?:\([2-9]\d\d\) ?\d{3}[ -]\d{4}|[2-9]\d\d([-.])[2-9]\d\d([-.])\d{4}|\(0\d{1,4}\) ?\d[\d -]{4,9}\d|0\d{2,4} ?/ ?\d[\d ]{4,8}\d|0\d{1,3}-\d{2,4}-\d{4}|0[1-9](?:[ .]\d\d){4}|(?:8[ -]?)?\(\d{3,5}\) ?\d{1,3}-\d\d-\d\d|8[ -]\d{3}[ -]\d{3}-\d\d-\d\d)$`)
	phoneCue      = regexp.MustCompile(`(?i)(?:\btel|\btél|t[eé]l[eé]fon\pL*|telephone|phone|\bfax|mobil[enz]?\pL*|móvil|celular|\bcell|whatsapp|hotline|handy\pL*|电话|電話|手机|手機|传真|ファックス|携帯\pL*|전화|팩스|(?:^|\PL)тел|телефон\pL*|факс\pL*|هاتف|جوال|फ़ोन|โทร)\pL{0,3}[.:： \x{a0}]{0,3}(?:\(\pL+\)|no|nr|num|number|nummer|numéro|número|номер\pL*|号码|番号|번호)?[.:： \x{a0}#°º]{0,4}$`)
	// between is what stands between two telephone numbers that look like one, with what begins the second; follows is
	// the same right after the first. joins is what stands between two that one word for telephone is before.
	between = regexp.MustCompile(`(?:[ \x{a0}]?[/–][ \x{a0}]?|[ \x{a0}]-[ \x{a0}])[0+(]`)
	follows = regexp.MustCompile("^" + between.String())
	joins   = regexp.MustCompile(`^[ \x{a0}]*(?:[,;/|–-]|\pL{1,5})?[ \x{a0}]*$`)
	// american ends a number before which another stands, such as a post code's.
	american = regexp.MustCompile(`\d{4}[ \x{a0}]((?:\([2-9]\d\d\) ?\d{3}|[2-9]\d\d[-.][2-9]\d\d)[-.]\d{4})$`)
	// noPhone are dates, years and amounts.
	noPhone = regexp.MustCompile(`^(?:(?:19|20)\d\d ?[-–/] ?(?:19|20)?\d\d|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|\d{4}[./-]\d{1,2}[./-]\d{1,2}|\+?\d{1,3}(?:([ \x{a0}.])\d{3})+|\d+\.\d+)$`)
)

// maxDigits is the number of digits of the longest telephone numbers (E.164).
const maxDigits = 15

// written is a number in a text. What is before begin and behind end is of another number.
type written struct{ begin, from, to, end int }

// alone is alone within the number's bounds.
func (n written) alone(text string, from int) bool {
	return alone(text[n.begin:n.end], from-n.begin, n.to-n.begin)
}

// told is the number behind a word for telephone: a mark that ends the word, and a comma before the next number, are no
// part of it (Tel.030 1234567,030 1234568).
func (n written) told(text string) written {
	if before, _ := utf8.DecodeLastRuneInString(text[:n.from]); !latinOrDigit(before) || strings.IndexByte("+(", text[n.from]) >= 0 {
		n.begin = n.from
	}
	if strings.HasPrefix(text[n.to:], ",0") || strings.HasPrefix(text[n.to:], ",+") {
		n.end = n.to
	}
	return n
}

// numbersOf lists the numbers of a text that may be those of telephones. What is too long for one is divided where
// another begins.
func numbersOf(text string) (all []written) {
	for begin, at := 0, 0; ; {
		found := numberPattern.FindStringIndex(text[at:])
		if found == nil {
			return all
		}
		n := written{begin, at + found[0], at + found[1], len(text)}
		rest := strings.TrimLeft(text[n.to:], " \u00a0().-–/")
		if cut := rest != "" && unicode.IsDigit(rune(rest[0])); cut || len(digitsOf(text[n.from:n.to])) > maxDigits {
			if sign := between.FindStringIndex(text[n.from:n.to]); sign != nil {
				n.to = n.from + sign[0]
				n.end = n.to
			}
		}
		begin, at = 0, n.to
		if sign := follows.FindStringIndex(text[n.to:]); sign != nil {
			begin = n.to + sign[1] - 1
			at = begin
		}
		all = append(all, n)
	}
}

// findPhones: international numbers, those in a spelling of their own, and those after a word for telephone, which also
// stands for the numbers that are listed after it. Numbers in an address of the web are none.
func findPhones(text string, add func(from, to int, value string)) {
	links := urlPattern.FindAllStringIndex(text, -1)
	said := -1 // end of the last number that a word for telephone stands for
	for _, n := range numbersOf(text) {
		from, to := n.from, n.to
		if open := strings.IndexByte(text[from:to], '('); open < 0 && text[from] == '(' || strings.Count(text[from:to], "(") != strings.Count(text[from:to], ")") {
			if text[from] != '(' {
				continue
			}
			from++ // the bracket is around more than the number
		}
		if last := american.FindStringSubmatchIndex(text[from:to]); last != nil {
			from += last[2]
			n.begin = from
		}
		number := text[from:to]
		digits := digitsOf(number)
		cue := phoneCue.MatchString(text[max(0, from-40):from]) ||
			said >= 0 && strings.IndexByte("0+(", text[n.from]) >= 0 && joins.MatchString(text[said:n.from])
		if cue {
			n = n.told(text)
		}
		if len(digits) > maxDigits || !n.alone(text, from) || slices.ContainsFunc(links, func(l []int) bool { return l[0] <= from && from < l[1] }) {
			continue
		}
		grouped := len(digits) < len(strings.TrimPrefix(number, "+"))
		amount := noPhone.MatchString(number)
		switch {
		case cue && len(digits) >= tail && !amount:
		case international.MatchString(number) && (cue || number[0] != '0' || grouped) && len(digits) >= 9 && (!amount || len(digits) >= 10):
		case nationals.MatchString(number) && !amount:
		default:
			continue
		}
		if digits = strings.TrimPrefix(digits, "00"); len(digits) >= tail {
			add(from, to, digits)
			if cue {
				said = to
			}
		}
	}
}
