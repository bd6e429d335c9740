#pragma once

#include <optional>

#include "encdec/translation/documents/document.h"
#include "python/src/keywords.h"

namespace encdec::python {

// Reads the options of a document. Leaves `format` unset if it is not given.
DocumentOptions document_options(Keywords& keywords, std::optional<DocumentFormat>& format);

// Adds the class Document to the module.
void bind_documents(nanobind::module_& module);

}  // namespace encdec::python
