#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace encdec {

// Returns whether `model` is a name on the Hugging Face hub, OWNER/NAME, and not an existing path.
bool is_hub_name(const std::string& model);

// Returns the folder of a model. Returns a path as it is. For OWNER/NAME, returns a snapshot in
// Hugging Face's local cache: the snapshot of refs/main or, if that is not complete, the newest complete snapshot. For
// the owner sentence-transformers, a complete snapshot must have modules.json. Reads only the names and headers of
// weight files, not the weights.
// Throws FileError if no snapshot is complete. The message has the download command, unless a folder OWNER exists.
std::filesystem::path model_folder(const std::filesystem::path& model);

// Returns the cache folder. It is the first of $HF_HUB_CACHE, $HUGGINGFACE_HUB_CACHE (the older name) and $HF_HOME/hub
// that is set. If none is set, it is huggingface/hub in $XDG_CACHE_HOME or ~/.cache.
std::filesystem::path hub_cache();

// Returns the sorted names OWNER/NAME of all cached models, complete or not.
std::vector<std::string> cached_models();

}  // namespace encdec
