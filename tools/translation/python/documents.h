#pragma once

#include <optional>

#include "encdec/translation/documents/document.h"
#include "python/src/keywords.h"

namespace encdec::python {

// Takes the options of documents. `format` stays unset if it is not given.
DocumentOptions document_options(Keywords& keywords, std::optional<DocumentFormat>& format);

// Adds class Document to the module.
void bind_documents(nanobind::module_& module);

}  // namespace encdec::python
