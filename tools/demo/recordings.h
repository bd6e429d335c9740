#pragma once

#include <string>
#include <vector>

namespace encdec::demo {

// Whether this build has speech (ENCDEC_SPEECH).
bool can_transcribe();

// Prints what is said in recordings, and when, as soon as it is final.
void transcribe_all(const std::string& folder, const std::vector<std::string>& files);

}  // namespace encdec::demo
