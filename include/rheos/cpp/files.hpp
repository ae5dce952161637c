// Files of C++: records, examples, events, checkpoints without a graph, arrays of NumPy.
#ifndef RHEOS_CPP_FILES_HPP
#define RHEOS_CPP_FILES_HPP

#include <rheos/cpp/scope.hpp>

RHEOS_CPP_BEGIN

// ---- Records

class RecordWriter : public Owned<Handle<rheos_record_writer>, rheos_record_writer_close> {
 public:
  using Owned::Owned;
  static Result<RecordWriter> open(Text path, rheos_compression compression = RHEOS_NO_COMPRESSION,
                                   int level = -1) {
    return detail::handle_of<RecordWriter>([&](rheos_record_writer **out) {
      return rheos_record_writer_open(path, compression, level, out);
    });
  }
  static Result<RecordWriter> open_with(Text path, const rheos_record_options &options) {
    return detail::handle_of<RecordWriter>([&](rheos_record_writer **out) {
      return rheos_record_writer_open_with(path, &options, out);
    });
  }
  Result<void> write(BytesView record) {
    return detail::done(rheos_record_writer_write(handle_, record.data(), record.size()));
  }
  Result<void> flush() { return detail::done(rheos_record_writer_flush(handle_)); }
  // Tells whether all was written; the destructor closes too, and tells nobody.
  Result<void> close() { return detail::done(rheos_record_writer_close(release())); }
};

class RecordReader : public Owned<Handle<rheos_record_reader>, rheos_record_reader_close> {
 public:
  using Owned::Owned;
  static Result<RecordReader> open(Text path,
                                   rheos_compression compression = RHEOS_NO_COMPRESSION) {
    return detail::handle_of<RecordReader>([&](rheos_record_reader **out) {
      return rheos_record_reader_open(path, compression, out);
    });
  }
  // The next record, valid until the next call; RHEOS_OUT_OF_RANGE behind the last one.
  Result<BytesView> next() {
    const void *data = nullptr;
    size_t size = 0;
    rheos_status *status = rheos_record_reader_next(handle_, &data, &size);
    BytesView record(data, size);
    return detail::made<BytesView>(status, record);
  }
};

// ---- Examples

class ExampleBuilder : public Owned<Handle<rheos_example_builder>, rheos_example_builder_free> {
 public:
  using Owned::Owned;
  ExampleBuilder() : Owned(detail::there(rheos_example_builder_new())) {}
  void clear() { rheos_example_builder_clear(handle_); }
  void add_bytes(Text key, Span<const rheos_string> values) {
    rheos_example_builder_add_bytes(handle_, key, values.data(), values.size());
  }
  void add_floats(Text key, Span<const float> values) {
    rheos_example_builder_add_floats(handle_, key, values.data(), values.size());
  }
  void add_ints(Text key, Span<const int64_t> values) {
    rheos_example_builder_add_ints(handle_, key, values.data(), values.size());
  }
  void add_text(Text key, Text text) { rheos_example_builder_add_text(handle_, key, text); }
  void step_bytes(Text key, Span<const rheos_string> values) {
    rheos_example_builder_step_bytes(handle_, key, values.data(), values.size());
  }
  void step_floats(Text key, Span<const float> values) {
    rheos_example_builder_step_floats(handle_, key, values.data(), values.size());
  }
  void step_ints(Text key, Span<const int64_t> values) {
    rheos_example_builder_step_ints(handle_, key, values.data(), values.size());
  }
  // The message, valid until the builder is used again.
  Result<BytesView> example() { return message(rheos_example_builder_example); }
  Result<BytesView> sequence() { return message(rheos_example_builder_sequence); }

 private:
  template <class Build>
  Result<BytesView> message(Build build) {
    const void *data = nullptr;
    size_t size = 0;
    rheos_status *status = build(handle_, &data, &size);
    BytesView bytes(data, size);
    return detail::made<BytesView>(status, bytes);
  }
};

// The values of a feature, in the bytes of the message.
class Feature : public rheos_feature {
 public:
  Feature(const rheos_feature &feature) : rheos_feature(feature) {}
  // None of a feature of another dtype.
  std::vector<rheos_string> strings() const { return values<rheos_string>(rheos_feature_strings); }
  std::vector<float> floats() const { return values<float>(rheos_feature_floats); }
  std::vector<int64_t> ints() const { return values<int64_t>(rheos_feature_ints); }
  Result<Tensor> tensor() const {
    return detail::handle_of<Tensor>(
        [this](rheos_tensor **out) { return rheos_feature_tensor(this, out); });
  }

 private:
  template <class T, class Copy>
  std::vector<T> values(Copy copy) const {
    if (dtype != dtype_of<T>) return {};
    std::vector<T> list(static_cast<size_t>(count));
    copy(this, list.data());
    return list;
  }
};

class Example : public Owned<Handle<rheos_example>, rheos_example_free> {
 public:
  using Owned::Owned;
  // Of messages that outlive it.
  static Result<Example> read(BytesView message) {
    return detail::handle_of<Example>([&](rheos_example **out) {
      return rheos_example_read(message.data(), message.size(), out);
    });
  }
  static Result<Example> read_sequence(BytesView message) {
    return detail::handle_of<Example>([&](rheos_example **out) {
      return rheos_sequence_example_read(message.data(), message.size(), out);
    });
  }
  size_t num_features() const { return rheos_example_num_features(handle_); }
  Feature feature(size_t index) const { return rheos_example_feature(handle_, index); }
  std::optional<Feature> find(Text key) const {
    rheos_feature feature;
    if (!rheos_example_find(handle_, key, &feature)) return std::nullopt;
    return Feature(feature);
  }
  size_t num_lists() const { return rheos_example_num_lists(handle_); }
  rheos_string list_key(size_t list) const { return rheos_example_list_key(handle_, list); }
  size_t list_steps(size_t list) const { return rheos_example_list_steps(handle_, list); }
  Feature list_feature(size_t list, size_t step) const {
    return rheos_example_list_feature(handle_, list, step);
  }
  std::optional<size_t> find_list(Text key) const {
    size_t list = 0;
    if (!rheos_example_find_list(handle_, key, &list)) return std::nullopt;
    return list;
  }
};

// A tensor for each spec.
inline Result<std::vector<Tensor>> example_parse(BytesView message,
                                                 Span<const rheos_feature_spec> specs) {
  return detail::tensors_of(specs.size(), [&](rheos_tensor **out) {
    return rheos_example_parse(message.data(), message.size(), specs.data(), specs.size(), out);
  });
}

// ---- Events

class EventWriterRef : public Handle<rheos_event_writer> {
 public:
  using Handle::Handle;
  const char *path() const { return rheos_event_writer_path(handle_); }
  Result<void> add_graph(const GraphRef &graph) {
    return detail::done(rheos_event_writer_add_graph(handle_, graph.get()));
  }
  Result<void> add_scalar(Text tag, float value, int64_t step) {
    return detail::done(rheos_event_writer_add_scalar(handle_, tag, value, step));
  }
  Result<void> add_event(BytesView event) {
    return detail::done(rheos_event_writer_add_event(handle_, event.data(), event.size()));
  }
  Result<void> add_summary(BytesView summary, int64_t step) {
    return detail::done(
        rheos_event_writer_add_summary(handle_, summary.data(), summary.size(), step));
  }
  Result<void> add_histogram(Text tag, const TensorRef &values, int64_t step) {
    return detail::done(rheos_event_writer_add_histogram(handle_, tag, values.get(), step));
  }
  Result<void> add_images(Text tag, const TensorRef &images, int64_t max_images, int64_t step) {
    return detail::done(
        rheos_event_writer_add_images(handle_, tag, images.get(), max_images, step));
  }
  Result<void> add_audio(Text tag, const TensorRef &sounds, float sample_rate, int64_t max_sounds,
                         int64_t step) {
    return detail::done(
        rheos_event_writer_add_audio(handle_, tag, sounds.get(), sample_rate, max_sounds, step));
  }
  Result<void> add_text(Text tag, Text text, int64_t step) {
    return detail::done(rheos_event_writer_add_text(handle_, tag, text, step));
  }
  Result<void> add_tensor(Text tag, const TensorRef &tensor, Text plugin_name, int64_t step) {
    return detail::done(
        rheos_event_writer_add_tensor(handle_, tag, tensor.get(), plugin_name, step));
  }
  Result<void> add_graph_def(BytesView graph_def, int64_t step) {
    return detail::done(
        rheos_event_writer_add_graph_def(handle_, graph_def.data(), graph_def.size(), step));
  }
  Result<void> add_run_metadata(Text tag, BytesView run_metadata, int64_t step) {
    return detail::done(rheos_event_writer_add_run_metadata(handle_, tag, run_metadata.data(),
                                                            run_metadata.size(), step));
  }
  Result<void> add_meta_graph(BytesView meta_graph_def, int64_t step) {
    return detail::done(rheos_event_writer_add_meta_graph(handle_, meta_graph_def.data(),
                                                          meta_graph_def.size(), step));
  }
  Result<void> add_session_log(rheos_session_status session_status, Text checkpoint_path = {},
                               Text message = {}, int64_t step = 0) {
    return detail::done(rheos_event_writer_add_session_log(handle_, session_status, checkpoint_path,
                                                           message, step));
  }
  Result<void> flush() { return detail::done(rheos_event_writer_flush(handle_)); }
};

class EventWriter : public Owned<EventWriterRef, rheos_event_writer_close> {
 public:
  using Owned::Owned;
  static Result<EventWriter> open(Text logdir, Text suffix = {}) {
    return detail::handle_of<EventWriter>(
        [&](rheos_event_writer **out) { return rheos_event_writer_open(logdir, suffix, out); });
  }
  // Tells whether all was written; the destructor closes too, and tells nobody.
  Result<void> close() { return detail::done(rheos_event_writer_close(release())); }
};

class EventWriterCache
    : public Owned<Handle<rheos_event_writer_cache>, rheos_event_writer_cache_free> {
 public:
  using Owned::Owned;
  EventWriterCache() : Owned(detail::there(rheos_event_writer_cache_new())) {}
  // The cache's, until it is cleared.
  Result<EventWriterRef> get_writer(Text logdir, const GraphRef &graph = {}) {
    return detail::handle_of<EventWriterRef>([&](rheos_event_writer **out) {
      return rheos_event_writer_cache_get(handle_, logdir, graph.get(), out);
    });
  }
  Result<void> clear() { return detail::done(rheos_event_writer_cache_clear(handle_)); }
};

inline void collect_summary(At s, const rheos_output &summary) {
  rheos_collect_summary(s, summary);
}
inline Output merge_all_summaries(At s, Text key = {}) { return rheos_merge_all_summaries(s, key); }

class EventReader : public Owned<Handle<rheos_event_reader>, rheos_event_reader_close> {
 public:
  using Owned::Owned;
  static Result<EventReader> open(Text path) {
    return detail::handle_of<EventReader>(
        [&](rheos_event_reader **out) { return rheos_event_reader_open(path, out); });
  }
  // The next event, valid until the next call; RHEOS_OUT_OF_RANGE behind the last one.
  Result<rheos_event> next() {
    rheos_event event = {};
    rheos_status *status = rheos_event_reader_next(handle_, &event);
    return detail::made<rheos_event>(status, event);
  }
  // The values of the event that was read last.
  Result<Span<const rheos_summary_value>> values() {
    const rheos_summary_value *values = nullptr;
    size_t count = 0;
    rheos_status *status = rheos_event_reader_values(handle_, &values, &count);
    Span<const rheos_summary_value> list(values, count);
    return detail::made<Span<const rheos_summary_value>>(status, list);
  }
};
inline Result<Tensor> summary_value_tensor(const rheos_summary_value &value) {
  return detail::handle_of<Tensor>(
      [&](rheos_tensor **out) { return rheos_summary_value_tensor(&value, out); });
}

// ---- Checkpoints without a graph

class CheckpointReader
    : public Owned<Handle<rheos_checkpoint_reader>, rheos_checkpoint_reader_free> {
 public:
  using Owned::Owned;
  static Result<CheckpointReader> open(Text prefix) {
    return detail::handle_of<CheckpointReader>(
        [&](rheos_checkpoint_reader **out) { return rheos_checkpoint_reader_open(prefix, out); });
  }
  size_t count() const { return rheos_checkpoint_reader_count(handle_); }
  const char *name(size_t index) const { return rheos_checkpoint_reader_name(handle_, index); }
  rheos_dtype dtype(size_t index) const { return rheos_checkpoint_reader_dtype(handle_, index); }
  Shape shape(size_t index) const { return rheos_checkpoint_reader_shape(handle_, index); }
  std::optional<size_t> find(Text name) const {
    size_t index = 0;
    if (!rheos_checkpoint_reader_find(handle_, name, &index)) return std::nullopt;
    return index;
  }
  Result<Tensor> read(size_t index) {
    return detail::handle_of<Tensor>(
        [&](rheos_tensor **out) { return rheos_checkpoint_reader_read(handle_, index, out); });
  }
  Result<Tensor> read_named(Text name) {
    return detail::handle_of<Tensor>(
        [&](rheos_tensor **out) { return rheos_checkpoint_reader_read_named(handle_, name, out); });
  }
  Result<Array<rheos_object_name>> object_names() {
    return detail::array_of<rheos_object_name>([this](rheos_object_name **out, size_t *count) {
      return rheos_checkpoint_reader_object_names(handle_, out, count);
    });
  }
  Result<void> check(Text checkpoint, Span<const rheos_wanted_tensor> wanted) const {
    return detail::done(
        rheos_checkpoint_reader_check(handle_, checkpoint, wanted.data(), wanted.size()));
  }
};

// Abandoned unless it is finished.
class CheckpointWriter
    : public Owned<Handle<rheos_checkpoint_writer>, rheos_checkpoint_writer_abandon> {
 public:
  using Owned::Owned;
  static Result<CheckpointWriter> open(Text prefix) {
    return detail::handle_of<CheckpointWriter>(
        [&](rheos_checkpoint_writer **out) { return rheos_checkpoint_writer_open(prefix, out); });
  }
  Result<void> add(Text name, const TensorRef &tensor) {
    return detail::done(rheos_checkpoint_writer_add(handle_, name, tensor.get()));
  }
  Result<void> finish() { return detail::done(rheos_checkpoint_writer_finish(release())); }
};

// The list of checkpoints in a folder.
class CheckpointState {
 public:
  CheckpointState() = default;
  CheckpointState(CheckpointState &&other) noexcept : state_(std::exchange(other.state_, {})) {}
  CheckpointState &operator=(CheckpointState &&other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~CheckpointState() { rheos_checkpoint_state_deinit(&state_); }

  static Result<CheckpointState> read(Text folder, Text file_name = {}) {
    CheckpointState state;
    rheos_status *status = rheos_checkpoint_state_read(folder, file_name, &state.state_);
    return detail::made<CheckpointState>(status, state);
  }
  const rheos_checkpoint_state *operator->() const { return &state_; }
  const rheos_checkpoint_state &operator*() const { return state_; }

 private:
  rheos_checkpoint_state state_ = {};
};
inline Result<void> checkpoint_state_write(Text folder, Text file_name, Text model_checkpoint_path,
                                           Texts all_model_checkpoint_paths) {
  return detail::done(rheos_checkpoint_state_write(folder, file_name, model_checkpoint_path,
                                                   all_model_checkpoint_paths.data(),
                                                   all_model_checkpoint_paths.size()));
}
inline Result<void> checkpoint_state_write_timed(Text folder, Text file_name,
                                                 const rheos_checkpoint_state &state) {
  return detail::done(rheos_checkpoint_state_write_timed(folder, file_name, &state));
}
// "" if the folder has none.
inline Result<std::string> latest_checkpoint(Text folder, Text file_name = {}) {
  return detail::text_of(
      [&](char **out) { return rheos_latest_checkpoint(folder, file_name, out); });
}

// ---- Arrays of NumPy

class Npz : public Owned<Handle<rheos_npz>, rheos_npz_free> {
 public:
  using Owned::Owned;
  // Of bytes that outlive it.
  static Result<Npz> open(BytesView bytes) {
    return detail::handle_of<Npz>(
        [&](rheos_npz **out) { return rheos_npz_open(bytes.data(), bytes.size(), out); });
  }
  size_t count() const { return rheos_npz_count(handle_); }
  const char *name(size_t index) const { return rheos_npz_name(handle_, index); }
  Result<Tensor> read(size_t index) const {
    return detail::handle_of<Tensor>(
        [&](rheos_tensor **out) { return rheos_npz_read(handle_, index, out); });
  }
};
inline Result<Bytes> npz_encode(Texts names, Tensors tensors, bool compress = false) {
  return detail::bytes_of([&](void **out, size_t *size) {
    return names.size() != tensors.size()
               ? rheos_status_new(RHEOS_INVALID_ARGUMENT, "%zu names for %zu tensors", names.size(),
                                  tensors.size())
               : rheos_npz_encode(names.data(), detail::pointers(tensors), tensors.size(), compress,
                                  out, size);
  });
}

RHEOS_CPP_END

#endif  // RHEOS_CPP_FILES_HPP
