// MetaGraphDefs and SavedModels of C++. What they say are the C structs, which `->` reaches:
// model.meta_graph()->num_signatures.
#ifndef RHEOS_CPP_SAVED_MODEL_HPP
#define RHEOS_CPP_SAVED_MODEL_HPP

#include <rheos/cpp/train.hpp>

RHEOS_CPP_BEGIN

// ---- What is said in files

class MetaGraphRef {
 public:
  MetaGraphRef(const rheos_meta_graph *meta_graph = nullptr) : meta_graph_(meta_graph) {}
  const rheos_meta_graph *get() const { return meta_graph_; }
  const rheos_meta_graph *operator->() const { return meta_graph_; }
  explicit operator bool() const { return meta_graph_ != nullptr; }
  // NULL if there is none.
  const rheos_signature_def *signature(Text key) const {
    return rheos_meta_graph_signature(meta_graph_, key);
  }
  const rheos_collection_def *collection(Text key) const {
    return rheos_meta_graph_collection(meta_graph_, key);
  }

 private:
  const rheos_meta_graph *meta_graph_;
};

class MetaGraph : public Owned<Handle<rheos_meta_graph>, rheos_meta_graph_free> {
 public:
  using Owned::Owned;
  static Result<MetaGraph> parse(BytesView bytes) {
    return detail::handle_of<MetaGraph>([&](rheos_meta_graph **out) {
      return rheos_meta_graph_parse(bytes.data(), bytes.size(), out);
    });
  }
  static Result<MetaGraph> read(Text path) {
    return detail::handle_of<MetaGraph>(
        [&](rheos_meta_graph **out) { return rheos_meta_graph_read(path, out); });
  }
  MetaGraphRef ref() const { return handle_; }
  operator MetaGraphRef() const { return handle_; }
  const rheos_meta_graph *operator->() const { return handle_; }
};

inline Result<Tensor> default_value_tensor(const rheos_default_value &value) {
  return detail::handle_of<Tensor>(
      [&](rheos_tensor **out) { return rheos_default_value_tensor(&value, out); });
}

class SavedModelDef : public Owned<Handle<rheos_saved_model_def>, rheos_saved_model_def_free> {
 public:
  using Owned::Owned;
  static Result<SavedModelDef> read(Text folder) {
    return detail::handle_of<SavedModelDef>(
        [&](rheos_saved_model_def **out) { return rheos_saved_model_read(folder, out); });
  }
  const rheos_saved_model_def *operator->() const { return handle_; }
  // With exactly these tags.
  Result<MetaGraphRef> find(Texts tags) const {
    const rheos_meta_graph *meta_graph = nullptr;
    rheos_status *status = rheos_saved_model_find(handle_, tags.data(), tags.size(), &meta_graph);
    return detail::made<MetaGraphRef>(status, meta_graph);
  }
};

// The saver whose nodes came along, or none.
inline Saver import_meta_graph(At s, const MetaGraphRef &meta_graph,
                               const rheos_import_options &options = {}) {
  return rheos_import_meta_graph(s, meta_graph.get(), &options);
}

// ---- A SavedModel that runs

class SavedModel : public Owned<Handle<rheos_saved_model>, rheos_saved_model_free> {
 public:
  using Owned::Owned;
  static Result<SavedModel> load(Text folder, Texts tags = {"serve"},
                                 const rheos_saved_model_options &options = {}) {
    static const rheos_session_options defaults = {};
    rheos_saved_model_options all = options;
    if (all.session == nullptr) all.session = &defaults;
    return detail::handle_of<SavedModel>([&](rheos_saved_model **out) {
      return rheos_saved_model_load(folder, tags.data(), tags.size(), &all, out);
    });
  }
  MetaGraphRef meta_graph() const { return rheos_saved_model_meta_graph(handle_); }
  Graph graph() const { return Graph::borrow(rheos_saved_model_graph(handle_)); }
  SessionRef session() const { return rheos_saved_model_session(handle_); }

  // `signature` NULL: "serving_default".
  Result<Output> input(Text signature, Text name) const {
    Output output;
    rheos_status *status = rheos_saved_model_input(handle_, signature, name, &output);
    return detail::made<Output>(status, output);
  }
  Result<Output> output(Text signature, Text name) const {
    Output output;
    rheos_status *status = rheos_saved_model_output(handle_, signature, name, &output);
    return detail::made<Output>(status, output);
  }
  // To be freed before the model.
  Result<Callable> callable(Text signature, Texts inputs, Texts outputs) const {
    return detail::handle_of<Callable>([&](rheos_callable **out) {
      return rheos_saved_model_callable(handle_, signature, inputs.data(), inputs.size(),
                                        outputs.data(), outputs.size(), out);
    });
  }
  Result<std::vector<Tensor>> call(Text signature, NamedTensors inputs, Texts outputs,
                                   const rheos_run_options &options = {}) const {
    std::vector<rheos_named_tensor> list = detail::named_fetches_of(outputs);
    rheos_status *status = rheos_saved_model_call(handle_, signature, inputs.data(), inputs.size(),
                                                  list.data(), list.size(), &options);
    return detail::fetched(status, list);
  }
};

// ---- Writing

class SavedModelBuilder
    : public Owned<Handle<rheos_saved_model_builder>, rheos_saved_model_builder_free> {
 public:
  using Owned::Owned;
  static Result<SavedModelBuilder> make(Text folder) {
    return detail::handle_of<SavedModelBuilder>([&](rheos_saved_model_builder **out) {
      return rheos_saved_model_builder_new(folder, out);
    });
  }
  Result<void> add(const SessionRef &session, const rheos_meta_graph_options &options = {}) {
    return detail::done(rheos_saved_model_builder_add(handle_, session.get(), &options));
  }
  Result<void> save(bool as_text = false) {
    return detail::done(rheos_saved_model_builder_save(handle_, as_text));
  }
};

// An argument of a signature.
struct Argument : rheos_argument {
  Argument(Text text, const rheos_output &output) : rheos_argument{text, output, {}, {}} {}
  Argument(Text text, const rheos_output &values, const rheos_output &rows,
           const rheos_output &dense)
      : rheos_argument{text, values, rows, dense} {}
};
using Arguments = Span<const Argument>;

// One signature, "serving_default".
inline Result<void> simple_save(const SessionRef &session, Text folder, Arguments inputs,
                                Arguments outputs) {
  return detail::done(rheos_saved_model_simple_save(session.get(), folder, inputs.data(),
                                                    inputs.size(), outputs.data(), outputs.size()));
}

RHEOS_CPP_END

#endif  // RHEOS_CPP_SAVED_MODEL_HPP
