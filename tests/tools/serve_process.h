#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "tests/tools/command.h"
#include "tests/tools/files.h"

namespace encdec {

// One connection to a server, for bytes of any kind.
class Connection {
 public:
  // At a Unix socket. Throws where nobody listens.
  explicit Connection(const std::string& path);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void send(std::string_view bytes) const;
  // No more is sent.
  void shut() const;
  // An answer of HTTP: its head, and so much of a body as the head says. Less where the server closes before.
  std::string receive();
  // Until this has come; false where the server closes before.
  bool wait_for(std::string_view text);
  // All until the server closes.
  std::string receive_all();

 private:
  bool fill();

  int socket_ = -1;
  std::string received_;  // and not given yet
};

// A socket at which programs that are started now tell that they are ready (sd_notify(3)).
class Notified {
 public:
  explicit Notified(const std::string& path);
  ~Notified();
  Notified(const Notified&) = delete;
  Notified& operator=(const Notified&) = delete;

  // The next that is told; empty if there is nothing for a minute.
  std::string wait() const;
  // Whether something is told by then.
  bool comes_within(std::chrono::milliseconds time) const;

 private:
  int socket_;
};

// `encdec serve` with small models, at a Unix socket; ready when it is constructed.
class ServeProcess {
 public:
  // At a socket of its own if none is named.
  explicit ServeProcess(const std::vector<std::string>& more = {}, const std::string& socket = {});

  const std::string& socket() const { return socket_; }
  void send(int signal) { process_.send(signal); }
  int process() const { return process_.id(); }
  Finished wait() { return process_.wait(); }
  // What it tells its service manager next.
  std::string told() const { return ready_.wait(); }
  void forget_told() const {
    while (tells_within(std::chrono::milliseconds(0))) told();
  }
  bool tells_within(std::chrono::milliseconds time) const { return ready_.comes_within(time); }

  // What it answers on a connection of its own.
  std::string get(const std::string& path, const std::string& headers = {}) const;
  std::string post(const std::string& path, const std::string& body, const std::string& headers = {}) const;
  // What a metric says; 0 if it is not there.
  double metric(const std::string& name) const;

 private:
  TemporaryFolder folder_;
  std::string socket_;
  Notified ready_;
  Process process_;
};

// The text of a POST of JSON.
std::string post_text(const std::string& path, const std::string& body, const std::string& headers = {});
// "200" of an answer, and what stands behind its head.
std::string status_of(const std::string& answer);
std::string body_of(const std::string& answer);

}  // namespace encdec
