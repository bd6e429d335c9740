// Boost's parts that are not templates, compiled once.
#include <boost/asio/impl/src.hpp>
#include <boost/beast/src.hpp>
