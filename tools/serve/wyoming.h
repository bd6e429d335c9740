#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <string>

#include "serve/call.h"
#include "serve/load.h"

namespace encdec::serve {

// Serves one connection of the Wyoming protocol, by which Home Assistant asks for transcripts
// (github.com/OHF-Voice/wyoming, version 1.10): describe, transcribe, audio-start, audio-chunk, audio-stop, ping. There
// are no keys in it. Runs on the network's thread. Returns when the client disconnects or breaks the protocol, and
// between two recordings when the service ends. Throws boost::system::system_error.
asio::awaitable<void> serve_wyoming(asio::generic::stream_protocol::socket socket, std::string peer, ServiceParts parts,
                                    Load& load);

}  // namespace encdec::serve
