// Compiles the parts of Boost.Asio and Boost.Beast that are not templates, once for the whole program.
#include <boost/asio/impl/src.hpp>
#include <boost/beast/src.hpp>
