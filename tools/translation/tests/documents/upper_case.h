#pragma once

#include <string>
#include <vector>

#include "encdec/translation/documents/document.h"

namespace encdec {

// Translates ASCII letters to upper case. Codes, placeholders and cuts keep their positions.
inline Segment upper_case(Segment segment) {
  std::vector<bool> is_kept(segment.text.size());
  for (const Placeholder& placeholder : segment.placeholders) {
    for (std::size_t i = placeholder.begin; i < placeholder.end; ++i) is_kept[i] = true;
  }
  for (std::size_t i = 0; i < segment.text.size(); ++i) {
    char& c = segment.text[i];
    if (!is_kept[i] && c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return segment;
}

inline std::vector<Segment> upper_case(const std::vector<Segment>& segments) {
  std::vector<Segment> upper;
  for (const Segment& segment : segments) upper.push_back(upper_case(segment));
  return upper;
}

// Returns a file with its texts in upper case.
inline std::string in_upper_case(const std::string& bytes, DocumentFormat format, const DocumentOptions& options = {}) {
  const Document document = Document::parse(bytes, format, "file", options);
  return document.write(upper_case(document.segments())).bytes;
}

inline std::vector<std::string> texts_of(const std::string& bytes, DocumentFormat format,
                                         const DocumentOptions& options = {}) {
  const Document document = Document::parse(bytes, format, "file", options);
  std::vector<std::string> texts;
  for (const Segment& segment : document.segments()) texts.push_back(segment.text);
  return texts;
}

// Returns a file whose first text is replaced by `translation`, without codes or placeholders.
inline WrittenDocument with_first_text(const std::string& bytes, DocumentFormat format, const std::string& translation,
                                       const DocumentOptions& options = {}) {
  const Document document = Document::parse(bytes, format, "file", options);
  std::vector<Segment> translations(document.segments().size());
  translations.at(0).text = translation;
  return document.write(translations);
}

inline std::string times(const std::string& text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

}  // namespace encdec
