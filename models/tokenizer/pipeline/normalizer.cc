#include "encdec/models/tokenizer/pipeline/normalizer.h"

#include <algorithm>
#include <utility>

namespace encdec::normalizers {
namespace {

void to_normal_form(PipelineText& text, NormalForm form) {
  // Normalise the origin alone, to find how many bytes of the new text come from the origin.
  const std::string_view origin = std::string_view(text.text).substr(0, text.origin_bytes);
  const std::size_t origin_bytes = normal_form(origin, form).size();
  if (!text.spans.empty()) text.spans = text.changed_spans(normal_form_changes(text.text, form));
  text.text = normal_form(text.text, form);
  // Keep one span per byte, even if normal_form_changes() differs from normal_form().
  if (!text.spans.empty()) text.spans.resize(text.text.size(), text.spans.back());
  check_rewritten_size(text.text.size());
  text.origin_bytes = std::min(origin_bytes, text.text.size());
}

// Calls `rewrite(rewriter, character)` for every character. The call must consume the character in the rewriter.
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

void clean(PipelineText& text) {  // implements BertOptions::clean_text
  drop_characters(text, [](char32_t c) {
    const bool is_space = c == '\t' || c == '\n' || c == '\r';
    return c == 0 || c == 0xFFFD || (is_control(c) && !is_space);
  });
  replace_by_space(text, is_white_space);
}

void put_spaces_around_chinese(PipelineText& text) {
  rewrite_characters(text, [](TextRewriter& rewriter, Character c) {
    if (!is_chinese(c.value)) return rewriter.keep(c.bytes);
    std::string spaced = " ";
    spaced.append(rewriter.rest().substr(0, c.bytes)).append(" ");
    rewriter.replace(c.bytes, spaced);
  });
}

// Replaces the next `bytes` bytes by `by`. Like tokenizers, uses drop_origin() to remove the beginning of a text.
void replace_cluster(TextRewriter& rewriter, std::size_t bytes, std::string_view by) {
  if (by.empty() && rewriter.is_empty()) return rewriter.drop_origin(bytes);
  // If several characters are replaced, the first character of `by` replaces the first of them.
  const std::size_t first = first_character(rewriter.rest()).bytes;
  if (first < bytes && !by.empty()) {
    const std::size_t new_first = first_character(by).bytes;
    rewriter.replace(first, by.substr(0, new_first));
    by.remove_prefix(new_first);
    bytes -= first;
  }
  rewriter.replace(bytes, by);
}

// Appends to `changes` that `new_part` replaces `old_part`, as tokenizers' Precompiled normalizer does.
void record_replacement(std::string_view old_part, std::string_view new_part, std::vector<CharacterChange>& changes) {
  const auto count = [](std::string_view text) {
    std::int32_t characters = 0;
    for (; !text.empty(); ++characters) text.remove_prefix(first_character(text).bytes);
    return characters;
  };
  const std::int32_t old_count = count(old_part), new_count = count(new_part);
  for (std::int32_t i = 0; !new_part.empty(); ++i) {
    const auto bytes = static_cast<std::uint32_t>(first_character(new_part).bytes);
    changes.push_back({bytes, i >= old_count ? 1 : 0});
    new_part.remove_prefix(bytes);
  }
  if (new_count < old_count && !changes.empty()) changes.back().change += new_count - old_count;
}

}  // namespace

Normalizer sequence(std::vector<Normalizer> parts) {
  return [parts = std::move(parts)](PipelineText& text) {
    for (const Normalizer& part : parts) part(text);
  };
}

Normalizer normal(NormalForm form) {
  return [form](PipelineText& text) { to_normal_form(text, form); };
}

void lowercase(PipelineText& text) {
  std::string lower;
  rewrite_characters(text, [&](TextRewriter& rewriter, Character c) {
    lower.clear();
    append_lowercase(lower, c.value);
    rewriter.replace(c.bytes, lower);
  });
}

void strip_accents(PipelineText& text) {
  drop_characters(text, is_mark);
}

void nmt(PipelineText& text) {  // the code points of normalizers/unicode.rs in tokenizers
  drop_characters(text, [](char32_t c) {
    return (c >= 0x01 && c <= 0x08) || c == 0x0B || (c >= 0x0E && c <= 0x1F) || c == 0x7F || c == 0x8F || c == 0x9F;
  });
  replace_by_space(text, [](char32_t c) {
    return c == '\t' || c == '\n' || c == '\f' || c == '\r' || c == 0x1680 || (c >= 0x200B && c <= 0x200F) ||
           c == 0x2028 || c == 0x2029 || c == 0x2581 || c == 0xFEFF || c == 0xFFFD;
  });
}

void byte_level(PipelineText& text) {
  text.to_byte_characters();
}

Normalizer strip(StripSides sides) {
  return [sides](PipelineText& text) {
    const std::size_t left = sides.left ? leading_bytes(text.text, is_white_space) : 0;
    const std::string_view rest = std::string_view(text.text).substr(left);
    const std::size_t right = sides.right ? trailing_bytes(rest, is_white_space) : 0;
    TextRewriter rewriter(text);
    rewriter.drop(left);
    rewriter.keep(rest.size() - right);
    rewriter.finish();
  };
}

Normalizer prepend(std::string prefix) {
  return [prefix = std::move(prefix)](PipelineText& text) { text.prepend(prefix); };
}

Normalizer replace(Pattern pattern, std::string content) {
  return [pattern = std::move(pattern), content = std::move(content)](PipelineText& text) {
    if (text.text.empty()) return;
    TextRewriter rewriter(text);
    std::size_t position = 0;
    pattern(text.text, [&](const PatternMatch& match) {
      rewriter.keep(match.begin - position);
      rewriter.drop(match.end - match.begin);
      rewriter.insert(content);
      position = match.end;
    });
    rewriter.keep(rewriter.rest().size());
    rewriter.finish();
  };
}

Normalizer bert(BertOptions options) {
  return [options](PipelineText& text) {
    if (options.clean_text) clean(text);
    if (options.split_chinese) put_spaces_around_chinese(text);
    if (options.strip_accents.value_or(options.lowercase)) {
      to_normal_form(text, NormalForm::nfd);
      drop_characters(text, is_nonspacing_mark);
    }
    if (options.lowercase) lowercase(text);
  };
}

Normalizer precompiled(NormalizationTable table) {
  constexpr std::size_t kWholeClusterBytes = 6;
  // Like tokenizers, replaces all of `part` even if only a prefix matches. Returns false if no prefix matches.
  const auto replaces = [table = std::move(table)](TextRewriter& rewriter, std::string_view part,
                                                   std::vector<CharacterChange>* changes) {
    const auto match = table.find(part, NormalizationTable::Wanted::shortest);
    if (match.bytes == 0) return false;
    replace_cluster(rewriter, part.size(), match.replacement);
    if (changes != nullptr) record_replacement(part, match.replacement, *changes);
    return true;
  };
  return [replaces](PipelineText& text) {
    const PipelineText old = text;
    std::vector<CharacterChange> recorded;
    std::vector<CharacterChange>* const changes = old.spans.empty() ? nullptr : &recorded;
    TextRewriter rewriter(text);
    for (std::string_view rest = old.text; !rest.empty();) {
      std::string_view cluster = rest.substr(0, first_grapheme(rest));
      rest.remove_prefix(cluster.size());
      // Try the whole cluster, then each of its characters.
      if (cluster.size() < kWholeClusterBytes && replaces(rewriter, cluster, changes)) continue;
      while (!cluster.empty()) {
        const std::size_t bytes = first_character(cluster).bytes;
        if (!replaces(rewriter, cluster.substr(0, bytes), changes)) {
          rewriter.keep(bytes);
          if (changes != nullptr) changes->push_back({static_cast<std::uint32_t>(bytes), 0});
        }
        cluster.remove_prefix(bytes);
      }
    }
    rewriter.finish();
    if (changes != nullptr) text.spans = old.changed_spans(recorded);
  };
}

}  // namespace encdec::normalizers
