#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "tests/tools/command.h"
#include "tests/tools/files.h"

namespace encdec {

// A connection to a server, for arbitrary bytes.
class Connection {
 public:
  // Connects to a Unix socket. Throws if no server listens there.
  explicit Connection(const std::string& path);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void send(std::string_view bytes) const;
  // Closes the sending direction.
  void shut() const;
  // Returns the next HTTP response: its head, and a body of the length that the head gives. Returns less if the server
  // closes the connection before.
  std::string receive();
  // Waits until `text` has arrived. Returns false if the server closes the connection before.
  bool wait_for(std::string_view text);
  // Returns everything until the server closes the connection.
  std::string receive_all();

 private:
  bool fill();

  int socket_ = -1;
  std::string received_;  // and not yet returned
};

// A socket to which programs that are started later send notifications to a service manager (sd_notify(3)).
class NotifySocket {
 public:
  explicit NotifySocket(const std::string& path);
  ~NotifySocket();
  NotifySocket(const NotifySocket&) = delete;
  NotifySocket& operator=(const NotifySocket&) = delete;

  // Returns the next notification; empty if none comes within a minute.
  std::string wait() const;
  // Returns true if a notification comes within `time`.
  bool comes_within(std::chrono::milliseconds time) const;

 private:
  int socket_;
};

// Limits of a server that encdec serve has no options for: "inputs=101".
struct Limits {
  std::vector<std::string> values;
};

// `encdec serve` with small models at a Unix socket. The constructor returns when the server is ready.
class ServeProcess {
 public:
  // Starts limited_server instead.
  explicit ServeProcess(const Limits& limits);
  // Listens at `socket`, or at a socket of its own if that is empty.
  explicit ServeProcess(const std::vector<std::string>& more = {}, const std::string& socket = {});

  const std::string& socket() const { return socket_; }
  void send(int signal) { process_.send(signal); }
  int process() const { return process_.id(); }
  Finished wait() { return process_.wait(); }
  // Returns the server's next notification to its service manager.
  std::string notification() const { return ready_.wait(); }
  void discard_notifications() const {
    while (notifies_within(std::chrono::milliseconds(0))) notification();
  }
  bool notifies_within(std::chrono::milliseconds time) const { return ready_.comes_within(time); }

  // Returns the response, on a separate connection.
  std::string get(const std::string& path, const std::string& headers = {}) const;
  std::string post(const std::string& path, const std::string& body, const std::string& headers = {}) const;
  // Returns the value of a metric; 0 if it does not exist.
  double metric(const std::string& name) const;

 private:
  TemporaryFolder folder_;
  std::string socket_;
  NotifySocket ready_;
  Process process_;
};

// Returns the text of a POST request with a JSON body.
std::string post_text(const std::string& path, const std::string& body, const std::string& headers = {});
// The status of an response, such as "200", and its body.
std::string status_of(const std::string& response);
std::string body_of(const std::string& response);

}  // namespace encdec
