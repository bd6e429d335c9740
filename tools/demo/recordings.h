#pragma once

#include <string>
#include <vector>

namespace encdec::demo {

// Returns true if this build has speech (ENCDEC_SPEECH=ON).
bool can_transcribe();

// Prints the segments of recordings, with their times, as soon as they are final. Throws Error in a build without
// speech.
void transcribe_all(const std::string& folder, const std::vector<std::string>& files);

}  // namespace encdec::demo
