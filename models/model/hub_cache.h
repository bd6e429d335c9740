#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace encdec {

// Returns true for a model that is named as on the Hugging Face hub, OWNER/NAME, unless there is such a path.
bool is_hub_name(const std::string& model);

// Returns the folder of a model: a path is returned as it is. For OWNER/NAME, it is the snapshot in the local cache of
// Hugging Face to which refs/main points or, if that is not complete, the newest complete one; models of the owner
// sentence-transformers also need a modules.json. The cache is $HF_HUB_CACHE, else its older name
// $HUGGINGFACE_HUB_CACHE, else $HF_HOME/hub, else huggingface/hub in $XDG_CACHE_HOME or ~/.cache. Throws FileError if
// there is none, with the command that downloads the model unless a folder OWNER exists. Reads no more than the names
// and the heads of weight files.
std::filesystem::path model_folder(const std::filesystem::path& model);

// Returns the folder of the cache.
std::filesystem::path hub_cache();

// Returns the sorted names, OWNER/NAME, of the models in the cache, complete or not.
std::vector<std::string> cached_models();

}  // namespace encdec
