// C interface to CLD2, whose own interface is C++. No exception crosses it.
#ifndef MINE_CLD2_SHIM_H
#define MINE_CLD2_SHIM_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  int language;  // CLD2's number; see cld_code
  int percent;   // of the letters
  int letters;   // bytes of letters in the text
  int reliable;  // 0 or 1
} cld_guess;

// cld_detect identifies the language of n bytes of text. hint is a code of CLD2 that raises this language's score, or
// empty. It returns 0, or -1 if the text is not UTF-8 or memory ran out. Any number of threads may call it.
int cld_detect(const char *text, int n, const char *hint, cld_guess *guess);

// cld_languages is the number of CLD2's languages. cld_code is the code of one; it is never freed.
int cld_languages(void);
const char *cld_code(int language);

// cld_unknown is the number of the language that stands for no language.
int cld_unknown(void);

#ifdef __cplusplus
}
#endif
#endif
