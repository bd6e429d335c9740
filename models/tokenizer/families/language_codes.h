#pragma once

#include <string>
#include <string_view>
#include <vector>

// The languages of checkpoints whose files do not list them, in the order of their ids.
namespace encdec::language_codes {

std::vector<std::string> mbart();    // 25 languages
std::vector<std::string> mbart50();  // the 25 languages of mbart() and 27 more
std::vector<std::string> nllb();     // 202
std::vector<std::string> m2m_100();  // 100
std::vector<std::string> wmt21();    // 8, of a later variant of M2M-100

// Returns a language's token in the vocabularies of fairseq's later models: "__en__" for "en".
std::string fairseq_piece(std::string_view language);

// Throws InputError, beginning with `name`, because `language` is not one of `known`.
[[noreturn]] void refuse_unknown(std::string_view language, const std::vector<std::string>& known,
                                 std::string_view name);

}  // namespace encdec::language_codes
