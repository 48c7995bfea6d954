#include "shim.h"

#include <cstdio>  // the header below uses FILE without it

#include <cld2/public/encodings.h>
#include <cld2/public/compact_lang_det.h>

extern "C" {

int cld_detect(const char *text, int n, const char *hint, cld_guess *guess) try {
  CLD2::CLDHints hints = {hint[0] ? hint : nullptr, nullptr, CLD2::UNKNOWN_ENCODING, CLD2::UNKNOWN_LANGUAGE};
  CLD2::Language languages[3];
  int percents[3], valid = 0;
  double scores[3];
  bool reliable = false;
  guess->letters = 0;
  guess->language = CLD2::ExtDetectLanguageSummaryCheckUTF8(text, n, true, &hints, 0, languages, percents, scores, nullptr,
                                                            &guess->letters, &reliable, &valid);
  guess->percent = 0;
  for (int i = 0; i < 3; i++) {
    if (languages[i] == guess->language) {
      guess->percent = percents[i];
      break;
    }
  }
  guess->reliable = reliable;
  return valid < n ? -1 : 0;
} catch (...) {
  return -1;
}

int cld_languages(void) { return CLD2::NUM_LANGUAGES; }
const char *cld_code(int language) { return CLD2::LanguageCode(static_cast<CLD2::Language>(language)); }
int cld_unknown(void) { return CLD2::UNKNOWN_LANGUAGE; }
}
