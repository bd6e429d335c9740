// Replaces sound_file.cc in a build without libsndfile and libmpg123.
#include <utility>

#include "encdec/engine/base/refuse.h"
#include "encdec/speech/audio/audio_decoder.h"

namespace encdec {

bool is_mp3(AudioInput& /*input*/) {
  return false;
}

std::unique_ptr<AudioDecoder> open_mp3(AudioInput input) {
  return open_sound_file(std::move(input));
}

std::unique_ptr<AudioDecoder> open_sound_file(AudioInput input) {
  refuse<AudioFormatError>(
      input.name(), "not WAV or compressed, expected plain WAV: this build has no libsndfile (ENCDEC_SNDFILE=OFF)");
}

}  // namespace encdec
