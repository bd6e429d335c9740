#include "encdec/models/tokenizer/pipeline/normalizer.h"

#include <algorithm>

#include "encdec/models/tokenizer/pipeline/characters.h"

namespace encdec::normalizers {
namespace {

class Sequence final : public Normalizer {
 public:
  explicit Sequence(std::vector<NormalizerPtr> parts) : parts_(std::move(parts)) {}

  void normalize(PipelineText& text) const override {
    for (const NormalizerPtr& part : parts_) part->normalize(text);
  }

 private:
  std::vector<NormalizerPtr> parts_;
};

void to_normal_form(PipelineText& text, NormalForm form) {
  const std::string_view origin = std::string_view(text.text).substr(0, text.origin_bytes);
  const std::size_t origin_bytes = normal_form(origin, form).size();
  text.text = normal_form(text.text, form);
  check_rewritten(text.text.size());
  text.origin_bytes = std::min(origin_bytes, text.text.size());
}

class Normal final : public Normalizer {
 public:
  explicit Normal(NormalForm form) : form_(form) {}
  void normalize(PipelineText& text) const override { to_normal_form(text, form_); }

 private:
  NormalForm form_;
};

// Every character as `rewrite(rewriter, character)` wants it.
template <typename Rewrite>
void rewrite_characters(PipelineText& text, Rewrite rewrite) {
  TextRewriter rewriter(text);
  while (!rewriter.rest().empty()) rewrite(rewriter, first_character(rewriter.rest()));
  rewriter.finish();
}

template <typename IsDropped>
void drop_characters(PipelineText& text, IsDropped is_dropped) {
  rewrite_characters(text, [&](TextRewriter& rewriter, Character c) {
    is_dropped(c.value) ? rewriter.drop(c.bytes) : rewriter.keep(c.bytes);
  });
}

template <typename IsSpace>
void replace_by_space(PipelineText& text, IsSpace is_space) {
  rewrite_characters(text, [&](TextRewriter& rewriter, Character c) {
    is_space(c.value) ? rewriter.replace(c.bytes, " ") : rewriter.keep(c.bytes);
  });
}

void to_lowercase(PipelineText& text) {
  std::string lower;
  rewrite_characters(text, [&](TextRewriter& rewriter, Character c) {
    lower.clear();
    append_lowercase(lower, c.value);
    rewriter.replace(c.bytes, lower);
  });
}

class Lowercase final : public Normalizer {
 public:
  void normalize(PipelineText& text) const override { to_lowercase(text); }
};

class StripAccents final : public Normalizer {
 public:
  void normalize(PipelineText& text) const override { drop_characters(text, is_mark); }
};

class Nmt final : public Normalizer {
 public:
  void normalize(PipelineText& text) const override {
    drop_characters(text, [](char32_t c) {
      return (c >= 0x01 && c <= 0x08) || c == 0x0B || (c >= 0x0E && c <= 0x1F) || c == 0x7F || c == 0x8F || c == 0x9F;
    });
    replace_by_space(text, [](char32_t c) {
      return c == '\t' || c == '\n' || c == '\f' || c == '\r' || c == 0x1680 || (c >= 0x200B && c <= 0x200F) ||
             c == 0x2028 || c == 0x2029 || c == 0x2581 || c == 0xFEFF || c == 0xFFFD;
    });
  }
};

class Strip final : public Normalizer {
 public:
  explicit Strip(StripSides sides) : sides_(sides) {}

  void normalize(PipelineText& text) const override {
    std::string_view kept = text.text;
    while (sides_.left && !kept.empty()) {
      const Character c = first_character(kept);
      if (!is_white_space(c.value)) break;
      kept.remove_prefix(c.bytes);
    }
    const std::size_t dropped = text.text.size() - kept.size();
    while (sides_.right && !kept.empty()) {
      const std::size_t last = last_character(kept);
      if (!is_white_space(first_character(kept.substr(last)).value)) break;
      kept = kept.substr(0, last);
    }
    const std::size_t size = kept.size();
    TextRewriter rewriter(text);
    rewriter.drop(dropped);
    rewriter.keep(size);
    rewriter.finish();
  }

 private:
  StripSides sides_;
};

class Prepend final : public Normalizer {
 public:
  explicit Prepend(std::string text) : prefix_(std::move(text)) {}

  void normalize(PipelineText& text) const override { text.prepend(prefix_); }

 private:
  std::string prefix_;
};

class Replace final : public Normalizer {
 public:
  Replace(Pattern pattern, std::string content) : pattern_(std::move(pattern)), content_(std::move(content)) {}

  void normalize(PipelineText& text) const override {
    const std::vector<Pattern::Match> matches = pattern_.find_all(text.text);
    if (text.text.empty() || matches.empty()) return;
    TextRewriter rewriter(text);
    std::size_t position = 0;
    for (const Pattern::Match& match : matches) {
      rewriter.keep(match.begin - position);
      rewriter.drop(match.end - match.begin);
      rewriter.insert(content_);
      position = match.end;
    }
    rewriter.keep(rewriter.rest().size());
    rewriter.finish();
  }

 private:
  Pattern pattern_;
  std::string content_;
};

class ByteLevel final : public Normalizer {
 public:
  void normalize(PipelineText& text) const override { text.to_byte_characters(); }
};

class Bert final : public Normalizer {
 public:
  explicit Bert(BertOptions options) : options_(options) {}

  void normalize(PipelineText& text) const override {
    if (options_.clean_text) clean(text);
    if (options_.split_chinese) put_spaces_around_chinese(text);
    if (options_.strip_accents.value_or(options_.lowercase)) {
      to_normal_form(text, NormalForm::nfd);
      drop_characters(text, is_nonspacing_mark);
    }
    if (options_.lowercase) to_lowercase(text);
  }

 private:
  static void clean(PipelineText& text) {
    drop_characters(text, [](char32_t c) {
      const bool is_space = c == '\t' || c == '\n' || c == '\r';
      return c == 0 || c == 0xFFFD || (is_control(c) && !is_space);
    });
    replace_by_space(text, is_white_space);
  }

  static void put_spaces_around_chinese(PipelineText& text) {
    rewrite_characters(text, [](TextRewriter& rewriter, Character c) {
      if (!is_chinese(c.value)) return rewriter.keep(c.bytes);
      std::string spaced = " ";
      spaced.append(rewriter.rest().substr(0, c.bytes)).append(" ");
      rewriter.replace(c.bytes, spaced);
    });
  }

  BertOptions options_;
};

}  // namespace

NormalizerPtr sequence(std::vector<NormalizerPtr> parts) {
  return std::make_unique<Sequence>(std::move(parts));
}
NormalizerPtr nfc() {
  return std::make_unique<Normal>(NormalForm::nfc);
}
NormalizerPtr nfd() {
  return std::make_unique<Normal>(NormalForm::nfd);
}
NormalizerPtr nfkc() {
  return std::make_unique<Normal>(NormalForm::nfkc);
}
NormalizerPtr nfkd() {
  return std::make_unique<Normal>(NormalForm::nfkd);
}
NormalizerPtr lowercase() {
  return std::make_unique<Lowercase>();
}
NormalizerPtr strip_accents() {
  return std::make_unique<StripAccents>();
}
NormalizerPtr nmt() {
  return std::make_unique<Nmt>();
}
NormalizerPtr strip(StripSides sides) {
  return std::make_unique<Strip>(sides);
}
NormalizerPtr prepend(std::string text) {
  return std::make_unique<Prepend>(std::move(text));
}
NormalizerPtr replace(Pattern pattern, std::string content) {
  return std::make_unique<Replace>(std::move(pattern), std::move(content));
}
NormalizerPtr byte_level() {
  return std::make_unique<ByteLevel>();
}
NormalizerPtr bert(BertOptions options) {
  return std::make_unique<Bert>(options);
}

}  // namespace encdec::normalizers
