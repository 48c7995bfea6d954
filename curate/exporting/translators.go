package exporting

import (
	"strconv"
	"strings"
)

// xliff is XLIFF 2.0. Notes are notes of the unit, of the category NAME.
var xliff = form{header: xliffHeader, unit: xliffUnit, end: "</file>\n</xliff>\n", pair: true}

func xliffHeader(dst []byte, _ *FormatOptions, languages [2]string) []byte {
	dst = append(dst, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"...)
	dst = append(dst, `<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" srcLang="`...)
	dst = escape(dst, languages[0])
	dst = append(dst, `" trgLang="`...)
	dst = escape(dst, languages[1])
	return append(dst, "\">\n<file id=\"bitext\">\n"...)
}

func xliffUnit(dst []byte, u *unit) []byte {
	dst = append(dst, `<unit id="`...)
	dst = strconv.AppendUint(dst, u.number, 10)
	dst = append(dst, `">`...)
	for i, n := range u.notes {
		if i == 0 {
			dst = append(dst, "<notes>"...)
		}
		dst = append(dst, `<note category="`...)
		dst = escape(dst, n.name)
		dst = append(dst, `">`...)
		dst = escape(dst, n.value)
		dst = append(dst, "</note>"...)
		if i == len(u.notes)-1 {
			dst = append(dst, "</notes>"...)
		}
	}
	dst = append(dst, "<segment><source>"...)
	dst = escape(dst, u.texts[0])
	dst = append(dst, "</source><target>"...)
	dst = escape(dst, u.texts[1])
	return append(dst, "</target></segment></unit>\n"...)
}

// po is gettext's catalogue of messages. Notes are comments. A catalogue has a message once, and texts may repeat, so
// the context of each is its number.
var po = form{header: poHeader, unit: poUnit, pair: true}

func poHeader(dst []byte, _ *FormatOptions, languages [2]string) []byte {
	dst = append(dst, "msgid \"\"\nmsgstr \"\"\n"...)
	for _, line := range []string{"Language: " + languages[1], "MIME-Version: 1.0", "Content-Type: text/plain; charset=UTF-8",
		"Content-Transfer-Encoding: 8bit"} {
		dst = append(poText(dst, line+"\n"), '\n')
	}
	return dst
}

func poUnit(dst []byte, u *unit) []byte {
	if u.texts[0] == "" {
		return dst // the header's place
	}
	dst = append(dst, '\n')
	for _, n := range u.notes {
		dst = append(dst, "#. "...)
		dst = append(dst, strings.Join(strings.Fields(n.name+": "+n.value), " ")...)
		dst = append(dst, '\n')
	}
	dst = append(dst, "msgctxt \""...)
	dst = strconv.AppendUint(dst, u.number, 10)
	dst = append(dst, "\"\nmsgid "...)
	dst = poText(dst, u.texts[0])
	dst = append(dst, "\nmsgstr "...)
	dst = poText(dst, u.texts[1])
	return append(dst, '\n')
}

var poEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\r", `\r`)

func poText(dst []byte, text string) []byte {
	dst = append(dst, '"')
	dst = append(dst, poEscapes.Replace(text)...)
	return append(dst, '"')
}
