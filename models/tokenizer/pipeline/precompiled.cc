#include "encdec/models/tokenizer/pipeline/characters.h"
#include "encdec/models/tokenizer/pipeline/normalizer.h"

namespace encdec::normalizers {
namespace {

// What is left out at the beginning, tokenizers does not notice.
void replace_cluster(TextRewriter& rewriter, std::size_t bytes, std::string_view by) {
  if (by.empty() && rewriter.is_empty()) return rewriter.drop_origin(bytes);
  // Of several characters, the first is replaced by the first.
  const std::size_t first = first_character(rewriter.rest()).bytes;
  if (first < bytes && !by.empty()) {
    const std::size_t new_first = first_character(by).bytes;
    rewriter.replace(first, by.substr(0, new_first));
    by.remove_prefix(new_first);
    bytes -= first;
  }
  rewriter.replace(bytes, by);
}

class Precompiled final : public Normalizer {
 public:
  explicit Precompiled(NormalizationTable table) : table_(std::move(table)) {}

  void normalize(PipelineText& text) const override {
    const std::string old = text.text;
    TextRewriter rewriter(text);
    GraphemeScanner clusters(old);
    for (std::string_view cluster = clusters.next(); !cluster.empty(); cluster = clusters.next()) {
      if (cluster.size() < kWholeClusterBytes && replaces(rewriter, cluster)) continue;
      while (!cluster.empty()) {
        const std::size_t bytes = first_character(cluster).bytes;
        if (!replaces(rewriter, cluster.substr(0, bytes))) rewriter.keep(bytes);
        cluster.remove_prefix(bytes);
      }
    }
    rewriter.finish();
  }

 private:
  static constexpr std::size_t kWholeClusterBytes = 6;

  // Any match will do, and stands for all of `part`.
  bool replaces(TextRewriter& rewriter, std::string_view part) const {
    const auto match = table_.find(part, NormalizationTable::Wanted::shortest);
    if (match.bytes > 0) replace_cluster(rewriter, part.size(), match.replacement);
    return match.bytes > 0;
  }

  NormalizationTable table_;
};

}  // namespace

NormalizerPtr precompiled(NormalizationTable table) {
  return std::make_unique<Precompiled>(std::move(table));
}

}  // namespace encdec::normalizers
