#pragma once

#include <string>
#include <vector>

namespace encdec::serve {

// A listening socket, closed by the destructor. The functions that open a socket throw Error with the address and the
// operating system's reason.
class Listener {
 public:
  // Listens on every address of `host`, a name or an address: "localhost", "127.0.0.1", "::1". With port 0, listens
  // on a free port of the first address only.
  static std::vector<Listener> tcp(const std::string& host, int port);
  // Listens on a Unix socket. Replaces a socket file on which no process listens. The destructor removes the file.
  static Listener unix_socket(const std::string& path);
  // Returns the sockets that a service manager opened for this process (sd_listen_fds(3)). Unsets the environment
  // variables that describe the sockets.
  static std::vector<Listener> inherited();

  Listener(Listener&& other) noexcept;
  Listener& operator=(Listener&& other) = delete;
  ~Listener();

  int descriptor() const { return descriptor_; }
  // Returns true for a Unix socket.
  bool is_local() const;
  // Returns whether only processes of this machine can connect.
  bool is_loopback() const;
  // Returns the address, for example "http://127.0.0.1:8080" or "unix:/run/encdec.sock".
  std::string address() const;

 private:
  explicit Listener(int descriptor, std::string path = {}) : descriptor_(descriptor), path_(std::move(path)) {}

  int descriptor_;
  std::string path_;  // socket file to remove; empty if there is no file
};

}  // namespace encdec::serve
