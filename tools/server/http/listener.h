#pragma once

#include <string>
#include <vector>

namespace encdec::serve {

// A listening socket, closed by the destructor. The functions that open one throw Error with the address and the
// system's reason.
class Listener {
 public:
  // Listens on every address of `host`, which is a name or an address: "localhost", "127.0.0.1", "::1". With port 0
  // listens on the first address only, on a free port.
  static std::vector<Listener> tcp(const std::string& host, int port);
  // Listens on a Unix socket. The destructor removes its file. A socket file without a listening process is replaced.
  static Listener unix_socket(const std::string& path);
  // Takes the sockets that a service manager has opened for this process (sd_listen_fds(3)), and unsets the environment
  // variables that name them.
  static std::vector<Listener> inherited();

  Listener(Listener&& other) noexcept;
  Listener& operator=(Listener&& other) = delete;
  ~Listener();

  int descriptor() const { return descriptor_; }
  // Returns whether this is a Unix socket.
  bool is_local() const;
  // Returns whether only processes of this machine can connect.
  bool is_loopback() const;
  // Returns the address, for example "http://127.0.0.1:8080" or "unix:/run/encdec.sock".
  std::string address() const;

 private:
  explicit Listener(int descriptor, std::string path = {}) : descriptor_(descriptor), path_(std::move(path)) {}

  int descriptor_;
  std::string path_;  // file to remove; empty if there is none
};

}  // namespace encdec::serve
