#include "shim.h"

#include <sentencepiece_trainer.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <unordered_map>

namespace {

// Sentences walks over sentences that lie back to back.
class Sentences : public sentencepiece::SentenceIterator {
 public:
  Sentences(const char *text, const size_t *ends, size_t n) : text_(text), ends_(ends), n_(n) { read(); }
  bool done() const override { return i_ >= n_; }
  void Next() override {
    begin_ = ends_[i_++];
    read();
  }
  const std::string &value() const override { return value_; }
  sentencepiece::util::Status status() const override { return sentencepiece::util::Status(); }

 private:
  void read() {
    if (i_ < n_) value_.assign(text_ + begin_, ends_[i_] - begin_);
  }
  const char *text_;
  const size_t *ends_;
  size_t n_, i_ = 0, begin_ = 0;
  std::string value_;
};

}  // namespace

extern "C" {

char *spt_train(const char **settings, int m, const char *text, const size_t *ends, size_t n, size_t *size, char **message) {
  try {
    std::unordered_map<std::string, std::string> named;
    for (int i = 0; i < m; i++) named[settings[2 * i]] = settings[2 * i + 1];
    Sentences sentences(text, ends, n);
    std::string model;
    const auto status = sentencepiece::SentencePieceTrainer::Train(named, &sentences, &model);
    if (!status.ok()) {
      *message = strdup(status.ToString().c_str());
      return nullptr;
    }
    char *out = static_cast<char *>(malloc(model.size() + 1));
    if (out == nullptr) {
      *message = strdup("out of memory");
      return nullptr;
    }
    memcpy(out, model.data(), model.size());
    *size = model.size();
    return out;
  } catch (const std::exception &e) {
    *message = strdup(e.what());
  } catch (...) {
    *message = strdup("unknown C++ exception");
  }
  return nullptr;
}

void spt_free(char *p) { free(p); }

}  // extern "C"
