# Marks the comments of headers as Doxygen requires: /// before the declaration, ///< after it.
/^ *#/b
/\} *\/\/ namespace/b
# Special members and comparisons need no comment.
/= default;|= delete;|&&\) noexcept;/s/.*//
s#^( *)// ?#\1/// #
s#([;,{}]) +// #\1  ///< #
