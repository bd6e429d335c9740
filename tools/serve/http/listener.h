#pragma once

#include <string>
#include <vector>

namespace encdec::serve {

// A socket that connections arrive at; closed with it. All functions throw Error, with the address and the system's
// reason.
class Listener {
 public:
  // "127.0.0.1", "::1", "localhost"; port 0 for any. A name that stands for several addresses gives a socket for each.
  static std::vector<Listener> tcp(const std::string& host, int port);
  // A file that is removed with it. A socket there that nobody listens at is replaced.
  static Listener unix_socket(const std::string& path);
  // What a service manager has opened for this process (sd_listen_fds(3)), and forgets them.
  static std::vector<Listener> inherited();

  Listener(Listener&& other) noexcept;
  Listener& operator=(Listener&& other) = delete;
  ~Listener();

  int descriptor() const { return descriptor_; }
  bool is_local() const;
  // Whether only processes of this machine can connect.
  bool is_loopback() const;
  // "http://127.0.0.1:8080", "unix:/run/encdec.sock"
  std::string address() const;

 private:
  explicit Listener(int descriptor, std::string path = {}) : descriptor_(descriptor), path_(std::move(path)) {}

  int descriptor_;
  std::string path_;  // to remove
};

}  // namespace encdec::serve
