// Clusters of C++: servers, and ranks that mpirun has started.
#ifndef RHEOS_CPP_CLUSTER_HPP
#define RHEOS_CPP_CLUSTER_HPP

#include <rheos/cpp/session.hpp>

RHEOS_CPP_BEGIN

class Server : public Owned<Handle<rheos_server>, rheos_server_free> {
 public:
  using Owned::Owned;
  static Result<Server> make(const rheos_server_options &options) {
    return detail::handle_of<Server>(
        [&](rheos_server **out) { return rheos_server_new(&options, out); });
  }
  const char *target() const { return rheos_server_target(handle_); }
  Host host() const { return Host::borrow(rheos_server_host(handle_)); }
  Result<std::string> metrics() const {
    return detail::text_of([this](char **out) { return rheos_server_metrics(handle_, out); });
  }
  void join() { rheos_server_join(handle_); }
  void stop(int64_t grace_ms = 0) { rheos_server_stop(handle_, grace_ms); }
};

inline Result<void> cluster_reset(Text target, Texts containers = {}, Texts device_filters = {},
                                  const rheos_credentials *credentials = nullptr) {
  return detail::done(rheos_cluster_reset(target, credentials, containers.data(), containers.size(),
                                          device_filters.data(), device_filters.size()));
}

class Ranks : public Owned<Handle<rheos_ranks>, rheos_ranks_free> {
 public:
  using Owned::Owned;
  static bool are_there() { return rheos_ranks_are_there(); }
  static Result<Ranks> join() {
    return detail::handle_of<Ranks>([](rheos_ranks **out) { return rheos_ranks_join(out); });
  }
  int32_t rank() const { return rheos_ranks_rank(handle_); }
  int32_t count() const { return rheos_ranks_count(handle_); }
  Host host() const { return Host::borrow(rheos_ranks_host(handle_)); }
  void abort() { rheos_ranks_abort(handle_); }
};

RHEOS_CPP_END

#endif  // RHEOS_CPP_CLUSTER_HPP
