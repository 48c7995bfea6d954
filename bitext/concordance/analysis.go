package concordance

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"

	"github.com/blevesearch/bleve/v2/analysis/analyzer/custom"
	"github.com/blevesearch/bleve/v2/analysis/lang/ar"
	"github.com/blevesearch/bleve/v2/analysis/lang/ca"
	"github.com/blevesearch/bleve/v2/analysis/lang/cjk"
	"github.com/blevesearch/bleve/v2/analysis/lang/da"
	"github.com/blevesearch/bleve/v2/analysis/lang/de"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/analysis/lang/es"
	"github.com/blevesearch/bleve/v2/analysis/lang/fa"
	"github.com/blevesearch/bleve/v2/analysis/lang/fi"
	"github.com/blevesearch/bleve/v2/analysis/lang/fr"
	"github.com/blevesearch/bleve/v2/analysis/lang/ga"
	"github.com/blevesearch/bleve/v2/analysis/lang/hi"
	"github.com/blevesearch/bleve/v2/analysis/lang/hr"
	"github.com/blevesearch/bleve/v2/analysis/lang/hu"
	"github.com/blevesearch/bleve/v2/analysis/lang/in"
	"github.com/blevesearch/bleve/v2/analysis/lang/it"
	"github.com/blevesearch/bleve/v2/analysis/lang/nl"
	"github.com/blevesearch/bleve/v2/analysis/lang/no"
	"github.com/blevesearch/bleve/v2/analysis/lang/pl"
	"github.com/blevesearch/bleve/v2/analysis/lang/pt"
	"github.com/blevesearch/bleve/v2/analysis/lang/ro"
	"github.com/blevesearch/bleve/v2/analysis/lang/ru"
	"github.com/blevesearch/bleve/v2/analysis/lang/sv"
	"github.com/blevesearch/bleve/v2/analysis/lang/tr"
	"github.com/blevesearch/bleve/v2/analysis/token/apostrophe"
	"github.com/blevesearch/bleve/v2/analysis/token/lowercase"
	"github.com/blevesearch/bleve/v2/analysis/token/porter"
	"github.com/blevesearch/bleve/v2/analysis/tokenizer/unicode"
	"github.com/blevesearch/bleve/v2/mapping"

	"bitextmine/internal/badinput"
	"bitextmine/internal/subtag"
)

// filters lists the token filters of each language. Unlike Bleve's own analysers they keep function words, which
// translators look up, too, and lowercase first, as what they know of elisions and accents is of small letters. For
// other languages words are only lowercased.
var filters = map[string][]string{
	"ar": {lowercase.Name, ar.NormalizeName, ar.StemmerName},
	"az": {turkishLowerName},
	"ca": {lowercase.Name, ca.ElisionName, accentsName},
	"da": {lowercase.Name, da.SnowballStemmerName},
	"de": {en.PossessiveName, lowercase.Name, de.NormalizeName, de.LightStemmerName},
	"el": {lowercase.Name, accentsName},
	"en": {en.PossessiveName, lowercase.Name, porter.Name},
	"es": {lowercase.Name, es.NormalizeName, es.LightStemmerName, accentsName},
	"fa": {lowercase.Name, ar.NormalizeName, fa.NormalizeName},
	"fi": {lowercase.Name, fi.SnowballStemmerName},
	"fr": {lowercase.Name, fr.ElisionName, fr.LightStemmerName, accentsName},
	"ga": {lowercase.Name, ga.ElisionName},
	"he": {pointsName},
	"hi": {lowercase.Name, in.NormalizeName, hi.NormalizeName, hi.StemmerName},
	"hr": {lowercase.Name, hr.SuffixTransformationFilterName, hr.StemmerName},
	"hu": {lowercase.Name, hu.SnowballStemmerName},
	"it": {lowercase.Name, it.ElisionName, it.LightStemmerName, accentsName},
	"nb": {lowercase.Name, no.SnowballStemmerName},
	"nl": {en.PossessiveName, lowercase.Name, nl.SnowballStemmerName},
	"no": {lowercase.Name, no.SnowballStemmerName},
	"pl": {lowercase.Name, pl.SnowballStemmerName},
	"pt": {lowercase.Name, pt.LightStemmerName, accentsName},
	"ro": {lowercase.Name, ro.SnowballStemmerName},
	"ru": {lowercase.Name, accentsName, ru.SnowballStemmerName},
	"sv": {lowercase.Name, sv.SnowballStemmerName},
	"tr": {apostrophe.Name, turkishLowerName, tr.SnowballStemmerName},

	"ja": {cjk.WidthName, lowercase.Name, cjk.BigramName},
	"zh": {cjk.WidthName, lowercase.Name, cjk.BigramName},

	"ko": {cjk.WidthName, lowercase.Name, pairsName},
	"km": {lowercase.Name, pairsName},
	"lo": {lowercase.Name, pairsName},
	"my": {lowercase.Name, pairsName},
	"th": {lowercase.Name, pairsName},
}

// analyser is the name of a language's analyser.
func analyser(side int) string { return [2]string{"source", "target"}[side] }

// fields are the names of the two texts in the index.
var fields = [2]string{"src", "tgt"}

func filtersOf(language string) []string {
	if names, known := filters[subtag.Language(language)]; known {
		return names
	}
	return []string{lowercase.Name}
}

// newMapping is how pairs of two languages are indexed.
func newMapping(languages [2]string) (*mapping.IndexMappingImpl, error) {
	m := mapping.NewIndexMapping()
	pair := mapping.NewDocumentStaticMapping()
	for side, language := range languages {
		names := filtersOf(language)
		tokenizer := unicode.Name
		if names[len(names)-1] == pairsName {
			tokenizer = clustersName
		}
		cut := partsName + "_" + fields[side]
		err := m.AddCustomTokenFilter(cut, map[string]any{"type": partsName, "language": subtag.Language(language)})
		if err != nil {
			return nil, err
		}
		err = m.AddCustomAnalyzer(analyser(side), map[string]any{"type": custom.Name, "tokenizer": tokenizer,
			"token_filters": append([]string{cut, lettersName}, names...)})
		if err != nil {
			return nil, err
		}
		text := mapping.NewTextFieldMapping()
		text.Analyzer, text.IncludeInAll, text.DocValues = analyser(side), false, false
		// which pairs have a term, and nothing else: texts are in package blocks, phrases are looked for in them
		text.Store, text.IncludeTermVectors, text.SkipFreqNorm = false, false, true
		pair.AddFieldMappingsAt(fields[side], text)
	}
	m.DefaultMapping = pair
	return m, nil
}

// checksums are the CRC-32C of every file of an index, by its path in the folder. Bleve maps its files into memory and
// trusts them: a file that is cut or altered would end the process.
func checksums(folder string) (map[string]uint32, error) {
	sums := map[string]uint32{}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
		_, err = io.Copy(sum, f)
		sums[name] = sum.Sum32()
		return errors.Join(err, f.Close())
	})
	return sums, err
}

// errUnsound says that an index is not as it was written.
var errUnsound = errors.New("its files are not as they were written")

// check returns errUnsound if the index of a directory is not as it was written.
func (m *meta) check(dir string) error {
	sums, err := checksums(filepath.Join(dir, indexName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !maps.Equal(sums, m.Files) {
		return errUnsound
	}
	return nil
}

// opened are the files of an index as they were when it was opened.
type opened map[string]fs.FileInfo

func stat(folder string, m *meta) (opened, error) {
	files := opened{}
	for _, name := range slices.Sorted(maps.Keys(m.Files)) {
		path := filepath.Join(folder, name)
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		files[path] = info
	}
	return files, nil
}

// check returns an error if a file was cut since. Files that were replaced or removed stay readable.
func (o opened) check() error {
	for path, then := range o {
		if now, err := os.Stat(path); err == nil && os.SameFile(then, now) && now.Size() != then.Size() {
			return fmt.Errorf("%s was cut", path)
		}
	}
	return nil
}

// guard calls what reads the index. One that is damaged while it is open makes Bleve panic, or fault behind the end of
// its file; both become errors.
func (x *Index) guard(call func() error) (err error) {
	if err := x.files.check(); err != nil {
		return x.damaged(err)
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = x.damaged(fmt.Errorf("%v", p))
		}
	}()
	return call()
}

func (x *Index) damaged(err error) error {
	return badinput.Errorf("the concordance of %s is damaged (%w): `mine search` makes it again", x.bitext, err)
}
