// Sessions of C++: hosts, runs, callables, traces, watches, lint.
#ifndef RHEOS_CPP_SESSION_HPP
#define RHEOS_CPP_SESSION_HPP

#include <rheos/cpp/graph.hpp>

RHEOS_CPP_BEGIN

// ---- Hosts

class HostRef : public Handle<rheos_host> {
 public:
  using Handle::Handle;
  int32_t num_devices() const { return rheos_host_num_devices(handle_); }
  const char *device(int32_t index) const { return rheos_host_device(handle_, index); }
  int32_t num_threads() const { return rheos_host_num_threads(handle_); }
  // Bytes in use on a device with a memory of its own, and the most that were.
  Result<void> memory_use(int32_t device, int64_t *bytes, int64_t *peak_bytes) const {
    return detail::done(rheos_host_memory_use(handle_, device, bytes, peak_bytes));
  }
  Result<void> reset_memory_peak(int32_t device) const {
    return detail::done(rheos_host_reset_memory_peak(handle_, device));
  }
};

// The graphics cards that hosts have, by number.
inline int32_t num_graphics_cards() { return rheos_num_graphics_cards(); }
inline const char *graphics_card(int32_t index) { return rheos_graphics_card(index); }

// The devices on cards that a ConfigProto asks for.
inline Result<Array<rheos_gpu_device>> gpu_devices_from_config(BytesView config) {
  return detail::array_of<rheos_gpu_device>([&](rheos_gpu_device **out, size_t *count) {
    return rheos_gpu_devices_from_config(config.data(), config.size(), out, count);
  });
}

class Host : public Counted<HostRef, rheos_host_ref, rheos_host_unref> {
 public:
  using Counted::Counted;
  Host(Counted &&host) : Counted(std::move(host)) {}
  static Result<Host> make(const rheos_host_options &options = {}) {
    return detail::handle_of<Host>([&](rheos_host **out) { return rheos_host_new(&options, out); });
  }
};

// ---- What a run is given beside feeds and fetches

class Cancellation : public Owned<Handle<rheos_cancellation>, rheos_cancellation_free> {
 public:
  using Owned::Owned;
  Cancellation() : Owned(detail::there(rheos_cancellation_new())) {}
  void cancel() { rheos_cancel(handle_); }
};

class Trace : public Owned<Handle<rheos_trace>, rheos_trace_free> {
 public:
  using Owned::Owned;
  explicit Trace(uint32_t what = RHEOS_TRACE_STEPS) : Owned(detail::there(rheos_trace_new(what))) {}
  void clear() { rheos_trace_clear(handle_); }
  Result<Bytes> to_run_metadata() const {
    return detail::bytes_of([this](void **out, size_t *size) {
      return rheos_trace_to_run_metadata(handle_, out, size);
    });
  }
  Result<std::string> to_chrome() const {
    return detail::text_of([this](char **out) {
      size_t size = 0;
      return rheos_trace_to_chrome(handle_, out, &size);
    });
  }
};

class Profile : public Owned<Handle<rheos_profile>, rheos_profile_free> {
 public:
  using Owned::Owned;
  Profile() : Owned(detail::there(rheos_profile_new())) {}
  // Nanoseconds that the trace's operations took together.
  Result<int64_t> add(const Trace &trace) {
    int64_t ns = 0;
    rheos_status *status = rheos_profile_add(handle_, trace.get(), &ns);
    return detail::made<int64_t>(status, ns);
  }
  size_t num_ops() const { return rheos_profile_num_ops(handle_); }
  rheos_profile_op op_at(size_t index) const { return rheos_profile_op_at(handle_, index); }
  size_t num_bodies() const { return rheos_profile_num_bodies(handle_); }
  rheos_profile_body body_at(size_t index) const { return rheos_profile_body_at(handle_, index); }
};

// A tensor that is fed; it is borrowed for the run.
struct Feed : rheos_feed {
  Feed(const rheos_output &to, const TensorRef &tensor) : rheos_feed{to, tensor.get()} {}
};
using Feeds = Span<const Feed>;
// A tensor by a name.
struct NamedTensor : rheos_named_tensor {
  NamedTensor(Text text, const TensorRef &tensor) : rheos_named_tensor{text, tensor.get()} {}
};
using NamedTensors = Span<const NamedTensor>;

namespace detail {
static_assert(sizeof(Feed) == sizeof(rheos_feed));
static_assert(sizeof(NamedTensor) == sizeof(rheos_named_tensor));

// The values of what a run has fetched, in a list of structs with `value`.
template <class Fetch>
Result<std::vector<Tensor>> fetched(rheos_status *status, const std::vector<Fetch> &fetches) {
  std::vector<Tensor> tensors;
  tensors.reserve(fetches.size());
  for (const Fetch &fetch : fetches) tensors.emplace_back(fetch.value);
  return made<std::vector<Tensor>>(status, tensors);
}
inline std::vector<rheos_fetch> fetches_of(Outputs outputs) {
  std::vector<rheos_fetch> fetches(outputs.size());
  for (size_t i = 0; i < outputs.size(); i++) fetches[i] = {outputs[i], nullptr};
  return fetches;
}
inline std::vector<rheos_named_tensor> named_fetches_of(Texts names) {
  std::vector<rheos_named_tensor> fetches(names.size());
  for (size_t i = 0; i < names.size(); i++) fetches[i] = {names[i], nullptr};
  return fetches;
}
// The one tensor of a list of one.
#ifndef RHEOS_NO_EXCEPTIONS
inline Tensor only(std::vector<Tensor> tensors) { return std::move(tensors[0]); }
#else
inline Result<Tensor> only(Result<std::vector<Tensor>> tensors) {
  if (!tensors.ok()) return tensors.take_status();
  return std::move((*tensors)[0]);
}
#endif
// Calls a program's function, F(const char *token, Tensors inputs, Span<Tensor> outputs), that sets
// the outputs, or throws, or gives a Status.
template <class F>
rheos_status *call_program(void *argument, const char *token, rheos_tensor *const *inputs,
                           size_t num_inputs, rheos_tensor **outputs, size_t num_outputs) {
  return status_of([&] {
    return function_of<F>(argument)(token,
                                    Tensors(reinterpret_cast<const Tensor *>(inputs), num_inputs),
                                    Span<Tensor>(reinterpret_cast<Tensor *>(outputs), num_outputs));
  });
}
}  // namespace detail

// Has PyFunc and datasets call `function`, which is borrowed: options of sessions, eager contexts,
// servers. It is called as function(const char *token, Tensors inputs, Span<Tensor> outputs), from
// any thread, and sets the outputs; it throws, or gives a Status, where it fails.
template <class Options, class Function>
void set_program_function(Options &options, Function &function) {
  options.program_function = detail::call_program<Function>;
  options.program_argument = detail::argument_of(function);
}

// ---- Callables

class CallableRef : public Handle<rheos_callable> {
 public:
  using Handle::Handle;
  // `num_fetches` as the callable was made with.
  Result<std::vector<Tensor>> run(Tensors values, size_t num_fetches,
                                  const rheos_run_options &options = {}) const {
    return detail::tensors_of(num_fetches, [&](rheos_tensor **out) {
      return rheos_callable_run(handle_, detail::pointers(values), out, &options);
    });
  }
  Result<void> bind(Tensors values, Tensors results) {
    return detail::done(
        rheos_callable_bind(handle_, detail::pointers(values), detail::pointers(results)));
  }
  Result<void> run_bound(const rheos_run_options &options = {}) const {
    return detail::done(rheos_callable_run_bound(handle_, &options));
  }
  int64_t cost_ns() const;  // <rheos/cpp/front_end.hpp>
};
using Callable = Owned<CallableRef, rheos_callable_free>;

// ---- Watches

class Watch : public Owned<Handle<rheos_watch>, rheos_watch_free> {
 public:
  using Owned::Owned;
  bool has_matched() const { return rheos_watch_has_matched(handle_); }
};
// Has a watch call `function`, which is borrowed, as function(const rheos_seen &).
template <class Function>
void set_seen_function(rheos_watch_options &options, Function &function) {
  options.seen = [](void *argument, const rheos_seen *seen) {
    return detail::status_of([&] { return detail::function_of<Function>(argument)(*seen); });
  };
  options.argument = detail::argument_of(function);
}

// ---- Sessions

class SessionRef : public Handle<rheos_session> {
 public:
  using Handle::Handle;

  void close() { rheos_session_close(handle_); }
  Graph graph() const { return Graph::borrow(rheos_session_graph(handle_)); }
  int32_t num_devices() const { return rheos_session_num_devices(handle_); }
  const char *device(int32_t index) const { return rheos_session_device(handle_, index); }
  // The session's, until it is freed.
  Result<Span<const rheos_device_attributes>> list_devices() {
    const rheos_device_attributes *devices = nullptr;
    size_t count = 0;
    rheos_status *status = rheos_session_list_devices(handle_, &devices, &count);
    Span<const rheos_device_attributes> list(devices, count);
    return detail::made<Span<const rheos_device_attributes>>(status, list);
  }
  Result<std::string> waiting() const {
    return detail::text_of([this](char **out) { return rheos_session_waiting(handle_, out); });
  }

  // The fetches' values, in their order.
  Result<std::vector<Tensor>> run(Feeds feeds, Outputs fetches, Operations targets = {},
                                  const rheos_run_options &options = {}) const {
    std::vector<rheos_fetch> list = detail::fetches_of(fetches);
    rheos_status *status = rheos_session_run(handle_, feeds.data(), feeds.size(), list.data(),
                                             list.size(), targets.data(), targets.size(), &options);
    return detail::fetched(status, list);
  }
  // One value.
  Result<Tensor> fetch(const rheos_output &output, Feeds feeds = {},
                       const rheos_run_options &options = {}) const {
    return detail::only(run(feeds, Outputs(&output, 1), {}, options));
  }
  // One operation, for what it does.
  Result<void> run_target(const rheos_operation &target, Feeds feeds = {},
                          const rheos_run_options &options = {}) const {
    return detail::done(
        rheos_session_run(handle_, feeds.data(), feeds.size(), nullptr, 0, &target, 1, &options));
  }
  Result<std::vector<Tensor>> run_named(NamedTensors feeds, Texts fetches,
                                        const rheos_run_options &options = {}) const {
    std::vector<rheos_named_tensor> list = detail::named_fetches_of(fetches);
    rheos_status *status = rheos_session_run_named(handle_, feeds.data(), feeds.size(), list.data(),
                                                   list.size(), &options);
    return detail::fetched(status, list);
  }

  Result<int64_t> partial_setup(Outputs feeds, Outputs fetches, Operations targets = {}) const {
    int64_t handle = 0;
    rheos_status *status =
        rheos_session_partial_setup(handle_, feeds.data(), feeds.size(), fetches.data(),
                                    fetches.size(), targets.data(), targets.size(), &handle);
    return detail::made<int64_t>(status, handle);
  }
  Result<std::vector<Tensor>> partial_run(int64_t handle, Feeds feeds, Outputs fetches,
                                          const rheos_run_options &options = {}) const {
    std::vector<rheos_fetch> list = detail::fetches_of(fetches);
    rheos_status *status = rheos_session_partial_run(handle_, handle, feeds.data(), feeds.size(),
                                                     list.data(), list.size(), &options);
    return detail::fetched(status, list);
  }
  void partial_end(int64_t handle) { rheos_session_partial_end(handle_, handle); }

  Result<Callable> callable(Outputs feeds, Outputs fetches, Operations targets = {}) const {
    return detail::handle_of<Callable>([&](rheos_callable **out) {
      return rheos_callable_new(handle_, feeds.data(), feeds.size(), fetches.data(), fetches.size(),
                                targets.data(), targets.size(), out);
    });
  }
  Result<Watch> watch(const rheos_watch_options &options) const {
    return detail::handle_of<Watch>(
        [&](rheos_watch **out) { return rheos_session_watch(handle_, &options, out); });
  }

  // What a step would run, and the memory it would need. `shapes` are those of the feeds.
  Result<std::string> plan_text(Outputs feeds, Span<const Shape> shapes, Outputs fetches,
                                Operations targets = {}) const {
    return text_of(rheos_session_plan_text, feeds, shapes, fetches, targets);
  }
  Result<std::string> plan_json(Outputs feeds, Span<const Shape> shapes, Outputs fetches,
                                Operations targets = {}) const {
    return text_of(rheos_session_plan_json, feeds, shapes, fetches, targets);
  }
  Result<std::string> memory_text(Outputs feeds, Span<const Shape> shapes, Outputs fetches,
                                  Operations targets = {}) const {
    return text_of(rheos_session_memory_text, feeds, shapes, fetches, targets);
  }
  Result<std::string> memory_json(Outputs feeds, Span<const Shape> shapes, Outputs fetches,
                                  Operations targets = {}) const {
    return text_of(rheos_session_memory_json, feeds, shapes, fetches, targets);
  }
  rheos_session_stats stats() const {
    rheos_session_stats stats = {};
    rheos_session_get_stats(handle_, &stats);
    return stats;
  }

  // The graph's GraphDef with constants in place of variables.
  Result<Bytes> freeze(BytesView graph_def, Texts outputs,
                       const rheos_freeze_options &options = {}) const {
    return detail::bytes_of([&](void **out, size_t *size) {
      return rheos_graph_def_freeze(graph_def.data(), graph_def.size(), handle_, outputs.data(),
                                    outputs.size(), &options, out, size);
    });
  }

 private:
  template <class Tell>
  Result<std::string> text_of(Tell tell, Outputs feeds, Span<const Shape> shapes, Outputs fetches,
                              Operations targets) const {
    return detail::text_of([&](char **out) {
      return shapes.size() != feeds.size()
                 ? rheos_status_new(RHEOS_INVALID_ARGUMENT, "%zu shapes for %zu feeds",
                                    shapes.size(), feeds.size())
                 : tell(handle_, feeds.data(), shapes.data(), feeds.size(), fetches.data(),
                        fetches.size(), targets.data(), targets.size(), out);
    });
  }
};

class Session : public Owned<SessionRef, rheos_session_free> {
 public:
  using Owned::Owned;
  static Result<Session> make(const GraphRef &graph, const rheos_session_options &options = {}) {
    return detail::handle_of<Session>(
        [&](rheos_session **out) { return rheos_session_new(graph.get(), &options, out); });
  }
#ifndef RHEOS_NO_EXCEPTIONS
  explicit Session(const GraphRef &graph, const rheos_session_options &options = {})
      : Session(make(graph, options)) {}
#endif
};

// ---- Lint

class RunLog : public Owned<Handle<rheos_run_log>, rheos_run_log_free> {
 public:
  using Owned::Owned;
  explicit RunLog(const GraphRef &graph) : Owned(detail::there(rheos_run_log_new(graph.get()))) {}
  Result<void> add(const rheos_logged_run &run) {
    return detail::done(rheos_run_log_add(handle_, &run));
  }
};

class Growth : public Owned<Handle<rheos_growth>, rheos_growth_free> {
 public:
  using Owned::Owned;
  Growth() : Owned(detail::there(rheos_growth_new())) {}
  bool note(const GraphRef &graph) { return rheos_growth_note(handle_, graph.get()); }
  // What to tell, and the file (NULL: not known) and line of what has grown the graph.
  struct Told {
    std::string text;
    const char *file = nullptr;
    int32_t line = 0;
  };
  Result<Told> text() const {
    Told told;
    char *text = nullptr;
    rheos_status *status = rheos_growth_text(handle_, &told.file, &told.line, &text);
    told.text = text != nullptr ? text : "";
    rheos_free(text);
    return detail::made<Told>(status, told);
  }
};

inline const rheos_lint_rule *lint_rule_at(size_t index) { return rheos_lint_rule_at(index); }
inline const rheos_lint_rule *lint_rule_named(Text name) { return rheos_lint_rule_named(name); }
inline bool lint_is_ignored(Text file, int32_t line, Text rule) {
  return rheos_lint_is_ignored(file, line, rule);
}

class Lint : public Owned<Handle<rheos_lint>, rheos_lint_free> {
 public:
  using Owned::Owned;
  static Result<Lint> look(const GraphRef &graph, const rheos_lint_options &options = {}) {
    return detail::handle_of<Lint>(
        [&](rheos_lint **out) { return rheos_graph_lint(graph.get(), &options, out); });
  }
  size_t num_findings() const { return rheos_lint_num_findings(handle_); }
  const rheos_finding *finding_at(size_t index) const {
    return rheos_lint_finding_at(handle_, index);
  }
};

RHEOS_CPP_END

#endif  // RHEOS_CPP_SESSION_HPP
