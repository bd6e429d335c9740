#pragma once

#include <vector>

#include "encdec/models/speech/transcript/word_alignment.h"
#include "encdec/models/speech/transcription/transcription_task.h"

namespace encdec {

// Returns the words of a window's text with their times, as openai/whisper (timing.py): the decoder reads the text
// again, and the cross-attention of the alignment heads yields the times. Returns no words if `text` is empty.
// REQUIRES: `text` consists of ids below end_of_text.
std::vector<WordTiming> read_word_times(Session& session, int source, const TranscriptionTask& task,
                                        std::int32_t language, const WindowPlace& place, const TokenIds& text);

// Returns the times of all tokens decoded after a prompt, as transformers (generation_whisper.py,
// _extract_token_timestamps). The decoder reads prompt and tokens again, as in the search.
std::vector<TokenTiming> read_token_times(Session& session, int source, const TranscriptionTask& task,
                                          const WindowPlace& place, const TokenIds& prompt,
                                          const DecodedWindow& decoded);

// Returns the words of a text with their tokens, without times.
std::vector<WordTiming> split_words(const TranscriptionTask& task, std::int32_t language, const TokenIds& text);

}  // namespace encdec
