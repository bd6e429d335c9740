# Comments of headers, as Doxygen wants them marked: /// before what they are about, ///< behind it.
/^ *#/b
/\} *\/\/ namespace/b
# Nothing is to be said about special members and comparisons.
/= default;|= delete;|&&\) noexcept;/s/.*//
s#^( *)// ?#\1/// #
s#([;,{}]) +// #\1  ///< #
